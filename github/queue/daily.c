#include "github/queue/daily.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "aggregate/index.h"
#include "github/change/refresh.h"
#include "github/queue/sync.h"
#include "github/repository/lock.h"
#include "validator/arena.h"

enum { FIRST_S = 60, TRIES = 5 };

struct daily {
    pthread_t thread;
    struct repository *repository; /* the thread's own handle */
    struct repository_author author;
    struct store_listener listener;
    size_t summary_most;
    int64_t every_s;
    store_tell tell;
    void *tell_context;
    struct writer *writer;
    git_oid seen; /* the leaderboard at the tip the last time; zero: there was none */
    git_oid made; /* what we made then, whether it landed or not */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stopping; /* under the mutex */
};

static void say(const struct daily *daily, enum store_level level, const char *message)
{
    if (daily->tell)
        daily->tell(daily->tell_context, level, message);
}

/* Whoever asks us to stop shall not wait for whoever holds the lock. */
static bool wait_on(void *context, double waited_ms)
{
    struct daily *daily = context;
    pthread_mutex_lock(&daily->mutex);
    bool stopping = daily->stopping;
    pthread_mutex_unlock(&daily->mutex);
    return !stopping && lock_wait_long(NULL, waited_ms);
}

static enum refresh_outcome commit_locally(struct daily *daily, const struct refresh *refresh,
                                           struct store_error *error)
{
    struct lock lock LOCK_SCOPE = {-1};
    git_oid tip, commit;
    if (!lock_take(daily->repository->path, LOCK_COMMIT, wait_on, daily, &lock, error) ||
        !repository_tip(daily->repository, &tip, error))
        return REFRESH_FAILED;
    return refresh_commit(daily->repository, &tip, refresh, &daily->author, true, &commit, error);
}

static enum refresh_outcome try_once(struct daily *daily, const git_oid *tip,
                                     struct store_error *error)
{
    struct buffer leaderboard BUFFER_SCOPE = {0};
    struct refresh refresh;
    struct sync *sync = writer_sync(daily->writer);
    if (daily->listener.leaderboard)
        daily->listener.leaderboard(daily->listener.context, &leaderboard);
    if (!refresh_make(daily->repository, tip, &leaderboard, daily->summary_most, &refresh, error))
        return REFRESH_FAILED;
    if (refresh_is_empty(&refresh))
        return REFRESH_DONE;
    if (!git_oid_is_zero(&refresh.leaderboard))
        daily->made = refresh.leaderboard;
    if (!sync)
        return commit_locally(daily, &refresh, error);
    sync_refresh(sync, &refresh);
    return REFRESH_DONE;
}

/* Whether the leaderboard is another one than that of the last time, and not ours: its writer goes on with it. */
static bool is_done_elsewhere(struct daily *daily, const git_oid *tip)
{
    git_oid present, before = daily->seen;
    if (repository_find(daily->repository, tip, INDEX_LEADERBOARD_PATH, &present, NULL) !=
        REPOSITORY_FOUND)
        return false;
    daily->seen = present;
    return !git_oid_is_zero(&before) && !git_oid_equal(&before, &present) &&
           !git_oid_equal(&daily->made, &present);
}

static void refresh(struct daily *daily)
{
    struct store_error error = {""};
    git_oid tip = writer_tip(daily->writer);
    if (git_oid_is_zero(&tip) || is_done_elsewhere(daily, &tip))
        return;
    enum refresh_outcome outcome = REFRESH_STALE;
    for (int i = 0; i < TRIES && (outcome == REFRESH_STALE || outcome == REFRESH_MOVED); i++) {
        tip = writer_tip(daily->writer);
        outcome = try_once(daily, &tip, &error);
    }
    if (outcome == REFRESH_FAILED)
        say(daily, STORE_WARNING, error.message);
}

/* False: to stop. */
static bool wait_seconds(struct daily *daily, int64_t seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&daily->mutex);
    int waited = 0;
    while (!daily->stopping && !waited)
        waited = pthread_cond_timedwait(&daily->wake, &daily->mutex, &until);
    bool go_on = !daily->stopping;
    pthread_mutex_unlock(&daily->mutex);
    return go_on;
}

static void *run(void *context)
{
    struct daily *daily = context;
    int64_t wait = daily->every_s < FIRST_S ? daily->every_s : FIRST_S;
    for (; wait_seconds(daily, wait); wait = daily->every_s)
        refresh(daily);
    return NULL;
}

static void discard(struct daily *daily)
{
    repository_close(daily->repository);
    pthread_cond_destroy(&daily->wake);
    pthread_mutex_destroy(&daily->mutex);
    free(daily);
}

bool daily_start(const char *path, const struct repository_author *author,
                 const struct store_options *options, struct writer *writer, struct daily **out,
                 struct store_error *error)
{
    if (!options->refresh_every_s || (options->remote && options->remote->read_only))
        return true;
    struct daily *daily = memory_grow(NULL, sizeof *daily);
    *daily = (struct daily){.author = *author,
                            .listener = options->listener,
                            .summary_most = options->summary_most,
                            .every_s = options->refresh_every_s,
                            .tell = options->tell,
                            .tell_context = options->tell_context,
                            .writer = writer};
    pthread_condattr_t attributes;
    pthread_mutex_init(&daily->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&daily->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    bool fine = repository_open(path, &daily->repository, error);
    if (fine && pthread_create(&daily->thread, NULL, run, daily))
        fine = error_set(error, "cannot start the daily thread");
    if (!fine) {
        discard(daily);
        return false;
    }
    *out = daily;
    return true;
}

void daily_stop(struct daily *daily)
{
    if (!daily)
        return;
    pthread_mutex_lock(&daily->mutex);
    daily->stopping = true;
    pthread_cond_signal(&daily->wake);
    pthread_mutex_unlock(&daily->mutex);
    pthread_join(daily->thread, NULL);
    discard(daily);
}
