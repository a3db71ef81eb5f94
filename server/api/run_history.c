#include "server/api/run_history.h"

#include <stdlib.h>
#include <string.h>

#include "validator/calendar.h"
#include "validator/protocol.h"

static struct text text_member(const struct js_value *object, const char *key)
{
    const struct js_value *value = js_get(object, key);
    return text_of(value && value->type == JS_STRING ? value : NULL);
}

/* Others may write to the dataset: what is no time is none. */
static struct text time_member(const struct js_value *object, const char *key)
{
    struct text text = text_member(object, key);
    double ms;
    int year, month;
    return calendar_read(text, &ms, &year, &month) ? text : (struct text){0};
}

static bool read_event(struct arena *arena, const char *line, size_t size, bool overtaken,
                       struct history_event *event)
{
    struct js_document document;
    struct js_error error;
    if (!js_read(arena, line, size, &document, &error) || document.root.type != JS_OBJECT)
        return false;
    const struct js_value *root = &document.root, *seq = js_get(root, "seq");
    bool numbered = !overtaken && seq && seq->type == JS_NUMBER && seq->number > 0;
    *event = (struct history_event){.event = text_member(root, "event"),
                                    .action = text_member(root, "action"),
                                    .at = time_member(root, "at"),
                                    .by = text_member(root, "by"),
                                    .reason = text_member(root, "reason"),
                                    .seq = numbered ? (unsigned long long)seq->number : 0,
                                    .overtaken = overtaken,
                                    .declined = js_equals(js_get(root, "outcome"), "declined")};
    return true;
}

static size_t count_lines(const char *lines)
{
    size_t count = 0;
    for (; lines && (lines = strchr(lines, '\n')); lines++)
        count++;
    return count;
}

/* The last RUN_HISTORY_MOST of LINES, which may be NULL. */
static size_t read_lines(struct arena *arena, const char *lines, bool overtaken,
                         struct history_event *events)
{
    size_t count = 0, all = count_lines(lines);
    for (const char *end; lines && (end = strchr(lines, '\n')); lines = end + 1)
        if (all-- <= RUN_HISTORY_MOST)
            count += read_event(arena, lines, (size_t)(end - lines), overtaken, &events[count]);
    return count;
}

static int by_time(const struct history_event *left, const struct history_event *right)
{
    size_t size = left->at.size < right->at.size ? left->at.size : right->at.size;
    return size ? memcmp(left->at.data, right->at.data, size) : 0;
}

/* Puts the overtaken events behind COUNT others where they belong in time; the ledger's keep their order. */
static void merge(struct history_event *events, size_t count, size_t all)
{
    for (size_t i = count; i < all; i++) {
        struct history_event late = events[i];
        size_t at = i;
        for (; at > 0 && by_time(&events[at - 1], &late) > 0; at--)
            events[at] = events[at - 1];
        events[at] = late;
    }
}

static void read_codes(struct arena *arena, const char *flags, struct history *out)
{
    struct js_document document;
    struct js_error error;
    if (!flags || !js_read(arena, flags, strlen(flags), &document, &error) ||
        document.root.type != JS_ARRAY)
        return;
    struct text *codes = arena_clear_take(arena, document.root.size, sizeof *codes);
    for (uint32_t i = 0; i < document.root.size; i++)
        if (document.root.items[i].type == JS_STRING)
            codes[out->code_count++] = text_of(&document.root.items[i]);
    out->codes = codes;
}

/* What the codes alone say: a rule may reject sometimes only. */
static enum history_verdict verdict_of_codes(struct arena *arena, const struct history *history)
{
    enum history_verdict verdict = HISTORY_PUBLISHED;
    for (size_t i = 0; i < history->code_count; i++) {
        struct rule_text rule;
        const struct text code = history->codes[i];
        bool known = protocol_rule(protocol_localmode_bench(), history->rules,
                                   arena_copy(arena, code.data, code.size), &rule);
        if (known && rule.severity == SEVERITY_REJECT)
            return HISTORY_QUARANTINED;
        if (!known || rule.rejects)
            verdict = HISTORY_UNSURE;
    }
    return verdict;
}

static enum history_verdict find_verdict(struct arena *arena, const struct run_state *state,
                                         const struct history *history)
{
    if (state->status == RUN_QUARANTINED)
        return HISTORY_QUARANTINED;
    for (size_t i = 0; i < history->event_count; i++) {
        const struct history_event *event = &history->events[i];
        if (!event->overtaken &&
            (text_is(event->action, "release") || text_is(event->action, "keep")))
            return HISTORY_QUARANTINED;
    }
    return state->status == RUN_PUBLISHED ? HISTORY_PUBLISHED : verdict_of_codes(arena, history);
}

void run_history_read(struct arena *arena, const struct run_state *state, struct text protocol,
                      struct history *out)
{
    struct history_event *events =
        arena_clear_take(arena, 2 * (size_t)RUN_HISTORY_MOST, sizeof *events);
    *out = (struct history){.in_ledger = state->accepted > 0,
                            .accepted_at = {state->at, strlen(state->at)},
                            .by = {state->by, state->by ? strlen(state->by) : 0},
                            .with_nonce = state->with_nonce,
                            .seq = state->accepted,
                            .protocol = protocol,
                            .rules = state->rules,
                            .events = events};
    size_t count = read_lines(arena, state->history, false, events);
    out->event_count = count + read_lines(arena, state->dropped, true, events + count);
    merge(events, count, out->event_count);
    read_codes(arena, state->flags, out);
    out->verdict = find_verdict(arena, state, out);
}
