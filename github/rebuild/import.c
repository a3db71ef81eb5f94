#include "github/rebuild/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "github/change/table.h"
#include "github/rebuild/hand.h"
#include "github/repository/files.h"
#include "github/repository/source.h"
#include "validator/arena.h"

/* What waits at most before it is written together. */
enum { BATCH_RUNS = 256, BATCH_BYTES = 32 << 20 };

struct import {
    struct import_options options;
    struct hand hand;            /* of a repository */
    bool folder;                 /* it is none: */
    struct catalogue *catalogue; /* what the folder has */
    struct ledger ledger;
    bool wrote; /* files */
    struct pending *first, **last;
    size_t count, bytes;
    struct table waiting; /* ids in the batch */
};

static bool is_folder(const char *dataset, const char *name)
{
    struct arena arena ARENA_SCOPE = {0};
    struct stat status;
    return !stat(arena_format(&arena, "%s/%s", dataset, name), &status) && S_ISDIR(status.st_mode);
}

static struct source source_of(struct import *import)
{
    if (import->folder)
        return source_folder(import->options.dataset);
    return source_commit(import->hand.repository, &import->hand.dataset.tip);
}

static void take_line(void *context, const struct ledger_line *line)
{
    struct import *import = context;
    catalogue_line(import->catalogue, line, files_wall_ms());
}

struct reading {
    struct import *import;
    struct store_error *error;
};

static bool read_day(void *context, const char *path)
{
    struct reading *reading = context;
    struct import *import = reading->import;
    struct source source = source_of(import);
    struct buffer bytes BUFFER_SCOPE = {0};
    char day[LEDGER_DAY + 1];
    if (!ledger_path_day(path, day))
        return true;
    return source_read(&source, path, &bytes, reading->error) == REPOSITORY_FOUND &&
           ledger_read(&import->ledger, day, buffer_string(&bytes), bytes.size, take_line, import,
                       reading->error);
}

/* Files are named after their runs. */
static bool list_run(void *context, const char *path)
{
    struct reading *reading = context;
    const char *name = strrchr(path, '/') + 1, *end = strstr(name, ".json");
    if (end)
        catalogue_listed(reading->import->catalogue, name, (size_t)(end - name), path,
                         strlen(path));
    return true;
}

static bool open_folder(struct import *import, struct store_error *error)
{
    struct reading reading = {import, error};
    struct source source = source_of(import);
    import->catalogue = catalogue_new();
    return source_list(&source, "ledger", read_day, &reading, error) &&
           source_list(&source, "runs", list_run, &reading, error) &&
           source_list(&source, "quarantine", list_run, &reading, error) &&
           source_list(&source, "withdrawn", list_run, &reading, error);
}

bool import_open(const struct import_options *options, struct import **out,
                 struct store_error *error)
{
    struct import *import = *out = memory_grow(NULL, sizeof *import);
    *import = (struct import){.options = *options, .last = &import->first};
    table_begin(&import->waiting, sizeof(struct table_item), NULL);
    ledger_begin(&import->ledger);
    import->folder =
        is_folder(options->dataset, "runs") || is_folder(options->dataset, "quarantine");
    if (import->folder)
        return open_folder(import, error);
    return hand_open(&import->hand, options->dataset, &options->author, options->summary_limit,
                     error);
}

/* The digest in the file of a run that has no ledger line. */
static void read_digest(struct import *import, struct run_state *state)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer bytes BUFFER_SCOPE = {0};
    struct js_document document;
    struct js_error problem;
    struct source source = source_of(import);
    if (source_read(&source, state->path, &bytes, NULL) != REPOSITORY_FOUND ||
        !js_read(&arena, buffer_string(&bytes), bytes.size, &document, &problem))
        return;
    const struct js_value *digest = js_get(&document.root, "digest");
    if (digest && digest->type == JS_STRING && digest->size == SHA256_HEX)
        memcpy(state->digest, digest->text, SHA256_HEX);
}

