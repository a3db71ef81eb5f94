#include "github/change/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "github/change/decide.h"
#include "github/change/load.h"
#include "github/repository/commit.h"
#include "github/repository/files.h"
#include "github/repository/tree.h"
#include "validator/arena.h"

/* Somebody who moves the tip faster than we can commit is not met in practice. */
enum { APPLY_TRIES = 20, UNREADABLE_MS = 30000 };

/* What has to be read of a tip. */
struct reading {
    git_oid commit, root, ledger_tree, index_tree;
    bool whole; /* history was rewritten, or we are in doubt: ledger and index from the start on */
    bool ledger, index;
};

static void take_entry(void *context, const struct index_entry *entry)
{
    const struct dataset *dataset = context;
    if (entry->path && entry->path->type == JS_STRING)
        catalogue_listed(dataset->catalogue, entry->run_id->text, entry->run_id->size,
                         entry->path->text, entry->path->size);
    if (dataset->listener.entry)
        dataset->listener.entry(dataset->listener.context, entry->json, entry->size);
}

/* Runs that no index lists: one of our own would hide them for good. */
static bool check_unlisted(struct dataset *dataset, const git_oid *commit,
                           struct store_error *error)
{
    static const char *const folders[] = {"runs", "quarantine"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        git_oid tree;
        enum repository_found found =
            repository_folder(dataset->repository, commit, folders[i], &tree, error);
        if (found == REPOSITORY_FAULT)
            return false;
        if (found == REPOSITORY_FOUND)
            return error_set(error, "the dataset has runs but no index: run `benchledger index`");
    }
    return true;
}

/* False also when there is none where there should be one. Without TELL: only looks whether it is
 * whole. */
static bool read_index(struct dataset *dataset, const struct reading *reading,
                       void (*whole)(void *context), index_tell tell, struct index **index,
                       struct store_error *error)
{
    const git_oid *commit = &reading->commit;
    struct source source = source_commit(dataset->repository, commit);
    struct index_loading loading = {.summary_limit = dataset->summary_limit,
                                    .known = reading->whole ? NULL : dataset->index,
                                    .whole = whole,
                                    .tell = tell,
                                    .context = dataset,
                                    .alone = dataset->alone};
    *index = NULL;
    if (!load_index(&source, &loading, index, error) ||
        (!*index && !check_unlisted(dataset, commit, error)))
        return false;
    if (!*index)
        *index = index_new(dataset->summary_limit);
    return true;
}

struct ledger_reading {
    struct dataset *dataset;
    struct ledger *ledger;
    ledger_tell tell;
    double now_ms;
    bool start; /* all of it, nobody knew any yet */
    struct store_error *error;
};

static void take_line(void *context, const struct ledger_line *line)
{
    const struct ledger_reading *reading = context;
    struct dataset *dataset = reading->dataset;
    if (!reading->start && line->known && line->nonce_sha256 && js_equals(line->event, "accept") &&
        !catalogue_is_claimed(dataset->catalogue, line->run_id))
        dataset->foreign++;
    catalogue_line(dataset->catalogue, line, reading->now_ms);
}

static bool read_day(void *context, const char *path, const git_oid *blob)
{
    struct ledger_reading *reading = context;
    struct buffer bytes BUFFER_SCOPE = {0};
    char day[LEDGER_DAY + 1];
    /* Days before the newest one that we know never change; audit looks whether that is so. */
    if (!ledger_path_day(path, day) || strcmp(day, ledger_day(reading->ledger)) < 0)
        return true;
    return repository_read(reading->dataset->repository, blob, &bytes, reading->error) &&
           ledger_read(reading->ledger, day, buffer_string(&bytes), bytes.size, reading->tell,
                       reading, reading->error);
}

static bool read_days(struct dataset *dataset, const git_oid *commit, struct ledger *ledger,
                      ledger_tell tell, bool start, struct store_error *error)
{
    struct ledger_reading reading = {dataset, ledger, tell, files_wall_ms(), start, error};
    return repository_list(dataset->repository, commit, "ledger", read_day, &reading, error);
}

