#include "github/queue/sync.h"

#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "github/queue/mirror.h"
#include "github/queue/pace.h"
#include "github/transport/courier.h"
#include "validator/arena.h"

/* A read right after a write may be stale for half a minute. */
enum { STALE_MS = 35000, AWAY_MS = 5000, PUSH_RUNS = 1000 };

struct sync {
    struct mirror mirror;
    struct problems *problems;
    struct courier *courier;
    struct pace pace;
    struct trial trial;
    size_t runs_most;      /* in one push: what has not arrived in time is tried in parts */
    struct aim aim;        /* of the push that is on its way */
    int64_t failing_since; /* 0: it is not */
    int64_t look_ms;       /* when to look at the remote next */
    bool fetch;            /* it is not where we thought: fetch next */
    int64_t landed_ms;     /* when the remote was last seen to move */
    bool set_back;         /* what was fetched last is older than that */
    int64_t poll_ms;
    bool read_only, shared;
    char turn[REPOSITORY_BRANCH_MAX]; /* a branch that may be ours under a new name; "": none */
    uint64_t foreign;                 /* of the landed dataset, when last looked at */
    store_tell tell;
    void *tell_context;
    pthread_mutex_t mutex; /* guards head_tip */
    git_oid head_tip;
    atomic_bool open;
    atomic_size_t queued;
    atomic_ullong pushes, failed_pushes;
    atomic_llong push_ms;
};

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

static void fail(struct sync *sync)
{
    int64_t now = sync_now();
    if (!sync->failing_since)
        sync->failing_since = now;
    pace_failed(&sync->pace, now, random_part());
    sync->look_ms = sync->pace.retry_ms;
    release_waiting(sync);
}

/* The remote answers. */
static void recover(struct sync *sync)
{
    sync->failing_since = 0;
    sync->pace.failures = 0;
    sync->look_ms = sync_now() + sync->poll_ms;
}

