#include "github/rebuild/rebuild.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregate/index.h"
#include "github/change/ledger.h"
#include "github/change/load.h"
#include "github/change/table.h"
#include "github/rebuild/publish.h"
#include "github/rebuild/walk.h"
#include "github/repository/commit.h"
#include "github/repository/lock.h"
#include "github/repository/source.h"
#include "validator/arena.h"

enum { TRIES = 5 };

/* A run: from its file, its accept line or both. Keyed by its id in lower case. */
struct known {
    struct table_item item;
    uint64_t seq; /* of the accept line; 0 without one */
    bool has_file;
    bool listed; /* by the present index */
};

struct run_file {
    uint64_t seq;
    const char *created_at, *path, *key; /* in the arena */
    const char *entry;
    size_t entry_size;
};

struct rebuilding {
    const struct rebuild_options *options;
    struct rebuild_result *result;
    struct store_error *error;
    struct source source;
    struct arena arena;
    struct table known;
    size_t listed; /* runs, by the present index */
    struct walk_list list;
    struct run_file *files;
    size_t count, room;
    struct ledger ledger;
    struct index *index;
    struct buffer leaderboard;
};

static void complain(struct rebuilding *work, const char *path, const char *message)
{
    if (work->options->complain)
        work->options->complain(work->options->context, path, message);
}

static struct known *know(struct rebuilding *work, const struct js_value *run_id)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id->text, run_id->size, key);
    struct table_item *item = table_find(&work->known, key);
    return (struct known *)(item ? item : table_add(&work->known, key));
}

static void take_line(void *context, const struct ledger_line *line)
{
    struct rebuilding *work = context;
    if (line->run_id && js_equals(line->event, "accept"))
        know(work, line->run_id)->seq = line->seq;
}

static const char *copy_string(struct arena *arena, const struct js_value *value)
{
    return value && value->type == JS_STRING ? arena_copy(arena, value->text, value->size) : "";
}

static void add_file(struct rebuilding *work, const char *path, const char *entry, size_t size)
{
    struct arena arena ARENA_SCOPE = {0};
    struct js_document document;
    struct js_error problem;
    const struct js_value *run_id = NULL;
    if (js_read(&arena, entry, size, &document, &problem))
        run_id = js_get(&document.root, "runId");
    if (!run_id || run_id->type != JS_STRING) {
        work->result->unindexable++;
        complain(work, path, "its index entry has no runId");
        return;
    }
    struct known *known = know(work, run_id);
    if (known->has_file) {
        work->result->unindexable++;
        complain(work, path, "another file has the same run id");
        return;
    }
    known->has_file = true;
    if (work->count == work->room) {
        work->room = work->room ? work->room * 2 : 1024;
        work->files = memory_grow(work->files, work->room * sizeof *work->files);
    }
    work->files[work->count++] = (struct run_file){
        .seq = known->seq,
        .created_at = copy_string(&work->arena, js_get(&document.root, "createdAt")),
        .path = arena_copy(&work->arena, path, strlen(path)),
        .key = known->item.key,
        .entry = arena_copy(&work->arena, entry, size),
        .entry_size = size,
    };
    work->result->without_ledger += !known->seq;
}

/* What a worker makes of a file: its entry, or why there is none. */
struct indexed {
    const char *entry; /* NULL: see WHY */
    size_t size;
    struct store_error why;
};

static void index_file(void *context, struct walk_file *file)
{
    const struct rebuilding *work = context;
    const struct rebuild_options *options = work->options;
    struct buffer entry BUFFER_SCOPE = {0};
    struct indexed *indexed = file->result = arena_clear_take(&file->arena, 1, sizeof *indexed);
    bool flagged = !strncmp(file->path, "quarantine/", 11);
    if (!file->bytes || !options->entry(options->context, file->path, file->bytes, file->size,
                                        flagged, &entry, &indexed->why))
        return;
    indexed->entry = arena_copy(&file->arena, entry.data, entry.size);
    indexed->size = entry.size;
}

static bool take_file(void *context, struct walk_file *file, struct store_error *error)
{
    struct rebuilding *work = context;
    const struct rebuild_options *options = work->options;
    const struct indexed *indexed = file->result;
    if (!file->bytes)
        return error_set(error, "%s: %s", file->path, file->problem.message);
    if (indexed->entry) {
        add_file(work, file->path, indexed->entry, indexed->size);
    } else {
        work->result->unindexable++;
        complain(work, file->path, indexed->why.message);
    }
    return !options->step ||
           options->step(options->context, file->number + 1, work->list.count, file->size) ||
           error_set(error, "stopped; nothing was written");
}

static bool read_files(struct rebuilding *work)
{
    const struct walk walk = {.source = &work->source,
                              .list = &work->list,
                              .context = work,
                              .look = index_file,
                              .take = take_file};
    return walk_list_add(&work->list, &work->source, "runs", ".json", work->error) &&
           walk_list_add(&work->list, &work->source, "quarantine", ".json", work->error) &&
           walk_run(&walk, work->error);
}