/* Whether the newest day file that we know is there, and has at most gained lines. */
static bool ledger_goes_on(struct dataset *dataset, const git_oid *commit, bool *goes_on,
                           struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer bytes BUFFER_SCOPE = {0};
    const char *day = ledger_day(&dataset->ledger);
    if (!*day)
        return true;
    enum repository_found found =
        repository_content(dataset->repository, commit,
                           arena_format(&arena, "ledger/%s.jsonl", day), NULL, &bytes, error);
    *goes_on = *goes_on && found == REPOSITORY_FOUND &&
               ledger_begins(&dataset->ledger, buffer_string(&bytes), bytes.size);
    return found != REPOSITORY_FAULT;
}

static bool folder_id(struct dataset *dataset, const git_oid *commit, const char *path, git_oid *id,
                      struct store_error *error)
{
    memset(id, 0, sizeof *id);
    return repository_folder(dataset->repository, commit, path, id, error) != REPOSITORY_FAULT;
}

struct older_days {
    const char *before; /* a day */
    struct buffer names;
};

static bool note_day(void *context, const char *path, const git_oid *blob)
{
    struct older_days *older = context;
    char day[LEDGER_DAY + 1];
    if (ledger_path_day(path, day) && strcmp(day, older->before) < 0) {
        buffer_text(&older->names, day);
        buffer_add(&older->names, blob->id, GIT_OID_RAWSZ);
    }
    return true;
}

/* A digest of the ledger days before the newest one that we know: they never change. */
static bool digest_older_days(struct dataset *dataset, const git_oid *commit,
                              char digest[SHA256_HEX + 1], struct store_error *error)
{
    struct older_days older = {.before = ledger_day(&dataset->ledger)};
    bool fine = repository_list(dataset->repository, commit, "ledger", note_day, &older, error);
    sha256_hex(older.names.data ? older.names.data : "", older.names.size, digest);
    buffer_free(&older.names);
    return fine;
}

static bool compare_tip(struct dataset *dataset, const git_oid *commit, struct reading *reading,
                        struct store_error *error)
{
    *reading = (struct reading){.commit = *commit};
    if (!repository_root(dataset->repository, commit, &reading->root, error) ||
        !folder_id(dataset, commit, "ledger", &reading->ledger_tree, error) ||
        !folder_id(dataset, commit, "index", &reading->index_tree, error))
        return false;
    /* The commits of runs are remembered, so that they belong to the history matters even where
     * ledger and index are the same. */
    bool goes_on =
        !dataset->stale && repository_descends(dataset->repository, commit, &dataset->tip);
    reading->ledger = !git_oid_equal(&reading->ledger_tree, &dataset->ledger_tree);
    if (reading->ledger && goes_on) {
        char older[SHA256_HEX + 1];
        if (!ledger_goes_on(dataset, commit, &goes_on, error) ||
            !digest_older_days(dataset, commit, older, error))
            return false;
        goes_on = goes_on && (!*dataset->older_days || !strcmp(older, dataset->older_days));
    }
    reading->whole = !goes_on;
    reading->ledger |= reading->whole;
    reading->index = reading->whole || !git_oid_equal(&reading->index_tree, &dataset->index_tree);
    return true;
}

/* Whether all that is to be taken in is sound, before anybody hears of any of it. */
static bool check_tip(struct dataset *dataset, const struct reading *reading,
                      struct store_error *error)
{
    bool fine = true;
    if (reading->ledger) {
        struct ledger ledger;
        ledger_begin(&ledger);
        if (!reading->whole)
            ledger_copy(&ledger, &dataset->ledger);
        fine = read_days(dataset, &reading->commit, &ledger, NULL, false, error);
        ledger_free(&ledger);
    }
    if (fine && reading->index) {
        struct index *index = NULL;
        fine = read_index(dataset, reading, NULL, NULL, &index, error);
        index_free(index);
    }
    return fine;
}

/* Not only more entries: all of them are told again. */
static void retell(void *context)
{
    struct dataset *dataset = context;
    const struct store_listener *listener = &dataset->listener;
    if (listener->reset)
        listener->reset(listener->context);
    if (!dataset->retelling)
        catalogue_retell(dataset->catalogue, true);
    dataset->retelling = true;
}

