#include "github/change/archives.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "github/change/catalogue.h"
#include "github/change/history.h"
#include "github/change/ledger.h"
#include "github/change/load.h"
#include "github/repository/files.h"
#include "validator/arena.h"

struct archive {
    struct repository *repository; /* with the mutex */
    git_oid tip;
    struct history *history;
    struct catalogue *catalogue;
    struct ledger ledger;
};

struct archives {
    pthread_mutex_t mutex; /* guards the repositories */
    size_t count;
    struct archive list[ARCHIVES_MOST];
    struct store_listener inner;
    bool told; /* INNER knows what they hold, and nothing else */
    store_tell tell;
    void *tell_context;
};

static void take_line(void *context, const struct ledger_line *line)
{
    const struct archive *archive = context;
    catalogue_line(archive->catalogue, line, files_wall_ms());
}

static bool open_archive(struct archive *archive, const char *path, struct store_error *error)
{
    archive->catalogue = catalogue_new();
    ledger_begin(&archive->ledger);
    if (!repository_open(path, &archive->repository, error) ||
        !repository_tip(archive->repository, &archive->tip, error) ||
        !history_open(path, &archive->history, error))
        return false;
    const struct source source = source_commit(archive->repository, &archive->tip);
    return load_ledger(&source, &archive->ledger, take_line, archive, NULL, error);
}

bool archives_open(const char *const *paths, const struct store_options *options,
                   struct archives **out, struct store_error *error)
{
    if (!paths || !*paths)
        return true;
    struct archives *archives = memory_grow(NULL, sizeof *archives);
    *archives = (struct archives){.tell = options->tell, .tell_context = options->tell_context};
    pthread_mutex_init(&archives->mutex, NULL);
    bool fine = true;
    for (; fine && *paths; paths++)
        fine = archives->count < ARCHIVES_MOST
                   ? open_archive(&archives->list[archives->count++], *paths, error)
                   : error_set(error, "there are more than %d archives", ARCHIVES_MOST);
    if (!fine) {
        archives_close(archives);
        return false;
    }
    *out = archives;
    return true;
}

void archives_close(struct archives *archives)
{
    if (!archives)
        return;
    for (size_t i = 0; i < archives->count; i++) {
        struct archive *archive = &archives->list[i];
        repository_close(archive->repository);
        history_close(archive->history);
        catalogue_free(archive->catalogue);
        ledger_free(&archive->ledger);
    }
    pthread_mutex_destroy(&archives->mutex);
    free(archives);
}

struct seeking {
    struct ledger ledger;
    const struct js_value *hash;
    bool found;
};

static void compare_line(void *context, const struct ledger_line *line)
{
    struct seeking *seeking = context;
    (void)line;
    seeking->found = seeking->found || js_equals(seeking->hash, seeking->ledger.last);
}

/* Whether HASH is that of a line of the archive: of its last one, unless something was redacted since. */
static bool has_line(const struct archive *archive, const struct js_value *hash)
{
    const struct source source = source_commit(archive->repository, &archive->tip);
    struct seeking seeking = {.hash = hash, .found = hash && js_equals(hash, archive->ledger.last)};
    if (seeking.found || !hash)
        return seeking.found;
    ledger_begin(&seeking.ledger);
    bool fine = load_ledger(&source, &seeking.ledger, compare_line, &seeking, NULL, NULL);
    ledger_free(&seeking.ledger);
    return fine && seeking.found;
}

bool archives_check(const struct archives *archives, const struct source *source,
                    struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer bytes BUFFER_SCOPE = {0};
    struct js_document document;
    struct js_error problem;
    enum repository_found found = source_read(source, ARCHIVES_PATH, &bytes, error);
    if (found != REPOSITORY_FOUND)
        return found == REPOSITORY_ABSENT;
    const struct js_value *named = NULL;
    if (js_read(&arena, buffer_string(&bytes), bytes.size, &document, &problem))
        named = js_get(&document.root, "archives");
    if (!named || named->type != JS_ARRAY)
        return error_set(error, ARCHIVES_PATH " names no archives");
    size_t count = archives ? archives->count : 0;
    bool same = named->size == count;
    for (size_t i = 0; same && i < count; i++)
        same = has_line(&archives->list[i], js_get(&named->items[i], "ledgerSha256"));
    return same || error_set(error,
                             "the archives that are given (%zu) are not those that " ARCHIVES_PATH
                             " names (%u), with those lines of their ledgers, in its order",
                             count, named->size);
}

struct telling {
    const struct archives *archives;
    const struct archive *archive;
};

static void take_entry(void *context, const struct index_entry *entry)
{
    const struct telling *telling = context;
    const struct store_listener *inner = &telling->archives->inner;
    if (entry->path && entry->path->type == JS_STRING)
        catalogue_listed(telling->archive->catalogue, entry->run_id->text, entry->run_id->size,
                         entry->path->text, entry->path->size);
    if (inner->entry)
        inner->entry(inner->context, entry->json, entry->size);
}

