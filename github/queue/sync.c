#include "github/queue/sync.h"

#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "github/queue/sync_state.h"
#include "validator/arena.h"

enum { AWAY_MS = 5000 };

int64_t sync_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static double random_part(void)
{
    unsigned char byte = 0;
    (void)RAND_bytes(&byte, 1); /* a jitter: any value will do */
    return byte / 255.0;
}

/* What other threads may see of it. */
static void show(struct sync *sync)
{
    pthread_mutex_lock(&sync->mutex);
    sync->head_tip = sync->mirror.head.tip;
    pthread_mutex_unlock(&sync->mutex);
    atomic_store(&sync->queued, sync->mirror.queue.count);
    atomic_store(&sync->push_ms, sync->pace.push_ms);
    atomic_store(&sync->open, sync->mirror.open);
}

static bool is_away(const struct sync *sync)
{
    bool failing = sync->failing_since && sync_now() - sync->failing_since >= AWAY_MS;
    return failing || sync->trial.closed;
}

/* Those who wait need not do so any longer. */
static void release_waiting(struct sync *sync)
{
    if (!is_away(sync))
        return;
    for (struct queued *item = sync->mirror.queue.first; item; item = item->next)
        if (!item->gave_up_waiting)
            queue_tell(item, true);
}

void sync_fail(struct sync *sync)
{
    int64_t now = sync_now();
    if (!sync->failing_since)
        sync->failing_since = now;
    pace_failed(&sync->pace, now, random_part());
    sync->look_ms = sync->pace.retry_ms;
    release_waiting(sync);
}

void sync_recover(struct sync *sync)
{
    sync->failing_since = 0;
    pace_recovered(&sync->pace);
    sync->look_ms = sync_now() + sync->poll_ms;
}

void sync_say(const struct sync *sync, enum store_level level, const char *message)
{
    if (sync->tell)
        sync->tell(sync->tell_context, level, message);
}

bool sync_start(const struct sync_options *options, struct sync **out, struct store_error *error)
{
    const struct store_options *store = options->store;
    const struct store_remote *remote = store->remote;
    struct mirror_options mirror = {options->dataset, store->licence, options->landed,
                                    options->context, store->tell,    store->tell_context};
    struct sync *sync = memory_grow(NULL, sizeof *sync);
    *sync = (struct sync){.problems = options->problems,
                          .poll_ms = remote->poll_ms,
                          .shared = remote->shared,
                          .read_only = remote->read_only,
                          .runs_most = SYNC_PUSH_RUNS,
                          .back = options->back,
                          .back_context = options->context,
                          .tell = store->tell,
                          .tell_context = store->tell_context};
    pthread_mutex_init(&sync->mutex, NULL);
    pace_begin(&sync->pace, remote->pushes_per_minute);
    if (!mirror_start(&sync->mirror, &mirror, error) ||
        !courier_start(remote, store->home, options->dataset->repository->path, options->back,
                       options->context, &sync->courier, error)) {
        sync_stop(sync);
        return false;
    }
    if (!sync->mirror.open)
        problems_set(sync->problems, PROBLEM_NOT_CLONED, "the remote has not been reached yet");
    else if (sync->mirror.queue.count)
        pace_grew(&sync->pace, sync_now());
    show(sync);
    *out = sync;
    return true;
}

void sync_stop(struct sync *sync)
{
    if (!sync)
        return;
    courier_stop(sync->courier);
    mirror_stop(&sync->mirror);
    pthread_mutex_destroy(&sync->mutex);
    free(sync);
}

static void receive(struct sync *sync)
{
    struct errand errand;
    struct remote_answer answer;
    if (!courier_receive(sync->courier, &errand, &answer))
        return;
    news_take(sync, &errand, &answer);
    remote_answer_free(&answer);
}

static void send(struct sync *sync, enum errand_kind kind)
{
    struct errand errand = {.kind = kind};
    const char *branch =
        kind == ERRAND_FETCH && *sync->turn ? sync->turn : sync->mirror.repository->branch;
    if (sync->mirror.open || kind == ERRAND_FETCH)
        memcpy(errand.branch, branch, sizeof errand.branch);
    courier_send(sync->courier, &errand);
}

