#include "server/notify/webhook.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/clock.h"
#include "server/log.h"
#include "server/notify/transfer.h"
#include "validator/arena.h"
#include "validator/sha256.h"

enum {
    STATUS_GONE = 410,
    REFUSALS_MOST = 10, /* some minutes, by the pauses that are usual */
    BODIES_MOST = 1000,
    BYTES_MOST = 4 << 20,
    STOP_MS = 400, /* of the second that stopping may take */
    DOUBLINGS_MOST = 32,
    NUMBER = 24
};

static const char no_room[] = "webhook: no room, the oldest were dropped";

struct body {
    struct body *next;
    int64_t posted_ms;
    uint64_t before; /* the mark of what was posted before it */
    unsigned refusals;
    char id[TRANSFER_ID + 1];
    size_t size;
    char bytes[];
};

struct webhook {
    struct webhook_options options;
    char *url, *secret, *shown; /* SHOWN: scheme and host, for the log */
    struct transfer *transfer;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t wake;
    struct body *first, *last;
    uint64_t posted; /* the last mark */
    bool sending;    /* the first */
    bool stopping;
    int64_t stop_ms;     /* when sending ends, too */
    unsigned failures;   /* of the receiver in a row */
    int64_t due_ms;      /* no attempt before */
    uint64_t unreported; /* bodies that had no room, since the log told of them */
    int64_t reported_ms;
    struct webhook_figures figures;
};

struct webhook_options webhook_defaults(const char *url, const char *secret)
{
    return (struct webhook_options){.url = url,
                                    .secret = secret,
                                    .base_ms = 1000,
                                    .ceiling_ms = INT64_C(5) * 60 * 1000,
                                    .give_up_ms = INT64_C(24) * 3600 * 1000,
                                    .connect_ms = 5000,
                                    .total_ms = 15000,
                                    .report_ms = 60000,
                                    .most_refusals = REFUSALS_MOST,
                                    .most_bodies = BODIES_MOST,
                                    .most_bytes = BYTES_MOST};
}

const char *webhook_problem(const char *url, const char *secret, const char **key)
{
    *key = "webhook_url";
    if (!*url)
        return NULL;
    const char *problem = transfer_url_problem(url);
    if (problem)
        return problem;
    *key = "webhook_secret";
    return strlen(secret) < WEBHOOK_SECRET_LEAST ? "has less than 16 characters" : NULL;
}

/* With the mutex held, as all that follows up to webhook_post. */
static void remove_body(struct webhook *webhook, struct body *before, struct body *body)
{
    if (before)
        before->next = body->next;
    else
        webhook->first = body->next;
    if (webhook->last == body)
        webhook->last = before;
    webhook->figures.bytes -= body->size;
    webhook->figures.queued--;
    free(body);
}

static void count_overflow(struct webhook *webhook)
{
    webhook->figures.dropped++;
    webhook->unreported++;
}

/* The oldest goes, but not the one that is on its way: it may have arrived already. */
static bool make_room(struct webhook *webhook, size_t size)
{
    const struct webhook_options *options = &webhook->options;
    while (webhook->figures.queued >= options->most_bodies ||
           webhook->figures.bytes + size > options->most_bytes) {
        struct body *before = webhook->sending ? webhook->first : NULL;
        struct body *oldest = before ? before->next : webhook->first;
        if (!oldest)
            return false;
        remove_body(webhook, before, oldest);
        count_overflow(webhook);
    }
    return true;
}

static void append(struct webhook *webhook, struct body *body)
{
    body->before = webhook->posted;
    if (webhook->last)
        webhook->last->next = body;
    else
        webhook->first = body;
    webhook->last = body;
    webhook->figures.bytes += body->size;
    webhook->figures.queued++;
}

static struct body *make_body(const struct webhook_message *message)
{
    char hash[SHA256_HEX + 1];
    struct body *body = memory_grow(NULL, sizeof *body + message->size);
    *body = (struct body){.posted_ms = clock_monotonic_ms(), .size = message->size};
    memcpy(body->bytes, message->json, message->size);
    sha256_hex(message->key, strlen(message->key), hash);
    memcpy(body->id, hash, TRANSFER_ID); /* the rest of it is NUL */
    return body;
}

