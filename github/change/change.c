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
    free(pending);
}

struct ledger_event change_event(const struct change *change)
{
    return (struct ledger_event){
        .at = change->at,
        .event = "accept",
        .run_id = change->run_id,
        .path = change->path,
        .digest = change->digest,
        .submitted_digest = change->submitted_digest,
        .rules = change->rules,
        .flags = change->flags ? change->flags : "[]",
        .nonce_sha256 = change->nonce_sha256,
        .by = change->by,
    };
}

void batch_message(const struct pending *batch, struct buffer *out)
{
    size_t published = 0, quarantined = 0;
    const struct change *only = NULL;
    for (const struct pending *item = batch; item; item = item->next) {
        if (item->result.outcome != CHANGE_COMMITTED)
            continue;
        only = &item->change;
        if (only->flagged)
            quarantined++;
        else
            published++;
    }
    if (published + quarantined == 1)
        buffer_format(out, "bench: %s run %s\n", quarantined ? "quarantine" : "add", only->run_id);
    else if (!quarantined)
        buffer_format(out, "bench: add %zu runs\n", published);
    else if (!published)
        buffer_format(out, "bench: quarantine %zu runs\n", quarantined);
    else
        buffer_format(out, "bench: add %zu run%s, quarantine %zu\n", published,
                      published == 1 ? "" : "s", quarantined);
}