/* Runs without an accept line first, by createdAt and path; then in order of acceptance. */
static int by_acceptance(const void *left, const void *right)
{
    const struct run_file *a = left, *b = right;
    if (a->seq != b->seq)
        return a->seq < b->seq ? -1 : 1;
    int order = a->seq ? 0 : strcmp(a->created_at, b->created_at);
    return order ? order : strcmp(a->path, b->path);
}

static bool make_index(struct rebuilding *work)
{
    struct index_problem problem;
    if (work->count)
        qsort(work->files, work->count, sizeof *work->files, by_acceptance);
    /* The summary is made whole, past its limit too: this is what does it when submissions no
     * longer do. */
    work->index = index_new(SIZE_MAX);
    if (work->options->reset && !work->options->reset(work->options->context, work->error))
        return false;
    for (size_t i = 0; i < work->count; i++) {
        const struct run_file *file = &work->files[i];
        if (!index_append(work->index, file->entry, file->entry_size, &problem))
            return error_set(work->error, "%s: %s", file->path, problem.message);
        if (work->options->tell)
            work->options->tell(work->options->context, file->entry, file->entry_size);
    }
    arena_free(&work->arena); /* the entries are in the index now */
    work->result->runs = work->count;
    work->result->flagged = index_flagged(work->index);
    work->result->segments = index_segments(work->index);
    return true;
}

static void take_entry(void *context, const struct index_entry *entry)
{
    struct rebuilding *work = context;
    struct known *known = know(work, entry->run_id);
    if (known->listed)
        return;
    known->listed = true;
    work->listed++;
    if (known->has_file)
        return;
    work->result->dropped++;
    complain(work, known->item.key, "the present index lists this run, and there is no file of it");
}

/* Tells the entries of one file of the present index, by itself. False: it is no array of entries. */
static bool take_array(struct rebuilding *work, const char *path)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    struct index_problem problem;
    enum repository_found found = source_read(&work->source, path, &bytes, NULL);
    if (found != REPOSITORY_FOUND)
        return found == REPOSITORY_ABSENT;
    struct index *alone = index_new(0);
    bool fine =
        index_load_archive(alone, buffer_string(&bytes), bytes.size, take_entry, work, &problem);
    index_free(alone);
    return fine;
}

/* What the manifest, if there is one, counts. False: it cannot be parsed. */
static bool count_listed(struct rebuilding *work, size_t *segments, size_t *entries)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    struct index_problem problem;
    enum repository_found found = source_read(&work->source, INDEX_MANIFEST_PATH, &bytes, NULL);
    struct index *index = index_new(0);
    bool fine = found == REPOSITORY_ABSENT ||
                (found == REPOSITORY_FOUND &&
                 index_load_manifest(index, buffer_string(&bytes), bytes.size, &problem));
    *segments = index_segments(index);
    *entries = index_entries(index);
    index_free(index);
    return fine;
}

/* The segments that there are, whoever lists them; other files in their folder are none. */
static bool list_segments(struct rebuilding *work, struct walk_list *list)
{
    struct store_error error;
    size_t count = 0;
    if (!walk_list_add(list, &work->source, INDEX_SEGMENTS_FOLDER, ".json", &error))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        char path[INDEX_PATH_MAX];
        size_t number = strtoul(list->items[i].path + sizeof INDEX_SEGMENTS_FOLDER, NULL, 10);
        index_segment_path(number - 1, path);
        if (number && number < 1000000 && !strcmp(list->items[i].path, path))
            list->items[count++] = list->items[i];
    }
    list->count = count;
    return true;
}

/* An index whose files do not fit each other, as a kill between two of them leaves it, says all the same which runs it
 * has, as long as each file can be parsed, none that the manifest lists is missing, and no fewer runs are told than it
 * counts. */
static bool take_pieces(struct rebuilding *work)
{
    struct walk_list list = {0};
    char path[INDEX_PATH_MAX];
    size_t segments, entries;
    bool fine = count_listed(work, &segments, &entries) && list_segments(work, &list) &&
                list.count >= segments && take_array(work, INDEX_SUMMARY_PATH);
    for (size_t i = 0; fine && i < list.count; i++) {
        index_segment_path(i, path);
        fine = (i >= segments || !strcmp(list.items[i].path, path)) &&
               take_array(work, list.items[i].path);
    }
    walk_list_free(&list);
    return fine && work->listed >= entries;
}

/* Whether the segments that there are, and there are some, are those that the manifest lists. */
static bool lists_all(struct rebuilding *work, const struct index *present)
{
    struct walk_list list = {0};
    bool fine = present && list_segments(work, &list) && list.count &&
                list.count == index_segments(present);
    walk_list_free(&list);
    return fine;
}

static void compare_present(struct rebuilding *work)
{
    struct index *present = NULL;
    struct store_error why;
    const struct index_loading loading = {
        .summary_limit = SIZE_MAX, .tell = take_entry, .context = work};
    bool whole = load_index(&work->source, &loading, &present, &why);
    work->result->unreadable = !(whole && lists_all(work, present)) && !take_pieces(work);
    index_free(present);
    if (!whole)
        complain(work, "index", why.message);
}