/* Tells the end of a change that the dataset did not need. */
static void tell_known(struct import *import, const struct change *change)
{
    struct run_state state = {0};
    uint64_t accepted;
    struct catalogue *catalogue =
        import->folder ? import->catalogue : import->hand.dataset.catalogue;
    bool known = catalogue_find(catalogue, change->run_id, &state, &accepted);
    if (known && !*state.digest)
        read_digest(import, &state);
    bool same = known && (!strcmp(state.submitted_digest, change->submitted_digest) ||
                          !strcmp(state.digest, change->digest));
    import->options.tell(import->options.context, change->run_id,
                         same ? IMPORT_KNOWN : IMPORT_DUPLICATE, known ? state.path : change->path,
                         "");
    if (known)
        run_state_free(&state);
}

static bool write_run(struct import *import, struct pending *item, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const struct change *change = &item->change;
    char *path = arena_format(&arena, "%s/%s", import->options.dataset, change->path);
    char *folder = arena_copy(&arena, path, (size_t)(strrchr(path, '/') - path));
    if (!files_make_folders(folder, error) ||
        !files_replace(path, change->bytes, change->bytes_size, error))
        return false;
    import->wrote = true;
    struct ledger_event event = pending_event(item);
    item->result.outcome = CHANGE_COMMITTED;
    item->result.seq = ledger_append(&import->ledger, &event, &item->move.line);
    return files_sync_folder(folder) || error_system(error, "cannot sync %s", folder);
}

static bool write_ledger(struct import *import, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    char name[LEDGER_PATH_MAX];
    const char *bytes;
    size_t size;
    const char *folder = arena_format(&arena, "%s/ledger", import->options.dataset);
    if (!files_make_folders(folder, error))
        return false;
    for (size_t i = 0; ledger_changed(&import->ledger, i, name, &bytes, &size); i++)
        if (!files_replace(arena_format(&arena, "%s/%s", import->options.dataset, name), bytes,
                           size, error))
            return false;
    ledger_settle(&import->ledger);
    return files_sync_folder(folder) || error_system(error, "cannot sync %s", folder);
}

/* Files first: a line never names one that is missing. */
static bool write_batch(struct import *import, struct store_error *error)
{
    for (struct pending *item = import->first; item; item = item->next) {
        item->result.outcome = CHANGE_DUPLICATE;
        if (!catalogue_holds(import->catalogue, item->change.run_id) &&
            !write_run(import, item, error))
            return false;
    }
    if (!write_ledger(import, error))
        return false;
    for (struct pending *item = import->first; item; item = item->next) {
        struct ledger_event event = pending_event(item);
        if (item->result.outcome == CHANGE_COMMITTED)
            catalogue_event(import->catalogue, &event, item->result.seq,
                            buffer_string(&item->move.line), "", files_wall_ms());
    }
    return true;
}

static void end_batch(struct import *import, bool tell)
{
    for (struct pending *item = import->first, *next; item; item = next) {
        next = item->next;
        if (tell && item->result.outcome == CHANGE_COMMITTED)
            import->options.tell(import->options.context, item->change.run_id, IMPORT_ADDED,
                                 item->change.path, item->result.commit);
        else if (tell)
            tell_known(import, &item->change);
        pending_free(item);
    }
    table_free(&import->waiting);
    table_begin(&import->waiting, sizeof(struct table_item), NULL);
    import->first = NULL;
    import->last = &import->first;
    import->count = import->bytes = 0;
}

bool import_flush(struct import *import, struct store_error *error)
{
    bool fine =
        !import->first || (import->folder ? write_batch(import, error)
                                          : hand_commit(&import->hand, import->first, error));
    end_batch(import, fine);
    return fine;
}

bool import_add(struct import *import, const struct change *change, struct store_error *error)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(change->run_id, strlen(change->run_id), key);
    bool full = import->count == BATCH_RUNS || import->bytes > BATCH_BYTES;
    if ((full || table_find(&import->waiting, key)) && !import_flush(import, error))
        return false;
    struct pending *item = pending_new(change, NULL, NULL);
    table_add(&import->waiting, key);
    *import->last = item;
    import->last = &item->next;
    import->count++;
    import->bytes += change->bytes_size + change->entry_size;
    return true;
}

bool import_needs_index(const struct import *import)
{
    return import->wrote;
}

void import_close(struct import *import)
{
    if (!import)
        return;
    end_batch(import, false);
    table_free(&import->waiting);
    catalogue_free(import->catalogue);
    ledger_free(&import->ledger);
    hand_close(&import->hand);
    free(import);
}
