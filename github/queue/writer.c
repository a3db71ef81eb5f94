#include "github/queue/writer.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "github/queue/problems.h"
#include "github/queue/sync.h"
#include "github/repository/lock.h"
#include "validator/arena.h"

/* A batch is one commit: large enough to share its cost, small enough that nobody waits long. */
enum { BATCH_CHANGES = 256, BATCH_BYTES = 64 << 20, POLL_MS = 1000 };
/* After writer_stop, how long in all others may keep us from committing what is queued. */
enum { STOP_LOCK_MS = 5000 };

struct writer {
    pthread_t thread;
    struct dataset *dataset;
    struct sync *sync; /* NULL: a local dataset */
    struct problems *problems;
    int64_t next_ms;       /* when the sync wants to be called, on its clock */
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;
    struct pending *first, **last;
    size_t count, limit;
    size_t in_hand; /* of the batch that is being committed */
    bool stopping;
    bool called;             /* by the sync's courier */
    struct timespec stopped; /* when stopping was said */
    uint64_t commits;
    git_oid tip;
};

/* What readers may know of. */
static void show_tip(void *context, const git_oid *tip)
{
    struct writer *writer = context;
    pthread_mutex_lock(&writer->mutex);
    writer->tip = *tip;
    pthread_mutex_unlock(&writer->mutex);
}

static void note(struct writer *writer, bool fine, const struct store_error *error)
{
    if (fine)
        problems_clear(writer->problems, PROBLEM_COMMIT);
    else
        problems_commit_failed(writer->problems, error);
    if (!writer->sync)
        show_tip(writer, &writer->dataset->tip);
}

static void finish_all(struct pending *batch)
{
    while (batch) {
        struct pending *next = batch->next;
        pending_finish(batch);
        batch = next;
    }
}

/* Ends the batch that was committed; beside a remote that is only where it begins to wait. */
static void conclude(struct writer *writer, struct pending *batch)
{
    pthread_mutex_lock(&writer->mutex);
    writer->commits++;
    pthread_mutex_unlock(&writer->mutex);
    if (writer->sync) {
        sync_take(writer->sync, batch);
        writer->next_ms = 0;
        return;
    }
    for (struct pending *item = batch; item; item = item->next)
        item->waiters = catalogue_end_claim(writer->dataset->catalogue, item->change.run_id, true);
    finish_all(batch);
}

static void fail_all(struct writer *writer, struct pending *batch, const struct store_error *error)
{
    for (struct pending *item = batch; item; item = item->next) {
        item->result = (struct change_result){.outcome = CHANGE_FAILED, .error = *error};
        item->waiters = catalogue_end_claim(writer->dataset->catalogue, item->change.run_id, false);
    }
    finish_all(batch);
}

/* A change that cannot be committed must not take its neighbours with it: while the disk is sound,
 * each is tried alone. */
static void commit_singly(struct writer *writer, struct dataset *dataset, struct pending *batch)
{
    while (batch) {
        struct pending *next = batch->next;
        struct store_error error = {""};
        batch->next = NULL;
        bool fine = dataset_commit(dataset, batch, &error);
        bool sound = fine || repository_probe(writer->dataset->repository, NULL);
        note(writer, sound, &error);
        if (fine)
            conclude(writer, batch);
        else
            fail_all(writer, batch, &error);
        if (!sound) {
            fail_all(writer, next, &error);
            return;
        }
        batch = next;
    }
}

static double since_ms(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) * 1e3 + (double)(now.tv_nsec - then->tv_nsec) / 1e6;
}

/* Whoever asks us to stop shall not wait for whoever holds the lock. */
static bool wait_on(void *context, double waited_ms)
{
    struct writer *writer = context;
    pthread_mutex_lock(&writer->mutex);
    bool late = writer->stopping && since_ms(&writer->stopped) >= STOP_LOCK_MS;
    pthread_mutex_unlock(&writer->mutex);
    return !late && lock_wait_long(NULL, waited_ms);
}

static void commit_locked(struct writer *writer, struct dataset *dataset, struct pending *batch)
{
    struct store_error error = {""};
    bool fine = dataset_commit(dataset, batch, &error);
    if (!fine && batch->next && repository_probe(dataset->repository, NULL) &&
        dataset_refresh(dataset, NULL)) {
        commit_singly(writer, dataset, batch);
        return;
    }
    note(writer, fine, &error);
    if (fine)
        conclude(writer, batch);
    else
        fail_all(writer, batch, &error);
}

static void commit_batch(struct writer *writer, struct pending *batch)
{
    struct store_error error = {""};
    struct lock lock LOCK_SCOPE = {-1};
    struct dataset *dataset = writer->sync ? sync_head(writer->sync, &error) : writer->dataset;
    assert(dataset || writer->sync); /* a local one is there from the start on */
    if (dataset &&
        lock_take(writer->dataset->repository->path, LOCK_COMMIT, wait_on, writer, &lock, &error)) {
        commit_locked(writer, dataset, batch);
        return;
    }
    note(writer, false, &error);
    fail_all(writer, batch, &error);
}

