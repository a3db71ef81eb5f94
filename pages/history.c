#include "pages/history.h"

#include "pages/board_links.h"
#include "validator/text.h"

static void put_by(struct buffer *out, struct text by, const char *nobody)
{
    if (by.size)
        html_put(out, " by <bdi>{}</bdi>", html_slice(by, HTML_NAME_MOST));
    else
        buffer_text(out, nobody);
}

static void put_seq(struct buffer *out, unsigned long long seq)
{
    if (seq)
        html_put(out, " <small class=\"soft\">ledger event {}</small>", html_number((double)seq));
}

/* What is done to a run, as a word of a sentence and what follows from it. */
static const struct action {
    const char *name, *done, *effect;
} actions[] = {
    {"release", "Released", "onto the board"},
    {"keep", "Looked at and kept in quarantine", ""},
    {"withdraw", "Withdrawn", ""},
};

static void put_done(struct buffer *out, const struct history_event *event)
{
    bool own = text_is(event->event, "withdraw");
    if (text_is(event->event, "redact")) {
        buffer_text(out, "<b>Redacted</b>");
        put_by(out, event->by, "");
        return;
    }
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (!text_is(event->action, actions[i].name) || !(own || text_is(event->event, "decide")))
            continue;
        html_put(out, "<b>{}</b>{}{}", html_text(actions[i].done),
                 html_text(*actions[i].effect ? " " : ""), html_text(actions[i].effect));
        put_by(out, event->by, own ? " by whoever submitted it" : "");
        return;
    }
    html_put(out, "<b>{}</b> {}", html_slice(event->event, HTML_NAME_MOST),
             html_slice(event->action, HTML_NAME_MOST));
    put_by(out, event->by, "");
}

void history_put_event(struct buffer *out, const struct history_event *event)
{
    put_moment(out, event->at);
    buffer_byte(out, ' ');
    if (event->overtaken)
        buffer_text(out, "<span class=\"mark warn\">overtaken</span> ");
    put_done(out, event);
    buffer_byte(out, '.');
    if (event->overtaken)
        buffer_text(out, " It came to nothing: something else had been decided by then.");
    put_seq(out, event->seq);
    if (event->reason.size)
        html_put(out, "<blockquote>{}</blockquote>", html_slice(event->reason, HTML_TEXT_MOST));
}

static void put_origin(struct buffer *out, const struct history *history)
{
    if (!history->in_ledger) {
        buffer_text(out, "<li>Came in before the dataset had a ledger, or by hand.</li>");
        return;
    }
    buffer_text(out, "<li>");
    put_moment(out, history->accepted_at);
    buffer_text(out, " <b>Accepted</b>, ");
    if (history->with_nonce)
        buffer_text(out, "sent by a client, with a nonce.");
    else {
        buffer_text(out, "imported");
        put_by(out, history->by, "");
        buffer_text(out, ", without a nonce.");
    }
    put_seq(out, history->seq);
    buffer_text(out, "</li>");
}

static void put_codes(struct buffer *out, const struct history *history)
{
    for (size_t i = 0; i < history->code_count; i++) {
        buffer_text(out, i ? ", " : " ");
        if (history->protocol.size)
            html_put(out, "<a href=\"/methodology/{}#{}\"><code>{}</code></a>",
                     html_slice(history->protocol, HTML_NAME_MOST),
                     html_slice(history->codes[i], HTML_NAME_MOST),
                     html_slice(history->codes[i], HTML_NAME_MOST));
        else
            html_put(out, "<code>{}</code>", html_slice(history->codes[i], HTML_NAME_MOST));
    }
}

static void put_verdict(struct buffer *out, const struct history *history)
{
    static const char *const words[][2] = {
        [HISTORY_PUBLISHED] = {"Published", "with warnings of"},
        [HISTORY_QUARANTINED] = {"Quarantined", "by"},
        [HISTORY_UNSURE] = {"Judged", "by"},
    };
    if (!history->in_ledger)
        return;
    buffer_text(out, "<li>");
    put_moment(out, history->accepted_at);
    if (history->code_count)
        html_put(out, " <b>{}</b> {} rule set {}:", html_text(words[history->verdict][0]),
                 html_text(words[history->verdict][1]), html_number(history->rules));
    else
        html_put(out, " <b>{}</b>: rule set {} had nothing to say",
                 html_text(words[history->verdict][0]), html_number(history->rules));
    put_codes(out, history);
    buffer_text(out, ".</li>");
}

const struct history_event *history_last(const struct history *history)
{
    for (size_t i = history->event_count; i > 0; i--)
        if (!history->events[i - 1].overtaken)
            return &history->events[i - 1];
    return NULL;
}

void history_write(struct buffer *out, const struct history *history)
{
    buffer_text(out, "<ol class=\"history\">");
    put_origin(out, history);
    put_verdict(out, history);
    for (size_t i = 0; i < history->event_count; i++) {
        buffer_text(out, "<li>");
        history_put_event(out, &history->events[i]);
        buffer_text(out, "</li>");
    }
    buffer_text(out, "</ol>");
}
