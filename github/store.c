#include "github/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "github/change/archives.h"
#include "github/change/catalogue.h"
#include "github/change/dataset.h"
#include "github/change/history.h"
#include "github/queue/daily.h"
#include "github/queue/park.h"
#include "github/queue/problems.h"
#include "github/queue/sync.h"
#include "github/queue/writer.h"
#include "github/repository/files.h"
#include "github/repository/lock.h"
#include "github/repository/repository.h"
#include "github/transport/upkeep.h"
#include "validator/arena.h"
#include "validator/js.h"

struct store {
    char *author_name, *author_email;
    struct lock serving;
    struct archives *archives; /* NULL: none */
    struct catalogue *catalogue;
    struct dataset dataset;
    struct writer *writer;
    struct daily *daily;
    struct history *history;
    struct problems *problems;
    struct upkeep *upkeep;
    bool read_only;
    uint64_t disk_quota; /* 0: none */
    pthread_mutex_t read_mutex;
    struct repository *reader; /* its own handle, under read_mutex */
};

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(memory_grow(NULL, size), text, size);
}

/* Before there are other threads. */
static bool open_local(struct store *store, struct store_error *error)
{
    struct dataset *dataset = &store->dataset;
    dataset->alone = true;
    bool fine = dataset_open(dataset, error);
    dataset->alone = false;
    const struct source source = source_commit(dataset->repository, &dataset->tip);
    return fine && archives_check(store->archives, &source, error);
}

static bool open_parts(struct store *store, const struct store_options *options,
                       struct store_error *error)
{
    struct dataset *dataset = &store->dataset;
    dataset->author = (struct repository_author){store->author_name, store->author_email};
    dataset->summary_limit = options->summary_limit;
    dataset->catalogue = store->catalogue;
    dataset->files = options->files;
    dataset->file_count = options->file_count;
    if (!archives_open(options->archives, options, &store->archives, error) ||
        !archives_listen(store->archives, &options->listener, &dataset->listener, error))
        return false;
    bool prepared = options->remote
                        ? repository_prepare_mirror(options->path, &dataset->repository, error)
                        : repository_prepare(options->path, &dataset->author, options->licence,
                                             &dataset->repository, error);
    if (!prepared)
        return false;
    const char *path = dataset->repository->path;
    struct writer_options writer = {dataset, options, store->problems};
    return lock_take(path, LOCK_SERVE, NULL, NULL, &store->serving, error) &&
           repository_open(path, &store->reader, error) &&
           history_open(path, &store->history, error) &&
           (options->remote || open_local(store, error)) &&
           (!options->home || upkeep_start(path, options->home, options->gc_days, options->tell,
                                           options->tell_context, &store->upkeep, error)) &&
           writer_start(&writer, &store->writer, error) &&
           daily_start(path, &dataset->author, options, store->writer, &store->daily, error);
}

bool store_open(const struct store_options *options, struct store **out, struct store_error *error)
{
    struct store *store = memory_grow(NULL, sizeof *store);
    *store = (struct store){.serving = {-1}};
    pthread_mutex_init(&store->read_mutex, NULL);
    store->author_name = copy_text(options->author_name);
    store->author_email = copy_text(options->author_email);
    store->catalogue = catalogue_new();
    store->problems = problems_new(options->tell, options->tell_context);
    store->read_only = options->remote && options->remote->read_only;
    store->disk_quota = (uint64_t)options->disk_quota;
    if (!open_parts(store, options, error)) {
        store_close(store);
        return false;
    }
    *out = store;
    return true;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    daily_stop(store->daily);
    writer_stop(store->writer);
    upkeep_stop(store->upkeep);
    problems_free(store->problems);
    dataset_close(&store->dataset);
    repository_close(store->dataset.repository);
    repository_close(store->reader);
    history_close(store->history);
    catalogue_free(store->catalogue);
    archives_close(store->archives);
    lock_drop(&store->serving);
    pthread_mutex_destroy(&store->read_mutex);
    free(store->author_name);
    free(store->author_email);
    free(store);
}