/* ALONE: as in load.h. */
static bool tell_all(struct archives *archives, bool alone, struct store_error *error)
{
    bool fine = true;
    pthread_mutex_lock(&archives->mutex);
    for (size_t i = 0; fine && i < archives->count; i++) {
        struct archive *archive = &archives->list[i];
        struct telling telling = {archives, archive};
        struct source source = source_commit(archive->repository, &archive->tip);
        struct index_loading loading = {.tell = take_entry, .context = &telling, .alone = alone};
        struct index *index = NULL;
        fine = load_index(&source, &loading, &index, error);
        if (fine && !index)
            fine = error_set(error, "it has no index");
        index_free(index);
        if (!fine) {
            const struct store_error why = *error;
            error_set(error, "the archive %s: %.300s", archive->repository->path, why.message);
        }
    }
    pthread_mutex_unlock(&archives->mutex);
    return fine;
}

static void told_reset(void *context)
{
    struct archives *archives = context;
    struct store_error error = {""};
    if (archives->told)
        return;
    if (archives->inner.reset)
        archives->inner.reset(archives->inner.context);
    archives->told = tell_all(archives, false, &error);
    if (!archives->told && archives->tell)
        archives->tell(archives->tell_context, STORE_ERROR, error.message);
}

static void told_entry(void *context, const char *entry, size_t size)
{
    struct archives *archives = context;
    archives->told = false;
    if (archives->inner.entry)
        archives->inner.entry(archives->inner.context, entry, size);
}

static void told_replaced(void *context, const char *run_id, const char *entry, size_t size)
{
    const struct archives *archives = context;
    if (archives->inner.replaced)
        archives->inner.replaced(archives->inner.context, run_id, entry, size);
}

static void told_settled(void *context)
{
    const struct archives *archives = context;
    if (archives->inner.settled)
        archives->inner.settled(archives->inner.context);
}

bool archives_listen(struct archives *archives, const struct store_listener *inner,
                     struct store_listener *listener, struct store_error *error)
{
    *listener = *inner;
    if (!archives)
        return true;
    archives->inner = *inner;
    if (inner->reset)
        inner->reset(inner->context);
    archives->told = tell_all(archives, true, error);
    if (!archives->told)
        return false;
    *listener = (struct store_listener){.context = archives,
                                        .reset = told_reset,
                                        .entry = told_entry,
                                        .replaced = told_replaced,
                                        .settled = told_settled};
    told_settled(archives);
    return true;
}

static void learn_commit(struct archive *archive, struct run_state *state, uint64_t accepted)
{
    git_oid commit;
    if (*state->commit || !accepted ||
        !history_find(archive->history, &archive->tip, accepted, &commit, NULL))
        return;
    git_oid_tostr(state->commit, sizeof state->commit, &commit);
    catalogue_learn(archive->catalogue, state->run_id, state->commit, NULL);
}

bool archives_find(struct archives *archives, const char *run_id, const char *digest,
                   struct run_state *state)
{
    for (size_t i = 0; archives && i < archives->count; i++) {
        struct archive *archive = &archives->list[i];
        uint64_t accepted = 0;
        if (!catalogue_find(archive->catalogue, run_id, state, &accepted))
            continue;
        state->archive = i + 1;
        learn_commit(archive, state, accepted);
        const char *own = *state->submitted_digest ? state->submitted_digest : state->digest;
        if (!digest || !*own || !strcmp(digest, own))
            return true;
        run_state_free(state);
    }
    return false;
}

bool archives_spent(struct archives *archives, const char *nonce_sha256, const char *run_id)
{
    for (size_t i = 0; archives && i < archives->count; i++)
        if (catalogue_spent_elsewhere(archives->list[i].catalogue, nonce_sha256, run_id))
            return true;
    return false;
}

enum repository_found archives_read(struct archives *archives, const char *path, git_oid *blob,
                                    struct buffer *out, struct store_error *error)
{
    enum repository_found found = REPOSITORY_ABSENT;
    if (!archives || (strncmp(path, "runs/", 5) && strncmp(path, "quarantine/", 11)))
        return found;
    pthread_mutex_lock(&archives->mutex);
    for (size_t i = 0; found == REPOSITORY_ABSENT && i < archives->count; i++) {
        struct archive *archive = &archives->list[i];
        found = repository_find(archive->repository, &archive->tip, path, blob, error);
        if (found == REPOSITORY_FOUND && out &&
            !repository_read(archive->repository, blob, out, error))
            found = REPOSITORY_FAULT;
    }
    pthread_mutex_unlock(&archives->mutex);
    return found;
}
