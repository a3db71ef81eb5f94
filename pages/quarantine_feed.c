#include "pages/quarantine_feed.h"

#include "validator/protocol.h"
#include "validator/sha256.h"
#include "validator/text.h"

/* Of what nothing has a time: a feed has to have one. */
static const char never[] = "1970-01-01T00:00:00Z";

static const struct history_event *last_event(const struct history *history)
{
    return history->event_count ? &history->events[history->event_count - 1] : NULL;
}

static struct text updated_at(const struct history *history)
{
    const struct history_event *last = last_event(history);
    if (last && last->at.size)
        return last->at;
    return history->accepted_at.size ? history->accepted_at
                                     : (struct text){never, sizeof never - 1};
}

static bool is_later(struct text left, struct text right)
{
    size_t size = left.size < right.size ? left.size : right.size;
    return memcmp(left.data, right.data, size) > 0;
}

/* The address of a place of the service as an id: by itself, or a digest where nobody knows the service's
 * name. */
static void put_id(struct buffer *out, const char *base, const char *folder, struct text name,
                   struct text digested)
{
    char hex[SHA256_HEX + 1];
    sha256_hex(digested.data, digested.size, hex);
    if (*base)
        html_put(out, "<id>{}{}{}</id>", html_text(base), html_text(folder), html_query(name));
    else
        html_put(out, "<id>urn:sha256:{}</id>", html_text(hex));
}

static void put_codes(struct buffer *out, const struct history *history, bool in_words)
{
    for (size_t i = 0; i < history->code_count; i++) {
        BUFFER_SCOPE struct buffer code = {0};
        struct rule_text rule;
        buffer_add(&code, history->codes[i].data, history->codes[i].size);
        html_put(out, "{}{}", html_text(i ? ", " : ""),
                 html_slice(history->codes[i], HTML_NAME_MOST));
        if (in_words &&
            protocol_rule(protocol_localmode_bench(), history->rules, buffer_string(&code), &rule))
            html_put(out, " ({})", html_text(rule.message));
    }
}

static void put_decision(struct buffer *out, const struct history *history)
{
    const struct history_event *last = history_last(history);
    if (!last) {
        buffer_text(out, "Nobody has decided about it.");
        return;
    }
    bool kept = text_is(last->action, "keep");
    html_put(out, "{}",
             kept ? html_text("Looked at and kept in quarantine")
                  : html_slice(last->event, HTML_NAME_MOST));
    if (last->by.size)
        html_put(out, " by {}", html_slice(last->by, HTML_NAME_MOST));
    if (last->reason.size)
        html_put(out, ": {}", html_slice(last->reason, HTML_TEXT_MOST));
}

static void put_entry(struct buffer *out, const char *base, const struct feed_entry *entry)
{
    const struct history *history = &entry->history;
    buffer_text(out, "<entry>");
    put_id(out, base, "/review/", entry->run_id, entry->run_id);
    html_put(out, "<title>Run {}: ", html_slice(entry->run_id, HTML_NAME_MOST));
    put_codes(out, history, false);
    html_put(out, "</title><updated>{}</updated>", html_slice(updated_at(history), HTML_NAME_MOST));
    if (history->accepted_at.size)
        html_put(out, "<published>{}</published>",
                 html_slice(history->accepted_at, HTML_NAME_MOST));
    html_put(out,
             "<link rel=\"alternate\" type=\"text/html\" href=\"{}/review/{}\"/>"
             "<summary>Quarantined",
             html_text(base), html_query(entry->run_id));
    if (history->rules)
        html_put(out, " by rule set {}", html_number(history->rules));
    if (history->code_count)
        buffer_text(out, ": ");
    put_codes(out, history, true);
    buffer_text(out, ". ");
    put_decision(out, history);
    buffer_text(out, "</summary></entry>\n");
}

void quarantine_feed_write(struct buffer *out, const char *base, const struct feed_entry *entries,
                           size_t count)
{
    static const char name[] = "quarantine.atom";
    struct text updated = {never, sizeof never - 1}, own = {name, sizeof name - 1};
    for (size_t i = 0; i < count; i++)
        if (is_later(updated_at(&entries[i].history), updated))
            updated = updated_at(&entries[i].history);
    buffer_text(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                     "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"en\">");
    put_id(out, base, "/", own, own);
    html_put(out,
             "<title>Runs in quarantine</title><author><name>benchledger</name></author>"
             "<updated>{}</updated><link rel=\"self\" type=\"application/atom+xml\" "
             "href=\"{}/{}\"/><link rel=\"alternate\" type=\"text/html\" href=\"{}/review\"/>\n",
             html_slice(updated, HTML_NAME_MOST), html_text(base), html_text(name),
             html_text(base));
    for (size_t i = 0; i < count; i++)
        put_entry(out, base, &entries[i]);
    buffer_text(out, "</feed>\n");
}