static uint64_t disk_bytes(struct store *store)
{
    return store->upkeep ? upkeep_bytes(store->upkeep) : 0;
}

/* Whether the quota of the disk is used up; says so. */
static bool is_full(struct store *store)
{
    uint64_t bytes = disk_bytes(store);
    bool full = store->disk_quota && bytes > store->disk_quota;
    if (full)
        upkeep_hurry(store->upkeep); /* it may be an estimate */
    if (full)
        problems_set(store->problems, PROBLEM_DISK,
                     "the repository takes more than disk_quota: raise it, or make room");
    else
        problems_clear(store->problems, PROBLEM_DISK);
    return full;
}

void store_problems(struct store *store, store_problem tell, void *context)
{
    (void)is_full(store);
    problems_tell(store->problems, tell, context);
}

struct first_problem {
    bool found;
    struct store_error *reason;
};

static void note_first(void *context, bool warning, const char *text)
{
    struct first_problem *first = context;
    if (warning || first->found)
        return;
    first->found = true;
    error_set(first->reason, "%s", text);
}

bool store_unready(struct store *store, struct store_error *reason)
{
    struct first_problem first = {false, reason};
    store_problems(store, note_first, &first);
    return first.found;
}

void store_figures(struct store *store, struct store_figures *figures)
{
    const struct sync *sync = writer_sync(store->writer);
    *figures = (struct store_figures){.ledger_seq = catalogue_last_seq(store->catalogue),
                                      .commits = writer_commits(store->writer),
                                      .disk_bytes = disk_bytes(store)};
    if (sync)
        sync_figures(sync, figures);
}

static void learn_commit(struct store *store, struct run_state *state, uint64_t accepted)
{
    git_oid tip = writer_tip(store->writer), commit;
    if (!history_find(store->history, &tip, accepted, &commit, NULL))
        return;
    git_oid_tostr(state->commit, sizeof state->commit, &commit);
    catalogue_learn(store->catalogue, state->run_id, state->commit, NULL);
}

/* A run without a ledger line: what its file says. */
static void learn_digest(struct store *store, struct run_state *state)
{
    struct arena arena ARENA_SCOPE = {0};
    struct store_blob blob;
    struct js_document document;
    struct js_error problem;
    if (!store_read(store, state->path, true, &blob, NULL))
        return;
    const struct js_value *digest = NULL;
    if (js_read(&arena, blob.data, blob.size, &document, &problem))
        digest = js_get(&document.root, "digest");
    if (digest && digest->type == JS_STRING && digest->size == SHA256_HEX) {
        memcpy(state->digest, digest->text, SHA256_HEX);
        state->digest[SHA256_HEX] = '\0';
        catalogue_learn(store->catalogue, state->run_id, NULL, state->digest);
    }
    store_blob_free(&blob);
}

static void complete(struct store *store, struct run_state *state, uint64_t accepted)
{
    if (state->status == RUN_QUEUED)
        return;
    if (!*state->commit && accepted)
        learn_commit(store, state, accepted);
    if (!*state->digest && !accepted)
        learn_digest(store, state);
}

/* NULL: nothing is parked. */
static struct park *find_park(struct store *store)
{
    struct sync *sync = writer_sync(store->writer);
    return sync ? sync_park(sync) : NULL;
}

static bool find_archived(struct store *store, const char *run_id, const char *digest,
                          struct run_state *state)
{
    if (!archives_find(store->archives, run_id, digest, state))
        return false;
    return true;
}

bool store_find(struct store *store, const char *run_id, const char *digest,
                struct run_state *state)
{
    uint64_t accepted = 0;
    struct park *park = find_park(store);
    if (catalogue_find(store->catalogue, run_id, state, &accepted)) {
        complete(store, state, accepted);
        const char *own = *state->submitted_digest ? state->submitted_digest : state->digest;
        if (!digest || !strcmp(digest, own))
            return true;
        run_state_free(state);
    }
    if (park && park_find(park, run_id, digest, state, NULL))
        return true;
    return find_archived(store, run_id, digest, state);
}