/* The last look before a push, which a lease alone would let go backwards. */
static bool stands_on(const struct sync *sync, const struct errand *errand,
                      struct store_error *error)
{
    return git_oid_is_zero(&errand->expected) ||
           repository_descends(sync->mirror.repository, &errand->commit, &errand->expected) ||
           error_set(error, "what is queued does not stand on what the remote has");
}

/* Something has to be pushed now. False: not after all, or it cannot be made. */
static bool push(struct sync *sync, int64_t now)
{
    struct store_error error = {""};
    struct errand errand = {.kind = ERRAND_PUSH, .expected = sync->mirror.landed.tip};
    sync->aim = trial_aim(&sync->trial, queue_count(&sync->mirror.queue));
    if (sync->aim.kind == AIM_ALL && sync->aim.count > sync->runs_most)
        sync->aim = (struct aim){AIM_PLAIN, queue_boundary(&sync->mirror.queue, sync->runs_most)};
    if (sync->aim.kind == AIM_NOTHING) {
        if (mirror_park(&sync->mirror, &error)) {
            sync->pace.first_ms = 0;
            if (sync->mirror.queue.count)
                pace_grew(&sync->pace, now);
            return false;
        }
    } else if (mirror_aim(&sync->mirror, sync->aim, &errand.commit, &error) &&
               stands_on(sync, &errand, &error)) {
        memcpy(errand.branch, sync->mirror.repository->branch, sizeof errand.branch);
        pace_started(&sync->pace, now);
        courier_send(sync->courier, &errand);
        return true;
    }
    problems_commit_failed(sync->problems, &error);
    sync_fail(sync);
    return false;
}

void sync_refresh(struct sync *sync, const struct refresh *refresh)
{
    pthread_mutex_lock(&sync->mutex);
    sync->refresh = *refresh;
    pthread_mutex_unlock(&sync->mutex);
    sync->back(sync->back_context);
}

/* A refresh is put on what the remote has, as if somebody else had made it: should the remote have moved or decline it,
 * nothing here stands on it. False: there is none to push. */
static bool push_refresh(struct sync *sync)
{
    struct store_error error = {""};
    struct errand errand = {.kind = ERRAND_PUSH, .expected = sync->mirror.landed.tip};
    const struct dataset *landed = &sync->mirror.landed;
    pthread_mutex_lock(&sync->mutex);
    struct refresh refresh = sync->refresh;
    sync->refresh = (struct refresh){0};
    pthread_mutex_unlock(&sync->mutex);
    if (refresh_is_empty(&refresh))
        return false;
    enum refresh_outcome outcome = refresh_commit(landed->repository, &landed->tip, &refresh,
                                                  &landed->author, false, &errand.commit, &error);
    if (outcome == REFRESH_FAILED)
        sync_say(sync, STORE_WARNING, error.message);
    if (outcome != REFRESH_DONE)
        return false;
    memcpy(errand.branch, sync->mirror.repository->branch, sizeof errand.branch);
    sync->refreshing = true;
    courier_send(sync->courier, &errand);
    return true;
}

/* Sends the courier where he is needed. When he stays here, says until when. */
static int64_t dispatch(struct sync *sync)
{
    int64_t now = sync_now();
    if (sync->fetch && now >= sync->pace.retry_ms) {
        send(sync, ERRAND_FETCH);
        return INT64_MAX;
    }
    if (sync->fetch)
        return sync->pace.retry_ms;
    if (sync->look_first && now < sync->pace.retry_ms)
        return sync->pace.retry_ms;
    if (sync->look_first) {
        sync->look_first = false;
        send(sync, ERRAND_LOOK);
        return INT64_MAX;
    }
    int64_t next = INT64_MAX;
    if (!sync->mirror.queue.count)
        trial_end(&sync->trial);
    if (sync->mirror.open && !sync->mirror.outdated && !sync->read_only &&
        sync->mirror.queue.count) {
        next = pace_next(&sync->pace, now);
        /* After a failure to find the branch only a look can tell whether it is back. */
        bool lost = problems_has(sync->problems, PROBLEM_BRANCH);
        if (next <= now && !lost)
            return push(sync, now) ? INT64_MAX : now;
        if (lost)
            next = INT64_MAX;
    }
    if (sync->mirror.open && !sync->read_only && !sync->mirror.queue.count &&
        !problems_has(sync->problems, PROBLEM_BRANCH) && now >= sync->pace.retry_ms &&
        push_refresh(sync))
        return INT64_MAX;
    if (now >= sync->look_ms && next > now) {
        send(sync, ERRAND_LOOK);
        return INT64_MAX;
    }
    return next < sync->look_ms ? next : sync->look_ms;
}