static bool take_index(struct dataset *dataset, const struct reading *reading,
                       struct store_error *error)
{
    const struct store_listener *listener = &dataset->listener;
    struct index *index = NULL;
    bool fine = dataset->silent ? read_index(dataset, reading, NULL, NULL, &index, error)
                                : read_index(dataset, reading, retell, take_entry, &index, error);
    if (!fine)
        return false;
    index_free(dataset->index);
    dataset->index = index;
    if (listener->settled && !dataset->silent)
        listener->settled(listener->context);
    return true;
}

static bool take_tip(struct dataset *dataset, const struct reading *reading, bool start,
                     struct store_error *error)
{
    dataset->retelling = reading->whole && !dataset->silent;
    if (reading->whole) {
        ledger_free(&dataset->ledger);
        ledger_begin(&dataset->ledger);
    }
    if (dataset->retelling)
        catalogue_retell(dataset->catalogue, false);
    if (reading->ledger &&
        !read_days(dataset, &reading->commit, &dataset->ledger, dataset->silent ? NULL : take_line,
                   start || reading->whole, error))
        return false;
    if (reading->index && !take_index(dataset, reading, error))
        return false;
    if (dataset->retelling)
        catalogue_told(dataset->catalogue);
    dataset->ledger_tree = reading->ledger_tree;
    dataset->index_tree = reading->index_tree;
    dataset->tip = reading->commit;
    dataset->root = reading->root;
    return !reading->ledger ||
           digest_older_days(dataset, &reading->commit, dataset->older_days, error);
}

/* All of it or nothing: what was checked can only fail to be read again when the disk fails, and is
 * then read from the start on. At start nobody listens yet, and once is enough. */
static bool read_tip(struct dataset *dataset, const git_oid *commit, bool start,
                     struct store_error *error)
{
    struct reading reading;
    if (!compare_tip(dataset, commit, &reading, error) ||
        (!start && !check_tip(dataset, &reading, error)))
        return false;
    dataset->stale = !take_tip(dataset, &reading, start, error);
    return !dataset->stale;
}

/* Where what is followed points to; no commit at all only where that may be. */
static bool find_tip(struct dataset *dataset, git_oid *tip, struct store_error *error)
{
    if (!dataset->reference)
        return repository_tip(dataset->repository, tip, error);
    enum repository_found found =
        repository_reference(dataset->repository, dataset->reference, tip, error);
    if (found == REPOSITORY_ABSENT)
        memset(tip, 0, sizeof *tip);
    return found != REPOSITORY_FAULT;
}

bool dataset_open(struct dataset *dataset, struct store_error *error)
{
    git_oid tip;
    ledger_begin(&dataset->ledger);
    dataset->stale = true;
    if (!find_tip(dataset, &tip, error))
        return false;
    if (!git_oid_is_zero(&tip))
        return read_tip(dataset, &tip, true, error);
    dataset->index = index_new(dataset->summary_limit);
    dataset->stale = false;
    return true;
}

void dataset_start_at(struct dataset *dataset, const struct dataset *landed)
{
    ledger_free(&dataset->ledger);
    ledger_begin(&dataset->ledger);
    ledger_copy(&dataset->ledger, &landed->ledger);
    index_free(dataset->index);
    dataset->index = index_copy(landed->index);
    dataset->tip = landed->tip;
    dataset->root = landed->root;
    dataset->ledger_tree = landed->ledger_tree;
    dataset->index_tree = landed->index_tree;
    memcpy(dataset->older_days, landed->older_days, sizeof dataset->older_days);
    dataset->stale = landed->stale;
}

void dataset_close(struct dataset *dataset)
{
    ledger_free(&dataset->ledger);
    index_free(dataset->index);
    dataset->index = NULL;
}

bool dataset_refresh(struct dataset *dataset, struct store_error *error)
{
    git_oid tip;
    return find_tip(dataset, &tip, error) && dataset_follow(dataset, &tip, error);
}

bool dataset_follow(struct dataset *dataset, const git_oid *commit, struct store_error *error)
{
    git_oid tip = *commit;
    if (git_oid_equal(&tip, &dataset->tip) && !dataset->stale)
        return true;
    /* What a commit holds does not get better by being read every second; the disk might. */
    double now = files_wall_ms();
    if (git_oid_equal(&tip, &dataset->unreadable) && now - dataset->unreadable_ms < UNREADABLE_MS)
        return error_set(error, "%s", dataset->unreadable_reason.message);
    struct store_error reason = {""};
    if (read_tip(dataset, &tip, false, &reason))
        return true;
    dataset->unreadable = tip;
    dataset->unreadable_ms = now;
    dataset->unreadable_reason = reason;
    return error_set(error, "%s", reason.message);
}