void run_state_free(struct run_state *state)
{
    char **const texts[] = {&state->flags, &state->by, &state->history, &state->dropped};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        free(*texts[i]);
        *texts[i] = NULL;
    }
}

size_t store_quarantined(struct store *store, const struct store_quarantine *wanted,
                         struct run_state *states, size_t *all)
{
    return catalogue_quarantined(store->catalogue, wanted, states, all);
}

enum claim store_claim(struct store *store, const char *run_id, const char *path,
                       const char *submitted_digest, const char nonce_sha256[SHA256_HEX + 1],
                       struct run_state *state)
{
    const struct sync *sync = writer_sync(store->writer);
    struct park *park = find_park(store);
    if ((sync && !sync_is_open(sync)) || store->read_only)
        return CLAIM_CLOSED;
    if (park && park_find(park, run_id, submitted_digest, state, NULL)) {
        if (state->status == RUN_DECLINED)
            return CLAIM_DECLINED;
        run_state_free(state);
    }
    if (archives_spent(store->archives, nonce_sha256, run_id))
        return CLAIM_NONCE_USED;
    if (find_archived(store, run_id, NULL, state)) {
        if (!catalogue_spent_elsewhere(store->catalogue, nonce_sha256, run_id))
            return CLAIM_DUPLICATE;
        run_state_free(state);
        return CLAIM_NONCE_USED;
    }
    enum claim claim = catalogue_claim(store->catalogue, run_id, path, submitted_digest,
                                       nonce_sha256, files_wall_ms(), state);
    if (claim == CLAIM_GRANTED && is_full(store)) { /* who is known hears so all the same */
        store_release(store, run_id);
        return CLAIM_CLOSED;
    }
    if (claim == CLAIM_DUPLICATE) { /* with what only store_find knows */
        struct run_state known;
        if (store_find(store, run_id, NULL, &known)) {
            run_state_free(state);
            *state = known;
        }
    }
    return claim;
}

void store_release(struct store *store, const char *run_id)
{
    struct change_result result = {.outcome = CHANGE_FAILED};
    error_set(&result.error, "the submission of run %s was given up", run_id);
    waiters_tell(catalogue_end_claim(store->catalogue, run_id, false), &result);
}

void store_commit(struct store *store, const struct change *change, change_done done, void *context)
{
    struct pending *pending = pending_new(change, done, context);
    if (store->upkeep) /* it is packed, and the index grows with it: about that much */
        upkeep_grew(store->upkeep, change->bytes_size + change->entry_size);
    if (change->kind == CHANGE_RUN)
        catalogue_queued(store->catalogue, change);
    if (writer_queue(store->writer, pending))
        return;
    pending->waiters = catalogue_end_claim(store->catalogue, change->run_id, false);
    pending->result.outcome = CHANGE_QUEUE_FULL;
    pending_finish(pending);
}

enum decided store_decide(struct store *store, const struct change *change, struct run_state *state)
{
    const struct sync *sync = writer_sync(store->writer);
    if ((sync && !sync_is_open(sync)) || store->read_only)
        return DECIDED_CLOSED;
    enum decided decided = catalogue_decide(store->catalogue, change, state);
    bool archived =
        decided == DECIDED_UNKNOWN && archives_find(store->archives, change->run_id, NULL, state);
    return archived ? DECIDED_STATE : decided;
}

bool store_join(struct store *store, const char *run_id, change_done done, void *context)
{
    bool durable;
    struct change_result queued = {.outcome = CHANGE_QUEUED, .more = true, .away = true};
    struct run_state state;
    if (!catalogue_join(store->catalogue, run_id, done, context, &durable))
        return false;
    if (durable && store_find(store, run_id, NULL, &state)) { /* it became so meanwhile */
        memcpy(queued.submitted_digest, state.submitted_digest, sizeof queued.submitted_digest);
        run_state_free(&state);
        done(context, &queued);
    }
    return true;
}

