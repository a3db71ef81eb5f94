#include "pages/run_page.h"

#include "pages/picture.h"
#include "pages/run_parts.h"

enum { EVENTS_LISTED = 500 };

static void put_fact(struct buffer *out, const char *name, struct html_value value)
{
    html_put(out, "<dt>{}</dt><dd>{}</dd>", html_text(name), value);
}

static void put_known(struct buffer *out, const char *name, const char *text)
{
    if (text && *text)
        put_fact(out, name, html_text(text));
}

static void put_head(const struct run_view *view, const struct run_place *place)
{
    const struct run_identity *identity = view->verdict->identity;
    const char *status = place ? place->status : NULL;
    bool good = status && !strcmp(status, "published");
    html_put(view->out, "<h1>{} <bdi>{}</bdi></h1><p>",
             html_text(place && place->heading ? place->heading : "Run"),
             html_string(identity->run_id));
    if (status)
        html_put(view->out, "<span class=\"mark {}\">{}</span> ", html_text(good ? "good" : "bad"),
                 html_text(status));
    html_put(view->out, "<a href=\"/methodology/{}\">{}</a>, suite {}, measured {}</p>",
             html_slice(view->protocol, HTML_NAME_MOST), html_string(identity->protocol),
             html_string(identity->suite), html_string(identity->created_at));
    run_device(view);
}

static void put_place_link(struct buffer *out, const char *id, const char *title)
{
    html_put(out, "<li><a href=\"#{}\">{}</a></li>", html_text(id), html_text(title));
}

static void put_contents(struct buffer *out, const struct run_place *place)
{
    static const char *const sections[][2] = {
        {"verdict", "Verdict"}, {"results", "Results"},         {"cells", "Cells"},
        {"events", "Events"},   {"environment", "Environment"}, {"harness", "Harness"},
        {"record", "Record"}};
    buffer_text(out, "<nav aria-label=\"On this page\"><ul class=\"inline\">");
    for (size_t i = 0; place && i < place->first_count; i++)
        put_place_link(out, place->first[i].id, place->first[i].title);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        bool record = !strcmp(sections[i][0], "record");
        if (record && place && place->history)
            put_place_link(out, place->history->id, place->history->title);
        if (place || !record)
            put_place_link(out, sections[i][0], sections[i][1]);
    }
    buffer_text(out, "</ul></nav>");
}

/* The numbers that a flag rests on: an object of plain values that the rule has written. */
static void put_evidence(struct buffer *out, const struct flag *flag)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct js_error error;
    if (js_read(&arena, flag->evidence, flag->evidence_size, &document, &error))
        run_facts(out, &document.root, NULL);
}

/* The number of the cell of a flag, from 1; 0: none. */
static size_t cell_number(const struct bench_run *run, const struct js_value *id)
{
    for (size_t i = 0; id && i < run->cell_count; i++)
        if (!js_compare(run->cells[i].cell_id, id))
            return i + 1;
    return 0;
}

void run_flag(const struct run_view *view, const struct flag *flag, size_t alike)
{
    struct rule_text rule;
    bool rejects = flag->severity == SEVERITY_REJECT;
    html_put(view->out,
             "<li><p><span class=\"mark {}\">{}</span> <a "
             "href=\"/methodology/{}#{}\"><code>{}</code></a>: {}",
             html_text(rejects ? "bad" : "warn"), html_text(severity_name(flag->severity)),
             html_slice(view->protocol, HTML_NAME_MOST), html_text(flag->code),
             html_text(flag->code), html_text(flag->message));
    size_t number = cell_number(view->run, flag->cell_id);
    if (number)
        html_put(view->out, " in <a href=\"{}#cell-{}\">{}</a>", html_text(view->address),
                 html_number((double)number), html_string(flag->cell_id));
    if (alike)
        html_put(view->out, ", and {} more like it", html_number((double)alike));
    buffer_text(view->out, ".</p>");
    put_evidence(view->out, flag);
    if (protocol_rule(view->verdict->family, view->verdict->rules_version, flag->code, &rule))
        html_put(view->out, "<p class=\"advice\"><strong>What to do:</strong> {}</p>",
                 html_text(rule.advice));
    buffer_text(view->out, "</li>");
}

static void put_flags(const struct run_view *view)
{
    size_t shown = 0, all = 0;
    for (const struct flag *flag = view->verdict->flags; flag; flag = flag->next, all++) {
        if (view->out->size > RUN_PAGE_MOST / 2)
            continue;
        if (!shown++)
            buffer_text(view->out, "<ul class=\"flags\">");
        run_flag(view, flag, 0);
    }
    if (shown)
        buffer_text(view->out, "</ul>");
    if (all > shown)
        html_put(view->out, "<p>And {} more flags.</p>", html_number((double)(all - shown)));
}

static void put_verdict(const struct run_view *view, enum digest_status digest)
{
    const struct verdict *verdict = view->verdict;
    buffer_text(view->out, "<section id=\"verdict\"><h2>Verdict</h2>");
    html_put(view->out, "<p>{} Judged by rule set {}{}. The digest {}.</p>",
             html_text(verdict->flagged
                           ? "A rule rejects this run: it belongs into quarantine, off the board."
                       : verdict->flags ? "Publishable, with warnings."
                                        : "Publishable: no rule has anything to say."),
             html_number(verdict->rules_version),
             html_text(verdict->answers_parsed
                           ? ""
                           : ", without the answer key: quality answers were not read again"),
             html_text(digest == DIGEST_OK        ? "verifies"
                       : digest == DIGEST_LEGACY  ? "verifies under the older rule"
                       : digest == DIGEST_MISSING ? "is missing"
                                                  : "does not verify"));
    put_flags(view);
    buffer_text(view->out, "</section>");
}