void webhook_post(struct webhook *webhook, const struct webhook_message *message)
{
    if (!webhook)
        return;
    bool fits = message->size <= webhook->options.most_bytes;
    struct body *body = fits ? make_body(message) : NULL;
    pthread_mutex_lock(&webhook->mutex);
    if (body && make_room(webhook, message->size)) {
        append(webhook, body);
    } else {
        count_overflow(webhook);
        free(body);
    }
    if (message->mark)
        webhook->posted = message->mark;
    pthread_cond_signal(&webhook->wake);
    pthread_mutex_unlock(&webhook->mutex);
}

struct webhook_figures webhook_figures(struct webhook *webhook)
{
    if (!webhook)
        return (struct webhook_figures){0};
    pthread_mutex_lock(&webhook->mutex);
    struct webhook_figures figures = webhook->figures;
    figures.mark = webhook->first ? webhook->first->before : webhook->posted;
    pthread_mutex_unlock(&webhook->mutex);
    return figures;
}

/* The thread alone calls what follows, with the mutex held. */

static int64_t pause_ms(const struct webhook *webhook)
{
    uint32_t random = 0;
    int64_t pause = webhook->options.base_ms;
    for (unsigned i = 1; i < webhook->failures && i < DOUBLINGS_MOST; i++)
        if (pause < webhook->options.ceiling_ms)
            pause *= 2;
    if (pause > webhook->options.ceiling_ms)
        pause = webhook->options.ceiling_ms;
    if (RAND_bytes((unsigned char *)&random, sizeof random) != 1)
        random = 0;
    return pause - (int64_t)((double)pause / 2 * random / UINT32_MAX);
}

static void log_attempt(const struct webhook *webhook, const char *message, const struct body *body,
                        const struct transfer_result *result)
{
    char status[NUMBER];
    snprintf(status, sizeof status, "%ld", result->status);
    log_event(LOG_WARN, message,
              LOG_FIELDS({"to", webhook->shown}, {"delivery", body->id},
                         {"status", result->status ? status : NULL}, {"error", result->problem}));
}

static void log_count(const struct webhook *webhook, const char *message, uint64_t count)
{
    char number[NUMBER];
    snprintf(number, sizeof number, "%" PRIu64, count);
    log_event(LOG_WARN, message, LOG_FIELDS({"to", webhook->shown}, {"count", number}));
}

static void report_overflow(struct webhook *webhook, int64_t now_ms)
{
    if (!webhook->unreported ||
        (webhook->reported_ms && now_ms - webhook->reported_ms < webhook->options.report_ms))
        return;
    log_count(webhook, no_room, webhook->unreported);
    webhook->unreported = 0;
    webhook->reported_ms = now_ms;
}

/* A 4xx that speaks of the body, not of the moment: 408 Request Timeout, 425 Too Early and 429 Too Many Requests may
 * end otherwise at another time. */
static bool is_refusal(long status)
{
    return status >= 400 && status < 500 && status != 408 && status != 425 && status != 429;
}

/* Why BODY is not tried again after an attempt that failed; NULL: it is. */
static const char *why_dropped(const struct webhook *webhook, const struct body *body, long status,
                               int64_t now_ms)
{
    if (status == STATUS_GONE)
        return "webhook: the receiver is gone, a body was dropped";
    if (body->refusals >= webhook->options.most_refusals)
        return "webhook: refused again and again, a body was dropped";
    if (now_ms - body->posted_ms >= webhook->options.give_up_ms)
        return "webhook: given up, a body was dropped";
    return NULL;
}

static void settle(struct webhook *webhook, const struct transfer_result *result)
{
    struct body *body = webhook->first;
    int64_t now_ms = clock_monotonic_ms();
    const char *dropped = NULL;
    bool delivered = result->status >= 200 && result->status < 300;
    if (delivered) {
        webhook->figures.delivered++;
    } else {
        webhook->figures.failed++;
        body->refusals += is_refusal(result->status);
        dropped = why_dropped(webhook, body, result->status, now_ms);
        log_attempt(webhook, dropped ? dropped : "webhook: an attempt failed", body, result);
    }
    if (delivered || dropped) {
        webhook->figures.dropped += !delivered;
        webhook->failures = 0;
        webhook->due_ms = 0;
        remove_body(webhook, NULL, body);
        return;
    }
    webhook->failures++;
    webhook->due_ms = now_ms + pause_ms(webhook);
}