static bool read_blob(struct store *store, const git_oid *id, bool with_data,
                      struct store_blob *blob, struct store_error *error)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    *blob = (struct store_blob){0};
    if (with_data && !repository_read(store->reader, id, &bytes, error))
        return false;
    git_oid_tostr(blob->id, sizeof blob->id, id);
    if (with_data)
        blob->data = buffer_take(&bytes, &blob->size);
    return true;
}

/* *ERROR is set when it cannot be read. */
static bool read_archived(struct store *store, const char *path, bool with_data,
                          struct store_blob *blob, struct store_error *error)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    git_oid id;
    *blob = (struct store_blob){0};
    if (archives_read(store->archives, path, &id, with_data ? &bytes : NULL, error) !=
        REPOSITORY_FOUND)
        return false;
    git_oid_tostr(blob->id, sizeof blob->id, &id);
    if (with_data)
        blob->data = buffer_take(&bytes, &blob->size);
    return true;
}

static bool read_at(struct store *store, const git_oid *tip, const char *path, bool with_data,
                    struct store_blob *blob, struct store_error *error)
{
    git_oid id;
    error_set(error, "%s", "");
    if (git_oid_is_zero(tip)) {
        const struct sync *sync = writer_sync(store->writer);
        if (sync && !sync_is_open(sync))
            error_set(error, "the remote has not been cloned yet");
        return false;
    }
    pthread_mutex_lock(&store->read_mutex);
    bool found = repository_find(store->reader, tip, path, &id, error) == REPOSITORY_FOUND &&
                 read_blob(store, &id, with_data, blob, error);
    pthread_mutex_unlock(&store->read_mutex);
    return found;
}

bool store_read(struct store *store, const char *path, bool with_data, struct store_blob *blob,
                struct store_error *error)
{
    git_oid tip = writer_tip(store->writer);
    struct store_error none, *why = error ? error : &none;
    return read_at(store, &tip, path, with_data, blob, why) ||
           (!*why->message && read_archived(store, path, with_data, blob, why));
}

bool store_read_run(struct store *store, const struct run_state *state, bool with_data,
                    struct store_blob *blob, struct store_error *error)
{
    struct sync *sync = writer_sync(store->writer);
    git_oid id;
    if (sync && state->status == RUN_QUEUED) {
        git_oid tip = sync_tip(sync);
        return read_at(store, &tip, state->path, with_data, blob, error);
    }
    if (state->status != RUN_DECLINED && state->status != RUN_CONFLICT)
        return store_read(store, state->path, with_data, blob, error);
    if (!sync || !park_find(sync_park(sync), state->run_id, state->submitted_digest, NULL, &id))
        return false;
    pthread_mutex_lock(&store->read_mutex);
    bool found = read_blob(store, &id, with_data, blob, error);
    pthread_mutex_unlock(&store->read_mutex);
    return found;
}

void store_blob_free(struct store_blob *blob)
{
    free(blob->data);
    blob->data = NULL;
}

struct naming {
    store_name tell;
    void *context;
};

static bool tell_name(void *context, const char *path, const git_oid *blob)
{
    const struct naming *naming = context;
    (void)blob;
    naming->tell(naming->context, path);
    return true;
}

bool store_list(struct store *store, const char *folder, store_name tell, void *context)
{
    struct naming naming = {tell, context};
    git_oid tip = writer_tip(store->writer);
    if (git_oid_is_zero(&tip))
        return true;
    pthread_mutex_lock(&store->read_mutex);
    bool fine = repository_list(store->reader, &tip, folder, tell_name, &naming, NULL);
    pthread_mutex_unlock(&store->read_mutex);
    return fine;
}
