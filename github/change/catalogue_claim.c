#include <stdlib.h>
#include <string.h>

#include "github/change/catalogue_state.h"
#include "github/repository/files.h"
#include "validator/arena.h"

static bool same_submission(const struct nonce_record *nonce, const char *run_id,
                            const char *submitted_digest)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, strlen(run_id), key);
    return !strcmp(key, nonce->run_key) && !strcmp(submitted_digest, nonce->submitted_digest);
}

struct claim_record *record_new_claim(const char *path, const char *submitted, const char *sha256)
{
    struct claim_record *claim = memory_grow(NULL, sizeof *claim);
    *claim = (struct claim_record){.path = record_copy(path, strlen(path))};
    record_fix(claim->submitted_digest, sizeof claim->submitted_digest, submitted,
               strlen(submitted));
    record_fix(claim->nonce, sizeof claim->nonce, sha256, strlen(sha256));
    return claim;
}

static struct run_record *claim_run(struct catalogue *catalogue, const char *run_id,
                                    const char *path, const char *submitted, const char *sha256,
                                    double now_ms)
{
    struct run_record *run = catalogue_need_run(catalogue, run_id, strlen(run_id));
    if (!run->held)
        record_set(&run->run_id, run_id, strlen(run_id));
    run->claim = record_new_claim(path, submitted, sha256);
    if (*sha256) {
        struct nonce_record *nonce = catalogue_need_nonce(catalogue, sha256, now_ms);
        table_run_key(run_id, strlen(run_id), nonce->run_key);
        record_fix(nonce->submitted_digest, sizeof nonce->submitted_digest, submitted,
                   strlen(submitted));
    }
    return run;
}

enum claim catalogue_claim(struct catalogue *catalogue, const char *run_id, const char *path,
                           const char *submitted_digest, const char *nonce_sha256, double now_ms,
                           struct run_state *state)
{
    submitted_digest = record_or_empty(submitted_digest);
    nonce_sha256 = record_or_empty(nonce_sha256);
    enum claim result = CLAIM_GRANTED;
    pthread_mutex_lock(&catalogue->mutex);
    struct nonce_record *nonce = NULL;
    if (*nonce_sha256)
        nonce = (struct nonce_record *)table_find(&catalogue->nonces, nonce_sha256);
    struct run_record *run = catalogue_run(catalogue, run_id);
    bool known = run && (run->held || run->claim);
    if (nonce && !(known && same_submission(nonce, run_id, submitted_digest))) {
        result = CLAIM_NONCE_USED;
    } else if (known) {
        result = CLAIM_DUPLICATE;
        record_describe(run, state);
    } else {
        claim_run(catalogue, run_id, path, submitted_digest, nonce_sha256, now_ms);
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return result;
}

static void fill_claim(struct claim_record *claim, const struct change *change)
{
    const char *digest = record_or_empty(change->digest), *at = record_or_empty(change->at);
    const char *flags = change->flags ? change->flags : "[]";
    record_fix(claim->digest, sizeof claim->digest, digest, strlen(digest));
    record_fix(claim->at, sizeof claim->at, at, strlen(at));
    record_set(&claim->flags, flags, strlen(flags));
    claim->rules = change->rules;
}

void catalogue_queued(struct catalogue *catalogue, const struct change *change)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, change->run_id);
    if (run && run->claim)
        fill_claim(run->claim, change);
    pthread_mutex_unlock(&catalogue->mutex);
}

bool catalogue_is_claimed(struct catalogue *catalogue, const struct js_value *run_id)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id->text, run_id->size, key);
    pthread_mutex_lock(&catalogue->mutex);
    const struct run_record *run = (struct run_record *)table_find(&catalogue->runs, key);
    bool claimed = run && run->claim;
    pthread_mutex_unlock(&catalogue->mutex);
    return claimed;
}

bool catalogue_spent_elsewhere(struct catalogue *catalogue, const char *nonce_sha256,
                               const char *run_id)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, strlen(run_id), key);
    pthread_mutex_lock(&catalogue->mutex);
    const struct nonce_record *nonce =
        (struct nonce_record *)table_find(&catalogue->nonces, record_or_empty(nonce_sha256));
    bool elsewhere = nonce && nonce->expires_ms > 0 && strcmp(nonce->run_key, key) != 0;
    pthread_mutex_unlock(&catalogue->mutex);
    return elsewhere;
}

void catalogue_reclaim(struct catalogue *catalogue, const struct change *change)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, change->run_id);
    if (!run || !run->claim)
        run = claim_run(catalogue, change->run_id, record_or_empty(change->path),
                        record_or_empty(change->submitted_digest),
                        record_or_empty(change->nonce_sha256), files_wall_ms());
    fill_claim(run->claim, change);
    run->claim->durable = true;
    pthread_mutex_unlock(&catalogue->mutex);
}

struct waiters *catalogue_durable(struct catalogue *catalogue, const char *run_id)
{
    struct waiters *waiters = NULL;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, run_id);
    if (run && run->claim) {
        run->claim->durable = true;
        if (run->claim->waiters)
            waiters =
                memcpy(memory_grow(NULL, sizeof *waiters), run->claim->waiters, sizeof *waiters);
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return waiters;
}

bool catalogue_join(struct catalogue *catalogue, const char *run_id, change_done done,
                    void *context, bool *durable)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, run_id);
    struct claim_record *claim = run ? run->claim : NULL;
    if (claim && !claim->waiters) {
        claim->waiters = memory_grow(NULL, sizeof *claim->waiters);
        claim->waiters->count = 0;
    }
    bool joined = claim && claim->waiters->count < JOIN_MAX;
    *durable = claim && claim->durable;
    if (joined)
        claim->waiters->list[claim->waiters->count++] = (struct waiter){done, context};
    pthread_mutex_unlock(&catalogue->mutex);
    return joined;
}

struct waiters *catalogue_end_claim(struct catalogue *catalogue, const char *run_id, bool spent)
{
    struct waiters *waiters = NULL;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, run_id);
    if (run && run->claim) {
        struct claim_record *claim = run->claim;
        run->claim = NULL;
        struct nonce_record *nonce = NULL;
        if (*claim->nonce)
            nonce = (struct nonce_record *)table_find(&catalogue->nonces, claim->nonce);
        /* One that the ledger spent meanwhile has an expiry and stays spent. */
        if (nonce && !spent && nonce->expires_ms <= 0)
            table_remove(&catalogue->nonces, &nonce->item);
        else if (nonce && nonce->expires_ms <= 0)
            nonce->expires_ms = files_wall_ms() + CATALOGUE_NONCE_MS;
        waiters = claim->waiters;
        claim->waiters = NULL;
        record_free_claim(claim);
        if (!run->held)
            table_remove(&catalogue->runs, &run->item);
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return waiters;
}