static bool aborted(void *context)
{
    struct webhook *webhook = context;
    pthread_mutex_lock(&webhook->mutex);
    bool over = webhook->stopping && clock_monotonic_ms() >= webhook->stop_ms;
    pthread_mutex_unlock(&webhook->mutex);
    return over;
}

static void send_first(struct webhook *webhook)
{
    const struct body *body = webhook->first;
    webhook->sending = true;
    pthread_mutex_unlock(&webhook->mutex);
    struct transfer_result result =
        transfer_run(webhook->transfer, body->id, body->bytes, body->size, aborted, webhook);
    pthread_mutex_lock(&webhook->mutex);
    webhook->sending = false;
    if (!result.aborted)
        settle(webhook, &result);
}

static void wait_until(struct webhook *webhook, int64_t until_ms)
{
    struct timespec until = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    pthread_cond_timedwait(&webhook->wake, &webhook->mutex, &until);
}

/* When something is to be done next, if nobody posts. */
static int64_t next_ms(const struct webhook *webhook, int64_t now_ms)
{
    int64_t next = now_ms + webhook->options.report_ms;
    if (webhook->first && webhook->due_ms < next)
        next = webhook->due_ms;
    if (webhook->unreported && webhook->reported_ms + webhook->options.report_ms < next)
        next = webhook->reported_ms + webhook->options.report_ms;
    return next;
}

static void *deliver(void *context)
{
    struct webhook *webhook = context;
    pthread_mutex_lock(&webhook->mutex);
    for (;;) {
        int64_t now_ms = clock_monotonic_ms();
        bool due = webhook->first && webhook->due_ms <= now_ms;
        report_overflow(webhook, now_ms);
        /* Who stops does not wait for a receiver that is away. */
        if (webhook->stopping && (!due || webhook->failures || now_ms >= webhook->stop_ms))
            break;
        if (due)
            send_first(webhook);
        else
            wait_until(webhook, next_ms(webhook, now_ms));
    }
    pthread_mutex_unlock(&webhook->mutex);
    return NULL;
}

static void free_webhook(struct webhook *webhook)
{
    while (webhook->first)
        remove_body(webhook, NULL, webhook->first);
    transfer_free(webhook->transfer);
    pthread_cond_destroy(&webhook->wake);
    pthread_mutex_destroy(&webhook->mutex);
    if (webhook->secret)
        explicit_bzero(webhook->secret, strlen(webhook->secret));
    free(webhook->secret);
    if (webhook->url) /* it may hold a password */
        explicit_bzero(webhook->url, strlen(webhook->url));
    free(webhook->url);
    free(webhook->shown);
    free(webhook);
    curl_global_cleanup();
}

static void make_locks(struct webhook *webhook)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&webhook->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&webhook->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct webhook *webhook_start(const struct webhook_options *options, const char **problem)
{
    const char *key;
    *problem = webhook_problem(options->url, options->secret, &key);
    if (*problem || !*options->url || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        if (!*problem)
            *problem = "the library does not start";
        return NULL;
    }
    struct webhook *webhook = memory_grow(NULL, sizeof *webhook);
    *webhook = (struct webhook){.options = *options,
                                .url = strdup(options->url),
                                .secret = strdup(options->secret),
                                .shown = transfer_url_shown(options->url)};
    webhook->options.url = webhook->url;
    webhook->options.secret = webhook->secret;
    make_locks(webhook);
    if (webhook->url && webhook->secret && webhook->shown)
        webhook->transfer = transfer_new(&(struct transfer_options){
            webhook->url, webhook->secret, options->connect_ms, options->total_ms});
    if (webhook->transfer && pthread_create(&webhook->thread, NULL, deliver, webhook) == 0)
        return webhook;
    *problem = "the library does not start";
    free_webhook(webhook);
    return NULL;
}

void webhook_stop(struct webhook *webhook)
{
    if (!webhook)
        return;
    pthread_mutex_lock(&webhook->mutex);
    webhook->stopping = true;
    webhook->stop_ms = clock_monotonic_ms() + STOP_MS;
    pthread_cond_signal(&webhook->wake);
    pthread_mutex_unlock(&webhook->mutex);
    pthread_join(webhook->thread, NULL);
    if (webhook->unreported)
        log_count(webhook, no_room, webhook->unreported);
    if (webhook->figures.queued)
        log_count(webhook, "webhook: stopped, not everything was delivered",
                  webhook->figures.queued);
    free_webhook(webhook);
}