/* Nothing to commit: have others committed? Does the disk take files again? */
static void look(struct writer *writer)
{
    struct store_error error = {""};
    bool failed = problems_has(writer->problems, PROBLEM_COMMIT);
    bool fine = writer->sync ? !failed || sync_head(writer->sync, &error) != NULL
                             : dataset_refresh(writer->dataset, &error);
    if (fine && failed)
        fine = repository_probe(writer->dataset->repository, &error);
    note(writer, fine, &error);
}

/* When to look or to call the sync, if nothing comes before that. */
static struct timespec next_look(const struct writer *writer)
{
    struct timespec until;
    int64_t wait = POLL_MS;
    if (writer->sync) {
        int64_t now = sync_now();
        int64_t left = writer->next_ms > now ? writer->next_ms - now : 0;
        wait = left < wait ? left : wait;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += wait * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

/* What is queued, up to a batch; NULL when nothing came in time, or the sync has something to do. The
 * mutex is held. */
static struct pending *take_batch(struct writer *writer)
{
    struct timespec until = next_look(writer);
    int waited = 0;
    while (!writer->first && !writer->stopping && !writer->called && !waited)
        waited = pthread_cond_timedwait(&writer->wake, &writer->mutex, &until);
    writer->called = false;
    writer->in_hand = 0;
    struct pending *batch = writer->first, **end = &batch;
    size_t bytes = 0;
    for (int i = 0; *end && i < BATCH_CHANGES && bytes < BATCH_BYTES; i++) {
        bytes += (*end)->change.bytes_size + (*end)->change.entry_size;
        end = &(*end)->next;
        writer->count--;
        writer->in_hand++;
    }
    writer->first = *end;
    if (!writer->first)
        writer->last = &writer->first;
    *end = NULL;
    return batch;
}

static void call(void *context)
{
    struct writer *writer = context;
    pthread_mutex_lock(&writer->mutex);
    writer->called = true;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->mutex);
}

static void step(struct writer *writer, struct pending *batch)
{
    if (batch)
        commit_batch(writer, batch);
    else
        look(writer);
    if (writer->sync)
        writer->next_ms = sync_step(writer->sync);
}

static void *run(void *context)
{
    struct writer *writer = context;
    for (;;) {
        pthread_mutex_lock(&writer->mutex);
        struct pending *batch = take_batch(writer);
        bool end = !batch && writer->stopping;
        pthread_mutex_unlock(&writer->mutex);
        if (end)
            return NULL;
        step(writer, batch);
    }
}

static void discard(struct writer *writer)
{
    sync_stop(writer->sync);
    pthread_cond_destroy(&writer->wake);
    pthread_mutex_destroy(&writer->mutex);
    free(writer);
}

bool writer_start(const struct writer_options *options, struct writer **out,
                  struct store_error *error)
{
    struct writer *writer = memory_grow(NULL, sizeof *writer);
    *writer = (struct writer){.dataset = options->dataset,
                              .problems = options->problems,
                              .limit = options->store->queue_limit,
                              .tip = options->dataset->tip};
    writer->last = &writer->first;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&writer->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&writer->mutex, NULL);
    struct sync_options sync = {options->store, options->dataset, options->problems,
                                call,           show_tip,         writer};
    bool fine = !options->store->remote || sync_start(&sync, &writer->sync, error);
    if (fine && pthread_create(&writer->thread, NULL, run, writer))
        fine = error_set(error, "cannot start the writer thread");
    if (!fine) {
        discard(writer);
        return false;
    }
    *out = writer;
    return true;
}

void writer_stop(struct writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&writer->mutex);
    writer->stopping = true;
    clock_gettime(CLOCK_MONOTONIC, &writer->stopped);
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->mutex);
    pthread_join(writer->thread, NULL);
    discard(writer);
}

bool writer_queue(struct writer *writer, struct pending *pending)
{
    pthread_mutex_lock(&writer->mutex);
    /* Beside a remote what has been committed waits as well. */
    size_t queued = writer->sync ? writer->in_hand + sync_queued(writer->sync) : 0;
    bool fits = writer->count + queued < writer->limit && !writer->stopping;
    if (fits) {
        *writer->last = pending;
        writer->last = &pending->next;
        writer->count++;
        pthread_cond_signal(&writer->wake);
    }
    pthread_mutex_unlock(&writer->mutex);
    return fits;
}

struct sync *writer_sync(struct writer *writer)
{
    return writer->sync;
}

uint64_t writer_commits(struct writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    uint64_t commits = writer->commits;
    pthread_mutex_unlock(&writer->mutex);
    return commits;
}

git_oid writer_tip(struct writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    git_oid tip = writer->tip;
    pthread_mutex_unlock(&writer->mutex);
    return tip;
}
