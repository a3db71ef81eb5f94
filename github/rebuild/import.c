#include "github/rebuild/import.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "github/change/archives.h"
#include "github/change/load.h"
#include "github/change/table.h"
#include "github/rebuild/hand.h"
#include "github/repository/files.h"
#include "github/repository/lock.h"
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
    struct lock lock;
    struct archives *archives;
    struct pending *first, **last;
    size_t count, bytes;
    struct table waiting; /* ids in the batch */
};

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

/* Files are named after their runs; what a killed writer left behind has more after it. */
static bool list_run(void *context, const char *path)
{
    struct import *import = context;
    const char *name = strrchr(path, '/') + 1;
    if (source_path_ends(name, ".json"))
        catalogue_listed(import->catalogue, name, strlen(name) - strlen(".json"), path,
                         strlen(path));
    return true;
}

/* Before anything is written: a run without its line, or both without an index, would be left behind. */
static bool check_folders(const char *dataset, struct store_error *error)
{
    static const char *const names[] = {"runs", "quarantine", "ledger", INDEX_SEGMENTS_FOLDER};
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof names / sizeof *names; i++)
        fine = files_lies_below(dataset, names[i], error);
    return fine;
}

/* A day that is a link would not be read, and a new ledger begun in its place. */
static bool check_days(const char *dataset, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *path = arena_format(&arena, "%s/ledger", dataset);
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT || error_system(error, "cannot list %s", path);
    bool fine = true;
    for (struct dirent *item; fine && (item = readdir(folder));) {
        struct stat status;
        if (!source_path_ends(item->d_name, ".jsonl"))
            continue;
        fine = (!fstatat(dirfd(folder), item->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
                S_ISREG(status.st_mode)) ||
               error_set(error, "%s/%s is no regular file", path, item->d_name);
    }
    closedir(folder);
    return fine;
}

static bool open_folder(struct import *import, struct store_error *error)
{
    const struct source source = source_of(import);
    import->catalogue = catalogue_new();
    /* one import at a time: each goes on from the ledger that it has read */
    return check_folders(import->options.dataset, error) &&
           check_days(import->options.dataset, error) &&
           lock_take_folder(import->options.dataset, &import->lock, error) &&
           load_ledger(&source, &import->ledger, take_line, import, NULL, error) &&
           source_list(&source, "runs", list_run, import, error) &&
           source_list(&source, "quarantine", list_run, import, error) &&
           source_list(&source, "withdrawn", list_run, import, error);
}

bool import_open(const struct import_options *options, struct import **out,
                 struct store_error *error)
{
    struct import *import = *out = memory_grow(NULL, sizeof *import);
    const struct store_options nobody = {0};
    *import = (struct import){.options = *options, .last = &import->first, .lock = {-1}};
    table_begin(&import->waiting, sizeof(struct table_item), NULL);
    ledger_begin(&import->ledger);
    import->folder = source_is_folder(options->dataset);
    bool fine = import->folder ? open_folder(import, error)
                               : hand_open(&import->hand, options->dataset, &options->author,
                                           options->summary_limit, error);
    if (!fine || !archives_open(options->archives, &nobody, &import->archives, error))
        return false;
    const struct source source = source_of(import);
    return archives_check(import->archives, &source, error);
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

/* The published form without what differs between two publications of one run: when, and so the digest. */
static bool print_essence(struct arena *arena, const char *bytes, size_t size, struct buffer *out)
{
    static const char *const omit[] = {"digest", "scrubbedAt", NULL};
    struct js_document document;
    struct js_error problem;
    if (!js_read(arena, bytes, size, &document, &problem) || document.root.type != JS_OBJECT)
        return false;
    js_print_canonical(&document, &document.root, omit, out);
    return true;
}

/* Whether the file at PATH is what CHANGE publishes, but for that. */
static bool is_same_run(struct import *import, const char *path, const struct change *change)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer bytes BUFFER_SCOPE = {0}, there BUFFER_SCOPE = {0}, here BUFFER_SCOPE = {0};
    const struct source source = source_of(import);
    return source_read(&source, path, &bytes, NULL) == REPOSITORY_FOUND &&
           print_essence(&arena, buffer_string(&bytes), bytes.size, &there) &&
           print_essence(&arena, change->bytes, change->bytes_size, &here) &&
           there.size == here.size && !memcmp(there.data, here.data, here.size);
}

/* Tells the end of a change about a run that is there already, as STATE says. */
static void tell_state(struct import *import, const struct change *change,
                       const struct run_state *state)
{
    bool same = !strcmp(state->submitted_digest, change->submitted_digest) ||
                !strcmp(state->digest, change->digest) ||
                (!state->revision && is_same_run(import, state->path, change));
    import->options.tell(import->options.context, change->run_id,
                         same ? IMPORT_KNOWN : IMPORT_DUPLICATE, state->path, "");
}

static void tell_known(struct import *import, const struct change *change)
{
    struct run_state state = {0};
    uint64_t accepted;
    struct catalogue *catalogue =
        import->folder ? import->catalogue : import->hand.dataset.catalogue;
    if (!catalogue_find(catalogue, change->run_id, &state, &accepted)) {
        import->options.tell(import->options.context, change->run_id, IMPORT_DUPLICATE,
                             change->path, "");
        return;
    }
    if (!*state.digest)
        read_digest(import, &state);
    tell_state(import, change, &state);
    run_state_free(&state);
}

static void append_line(struct import *import, struct pending *item)
{
    struct ledger_event event = pending_event(item);
    item->result.outcome = CHANGE_COMMITTED;
    item->result.seq = ledger_append(&import->ledger, &event, &item->move.line);
}

/* `RUN.json.import.new` stands beside the file of a run from before it until after its line: the sign that an import
 * was killed in between, which tells it from a run of an older archive, which never had a line. */
static const char *sign_path(struct arena *arena, const struct import *import,
                             const struct change *change)
{
    return arena_format(arena, "%s/%s.import", import->options.dataset, change->path);
}

static bool write_run(struct import *import, struct pending *item, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const struct change *change = &item->change;
    const char *dataset = import->options.dataset;
    const char *path = arena_format(&arena, "%s/%s", dataset, change->path);
    const char *below =
        arena_copy(&arena, change->path, (size_t)(strrchr(change->path, '/') - change->path));
    const char *folder = arena_format(&arena, "%s/%s", dataset, below);
    if (!files_lies_below(dataset, below, error) || !files_make_folders(folder, error) ||
        !files_stage(sign_path(&arena, import, change), "", 0, error) ||
        !files_replace(path, change->bytes, change->bytes_size, error))
        return false;
    if (!files_sync_folder(folder))
        return error_system(error, "cannot sync %s", folder);
    append_line(import, item);
    return true;
}

/* Whether the file of ITEM's run stands there without a line, because an import was killed between the two. It then
 * stays as it is, and the line is about it. */
static bool is_left_behind(struct import *import, struct pending *item)
{
    struct arena arena ARENA_SCOPE = {0};
    struct run_state state = {0};
    uint64_t accepted = 0;
    if (!catalogue_find(import->catalogue, item->change.run_id, &state, &accepted))
        return false;
    bool left = !state.revision && files_is_staged(sign_path(&arena, import, &item->change)) &&
                !strcmp(state.path, item->change.path) &&
                is_same_run(import, state.path, &item->change);
    if (left) {
        read_digest(import, &state);
        buffer_text(&item->move.entry, state.digest); /* a run has no other use for it */
        item->change.digest = buffer_string(&item->move.entry);
    }
    run_state_free(&state);
    return left;
}

static bool write_ledger(struct import *import, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    char name[LEDGER_PATH_MAX];
    const char *bytes;
    size_t size;
    const char *folder = arena_format(&arena, "%s/ledger", import->options.dataset);
    if (!ledger_changed(&import->ledger, 0, name, &bytes, &size))
        return true; /* an older archive stays without a ledger */
    if (!files_make_folders(folder, error))
        return false;
    for (size_t i = 0; ledger_changed(&import->ledger, i, name, &bytes, &size); i++)
        if (!files_replace(arena_format(&arena, "%s/%s", import->options.dataset, name), bytes,
                           size, error))
            return false;
    ledger_settle(&import->ledger);
    return files_sync_folder(folder) || error_system(error, "cannot sync %s", folder);
}

/* Once the run has its line, be it from an import that was killed right after it. */
static void remove_sign(struct import *import, const struct change *change)
{
    struct arena arena ARENA_SCOPE = {0};
    struct run_state state = {0};
    uint64_t accepted = 0;
    if (catalogue_find(import->catalogue, change->run_id, &state, &accepted) && accepted)
        files_unstage(sign_path(&arena, import, change));
    run_state_free(&state);
}

/* Files first: a line never names one that is missing. */
static bool write_batch(struct import *import, struct store_error *error)
{
    for (struct pending *item = import->first; item; item = item->next) {
        item->result.outcome = CHANGE_DUPLICATE;
        if (!catalogue_holds(import->catalogue, item->change.run_id)) {
            if (!write_run(import, item, error))
                return false;
        } else if (is_left_behind(import, item)) {
            append_line(import, item);
        }
    }
    if (!write_ledger(import, error))
        return false;
    for (struct pending *item = import->first; item; item = item->next) {
        struct ledger_event event = pending_event(item);
        if (item->result.outcome == CHANGE_COMMITTED)
            catalogue_event(import->catalogue, &event, item->result.seq,
                            buffer_string(&item->move.line), "", files_wall_ms());
        remove_sign(import, &item->change);
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
    struct run_state state = {0};
    if (archives_find(import->archives, change->run_id, NULL, &state)) {
        tell_state(import, change, &state);
        run_state_free(&state);
        return true;
    }
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
    return import->folder;
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
    archives_close(import->archives);
    lock_drop(&import->lock);
    free(import);
}
