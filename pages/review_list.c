#include "pages/review_list.h"

#include "pages/board_links.h"
#include "pages/frame.h"
#include "pages/run_parts.h"
#include "validator/protocol.h"

static const struct {
    const char *name, *label;
} decisions[REVIEW_DECISIONS] = {
    [REVIEW_ANY] = {"", "any"},
    [REVIEW_OPEN] = {"open", "nobody has looked at it"},
    [REVIEW_KEPT] = {"kept", "looked at and kept"},
};

enum review_decision review_decision_find(const char *name)
{
    enum review_decision decision = REVIEW_ANY;
    while (decision < REVIEW_DECISIONS && strcmp(decisions[decision].name, name) != 0)
        decision++;
    return decision;
}

static void put_string(struct buffer *out, const char *before, const struct js_value *entry,
                       const char *key)
{
    const struct js_value *value = js_get(entry, key);
    if (value && value->type == JS_STRING && value->size)
        html_put(out, "{}<bdi>{}</bdi>", html_text(before), html_string(value));
}

/* Flags of a code stand for one thing found in many places: the first one is shown. */
static void put_flags(const struct run_view *view)
{
    const struct flag *flags = view->verdict->flags;
    if (!flags)
        buffer_text(view->out, "<p>The rules of today have nothing to say about it.</p>");
    else
        buffer_text(view->out, "<ul class=\"flags\">");
    for (const struct flag *flag = flags; flag; flag = flag->next) {
        const struct flag *before = flags;
        size_t alike = 0;
        while (before != flag && strcmp(before->code, flag->code) != 0)
            before = before->next;
        if (before != flag)
            continue;
        for (const struct flag *other = flag->next; other; other = other->next)
            alike += !strcmp(other->code, flag->code);
        run_flag(view, flag, alike);
    }
    if (flags)
        buffer_text(view->out, "</ul>");
}

void review_card_write(struct buffer *out, const struct verdict *verdict,
                       const struct js_value *entry)
{
    const struct run_identity *identity = verdict->identity;
    BUFFER_SCOPE struct buffer address = {0};
    address_run(&address, text_of(identity->run_id));
    const struct run_view view = {.out = out,
                                  .verdict = verdict,
                                  .run = bench_run_of(verdict->run),
                                  .summaries = verdict->summaries,
                                  .protocol = text_of(identity->protocol),
                                  .address = buffer_string(&address)};
    buffer_text(out, "<p class=\"what\">");
    put_string(out, "", entry, "deviceSubclass");
    put_string(out, ", ", entry, "browser");
    put_string(out, " ", entry, "browserVersion");
    put_string(out, " on ", entry, "os");
    put_string(out, " ", entry, "osVersion");
    html_put(out, "<span class=\"soft\">, {}, measured ", html_string(identity->protocol));
    put_moment(out, text_of(identity->created_at));
    buffer_text(out, "</span></p>");
    put_flags(&view);
}

void review_card_codes(struct buffer *out, const struct history *history)
{
    buffer_text(out, "<p>Its file is not a run file by the rules of today.");
    for (size_t i = 0; i < history->code_count; i++)
        html_put(out, "{}<code>{}</code>", html_text(i ? ", " : " It was flagged: "),
                 html_slice(history->codes[i], HTML_NAME_MOST));
    buffer_text(out, "</p>");
}

static void put_option(struct buffer *out, const char *value, const char *label, bool chosen)
{
    html_put(out, "<option value=\"{}\"{}>{}</option>",
             html_exact((struct text){value, strlen(value)}),
             html_markup(chosen ? " selected" : ""), html_text(label));
}

static void put_filters(struct buffer *out, const struct review_list *list)
{
    const struct protocol *family = protocol_localmode_bench();
    struct rule_text rule;
    bool known = !*list->flag;
    buffer_text(out, "<form class=\"choose\" action=\"/review\"><div><label for=\"f-flag\">Flag"
                     "</label><select id=\"f-flag\" name=\"flag\">");
    put_option(out, "", "any", known);
    for (size_t i = 0; family->rule(list->rules, i, &rule); i++) {
        bool chosen = !strcmp(rule.code, list->flag);
        known = known || chosen;
        put_option(out, rule.code, rule.code, chosen);
    }
    if (!known)
        put_option(out, list->flag, list->flag, true);
    buffer_text(out, "</select></div><div><label for=\"f-decision\">Decision</label>"
                     "<select id=\"f-decision\" name=\"decision\">");
    for (int i = 0; i < REVIEW_DECISIONS; i++)
        put_option(out, decisions[i].name, decisions[i].label,
                   !strcmp(decisions[i].name, list->decision));
    buffer_text(out, "</select></div><button>Show</button></form>");
}

