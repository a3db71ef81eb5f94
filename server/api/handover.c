#include "server/api/handover.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/metrics.h"
#include "server/http/request.h"
#include "server/http/waitroom.h"
#include "server/limits/admission.h"
#include "server/log.h"
#include "validator/arena.h"

enum { BUCKETS = 1024 };

struct handover {
    struct handovers *all;
    struct handover *previous, *next; /* of one bucket */
    struct waiting *waiting;
    char request_id[REQUEST_ID_MOST + 1], run_id[RUN_ID_MAX + 1], path[RUN_PATH_MAX + 1];
    char digest[SHA256_HEX + 1];
    bool flagged;
    size_t bytes;
    int64_t charged_ms;
    struct buffer judgement;
    struct address client;
    struct shared_nonce nonce;
};

struct handovers {
    struct service *service;
    pthread_mutex_t mutex; /* guards what follows */
    struct handover *buckets[BUCKETS];
    bool full;
};

struct handovers *handovers_new(struct service *service)
{
    struct handovers *handovers = memory_grow(NULL, sizeof *handovers);
    memset(handovers, 0, sizeof *handovers);
    handovers->service = service;
    pthread_mutex_init(&handovers->mutex, NULL);
    return handovers;
}

void handovers_free(struct handovers *handovers)
{
    if (!handovers)
        return;
    pthread_mutex_destroy(&handovers->mutex);
    free(handovers);
}

/* A digest is evenly spread already. */
static size_t bucket_of(const char *digest)
{
    char begin[9] = {0};
    memcpy(begin, digest, strnlen(digest, 8));
    return strtoul(begin, NULL, 16) % BUCKETS;
}

static void link_handover(struct handovers *all, struct handover *handover)
{
    pthread_mutex_lock(&all->mutex);
    struct handover **bucket = &all->buckets[bucket_of(handover->digest)];
    handover->next = *bucket;
    if (handover->next)
        handover->next->previous = handover;
    *bucket = handover;
    pthread_mutex_unlock(&all->mutex);
}

static void unlink_handover(struct handovers *all, struct handover *handover, bool full)
{
    pthread_mutex_lock(&all->mutex);
    all->full = full;
    if (handover->previous)
        handover->previous->next = handover->next;
    else
        all->buckets[bucket_of(handover->digest)] = handover->next;
    if (handover->next)
        handover->next->previous = handover->previous;
    pthread_mutex_unlock(&all->mutex);
}

static void log_end(const struct handover *handover, const struct change_result *result)
{
    static const struct {
        enum log_level level;
        const char *message; /* NULL: nothing worth a line */
    } rows[] = {[CHANGE_COMMITTED] = {LOG_INFO, "stored"},
                [CHANGE_DUPLICATE] = {LOG_WARN, "another run with this id was first"},
                [CHANGE_STALE] = {LOG_ERROR, NULL}, /* never of a run */
                [CHANGE_DECLINED] = {LOG_WARN, "declined by the host of the dataset"},
                [CHANGE_FAILED] = {LOG_ERROR, "store failed"},
                [CHANGE_QUEUE_FULL] = {LOG_WARN, NULL}};
    if (rows[result->outcome].message)
        log_event(rows[result->outcome].level, rows[result->outcome].message,
                  LOG_FIELDS({"id", handover->request_id}, {"run", handover->run_id},
                             {"path", handover->path},
                             {"commit", *result->commit ? result->commit : NULL},
                             {"error", *result->error.message ? result->error.message : NULL}));
}

/* What other instances and the client's address have to do with it. The nonce is kept once more: a
 * Redis that was started anew has forgotten it. */
static void settle(struct service *service, const struct handover *handover,
                   enum change_outcome outcome)
{
    bool given_back = outcome == CHANGE_FAILED || outcome == CHANGE_QUEUE_FULL;
    if (service->shared && given_back)
        shared_release(service->shared, &handover->nonce, true);
    else if (service->shared)
        shared_keep(service->shared, &handover->nonce);
    if (outcome == CHANGE_DECLINED)
        admission_fine(service, &handover->client);
    if (outcome == CHANGE_COMMITTED)
        metrics_run(service->metrics, handover->flagged);
}

/* The store's callback, also long after the client was told to come again. */
static void ended(void *context, const struct change_result *result)
{
    struct handover *handover = context;
    settle(handover->all->service, handover, result->outcome);
    if (result->outcome == CHANGE_QUEUED) {
        waiting_done(handover->waiting, result);
        if (result->more)
            return;
    } else {
        log_end(handover, result);
    }
    unlink_handover(handover->all, handover, result->outcome == CHANGE_QUEUE_FULL);
    if (result->outcome != CHANGE_COMMITTED && result->outcome != CHANGE_QUEUED)
        admission_refund(handover->all->service, handover->flagged, handover->bytes,
                         handover->charged_ms);
    if (result->outcome != CHANGE_QUEUED)
        waiting_done(handover->waiting, result);
    buffer_free(&handover->judgement);
    free(handover);
}

void handovers_commit(struct handovers *handovers, const struct change *change,
                      struct waiting *waiting, const struct handover_facts *facts)
{
    struct handover *handover = memory_grow(NULL, sizeof *handover);
    *handover = (struct handover){.all = handovers,
                                  .waiting = waiting,
                                  .flagged = change->flagged,
                                  .bytes = change->bytes_size,
                                  .charged_ms = facts->charged_ms,
                                  .judgement = *facts->judgement,
                                  .client = facts->client,
                                  .nonce = facts->nonce};
    *facts->judgement = (struct buffer){0};
    snprintf(handover->request_id, sizeof handover->request_id, "%s", facts->request_id);
    snprintf(handover->run_id, sizeof handover->run_id, "%s", change->run_id);
    snprintf(handover->path, sizeof handover->path, "%s", change->path);
    snprintf(handover->digest, sizeof handover->digest, "%s", change->digest);
    link_handover(handovers, handover);
    /* However long the store takes: what comes to nothing is given back after this, in order. */
    if (handovers->service->shared)
        shared_keep(handovers->service->shared, &facts->nonce);
    store_commit(handovers->service->store, change, ended, handover);
}

bool handovers_judgement(struct handovers *handovers, const char *digest, struct buffer *out)
{
    pthread_mutex_lock(&handovers->mutex);
    struct handover *handover = handovers->buckets[bucket_of(digest)];
    while (handover && strcmp(handover->digest, digest) != 0)
        handover = handover->next;
    if (handover)
        buffer_add(out, handover->judgement.data, handover->judgement.size);
    pthread_mutex_unlock(&handovers->mutex);
    return handover != NULL;
}

bool handovers_full(struct handovers *handovers)
{
    pthread_mutex_lock(&handovers->mutex);
    bool full = handovers->full;
    pthread_mutex_unlock(&handovers->mutex);
    return full;
}