bool sync_start(const struct store_options *options, const struct dataset *dataset,
                struct problems *problems, void (*back)(void *context), void *context,
                struct sync **out, struct store_error *error)
{
    struct sync *sync = memory_grow(NULL, sizeof *sync);
    *sync = (struct sync){.problems = problems,
                          .poll_ms = options->remote->poll_ms,
                          .shared = options->remote->shared,
                          .read_only = options->remote->read_only,
                          .runs_most = PUSH_RUNS,
                          .tell = options->tell,
                          .tell_context = options->tell_context};
    pthread_mutex_init(&sync->mutex, NULL);
    pace_begin(&sync->pace, options->remote->pushes_per_minute);
    if (!mirror_start(&sync->mirror, dataset, options->licence, error) ||
        !courier_start(options->remote, options->home, dataset->repository->path, back, context,
                       &sync->courier, error)) {
        sync_stop(sync);
        return false;
    }
    if (!sync->mirror.open)
        problems_set(problems, PROBLEM_NOT_CLONED, "the remote has not been reached yet");
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

/* The reason of ANSWER under the word of its outcome. */
static void report(struct sync *sync, const struct remote_answer *answer)
{
    static const char *const words[] = {[REMOTE_FINE] = NULL,
                                        [REMOTE_MOVED] = NULL,
                                        [REMOTE_DECLINED] = NULL,
                                        [REMOTE_BRANCH] = NULL,
                                        [REMOTE_REFUSED] = "remote-auth",
                                        [REMOTE_ABSENT] = "remote-down",
                                        [REMOTE_AWAY] = "remote-down",
                                        [REMOTE_STOPPED] = NULL};
    if (words[answer->outcome])
        problems_set(sync->problems, PROBLEM_REMOTE, "%s: %s", words[answer->outcome],
                     answer->reason);
    if (answer->outcome != REMOTE_STOPPED)
        fail(sync);
}

static void tell(const struct sync *sync, enum store_level level, const char *message)
{
    if (sync->tell)
        sync->tell(sync->tell_context, level, message);
}

static void note_foreign(struct sync *sync)
{
    if (sync->shared || sync->mirror.landed.foreign == sync->foreign)
        return;
    sync->foreign = sync->mirror.landed.foreign;
    problems_set(sync->problems, PROBLEM_FOREIGN,
                 "another service accepts submissions for this dataset: let them share redis_url, "
                 "or their rates and nonces count apart");
}

/* The remote has COMMIT. */
static bool advance(struct sync *sync, const git_oid *commit)
{
    struct store_error error = {""};
    git_oid before = sync->mirror.landed.tip;
    bool fine = mirror_advance(&sync->mirror, commit, &error);
    if (!git_oid_equal(&before, &sync->mirror.landed.tip))
        sync->landed_ms = sync_now();
    if (fine) {
        problems_clear(sync->problems, PROBLEM_UNREADABLE);
        note_foreign(sync);
    } else {
        problems_set(sync->problems, PROBLEM_UNREADABLE, "%s", error.message);
    }
    return fine;
}

static void begin(struct sync *sync, const char *branch, const git_oid *tip)
{
    struct store_error error = {""};
    if (!mirror_begin(&sync->mirror, branch, tip, &error)) {
        problems_set(sync->problems, PROBLEM_NOT_CLONED, "%s", error.message);
        fail(sync);
        return;
    }
    problems_clear(sync->problems, PROBLEM_NOT_CLONED);
    tell(sync, STORE_INFO,
         "cloned the remote: runs that an earlier state directory had queued or parked are not in "
         "it");
    recover(sync);
}

/* The first sight: which branch, and whether there is anything at all. */
static void meet(struct sync *sync, const struct remote_answer *answer)
{
    static const git_oid nothing = {{0}};
    if (answer->empty) {
        begin(sync, REPOSITORY_MAIN, &nothing);
        return;
    }
    if (git_oid_is_zero(&answer->tip)) {
        problems_set(
            sync->problems, PROBLEM_BRANCH,
            "the remote has branches, but its HEAD points to %.200s, which is missing: set "
            "its default branch to one that exists",
            *answer->head ? answer->head : "none of them");
        fail(sync);
        return;
    }
    struct store_error error = {""};
    if (!repository_turn(sync->mirror.repository, answer->head, &error)) {
        problems_set(sync->problems, PROBLEM_NOT_CLONED, "%s", error.message);
        fail(sync);
        return;
    }
    sync->fetch = true;
}

/* Our branch is not there any more. Whether the default branch goes on with it is seen once that has
 * been fetched. */
static void miss_branch(struct sync *sync, const struct remote_answer *answer)
{
    const char *ours = sync->mirror.repository->branch;
    if (answer->empty) {
        problems_set(sync->problems, PROBLEM_BRANCH,
                     "the remote is empty, and was not: nothing is pushed to it. Bring it back, or "
                     "move the state directory away to begin anew");
    } else {
        problems_set(
            sync->problems, PROBLEM_BRANCH,
            "%.200s is gone from the remote, whose HEAD points to %.200s: bring the branch "
            "back, or make one that goes on with its history the default branch",
            ours, *answer->head ? answer->head : "nothing");
        sync->fetch = *answer->head && strcmp(answer->head, ours) != 0;
        if (sync->fetch)
            memcpy(sync->turn, answer->head, sizeof sync->turn);
    }
    fail(sync);
}

/* The default branch, fetched: goes over to it when it is ours under another name. */
static void turn_to(struct sync *sync, const git_oid *tip)
{
    struct arena arena ARENA_SCOPE = {0};
    struct store_error error = {""};
    const char *branch = arena_copy(&arena, sync->turn, strlen(sync->turn));
    *sync->turn = '\0';
    if (!repository_descends(sync->mirror.repository, tip, &sync->mirror.landed.tip))
        return; /* the problem stands */
    if (!mirror_turn(&sync->mirror, branch, &error)) {
        problems_set(sync->problems, PROBLEM_BRANCH, "%s", error.message);
        return;
    }
    problems_clear(sync->problems, PROBLEM_BRANCH);
    tell(sync, STORE_WARNING,
         arena_format(&arena, "the remote's default branch goes on as %s: it is followed", branch));
    (void)advance(sync, tip);
}

static void looked(struct sync *sync, struct remote_answer *answer)
{
    if (answer->outcome != REMOTE_FINE) {
        report(sync, answer);
        return;
    }
    problems_clear(sync->problems, PROBLEM_REMOTE);
    recover(sync);
    if (!sync->mirror.open) {
        meet(sync, answer);
        return;
    }
    bool was_empty = git_oid_is_zero(&sync->mirror.landed.tip);
    if (git_oid_is_zero(&answer->tip) && !(was_empty && answer->empty)) {
        miss_branch(sync, answer);
        return;
    }
    problems_clear(sync->problems, PROBLEM_BRANCH);
    if (!git_oid_equal(&answer->tip, &sync->mirror.landed.tip))
        sync->fetch = true;
}

/* Whether what was fetched is what the remote had before we last saw it move, and that was just now: a
 * stale read. Later it has been set back. */
static bool is_stale(struct sync *sync, const git_oid *tip)
{
    const git_oid *landed = &sync->mirror.landed.tip;
    sync->set_back = !git_oid_is_zero(landed) && !git_oid_equal(tip, landed) &&
                     repository_descends(sync->mirror.repository, landed, tip);
    return sync->set_back && sync_now() - sync->landed_ms < STALE_MS;
}

static void fetched(struct sync *sync, struct remote_answer *answer)
{
    struct store_error error = {""};
    git_oid tip;
    sync->fetch = false; /* when it failed, a look comes first: the branch may be gone */
    if (answer->outcome != REMOTE_FINE) {
        *sync->turn = '\0';
        report(sync, answer);
        return;
    }
    problems_clear(sync->problems, PROBLEM_REMOTE);
    if (repository_reference(sync->mirror.repository, REMOTE_FETCHED, &tip, &error) !=
        REPOSITORY_FOUND) {
        problems_set(sync->problems, PROBLEM_UNREADABLE, "%s", error.message);
        fail(sync);
        return;
    }
    recover(sync);
    if (*sync->turn) {
        turn_to(sync, &tip);
        return;
    }
    if (!sync->mirror.open) {
        begin(sync, sync->mirror.repository->branch, &tip);
        return;
    }
    if (is_stale(sync, &tip)) {
        fail(sync);
        return;
    }
    /* The push says it has moved, the fetch that it has not: one of them was answered from the past. */
    if (git_oid_equal(&tip, &sync->mirror.landed.tip) && sync->mirror.queue.count) {
        fail(sync);
        return;
    }
    if (sync->set_back)
        tell(sync, STORE_WARNING, "the remote was set back to an earlier commit: it is followed");
    if (!advance(sync, &tip))
        fail(sync);
    else if (sync->mirror.queue.count)
        pace_grew(&sync->pace, sync_now());
}

/* What the host says stands in the log and nowhere else. */
static void tell_host(const struct sync *sync, struct buffer *text)
{
    struct arena arena ARENA_SCOPE = {0};
    tell(sync, STORE_WARNING,
         arena_format(&arena, "a push was declined: %.2000s", buffer_string(text)));
}

static void declined(struct sync *sync, struct remote_answer *answer)
{
    tell_host(sync, &answer->text);
    size_t named =
        sync->aim.count > 1 ? queue_name(&sync->mirror.queue, buffer_string(&answer->text)) : 0;
    switch (trial_declined(&sync->trial, sync->aim, named)) {
    case TRIAL_CONDEMN:
        queue_condemn_chosen(&sync->mirror.queue);
        break;
    case TRIAL_FORGIVE:
        queue_forgive(&sync->mirror.queue);
        break;
    case TRIAL_GO_ON:
        break;
    }
    if (!sync->trial.closed) {
        pace_ended(&sync->pace, sync_now(), true);
        sync->pace.hurry = PACE_HURRIED;
        return;
    }
    problems_set(sync->problems, PROBLEM_CLOSED,
                 "the remote's branch declines every push, also an empty one: look at its rules "
                 "and hooks; runs are queued (%s)",
                 answer->reason);
    fail(sync);
}

static void pushed(struct sync *sync, const struct errand *errand, struct remote_answer *answer)
{
    int64_t now = sync_now();
    atomic_fetch_add(answer->outcome == REMOTE_FINE ? &sync->pushes : &sync->failed_pushes, 1);
    if (answer->outcome == REMOTE_FINE || answer->outcome == REMOTE_DECLINED)
        problems_clear(sync->problems, PROBLEM_REMOTE);
    switch (answer->outcome) {
    case REMOTE_FINE:
        trial_taken(&sync->trial, sync->aim);
        if (sync->aim.count >= sync->runs_most && sync->runs_most < PUSH_RUNS)
            sync->runs_most *= 2;
        problems_clear(sync->problems, PROBLEM_CLOSED);
        problems_clear(sync->problems, PROBLEM_BRANCH);
        if (!advance(sync, &errand->commit))
            sync->fetch = true;
        recover(sync);
        pace_ended(&sync->pace, now, sync->mirror.queue.count > 0);
        sync->pace.hurry = sync->trial.active ? PACE_HURRIED : PACE_CALM;
        return;
    case REMOTE_MOVED: /* the sooner the next try, the better its chance */
        pace_ended(&sync->pace, now, true);
        sync->pace.hurry = PACE_PROMPT;
        sync->fetch = true;
        return;
    case REMOTE_DECLINED:
        declined(sync, answer);
        return;
    case REMOTE_BRANCH:
        tell_host(sync, &answer->text);
        trial_close(&sync->trial);
        queue_forgive(&sync->mirror.queue);
        problems_set(sync->problems, PROBLEM_CLOSED, "%s", answer->reason);
        fail(sync);
        return;
    case REMOTE_AWAY:
        if (answer->late && sync->aim.count > 1)
            sync->runs_most = sync->aim.count / 2;
        report(sync, answer);
        return;
    case REMOTE_REFUSED:
    case REMOTE_ABSENT:
    case REMOTE_STOPPED:
        report(sync, answer);
        return;
    }
}

static void receive(struct sync *sync)
{
    struct errand errand;
    struct remote_answer answer;
    if (!courier_receive(sync->courier, &errand, &answer))
        return;
    switch (errand.kind) {
    case ERRAND_LOOK:
        looked(sync, &answer);
        break;
    case ERRAND_FETCH:
        fetched(sync, &answer);
        break;
    case ERRAND_PUSH:
        pushed(sync, &errand, &answer);
        break;
    }
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
    } else if (mirror_aim(&sync->mirror, sync->aim, &errand.commit, &error)) {
        memcpy(errand.branch, sync->mirror.repository->branch, sizeof errand.branch);
        pace_started(&sync->pace, now);
        courier_send(sync->courier, &errand);
        return true;
    }
    problems_commit_failed(sync->problems, &error);
    fail(sync);
    return false;
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
    int64_t next = INT64_MAX;
    if (sync->mirror.open && !sync->read_only && sync->mirror.queue.count) {
        next = pace_next(&sync->pace, now);
        /* After a failure to find the branch only a look can tell whether it is back. */
        bool lost = problems_has(sync->problems, PROBLEM_BRANCH);
        if (next <= now && !lost)
            return push(sync, now) ? INT64_MAX : now;
        if (lost)
            next = INT64_MAX;
    }
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

void sync_take(struct sync *sync, struct pending *batch)
{
    while (batch) {
        struct pending *next = batch->next;
        if (batch->result.outcome == CHANGE_COMMITTED) {
            struct queued *item = queue_add(&sync->mirror.queue, batch);
            tell_joined(sync, item);
            queue_tell(item, is_away(sync));
            free(batch);
        } else {
            batch->waiters =
                catalogue_end_claim(sync->mirror.catalogue, batch->change.run_id, false);
            pending_finish(batch);
        }
        batch = next;
    }
    if (sync->mirror.queue.count)
        pace_grew(&sync->pace, sync_now());
    show(sync);
}

git_oid sync_landed(const struct sync *sync)
{
    return sync->mirror.landed.tip;
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
