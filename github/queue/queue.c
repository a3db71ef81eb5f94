#include "github/queue/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "validator/arena.h"

void queue_begin(struct queue *queue)
{
    *queue = (struct queue){0};
    queue->last = &queue->first;
}

struct queued *queue_add(struct queue *queue, const struct pending *pending)
{
    const struct change *change = &pending->change;
    struct queued *item = memory_grow(NULL, sizeof *item);
    *item = (struct queued){.suspect = change->suspect,
                            .done = pending->done,
                            .context = pending->context,
                            .seq = pending->result.seq};
    snprintf(item->run_id, sizeof item->run_id, "%s", change->run_id);
    snprintf(item->submitted_digest, sizeof item->submitted_digest, "%s",
             change->submitted_digest ? change->submitted_digest : "");
    snprintf(item->digest, sizeof item->digest, "%s", change->digest ? change->digest : "");
    memcpy(item->commit, pending->result.commit, sizeof item->commit);
    item->kind = change->kind;
    if (item->kind == CHANGE_DECISION) {
        struct buffer line = {0};
        struct ledger_event event = pending_event(pending);
        ledger_print_event(&event, &line);
        item->line = buffer_take(&line, NULL);
        item->mark = change_mark(change);
        item->revision = change->revision;
        item->own = change->own;
    }
    *queue->last = item;
    queue->last = &item->next;
    queue->count++;
    return item;
}

struct trial_counts queue_count(const struct queue *queue)
{
    struct trial_counts counts = {0};
    for (const struct queued *item = queue->first; item; item = item->next) {
        if (item->condemned)
            counts.condemned++;
        else if (item->suspect)
            counts.suspects++;
        else
            counts.plain++;
    }
    return counts;
}

size_t queue_boundary(const struct queue *queue, size_t count)
{
    size_t passed = 0;
    for (const struct queued *item = queue->first; item; item = item->next) {
        passed++;
        bool ends = !item->next || !*item->commit || strcmp(item->commit, item->next->commit) != 0;
        if (passed >= count && ends)
            break;
    }
    return passed;
}

const char *queue_prefix(const struct queue *queue, size_t count)
{
    const struct queued *item = queue->first;
    for (; item && !item->suspect && !item->condemned; item = item->next)
        if (--count == 0)
            return item->next && !strcmp(item->commit, item->next->commit) ? "" : item->commit;
    return "";
}

void queue_choose(struct queue *queue, struct aim aim)
{
    size_t left = aim.count;
    for (struct queued *item = queue->first; item; item = item->next) {
        bool meant = aim.kind == AIM_ALL ||
                     (!item->condemned && item->suspect == (aim.kind == AIM_SUSPECT) && left > 0 &&
                      aim.kind != AIM_EMPTY && aim.kind != AIM_NOTHING);
        item->chosen = meant;
        left -= meant && left > 0;
    }
}

size_t queue_name(struct queue *queue, const char *text)
{
    size_t named = 0;
    for (struct queued *item = queue->first; item; item = item->next) {
        if (!item->chosen || !strcasestr(text, item->run_id))
            continue;
        item->suspect = true;
        named++;
    }
    return named;
}

void queue_doubt_chosen(struct queue *queue)
{
    for (struct queued *item = queue->first; item; item = item->next)
        if (item->chosen)
            item->suspect = item->doubted = true;
}

void queue_condemn_chosen(struct queue *queue)
{
    for (struct queued *item = queue->first; item; item = item->next)
        item->condemned = item->condemned || item->chosen;
}

bool queue_chosen_doubted(const struct queue *queue)
{
    for (const struct queued *item = queue->first; item; item = item->next)
        if (item->chosen)
            return item->doubted;
    return false;
}

void queue_forgive(struct queue *queue)
{
    for (struct queued *item = queue->first; item; item = item->next)
        item->condemned = item->doubted = false;
}

static struct queued *find_from(struct queued *item, const char *run_id)
{
    while (item && strcasecmp(item->run_id, run_id))
        item = item->next;
    return item;
}

struct queued *queue_find(struct queue *queue, struct queued **cursor, const char *run_id)
{
    struct queued *found = find_from(*cursor, run_id);
    if (!found)
        found = find_from(queue->first, run_id);
    if (found)
        *cursor = found->next;
    return found;
}

void queue_tell(struct queued *item, bool away)
{
    struct change_result result = {
        .outcome = CHANGE_QUEUED, .more = true, .away = away, .seq = item->seq};
    memcpy(result.submitted_digest, item->submitted_digest, sizeof result.submitted_digest);
    item->gave_up_waiting = away;
    if (item->done)
        item->done(item->context, &result);
}

static void take_out(struct queue *queue, struct queued *item)
{
    struct queued **at = &queue->first;
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    if (queue->last == &item->next)
        queue->last = at;
    queue->count--;
}

/* The decision's line, with how it ended. */
static void note_dropped(const struct queue *queue, const struct queued *item,
                         const struct change_result *result, struct catalogue *catalogue)
{
    struct buffer line BUFFER_SCOPE = {0}, message BUFFER_SCOPE = {0};
    bool declined = result->outcome == CHANGE_DECLINED;
    buffer_add(&line, item->line, strlen(item->line) - 1);
    buffer_format(&line, ",\"outcome\":\"%s\"}", declined ? "declined" : "stale");
    catalogue_drop_decision(catalogue, item->run_id, buffer_string(&line));
    if (item->done || !queue->tell)
        return;
    buffer_format(&message, "a decision was dropped: %s: %s",
                  declined                 ? "the dataset's host declined it"
                  : *result->error.message ? result->error.message
                                           : "another came before it",
                  item->line);
    queue->tell(queue->tell_context, STORE_WARNING, buffer_string(&message));
}

void queue_end(struct queue *queue, struct queued *item, struct catalogue *catalogue,
               const struct change_result *result)
{
    struct change_result told = *result;
    told.seq = item->seq;
    memcpy(told.submitted_digest, item->submitted_digest, sizeof told.submitted_digest);
    take_out(queue, item);
    if (item->kind == CHANGE_DECISION &&
        (told.outcome == CHANGE_STALE || told.outcome == CHANGE_DECLINED))
        note_dropped(queue, item, &told, catalogue);
    struct waiters *waiters = catalogue_end_claim(catalogue, item->run_id, true);
    if (item->done)
        item->done(item->context, &told);
    waiters_tell(waiters, &told);
    free(item->line);
    free(item);
}

void queue_free(struct queue *queue, struct catalogue *catalogue)
{
    struct change_result queued = {.outcome = CHANGE_QUEUED};
    while (queue->first)
        queue_end(queue, queue->first, catalogue, &queued);
}
