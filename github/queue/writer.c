#include "github/queue/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "github/repository/lock.h"
#include "validator/arena.h"

/* A batch is one commit: large enough to share its cost, small enough that nobody waits long. */
enum { BATCH_CHANGES = 256, BATCH_BYTES = 64 << 20, POLL_SECONDS = 1 };
/* After writer_stop, how long in all others may keep us from committing what is queued. */
enum { STOP_LOCK_MS = 5000 };

struct writer {
    pthread_t thread;
    struct dataset *dataset;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;
    struct pending *first, **last;
    size_t count, limit;
    bool stopping;
    struct timespec stopped; /* when that was said */
    bool failed;
    struct store_error reason;
    git_oid tip;
};

static void note(struct writer *writer, bool fine, const struct store_error *error)
{
    pthread_mutex_lock(&writer->mutex);
    writer->failed = !fine;
    if (!fine)
        writer->reason = *error;
    writer->tip = writer->dataset->tip;
    pthread_mutex_unlock(&writer->mutex);
}

static void finish_all(struct pending *batch)
{
    while (batch) {
        struct pending *next = batch->next;
        pending_finish(batch);
        batch = next;
    }
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
static void commit_singly(struct writer *writer, struct pending *batch)
{
    while (batch) {
        struct pending *next = batch->next;
        struct store_error error = {""};
        batch->next = NULL;
        bool fine = dataset_commit(writer->dataset, batch, &error);
        bool sound = fine || repository_probe(writer->dataset->repository, NULL);
        note(writer, sound, &error);
        if (fine)
            finish_all(batch);
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

static void commit_locked(struct writer *writer, struct pending *batch)
{
    struct store_error error = {""};
    bool fine = dataset_commit(writer->dataset, batch, &error);
    if (!fine && batch->next && repository_probe(writer->dataset->repository, NULL) &&
        dataset_refresh(writer->dataset, NULL)) {
        commit_singly(writer, batch);
        return;
    }
    note(writer, fine, &error);
    if (fine)
        finish_all(batch);
    else
        fail_all(writer, batch, &error);
}

static void commit_batch(struct writer *writer, struct pending *batch)
{
    struct store_error error = {""};
    struct lock lock LOCK_SCOPE = {-1};
    if (lock_take(writer->dataset->repository->path, LOCK_COMMIT, wait_on, writer, &lock, &error)) {
        commit_locked(writer, batch);
        return;
    }
    note(writer, false, &error);
    fail_all(writer, batch, &error);
}

/* Nothing to commit: have others committed? Does the disk take files again? */
static void look(struct writer *writer)
{
    struct store_error error = {""}, earlier;
    bool failed = writer_failed(writer, &earlier);
    bool fine = dataset_refresh(writer->dataset, &error);
    if (fine && failed)
        fine = repository_probe(writer->dataset->repository, &error);
    note(writer, fine, &error);
}

/* What is queued, up to a batch; NULL when nothing came within a second. The mutex is held. */
static struct pending *take_batch(struct writer *writer)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += POLL_SECONDS;
    int waited = 0;
    while (!writer->first && !writer->stopping && !waited)
        waited = pthread_cond_timedwait(&writer->wake, &writer->mutex, &until);
    struct pending *batch = writer->first, **end = &batch;
    size_t bytes = 0;
    for (int i = 0; *end && i < BATCH_CHANGES && bytes < BATCH_BYTES; i++) {
        bytes += (*end)->change.bytes_size + (*end)->change.entry_size;
        end = &(*end)->next;
        writer->count--;
    }
    writer->first = *end;
    if (!writer->first)
        writer->last = &writer->first;
    *end = NULL;
    return batch;
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
        if (batch)
            commit_batch(writer, batch);
        else
            look(writer);
    }
}

bool writer_start(struct dataset *dataset, size_t queue_limit, struct writer **out,
                  struct store_error *error)
{
    struct writer *writer = memory_grow(NULL, sizeof *writer);
    *writer = (struct writer){.dataset = dataset, .limit = queue_limit, .tip = dataset->tip};
    writer->last = &writer->first;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&writer->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&writer->mutex, NULL);
    if (pthread_create(&writer->thread, NULL, run, writer)) {
        pthread_cond_destroy(&writer->wake);
        pthread_mutex_destroy(&writer->mutex);
        free(writer);
        return error_set(error, "cannot start the writer thread");
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
    pthread_cond_destroy(&writer->wake);
    pthread_mutex_destroy(&writer->mutex);
    free(writer);
}

bool writer_queue(struct writer *writer, struct pending *pending)
{
    pthread_mutex_lock(&writer->mutex);
    bool fits = writer->count < writer->limit && !writer->stopping;
    if (fits) {
        *writer->last = pending;
        writer->last = &pending->next;
        writer->count++;
        pthread_cond_signal(&writer->wake);
    }
    pthread_mutex_unlock(&writer->mutex);
    return fits;
}

bool writer_failed(struct writer *writer, struct store_error *reason)
{
    pthread_mutex_lock(&writer->mutex);
    bool failed = writer->failed;
    if (failed)
        *reason = writer->reason;
    pthread_mutex_unlock(&writer->mutex);
    return failed;
}

git_oid writer_tip(struct writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    git_oid tip = writer->tip;
    pthread_mutex_unlock(&writer->mutex);
    return tip;
}