static void put_made(struct buffer *out, const struct run_section *section)
{
    html_put(out, "<section id=\"{}\"><h2>{}</h2>{}</section>", html_text(section->id),
             html_text(section->title), html_raw(section->markup));
}

static void put_place(const struct run_view *view, const struct run_place *place)
{
    if (!place)
        return;
    buffer_text(view->out, "<section id=\"record\"><h2>Record</h2><dl class=\"facts\">");
    put_known(view->out, "Accepted", place->submitted_at);
    if (place->file_url)
        html_put(view->out, "<dt>File</dt><dd><a href=\"{}\">{}</a></dd>",
                 html_text(place->file_url), html_text(place->path));
    else
        put_known(view->out, "File", place->path);
    put_known(view->out, "Commit", place->commit);
    if (place->revision)
        put_fact(view->out, "Ledger event", html_number((double)place->revision));
    put_fact(view->out, "Digest", html_string(js_get(&view->verdict->document->root, "digest")));
    buffer_text(view->out, "</dl></section>");
}

/* Time and type are what the shape says; a detail that is no text, and what an event has beside, is listed as it
 * came. */
static void put_event(struct buffer *out, const struct js_value *event)
{
    static const char *const shown[] = {"t", "type", "detail", NULL}, *const told[] = {"t", "type",
                                                                                       NULL};
    const struct js_value *t = js_get(event, "t"), *detail = js_get(event, "detail");
    html_put(out, "<tr><td class=\"number\">{}</td><td>{}</td><td>{}",
             t ? html_rounded(t->number, 1) : html_text(""), html_string(js_get(event, "type")),
             html_string(detail));
    run_facts(out, event, detail && detail->type != JS_STRING ? told : shown);
    buffer_text(out, "</td></tr>");
}

static void put_events(const struct run_view *view)
{
    const struct js_value *events = view->run->events;
    buffer_text(view->out, "<section id=\"events\"><h2>Events</h2>");
    if (!events->size)
        buffer_text(view->out, "<p>None were recorded.</p>");
    picture_events(view->out, events);
    if (events->size)
        html_put(
            view->out,
            "<details><summary>All {} events</summary><div class=\"scroll\" tabindex=\"0\" "
            "role=\"region\" "
            "aria-label=\"Events\"><table><thead><tr><th scope=\"col\" class=\"number\">ms</th>"
            "<th scope=\"col\">Event</th><th scope=\"col\">Detail</th></tr></thead><tbody>",
            html_number(events->size));
    uint32_t listed = 0;
    for (; listed < events->size && listed < EVENTS_LISTED; listed++)
        put_event(view->out, &events->items[listed]);
    if (events->size)
        buffer_text(view->out, "</tbody></table></div>");
    run_more(view->out, events->size - listed, "events");
    if (events->size)
        buffer_text(view->out, "</details>");
    buffer_text(view->out, "</section>");
}

static void put_section(const struct run_view *view, const char *id, const char *title,
                        const char *key)
{
    const struct js_value *object = js_get(&view->verdict->document->root, key);
    if (!run_has_facts(object, NULL))
        return;
    html_put(view->out, "<section id=\"{}\"><h2>{}</h2>", html_text(id), html_text(title));
    run_facts(view->out, object, NULL);
    buffer_text(view->out, "</section>");
}

/* Members that no other section shows: carried through, and not hidden. */
static void put_rest(const struct run_view *view)
{
    static const char *const shown[] = {
        "protocol", "schemaVersion", "runId",           "createdAt", "harness",
        "suite",    "environment",   "fingerprint",     "cells",     "events",
        "digest",   "nonce",         "clientSummaries", NULL};
    const struct js_value *root = &view->verdict->document->root;
    const struct js_value *clients = js_get(root, "clientSummaries");
    buffer_text(view->out, "<section id=\"more\"><h2>More in the file</h2><dl class=\"facts\">");
    put_fact(view->out, "Schema version", html_number(view->verdict->identity->schema_version));
    put_fact(view->out, "Client's own summaries",
             html_text(clients ? "given, compared with the recomputed figures" : "not given"));
    buffer_text(view->out, "</dl>");
    run_facts(view->out, root, shown);
    buffer_text(view->out, "</section>");
}

void run_page_write(struct buffer *out, const struct verdict *verdict, enum digest_status digest,
                    const struct run_place *place)
{
    const struct run_view view = {.out = out,
                                  .verdict = verdict,
                                  .run = bench_run_of(verdict->run),
                                  .summaries = verdict->summaries,
                                  .protocol = text_of(verdict->identity->protocol),
                                  .on_board = place && place->on_board};
    buffer_text(out, "<article class=\"run\">");
    put_head(&view, place);
    put_contents(out, place);
    for (size_t i = 0; place && i < place->first_count; i++)
        put_made(out, &place->first[i]);
    put_verdict(&view, digest);
    buffer_text(out, "<section id=\"results\"><h2>Results</h2>");
    run_overview(&view);
    buffer_text(out, "</section><section id=\"cells\"><h2>Cells</h2>");
    run_cells(&view);
    buffer_text(out, "</section>");
    put_events(&view);
    put_section(&view, "environment", "Environment", "environment");
    put_section(&view, "harness", "Harness and runtimes", "harness");
    put_section(&view, "calibration", "Calibration", "fingerprint");
    if (place && place->history)
        put_made(out, place->history);
    put_place(&view, place);
    put_rest(&view);
    buffer_text(out, "</article>");
}
