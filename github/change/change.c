#include "github/change/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

/* The fields of a change that are text, or NULL. */
static const size_t texts[] = {
    offsetof(struct change, run_id),
    offsetof(struct change, path),
    offsetof(struct change, at),
    offsetof(struct change, digest),
    offsetof(struct change, submitted_digest),
    offsetof(struct change, flags),
    offsetof(struct change, nonce_sha256),
    offsetof(struct change, by),
    offsetof(struct change, withdraw_sha256),
    offsetof(struct change, reason),
};
enum { TEXTS = sizeof texts / sizeof *texts };

static const char **text_field(struct change *change, size_t i)
{
    return (const char **)(void *)((char *)change + texts[i]);
}

static const char *put(char **room, const char *data, size_t size)
{
    char *start = *room;
    if (size)
        memcpy(start, data, size);
    start[size] = '\0';
    *room += size + 1;
    return start;
}

struct pending *pending_new(const struct change *change, change_done done, void *context)
{
    struct change source = *change;
    size_t size = sizeof(struct pending) + change->bytes_size + 1 + change->entry_size + 1;
    for (size_t i = 0; i < TEXTS; i++)
        if (*text_field(&source, i))
            size += strlen(*text_field(&source, i)) + 1;
    struct pending *pending = memory_grow(NULL, size);
    *pending = (struct pending){.change = source, .done = done, .context = context};
    char *room = (char *)(pending + 1);
    pending->change.bytes = put(&room, source.bytes, source.bytes_size);
    pending->change.entry = put(&room, source.entry, source.entry_size);
    for (size_t i = 0; i < TEXTS; i++) {
        const char **field = text_field(&pending->change, i);
        if (*field)
            *field = put(&room, *field, strlen(*field));
    }
    return pending;
}

void waiters_tell(struct waiters *waiters, const struct change_result *result)
{
    for (size_t i = 0; waiters && i < waiters->count; i++)
        waiters->list[i].done(waiters->list[i].context, result);
    free(waiters);
}

void pending_finish(struct pending *pending)
{
    struct change_result *result = &pending->result;
    const char *submitted = pending->change.submitted_digest;
    snprintf(result->submitted_digest, sizeof result->submitted_digest, "%s",
             submitted ? submitted : "");
    if (pending->done)
        pending->done(pending->context, result);
    waiters_tell(pending->waiters, result);
    pending_free(pending);
}

void pending_free(struct pending *pending)
{
    buffer_free(&pending->move.entry);
    buffer_free(&pending->move.line);
    free(pending);
}

const char *decision_name(enum decision decision)
{
    static const char *const names[DECISIONS] = {[DECISION_RELEASE] = "release",
                                                 [DECISION_KEEP] = "keep",
                                                 [DECISION_WITHDRAW] = "withdraw",
                                                 [DECISION_REDACT] = "redact"};
    return names[decision];
}

void decision_path(enum decision decision, const char *path, char out[RUN_PATH_MAX + 1])
{
    static const char *const folders[DECISIONS] = {
        [DECISION_RELEASE] = "runs", [DECISION_WITHDRAW] = "withdrawn"};
    const char *rest = strchr(path, '/'), *folder = folders[decision];
    if (folder && rest)
        snprintf(out, RUN_PATH_MAX + 1, "%s%s", folder, rest);
    else
        snprintf(out, RUN_PATH_MAX + 1, "%s", decision == DECISION_REDACT ? "" : path);
}

static const char *event_name(const struct change *change)
{
    if (change->kind == CHANGE_RUN)
        return "accept";
    if (change->decision == DECISION_REDACT)
        return "redact";
    return change->own ? "withdraw" : "decide";
}

uint64_t change_mark(const struct change *change)
{
    return ledger_mark(event_name(change), decision_name(change->decision), change->by, change->at);
}

struct ledger_event pending_event(const struct pending *pending)
{
    const struct change *change = &pending->change;
    const struct move *move = &pending->move;
    if (change->kind == CHANGE_DECISION)
        return (struct ledger_event){
            .at = change->at,
            .event = event_name(change),
            .run_id = *move->run_id ? move->run_id : change->run_id,
            .path = *move->to ? move->to : NULL,
            .by = change->by,
            .action = decision_name(change->decision),
            .reason = change->reason,
            .revision = *move->run_id ? &move->revision : &change->revision,
        };
    return (struct ledger_event){
        .at = change->at,
        .event = event_name(change),
        .run_id = change->run_id,
        .path = change->path,
        .digest = change->digest,
        .submitted_digest = change->submitted_digest,
        .rules = change->rules,
        .flags = change->flags ? change->flags : "[]",
        .nonce_sha256 = change->nonce_sha256,
        .by = change->by,
        .withdraw_sha256 = change->withdraw_sha256,
    };
}

enum { ADDED, QUARANTINED, DECIDED, KINDS };

static int kind_of(const struct change *change)
{
    return change->kind == CHANGE_DECISION ? DECIDED : change->flagged ? QUARANTINED : ADDED;
}

/* What one change does, as a verb. */
static const char *verb_of(const struct change *change)
{
    static const char *const verbs[] = {[ADDED] = "add", [QUARANTINED] = "quarantine"};
    return change->kind == CHANGE_DECISION ? decision_name(change->decision)
                                           : verbs[kind_of(change)];
}

void batch_message(const struct pending *batch, struct buffer *out)
{
    static const char *const verbs[KINDS] = {"add", "quarantine", "decide on"};
    size_t counts[KINDS] = {0}, all = 0;
    const struct pending *only = NULL;
    for (const struct pending *item = batch; item; item = item->next) {
        if (item->result.outcome != CHANGE_COMMITTED)
            continue;
        only = item;
        counts[kind_of(&item->change)]++;
        all++;
    }
    if (all == 1) {
        buffer_format(out, "bench: %s run %s\n", verb_of(&only->change),
                      *only->move.run_id ? only->move.run_id : only->change.run_id);
        return;
    }
    const char *before = "bench: ";
    for (int kind = 0; kind < KINDS; kind++) {
        if (!counts[kind])
            continue;
        buffer_format(out, "%s%s %zu", before, verbs[kind], counts[kind]);
        if (*before != ',') /* said once */
            buffer_format(out, " run%s", counts[kind] == 1 ? "" : "s");
        before = ", ";
    }
    buffer_byte(out, '\n');
}