/* A run that the dataset holds; also a file that neither ledger nor index knows is not
 * overwritten. */
static bool is_duplicate(struct dataset *dataset, const struct change *change, bool *duplicate,
                         struct store_error *error)
{
    git_oid blob;
    enum repository_found found = REPOSITORY_FOUND;
    if (!catalogue_holds(dataset->catalogue, change->run_id))
        found = tree_find(dataset->repository, &dataset->root, change->path, &blob, error);
    *duplicate = found == REPOSITORY_FOUND;
    return found != REPOSITORY_FAULT;
}

static bool append_run(struct dataset *dataset, struct pending *item, struct store_error *error)
{
    const struct change *change = &item->change;
    bool duplicate = true;
    if (!is_duplicate(dataset, change, &duplicate, error))
        return false;
    item->result.outcome = duplicate ? CHANGE_DUPLICATE : CHANGE_COMMITTED;
    if (duplicate)
        return true;
    struct index_problem problem;
    if (!index_append(dataset->index, change->entry, change->entry_size, &problem))
        return error_set(error, "run %s: %s", change->run_id, problem.message);
    struct ledger_event event = pending_event(item);
    item->result.seq = ledger_append(&dataset->ledger, &event, NULL);
    return true;
}

/* Appends what is neither a duplicate nor stale to ledger and index. */
static bool append_batch(struct dataset *dataset, struct pending *batch, size_t *count,
                         struct store_error *error)
{
    *count = 0;
    for (struct pending *item = batch; item; item = item->next) {
        bool decision = item->change.kind == CHANGE_DECISION;
        if (!(decision ? decide_append : append_run)(dataset, item, error))
            return false;
        *count += item->result.outcome == CHANGE_COMMITTED;
    }
    return true;
}

/* What the dataset shall hold and does not. */
static size_t missing_files(struct dataset *dataset, struct repository_file *files)
{
    size_t used = 0;
    for (size_t i = 0; i < dataset->file_count; i++) {
        const struct store_file *file = &dataset->files[i];
        git_oid blob;
        if (tree_find(dataset->repository, &dataset->root, file->path, &blob, NULL) ==
            REPOSITORY_ABSENT)
            files[used++] = (struct repository_file){
                .path = file->path, .bytes = file->bytes, .size = file->size};
    }
    return used;
}

/* The run file of ITEM: it comes, or moves. */
static size_t files_of(const struct pending *item, struct repository_file *files)
{
    const struct change *change = &item->change;
    const struct move *move = &item->move;
    if (change->kind == CHANGE_RUN) {
        files[0] = (struct repository_file){.path = change->path,
                                            .bytes = change->bytes,
                                            .size = change->bytes_size,
                                            .blob = item->stored ? &item->blob : NULL};
        return 1;
    }
    if (!strcmp(move->from, move->to))
        return 0;
    files[0] = (struct repository_file){.path = move->from};
    if (!*move->to)
        return 1;
    files[1] = (struct repository_file){.path = move->to, .blob = &move->blob};
    return 2;
}

/* The files of the commit: runs, ledger days, index, and what the dataset shall hold. */
static size_t collect_files(struct dataset *dataset, const struct pending *batch, size_t count,
                            struct arena *arena, struct repository_file **files)
{
    size_t index_count = 0, used = 0;
    const struct index_file *index = index_changed(dataset->index, &index_count);
    size_t room =
        3 * count + index_count + dataset->file_count; /* at most one ledger day per change */
    *files = arena_clear_take(arena, room, sizeof **files);
    used = missing_files(dataset, *files);
    for (const struct pending *item = batch; item; item = item->next)
        if (item->result.outcome == CHANGE_COMMITTED)
            used += files_of(item, *files + used);
    char path[LEDGER_PATH_MAX];
    const char *bytes;
    size_t size;
    for (size_t i = 0; used < room && ledger_changed(&dataset->ledger, i, path, &bytes, &size); i++)
        (*files)[used++] = (struct repository_file){
            .path = arena_copy(arena, path, strlen(path)), .bytes = bytes, .size = size};
    for (size_t i = 0; i < index_count; i++)
        (*files)[used++] = (struct repository_file){
            .path = index[i].path, .bytes = index[i].bytes, .size = index[i].size};
    return used;
}

