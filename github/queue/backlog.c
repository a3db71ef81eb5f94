#include "github/queue/backlog.h"

#include <stdlib.h>
#include <string.h>

#include "github/change/load.h"
#include "github/change/table.h"
#include "validator/arena.h"

struct entry_record {
    struct table_item item; /* keyed by the run id */
    const char *json;       /* in the arena */
    size_t size;
    bool flagged;
};

struct reading {
    const struct dataset *landed;
    const git_oid *tip;
    struct arena arena;
    struct table entries;
    struct ledger ledger;
    struct pending **end;
    struct store_error *error;
    bool failed;
};

static void take_entry(void *context, const struct index_entry *entry)
{
    struct reading *reading = context;
    char key[TABLE_KEY_MAX + 1];
    table_run_key(entry->run_id->text, entry->run_id->size, key);
    struct table_item *item = table_find(&reading->entries, key);
    struct entry_record *record =
        (struct entry_record *)(item ? item : table_add(&reading->entries, key));
    record->json = arena_copy(&reading->arena, entry->json, entry->size);
    record->size = entry->size;
    record->flagged = entry->flagged;
}

static char *string_of(struct arena *arena, const struct js_value *value)
{
    return value ? arena_copy(arena, value->text, value->size) : NULL;
}

/* Of a line that we wrote; others have nothing to be applied again. */
static void take_line(void *context, const struct ledger_line *line)
{
    struct reading *reading = context;
    struct arena arena ARENA_SCOPE = {0};
    struct buffer flags BUFFER_SCOPE = {0};
    struct repository *repository = reading->landed->repository;
    char key[TABLE_KEY_MAX + 1];
    git_oid blob;
    if (reading->failed || !line->known || !js_equals(line->event, "accept") || !line->path ||
        !line->at)
        return;
    table_run_key(line->run_id->text, line->run_id->size, key);
    const struct entry_record *entry =
        (const struct entry_record *)table_find(&reading->entries, key);
    char *path = string_of(&arena, line->path);
    if (!entry || repository_find(repository, reading->tip, path, &blob, reading->error) !=
                      REPOSITORY_FOUND) {
        reading->failed = true;
        error_set(reading->error, "the queued run %s is not whole in %s", key, repository->path);
        return;
    }
    if (line->flags)
        js_print(line->document, line->flags, &flags);
    struct change change = {
        .run_id = string_of(&arena, line->run_id),
        .path = path,
        .entry = entry->json,
        .entry_size = entry->size,
        .flagged = entry->flagged,
        .at = string_of(&arena, line->at),
        .digest = string_of(&arena, line->digest),
        .submitted_digest = string_of(&arena, line->submitted_digest),
        .rules = line->rules ? (int)line->rules->number : 0,
        .flags = line->flags ? buffer_string(&flags) : NULL,
        .nonce_sha256 = string_of(&arena, line->nonce_sha256),
        .by = string_of(&arena, line->by),
    };
    struct pending *pending = pending_new(&change, NULL, NULL);
    pending->stored = true;
    pending->blob = blob;
    pending->result.seq = line->seq;
    *reading->end = pending;
    reading->end = &pending->next;
}

static bool read_day(void *context, const char *path, const git_oid *blob)
{
    struct reading *reading = context;
    struct buffer bytes BUFFER_SCOPE = {0};
    char day[LEDGER_DAY + 1];
    if (!ledger_path_day(path, day) || strcmp(day, ledger_day(&reading->ledger)) < 0)
        return true;
    return repository_read(reading->landed->repository, blob, &bytes, reading->error) &&
           ledger_read(&reading->ledger, day, buffer_string(&bytes), bytes.size, take_line, reading,
                       reading->error) &&
           !reading->failed;
}

bool backlog_read(const struct dataset *landed, const git_oid *tip, struct pending **list,
                  struct store_error *error)
{
    struct reading reading = {.landed = landed, .tip = tip, .end = list, .error = error};
    struct source source = source_commit(landed->repository, tip);
    *list = NULL;
    table_begin(&reading.entries, sizeof(struct entry_record), NULL);
    ledger_begin(&reading.ledger);
    ledger_copy(&reading.ledger, &landed->ledger);
    bool fine =
        load_entries_after(&source, index_entries(landed->index), take_entry, &reading, error) &&
        repository_list(landed->repository, tip, "ledger", read_day, &reading, error);
    ledger_free(&reading.ledger);
    table_free(&reading.entries);
    arena_free(&reading.arena);
    if (fine)
        return true;
    backlog_free(*list);
    *list = NULL;
    return false;
}

void backlog_free(struct pending *list)
{
    while (list) {
        struct pending *next = list->next;
        free(list);
        list = next;
    }
}
