#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "github/change/catalogue_state.h"
#include "validator/arena.h"

enum { DROPPED_MOST = 16 * 1024 };

/* Release and keep are for what is in quarantine, withdraw for whatever can be seen, redact for whatever
 * has a file. */
bool decision_fits(enum decision decision, enum run_status status)
{
    if (decision == DECISION_REDACT)
        return status == RUN_QUARANTINED || status == RUN_PUBLISHED || status == RUN_WITHDRAWN;
    return status == RUN_QUARANTINED || (status == RUN_PUBLISHED && decision == DECISION_WITHDRAW);
}

enum decided catalogue_decide(struct catalogue *catalogue, const struct change *change,
                              struct run_state *state)
{
    enum decided result = DECIDED_TAKEN;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, change->run_id);
    if (!run || !(run->held || run->claim)) {
        result = DECIDED_UNKNOWN;
    } else {
        record_describe(run, state);
        if (!run->held)
            result = DECIDED_QUEUED;
        else if (run->claim || (!change->own && change->revision != run->revision))
            result = DECIDED_STALE;
        else if (!decision_fits(change->decision, state->status))
            result = DECIDED_STATE;
        else
            run->claim = record_new_claim(state->path, "", "");
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return result;
}

void catalogue_drop_decision(struct catalogue *catalogue, const char *run_id, const char *line)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, run_id);
    if (run && (!run->dropped || strlen(run->dropped) < DROPPED_MOST))
        record_add_line(&run->dropped, line, strlen(line));
    pthread_mutex_unlock(&catalogue->mutex);
}

/* The last accepted first; runs without a ledger line come last, by their id. */
static int by_acceptance(const void *left, const void *right)
{
    const struct run_record *a = *(struct run_record *const *)left,
                            *b = *(struct run_record *const *)right;
    if (a->accepted != b->accepted)
        return a->accepted > b->accepted ? -1 : 1;
    return strcmp(a->item.key, b->item.key);
}

static bool is_kept(const struct run_record *run)
{
    return run->history != NULL; /* in quarantine, keeping is all that can have been decided */
}

static bool is_wanted(const struct run_record *run, const struct store_quarantine *wanted)
{
    char needle[80];
    if (!run->held || record_status(run) != RUN_QUARANTINED)
        return false;
    if (wanted->kept && (wanted->kept > 0) != is_kept(run))
        return false;
    if (!wanted->flag)
        return true;
    snprintf(needle, sizeof needle, "\"%s\"", wanted->flag);
    return strstr(record_or_empty(run->flags), needle) != NULL;
}

size_t catalogue_quarantined(struct catalogue *catalogue, const struct store_quarantine *wanted,
                             struct run_state *states, size_t *all)
{
    struct run_record **found = NULL;
    size_t count = 0, room = 0, used = 0;
    pthread_mutex_lock(&catalogue->mutex);
    for (size_t i = 0; i < catalogue->runs.room; i++)
        for (struct table_item *item = catalogue->runs.slots[i]; item; item = item->next) {
            struct run_record *run = (struct run_record *)item;
            if (!is_wanted(run, wanted))
                continue;
            if (count == room) {
                room = room ? room * 2 : 64;
                found = memory_grow(found, room * sizeof(struct run_record *));
            }
            found[count++] = run;
        }
    if (count)
        qsort(found, count, sizeof *found, by_acceptance);
    for (size_t i = 0; i < count && used < wanted->most; i++) {
        const struct run_record *run = found[wanted->oldest_first ? count - 1 - i : i];
        if ((!wanted->before || run->accepted < wanted->before) &&
            (!wanted->after || run->accepted > wanted->after))
            record_describe(run, &states[used++]);
    }
    pthread_mutex_unlock(&catalogue->mutex);
    free(found);
    *all = count;
    return used;
}
