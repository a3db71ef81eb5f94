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
    ledger_tell tell;
    size_t runs; /* accepted ahead of the landed dataset */
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

static bool fail(struct reading *reading, const struct ledger_line *line, const char *why)
{
    reading->failed = true;
    return error_set(reading->error, "the queued run %.*s %s in %s", (int)line->run_id->size,
                     line->run_id->text, why, reading->landed->repository->path);
}

static struct pending *add(struct reading *reading, const struct change *change,
                           const struct ledger_line *line)
{
    struct pending *pending = pending_new(change, NULL, NULL);
    pending->result.seq = line->seq;
    *reading->end = pending;
    reading->end = &pending->next;
    return pending;
}

static void take_run(struct reading *reading, const struct ledger_line *line)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer flags BUFFER_SCOPE = {0};
    struct repository *repository = reading->landed->repository;
    char key[TABLE_KEY_MAX + 1];
    git_oid blob;
    table_run_key(line->run_id->text, line->run_id->size, key);
    const struct entry_record *entry =
        (const struct entry_record *)table_find(&reading->entries, key);
    char *path = string_of(&arena, line->path);
    if (!entry || repository_find(repository, reading->tip, path, &blob, reading->error) !=
                      REPOSITORY_FOUND) {
        fail(reading, line, "is not whole");
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
        .withdraw_sha256 = string_of(&arena, line->withdraw_sha256),
    };
    struct pending *pending = add(reading, &change, line);
    pending->stored = true;
    pending->blob = blob;
}

static void take_decision(struct reading *reading, const struct ledger_line *line)
{
    struct arena arena ARENA_SCOPE = {0};
    enum decision decision = 0;
    while (decision < DECISIONS && !js_equals(line->action, decision_name(decision)))
        decision++;
    if (decision == DECISIONS) {
        fail(reading, line, "was decided on in a way that is not known here");
        return;
    }
    struct change change = {
        .kind = CHANGE_DECISION,
        .run_id = string_of(&arena, line->run_id),
        .at = string_of(&arena, line->at),
        .by = string_of(&arena, line->by),
        .decision = decision,
        .own = js_equals(line->event, "withdraw"),
        .reason = string_of(&arena, line->reason),
        .revision = line->revision && line->revision->number > 0 && line->revision->number < 9e15
                        ? (uint64_t)line->revision->number
                        : 0,
    };
    add(reading, &change, line);
}

/* Of a line that we wrote; others have nothing to be applied again. */
static void take_line(void *context, const struct ledger_line *line)
{
    struct reading *reading = context;
    if (reading->failed || !line->known || !line->at)
        return;
    if (!js_equals(line->event, "accept"))
        take_decision(reading, line);
    else if (line->path)
        take_run(reading, line);
}

static void count_line(void *context, const struct ledger_line *line)
{
    struct reading *reading = context;
    reading->runs += line->known && js_equals(line->event, "accept");
}

static bool read_day(void *context, const char *path, const git_oid *blob)
{
    struct reading *reading = context;
    struct buffer bytes BUFFER_SCOPE = {0};
    char day[LEDGER_DAY + 1];
    if (!ledger_path_day(path, day) || strcmp(day, ledger_day(&reading->ledger)) < 0)
        return true;
    return repository_read(reading->landed->repository, blob, &bytes, reading->error) &&
           ledger_read(&reading->ledger, day, buffer_string(&bytes), bytes.size, reading->tell,
                       reading, reading->error) &&
           !reading->failed;
}

static bool read_lines(struct reading *reading, ledger_tell tell)
{
    reading->tell = tell;
    ledger_begin(&reading->ledger);
    ledger_copy(&reading->ledger, &reading->landed->ledger);
    bool fine = repository_list(reading->landed->repository, reading->tip, "ledger", read_day,
                                reading, reading->error);
    ledger_free(&reading->ledger);
    return fine;
}

bool backlog_read(const struct dataset *landed, const git_oid *tip, struct pending **list,
                  struct store_error *error)
{
    struct reading reading = {.landed = landed, .tip = tip, .end = list, .error = error};
    struct source source = source_commit(landed->repository, tip);
    *list = NULL;
    table_begin(&reading.entries, sizeof(struct entry_record), NULL);
    /* Their entries are the last ones, wherever a queued withdrawal has made a gap. */
    bool fine = read_lines(&reading, count_line) &&
                load_last_entries(&source, reading.runs, take_entry, &reading, error) &&
                read_lines(&reading, take_line);
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
        pending_free(list);
        list = next;
    }
}
