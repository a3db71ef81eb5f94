#include <openssl/crypto.h>
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

/* Under the mutex that the run's state is read under: a code is checked for the state that it is used on. */
static bool code_fits(const struct run_record *run, const struct change *change)
{
    const char *given = record_or_empty(change->withdraw_sha256);
    return strlen(given) == SHA256_HEX && strlen(run->withdraw_sha256) == SHA256_HEX &&
           CRYPTO_memcmp(given, run->withdraw_sha256, SHA256_HEX) == 0;
}

static enum decided judge(const struct run_record *run, const struct change *change)
{
    if (!run->held)
        return DECIDED_QUEUED;
    if (change->own && !code_fits(run, change))
        return DECIDED_FORBIDDEN;
    if (change->own && run->claim)
        return DECIDED_STATE;
    if (run->claim || (!change->own && change->revision != run->revision))
        return DECIDED_STALE;
    return decision_fits(change->decision, record_status(run)) ? DECIDED_TAKEN : DECIDED_STATE;
}

enum decided catalogue_decide(struct catalogue *catalogue, const struct change *change,
                              struct run_state *state)
{
    enum decided result = DECIDED_UNKNOWN;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, change->run_id);
    if (run && (run->held || run->claim)) {
        record_describe(run, state);
        result = judge(run, change);
        if (result == DECIDED_TAKEN)
            run->claim = record_new_claim(state->path, "", "");
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return result;
}

uint64_t catalogue_last_seq(struct catalogue *catalogue)
{
    pthread_mutex_lock(&catalogue->mutex);
    uint64_t seq = catalogue->last_seq;
    pthread_mutex_unlock(&catalogue->mutex);
    return seq;
}

bool catalogue_has_decision(struct catalogue *catalogue, const char *run_id, uint64_t mark)
{
    pthread_mutex_lock(&catalogue->mutex);
    const struct run_record *run = catalogue_run(catalogue, run_id);
    bool found = false;
    for (size_t i = 0; run && run->held && i < run->mark_count && !found; i++)
        found = run->marks[i] == mark;
    pthread_mutex_unlock(&catalogue->mutex);
    return found;
}

void catalogue_drop_decision(struct catalogue *catalogue, const char *run_id, const char *line)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, run_id);
    if (run && (!run->dropped || strlen(run->dropped) < DROPPED_MOST))
        record_add_line(&run->dropped, line, strlen(line));
    pthread_mutex_unlock(&catalogue->mutex);
}

static bool is_quarantined(const struct run_record *run)
{
    return run->held && record_status(run) == RUN_QUARANTINED;
}

/* Runs without a ledger line come first, by their id. */
static int by_acceptance(const void *left, const void *right)
{
    const struct run_record *a = *(struct run_record *const *)left,
                            *b = *(struct run_record *const *)right;
    if (a->accepted != b->accepted)
        return a->accepted < b->accepted ? -1 : 1;
    return strcmp(b->item.key, a->item.key);
}

static void add_to_order(struct catalogue *catalogue, struct run_record *run)
{
    if (catalogue->order_count == catalogue->order_room) {
        catalogue->order_room = catalogue->order_room ? catalogue->order_room * 2 : 64;
        catalogue->order =
            memory_grow(catalogue->order, catalogue->order_room * sizeof(struct run_record *));
    }
    catalogue->order[catalogue->order_count++] = run;
    run->in_order = true;
}

/* What was accepted last goes to the end; everything else is rare. */
void catalogue_note_order(struct catalogue *catalogue, struct run_record *run)
{
    if (!catalogue->order_known || is_quarantined(run) == run->in_order)
        return;
    const struct run_record *last =
        catalogue->order_count ? catalogue->order[catalogue->order_count - 1] : NULL;
    if (!run->in_order && run->accepted && (!last || last->accepted < run->accepted))
        add_to_order(catalogue, run);
    else
        catalogue->order_known = false;
}

static void know_order(struct catalogue *catalogue)
{
    if (catalogue->order_known)
        return;
    catalogue->order_count = 0;
    for (size_t i = 0; i < catalogue->runs.room; i++)
        for (struct table_item *item = catalogue->runs.slots[i]; item; item = item->next) {
            struct run_record *run = (struct run_record *)item;
            run->in_order = false;
            if (is_quarantined(run))
                add_to_order(catalogue, run);
        }
    if (catalogue->order_count)
        qsort(catalogue->order, catalogue->order_count, sizeof *catalogue->order, by_acceptance);
    catalogue->order_known = true;
}

static bool is_kept(const struct run_record *run)
{
    return run->history != NULL; /* in quarantine, keeping is all that can have been decided */
}

static bool is_wanted(const struct run_record *run, const struct store_quarantine *wanted)
{
    char needle[128];
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
    size_t used = 0;
    *all = 0;
    pthread_mutex_lock(&catalogue->mutex);
    know_order(catalogue);
    size_t count = catalogue->order_count;
    for (size_t i = 0; i < count; i++) {
        const struct run_record *run = catalogue->order[wanted->oldest_first ? i : count - 1 - i];
        if (!is_wanted(run, wanted))
            continue;
        ++*all;
        if (used < wanted->most && (!wanted->before || run->accepted < wanted->before) &&
            (!wanted->after || run->accepted > wanted->after))
            record_describe(run, &states[used++]);
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return used;
}