static void tell_change(const struct store_listener *listener, struct pending *item)
{
    const struct change *change = &item->change;
    struct move *move = &item->move;
    if (change->kind == CHANGE_RUN) {
        if (listener->entry)
            listener->entry(listener->context, change->entry, change->entry_size);
    } else if (move->edits && listener->replaced) {
        listener->replaced(listener->context, move->run_id,
                           move->entry.size ? move->entry.data : NULL, move->entry.size);
    }
}

/* The commit exists: makes everything else agree with it. */
static void settle(struct dataset *dataset, struct pending *batch, const git_oid *commit)
{
    const struct store_listener *listener = &dataset->listener;
    char hex[COMMIT_HEX + 1];
    git_oid_tostr(hex, sizeof hex, commit);
    ledger_settle(&dataset->ledger);
    index_settle(dataset->index);
    *dataset->older_days =
        '\0'; /* a day may have begun; they are looked at again with the next tip */
    dataset->tip = *commit;
    /* Should this fail, all is read again. */
    dataset->stale = !repository_root(dataset->repository, commit, &dataset->root, NULL) ||
                     tree_find(dataset->repository, &dataset->root, "ledger", &dataset->ledger_tree,
                               NULL) != REPOSITORY_FOUND ||
                     tree_find(dataset->repository, &dataset->root, "index", &dataset->index_tree,
                               NULL) != REPOSITORY_FOUND;
    double now = files_wall_ms();
    for (struct pending *item = batch; item; item = item->next) {
        if (item->result.outcome != CHANGE_COMMITTED)
            continue;
        memcpy(item->result.commit, hex, sizeof hex);
        if (dataset->silent)
            continue;
        struct ledger_event event = pending_event(item);
        catalogue_event(dataset->catalogue, &event, item->result.seq,
                        buffer_string(&item->move.line), hex, now);
        tell_change(listener, item);
    }
    if (listener->settled && !dataset->silent)
        listener->settled(listener->context);
}

static enum repository_result write_batch(struct dataset *dataset, const struct pending *batch,
                                          const struct repository_file *files, size_t count,
                                          git_oid *commit, struct store_error *error)
{
    struct buffer message BUFFER_SCOPE = {0};
    batch_message(batch, &message);
    if (!dataset->detached)
        return repository_commit(dataset->repository, &dataset->tip, files, count, &dataset->author,
                                 buffer_string(&message), commit, error);
    return repository_write(dataset->repository, &dataset->tip, files, count, &dataset->author,
                            buffer_string(&message), commit, error)
               ? REPOSITORY_COMMITTED
               : REPOSITORY_FAILED;
}

/* One try on the tip as it is now. */
static enum repository_result apply(struct dataset *dataset, struct pending *batch,
                                    struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    size_t count = 0;
    if (!dataset->detached && !dataset_refresh(dataset, error))
        return REPOSITORY_FAILED;
    enum repository_result result = REPOSITORY_FAILED;
    if (append_batch(dataset, batch, &count, error)) {
        if (!count)
            return REPOSITORY_COMMITTED; /* all duplicates */
        struct repository_file *files;
        size_t file_count = collect_files(dataset, batch, count, &arena, &files);
        git_oid commit;
        result = write_batch(dataset, batch, files, file_count, &commit, error);
        if (result == REPOSITORY_COMMITTED) {
            settle(dataset, batch, &commit);
            return result;
        }
    }
    ledger_undo(&dataset->ledger);
    index_undo(dataset->index);
    return result;
}

bool dataset_commit(struct dataset *dataset, struct pending *batch, struct store_error *error)
{
    enum repository_result result = REPOSITORY_MOVED;
    for (int i = 0; result == REPOSITORY_MOVED && i < APPLY_TRIES; i++)
        result = apply(dataset, batch, error);
    if (result == REPOSITORY_MOVED)
        return error_set(error, "the tip of %s keeps moving", dataset->repository->path);
    return result == REPOSITORY_COMMITTED;
}