static void put_item(struct buffer *out, const struct review_item *item)
{
    html_put(out, "<li class=\"case{}\"><h2><a href=\"/review/{}\">{}</a></h2>",
             html_markup(item->last_decided ? " kept" : ""), html_query(item->run_id),
             html_slice(item->run_id, HTML_NAME_MOST));
    if (item->card.size)
        buffer_add(out, item->card.data, item->card.size);
    buffer_text(out, "<p>");
    if (item->accepted_at.size) {
        buffer_text(out, "Accepted ");
        put_moment(out, item->accepted_at);
        buffer_text(out, ". ");
    }
    if (!item->last_decided)
        buffer_text(out, "Nobody has decided about it.");
    buffer_text(out, "</p>");
    if (item->last_decided) {
        buffer_text(out, "<div class=\"decided\">");
        history_put_event(out, item->last_decided);
        buffer_text(out, "</div>");
    }
    html_put(
        out,
        "<p class=\"links\"><a href=\"/review/{}\">Review<span class=\"hidden\"> {}</span></a> "
        "<a href=\"/run/{}\">Everything about the run<span class=\"hidden\"> {}</span></a></p>"
        "</li>",
        html_query(item->run_id), html_slice(item->run_id, HTML_NAME_MOST),
        html_query(item->run_id), html_slice(item->run_id, HTML_NAME_MOST));
}

/* The filters as what follows a ? in an address. */
static void put_query(struct buffer *out, const struct review_list *list)
{
    html_put(out, "flag={}&amp;decision={}",
             html_query((struct text){list->flag, strlen(list->flag)}),
             html_query((struct text){list->decision, strlen(list->decision)}));
}

static void put_pages(struct buffer *out, const struct review_list *list)
{
    BUFFER_SCOPE struct buffer query = {0};
    if (list->first && !list->next)
        return;
    put_query(&query, list);
    buffer_text(out, "<nav aria-label=\"Pages\"><p class=\"links\">");
    if (!list->first)
        html_put(out, "<a href=\"/review?{}\">Newest</a> ", html_raw(&query));
    if (list->next)
        html_put(out, "<a rel=\"next\" href=\"/review?{}&amp;before={}\">Older</a>",
                 html_raw(&query), html_number((double)list->next));
    buffer_text(out, "</p></nav>");
}

static void put_count(struct buffer *out, const struct review_list *list)
{
    bool chosen = *list->flag || *list->decision;
    html_put(out, "<p id=\"count\">{} {} in quarantine{}{}</p>", html_number((double)list->all),
             html_text(list->all == 1 ? "run" : "runs"),
             html_text(chosen ? " that you asked for" : ""),
             html_text(list->all > 1 ? ", the one accepted last first." : "."));
}

void review_list_write(struct buffer *out, const struct review_list *list)
{
    static const char title[] = "Review";
    const struct frame frame = {
        .title = {title, strlen(title)}, .here = "/review", .feed = "/quarantine.atom"};
    frame_open(out, &frame);
    buffer_text(out,
                "<h1>Runs in quarantine</h1><p>A rule found these runs implausible. They are in "
                "public, and not on the board, until a maintainer has looked at them; what he "
                "decides and why is public, too. <a href=\"/quarantine.atom\">Feed</a></p>");
    put_filters(out, list);
    put_count(out, list);
    if (!list->count)
        buffer_text(out, "<p class=\"nothing\">There are none here.</p>");
    else
        buffer_text(out, "<ol class=\"cases\">");
    for (size_t i = 0; i < list->count; i++)
        put_item(out, &list->items[i]);
    if (list->count)
        buffer_text(out, "</ol>");
    put_pages(out, list);
    frame_close(out);
}