static enum rebuild_outcome judge(struct rebuilding *work)
{
    const struct rebuild_result *result = work->result;
    if (result->unindexable) {
        error_set(work->error, "%zu files cannot be indexed", result->unindexable);
        return REBUILD_REFUSED;
    }
    if (work->options->allow_shrink || (!result->dropped && !result->unreadable))
        return REBUILD_DONE;
    if (result->unreadable)
        error_set(work->error, "the present index cannot be read; --allow-shrink replaces it");
    else
        error_set(work->error,
                  "%zu runs would be dropped from the index; --allow-shrink drops them",
                  result->dropped);
    return REBUILD_REFUSED;
}

static enum rebuild_outcome gather(struct rebuilding *work)
{
    const struct source *source = &work->source;
    if (!load_ledger(source, &work->ledger, take_line, work, &work->result->ledger, work->error) ||
        !read_files(work))
        return REBUILD_FAILED;
    compare_present(work); /* before the new one is made: not both are in memory */
    return make_index(work) ? judge(work) : REBUILD_FAILED;
}

static void begin(struct rebuilding *work)
{
    *work->result = (struct rebuild_result){0};
    table_begin(&work->known, sizeof(struct known), NULL);
    ledger_begin(&work->ledger);
}

static void end(struct rebuilding *work)
{
    table_free(&work->known);
    ledger_free(&work->ledger);
    index_free(work->index);
    buffer_free(&work->leaderboard);
    arena_free(&work->arena);
    walk_list_free(&work->list);
    free(work->files);
}

/* Only this is done under the lock: reading takes long, and a service commits meanwhile. */
static bool publish_locked(const struct publish_plan *plan, const struct rebuild_options *options,
                           const struct source *source, struct rebuild_result *result, bool *moved,
                           struct store_error *error)
{
    struct lock lock LOCK_SCOPE = {-1};
    return lock_take(source->repository->path, LOCK_COMMIT, lock_wait_long, NULL, &lock, error) &&
           publish_to_commit(plan, source, &options->author, result->runs, result->commit, moved,
                             error);
}

static bool plan_files(struct rebuilding *work, struct publish_plan *plan)
{
    const struct rebuild_options *options = work->options;
    if (options->leaderboard) {
        options->leaderboard(options->context, &work->leaderboard);
        if (!publish_add(&work->source, INDEX_LEADERBOARD_PATH, work->leaderboard.data,
                         work->leaderboard.size, plan, work->error))
            return false;
    }
    size_t others = plan->count;
    bool fine = publish_prepare(&work->source, work->index, plan, work->error);
    work->result->leaderboard_changed = others > 0;
    work->result->changed = plan->count > others;
    return fine;
}

static enum rebuild_outcome rebuild_source(const struct rebuild_options *options,
                                           const struct source *source, const char *folder,
                                           struct rebuild_result *result, bool *moved,
                                           struct store_error *error)
{
    struct rebuilding work = {
        .options = options, .result = result, .error = error, .source = *source};
    begin(&work);
    enum rebuild_outcome outcome = gather(&work);
    struct publish_plan plan = {0};
    if (outcome == REBUILD_DONE && !plan_files(&work, &plan))
        outcome = REBUILD_FAILED;
    if (outcome == REBUILD_DONE && plan.count && !options->dry_run) {
        bool fine = folder ? publish_to_folder(&plan, folder, error)
                           : publish_locked(&plan, options, source, result, moved, error);
        if (!fine)
            outcome = REBUILD_FAILED;
    }
    publish_free(&plan);
    end(&work);
    return outcome;
}

static enum rebuild_outcome rebuild_bare(const struct rebuild_options *options,
                                         struct repository *repository,
                                         struct rebuild_result *result, struct store_error *error)
{
    bool moved = true;
    enum rebuild_outcome outcome = REBUILD_FAILED;
    for (int i = 0; moved && i < TRIES; i++) {
        git_oid tip;
        moved = false;
        if (!repository_tip(repository, &tip, error))
            return REBUILD_FAILED;
        struct source source = source_commit(repository, &tip);
        outcome = rebuild_source(options, &source, NULL, result, &moved, error);
    }
    return outcome;
}

enum rebuild_outcome rebuild(const struct rebuild_options *options, struct rebuild_result *result,
                             struct store_error *error)
{
    *result = (struct rebuild_result){0};
    if (source_is_folder(options->dataset)) {
        struct source source = source_folder(options->dataset);
        struct lock lock LOCK_SCOPE = {-1};
        bool moved = false;
        if (!options->dry_run && !options->locked &&
            !lock_take_folder(options->dataset, &lock, error))
            return REBUILD_FAILED;
        return rebuild_source(options, &source, options->dataset, result, &moved, error);
    }
    struct repository *repository REPOSITORY_SCOPE = NULL;
    if (!repository_open(options->dataset, &repository, error))
        return REBUILD_FAILED;
    return rebuild_bare(options, repository, result, error);
}