int64_t sync_step(struct sync *sync)
{
    struct store_error error = {""};
    receive(sync);
    if (sync->mirror.open && !mirror_settle(&sync->mirror, &error))
        problems_commit_failed(sync->problems, &error);
    int64_t next = INT64_MAX;
    if (!courier_is_away(sync->courier))
        next = dispatch(sync);
    /* Whoever waits is let go when the time has come, not at the next failure. */
    release_waiting(sync);
    int64_t away_ms = sync->failing_since + AWAY_MS;
    if (sync->failing_since && sync->mirror.queue.count && away_ms > sync_now() && away_ms < next)
        next = away_ms;
    show(sync);
    return next;
}

struct dataset *sync_head(struct sync *sync, struct store_error *error)
{
    if (!mirror_settle(&sync->mirror, error))
        return NULL;
    return &sync->mirror.head;
}

static void tell_joined(struct sync *sync, const struct queued *item)
{
    struct change_result result = {
        .outcome = CHANGE_QUEUED, .more = true, .away = is_away(sync), .seq = item->seq};
    memcpy(result.submitted_digest, item->submitted_digest, sizeof result.submitted_digest);
    waiters_tell(catalogue_durable(sync->mirror.catalogue, item->run_id), &result);
}

/* Takes what was committed over into the queue; what is left of BATCH are duplicates and stale decisions. */
static struct pending *take_committed(struct sync *sync, struct pending *batch)
{
    struct pending *duplicates = NULL;
    while (batch) {
        struct pending *next = batch->next;
        if (batch->result.outcome == CHANGE_COMMITTED) {
            queue_add(&sync->mirror.queue, batch);
            pending_free(batch);
        } else {
            batch->next = duplicates;
            duplicates = batch;
        }
        batch = next;
    }
    return duplicates;
}

void sync_take(struct sync *sync, struct pending *batch)
{
    struct queued **first = sync->mirror.queue.last;
    batch = take_committed(sync, batch);
    show(sync); /* before anybody asks for what he hears of */
    for (struct queued *item = *first; item; item = item->next) {
        tell_joined(sync, item);
        queue_tell(item, is_away(sync));
    }
    while (batch) {
        struct pending *next = batch->next;
        batch->waiters = catalogue_end_claim(sync->mirror.catalogue, batch->change.run_id, true);
        pending_finish(batch);
        batch = next;
    }
    if (sync->mirror.queue.count)
        pace_grew(&sync->pace, sync_now());
}

bool sync_is_open(const struct sync *sync)
{
    return atomic_load(&sync->open);
}

size_t sync_queued(const struct sync *sync)
{
    return atomic_load(&sync->queued);
}

void sync_figures(const struct sync *sync, struct store_figures *figures)
{
    figures->queued = atomic_load(&sync->queued);
    figures->pushes = atomic_load(&sync->pushes);
    figures->failed_pushes = atomic_load(&sync->failed_pushes);
    figures->push_ms = atomic_load(&sync->push_ms);
    if (sync_is_open(sync))
        figures->parked = park_count(sync->mirror.park);
}

struct park *sync_park(struct sync *sync)
{
    return sync_is_open(sync) ? sync->mirror.park : NULL;
}

git_oid sync_tip(struct sync *sync)
{
    pthread_mutex_lock(&sync->mutex);
    git_oid tip = sync->head_tip;
    pthread_mutex_unlock(&sync->mutex);
    return tip;
}
