#include "github/change/history.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "github/change/ledger.h"
#include "github/repository/repository.h"
#include "validator/arena.h"

enum { WALK_STEP = 256, WALK_MAX = 10 * 1000 * 1000 };

struct commits {
    git_oid *ids;
    size_t count, room;
};

/* Commits in two lists that grow away from the tip that was seen first. */
struct history {
    pthread_mutex_t mutex;
    struct repository *repository;
    struct commits older; /* the first tip, its parent, ... */
    struct commits newer; /* the first tip's child, ... */
    bool at_root;         /* the last of `older` has no parent */
};

static void add_commit(struct commits *commits, const git_oid *id)
{
    if (commits->count == commits->room) {
        commits->room = commits->room ? commits->room * 2 : WALK_STEP;
        commits->ids = memory_grow(commits->ids, commits->room * sizeof *commits->ids);
    }
    commits->ids[commits->count++] = *id;
}

bool history_open(const char *path, struct history **out, struct store_error *error)
{
    struct repository *repository = NULL;
    if (!repository_open(path, &repository, error))
        return false;
    struct history *history = memory_grow(NULL, sizeof *history);
    *history = (struct history){.repository = repository};
    pthread_mutex_init(&history->mutex, NULL);
    *out = history;
    return true;
}

void history_close(struct history *history)
{
    if (!history)
        return;
    repository_close(history->repository);
    free(history->older.ids);
    free(history->newer.ids);
    pthread_mutex_destroy(&history->mutex);
    free(history);
}

/* ROOT true: COMMIT has no parent. */
static bool first_parent(struct history *history, const git_oid *commit, git_oid *parent,
                         bool *root, struct store_error *error)
{
    git_commit *object = NULL;
    if (git_commit_lookup(&object, history->repository->git, commit))
        return error_git(error, "cannot read a commit of %s", history->repository->path);
    *root = git_commit_parentcount(object) == 0;
    if (!*root)
        *parent = *git_commit_parent_id(object, 0);
    git_commit_free(object);
    return true;
}

static const git_oid *newest(const struct history *history)
{
    return history->newer.count ? &history->newer.ids[history->newer.count - 1]
                                : &history->older.ids[0];
}

static void start_at(struct history *history, const git_oid *tip)
{
    history->older.count = history->newer.count = 0;
    history->at_root = false;
    add_commit(&history->older, tip);
}

/* Puts what came since the last question on top; starts afresh when the tip no longer stands on
 * it. */
static bool catch_up(struct history *history, const git_oid *tip, struct store_error *error)
{
    if (!history->older.count) {
        start_at(history, tip);
        return true;
    }
    struct commits fresh = {0};
    git_oid at = *tip;
    bool root = false, fine = true;
    while (fine && !root && fresh.count < WALK_MAX && !git_oid_equal(&at, newest(history))) {
        add_commit(&fresh, &at);
        fine = first_parent(history, &at, &at, &root, error);
    }
    if (fine && fresh.count >= WALK_MAX)
        fine = error_set(error, "the history of %s is too long", history->repository->path);
    if (fine && root)
        start_at(history, tip);
    for (size_t i = fresh.count; fine && !root && i > 0; i--)
        add_commit(&history->newer, &fresh.ids[i - 1]);
    free(fresh.ids);
    return fine;
}

static bool extend(struct history *history, struct store_error *error)
{
    for (int i = 0; i < WALK_STEP && !history->at_root; i++) {
        git_oid parent;
        if (!first_parent(history, &history->older.ids[history->older.count - 1], &parent,
                          &history->at_root, error))
            return false;
        if (!history->at_root)
            add_commit(&history->older, &parent);
    }
    return true;
}

struct newest_day {
    git_oid blob;
    bool found;
};

static bool take_day(void *context, const char *path, const git_oid *blob)
{
    struct newest_day *newest_day = context;
    char day[LEDGER_DAY + 1];
    if (ledger_path_day(path, day)) { /* they come in order */
        newest_day->blob = *blob;
        newest_day->found = true;
    }
    return true;
}

static bool last_seq(struct history *history, const git_oid *commit, uint64_t *seq,
                     struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer bytes BUFFER_SCOPE = {0};
    struct newest_day day = {0};
    *seq = 0;
    if (!repository_list(history->repository, commit, "ledger", take_day, &day, error))
        return false;
    if (!day.found)
        return true;
    if (!repository_read(history->repository, &day.blob, &bytes, error))
        return false;
    size_t end = bytes.size ? bytes.size - 1 : 0, start = end;
    while (start > 0 && bytes.data[start - 1] != '\n')
        start--;
    struct js_document document;
    struct js_error problem;
    if (!end || !js_read(&arena, bytes.data + start, end - start, &document, &problem))
        return error_set(error, "a ledger file in the history cannot be read");
    const struct js_value *value = js_get(&document.root, "seq");
    if (value && value->type == JS_NUMBER && value->number >= 0 && value->number < 9e15)
        *seq = (uint64_t)value->number;
    return true;
}

/* Position 0 is the oldest commit that is listed. */
static const git_oid *commit_at(const struct history *history, size_t position)
{
    size_t older = history->older.count;
    return position < older ? &history->older.ids[older - 1 - position]
                            : &history->newer.ids[position - older];
}

static bool search(struct history *history, uint64_t wanted, git_oid *commit,
                   struct store_error *error)
{
    uint64_t seq = 0;
    if (!last_seq(history, newest(history), &seq, error))
        return false;
    if (seq < wanted)
        return error_set(error, "no commit holds ledger line %llu", (unsigned long long)wanted);
    for (;;) {
        if (!last_seq(history, commit_at(history, 0), &seq, error))
            return false;
        if (seq < wanted || history->at_root)
            break;
        if (history->older.count >= WALK_MAX)
            return error_set(error, "the history of %s is too long", history->repository->path);
        if (!extend(history, error))
            return false;
    }
    /* below..above: the first commit that has the line lies in between */
    size_t below = 0, above = history->older.count + history->newer.count - 1;
    while (below < above) {
        size_t middle = below + (above - below) / 2;
        if (!last_seq(history, commit_at(history, middle), &seq, error))
            return false;
        if (seq >= wanted)
            above = middle;
        else
            below = middle + 1;
    }
    *commit = *commit_at(history, below);
    return true;
}

bool history_find(struct history *history, const git_oid *tip, uint64_t seq, git_oid *commit,
                  struct store_error *error)
{
    pthread_mutex_lock(&history->mutex);
    bool found = catch_up(history, tip, error) && search(history, seq, commit, error);
    pthread_mutex_unlock(&history->mutex);
    return found;
}
