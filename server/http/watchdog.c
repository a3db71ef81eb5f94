#include "server/http/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "server/clock.h"
#include "validator/arena.h"

enum { TICK_MS = 100, COUNT_BUCKETS = 4096 };

enum phase { PHASE_HEADER, PHASE_BODY, PHASE_BUSY };

struct peer {
    struct watchdog *watchdog;
    struct peer *previous, *next;           /* all connections */
    struct peer *same_previous, *same_next; /* those of one bucket of addresses */
    int socket;
    bool counted, condemned;
    bool nul_in_target; /* of the present request; the connection's own thread only */
    struct address address;
    enum phase phase;
    int64_t deadline_ms;     /* PHASE_HEADER; 0: none */
    int64_t window_start_ms; /* PHASE_BODY */
    int64_t window_bytes;
};

struct watchdog {
    const struct limits *limits;
    const struct address_list *trusted;
    void (*tick)(void *context, int64_t now_ms);
    void *context;
    pthread_mutex_t mutex; /* guards all below and every peer */
    pthread_cond_t wake;
    pthread_t thread;
    bool stopping;
    struct peer *peers;
    int64_t count;
    struct peer *buckets[COUNT_BUCKETS];
};

static void condemn(struct peer *peer)
{
    if (!peer->condemned)
        shutdown(peer->socket, SHUT_RDWR);
    peer->condemned = true;
}

static bool body_crawls(struct peer *peer, int64_t now_ms)
{
    const struct limits *limits = peer->watchdog->limits;
    if (!limits->min_body_rate ||
        now_ms - peer->window_start_ms < limits->body_rate_window_s * 1000)
        return false;
    bool crawls = peer->window_bytes < limits->min_body_rate * limits->body_rate_window_s;
    peer->window_start_ms = now_ms;
    peer->window_bytes = 0;
    return crawls;
}

static void look(struct watchdog *watchdog, int64_t now_ms)
{
    for (struct peer *peer = watchdog->peers; peer; peer = peer->next) {
        bool late = peer->phase == PHASE_HEADER && peer->deadline_ms && now_ms > peer->deadline_ms;
        if (late || (peer->phase == PHASE_BODY && body_crawls(peer, now_ms)))
            condemn(peer);
    }
}

static void *watch(void *context)
{
    struct watchdog *watchdog = context;
    pthread_mutex_lock(&watchdog->mutex);
    while (!watchdog->stopping) {
        int64_t now = clock_monotonic_ms();
        look(watchdog, now);
        pthread_mutex_unlock(&watchdog->mutex);
        watchdog->tick(watchdog->context, now);
        pthread_mutex_lock(&watchdog->mutex);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        if (!watchdog->stopping)
            pthread_cond_timedwait(&watchdog->wake, &watchdog->mutex, &until);
    }
    pthread_mutex_unlock(&watchdog->mutex);
    return NULL;
}

struct watchdog *watchdog_new(const struct limits *limits, const struct address_list *trusted,
                              void (*tick)(void *context, int64_t now_ms), void *context)
{
    struct watchdog *watchdog = memory_grow(NULL, sizeof *watchdog);
    memset(watchdog, 0, sizeof *watchdog);
    watchdog->limits = limits;
    watchdog->trusted = trusted;
    watchdog->tick = tick;
    watchdog->context = context;
    pthread_mutex_init(&watchdog->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&watchdog->thread, NULL, watch, watchdog) != 0)
        abort();
    return watchdog;
}

void watchdog_stop(struct watchdog *watchdog)
{
    pthread_mutex_lock(&watchdog->mutex);
    watchdog->stopping = true;
    pthread_cond_signal(&watchdog->wake);
    pthread_mutex_unlock(&watchdog->mutex);
    pthread_join(watchdog->thread, NULL);
}

void watchdog_free(struct watchdog *watchdog)
{
    if (!watchdog)
        return;
    pthread_cond_destroy(&watchdog->wake);
    pthread_mutex_destroy(&watchdog->mutex);
    free(watchdog);
}

static size_t bucket_of(const struct address *address)
{
    uint64_t hash = 1469598103934665603u ^ address->family;
    for (size_t i = 0; i < 16; i++)
        hash = (hash ^ address->bytes[i]) * 1099511628211u;
    return (hash >> 32) % COUNT_BUCKETS;
}

static int64_t count_same(const struct watchdog *watchdog, const struct address *address)
{
    int64_t count = 0;
    for (struct peer *peer = watchdog->buckets[bucket_of(address)]; peer; peer = peer->same_next)
        count += peer->address.family == address->family &&
                 !memcmp(peer->address.bytes, address->bytes, 16);
    return count;
}

static void link_peer(struct watchdog *watchdog, struct peer *peer)
{
    struct peer **bucket = &watchdog->buckets[bucket_of(&peer->address)];
    peer->next = watchdog->peers;
    if (peer->next)
        peer->next->previous = peer;
    watchdog->peers = peer;
    watchdog->count++;
    if (!peer->counted)
        return;
    peer->same_next = *bucket;
    if (peer->same_next)
        peer->same_next->same_previous = peer;
    *bucket = peer;
}

int64_t watchdog_connections(struct watchdog *watchdog)
{
    pthread_mutex_lock(&watchdog->mutex);
    int64_t count = watchdog->count;
    pthread_mutex_unlock(&watchdog->mutex);
    return count;
}

static void unlink_peer(struct watchdog *watchdog, struct peer *peer)
{
    if (peer->previous)
        peer->previous->next = peer->next;
    else
        watchdog->peers = peer->next;
    if (peer->next)
        peer->next->previous = peer->previous;
    watchdog->count--;
    if (!peer->counted)
        return;
    if (peer->same_previous)
        peer->same_previous->same_next = peer->same_next;
    else
        watchdog->buckets[bucket_of(&peer->address)] = peer->same_next;
    if (peer->same_next)
        peer->same_next->same_previous = peer->same_previous;
}

struct peer *peer_open(struct watchdog *watchdog, int socket, const struct address *address)
{
    const struct limits *limits = watchdog->limits;
    struct peer *peer = memory_grow(NULL, sizeof *peer);
    *peer = (struct peer){.watchdog = watchdog, .socket = socket, .address = *address};
    peer->counted = limits->max_connections_per_address && !address_is_loopback(address) &&
                    !address_list_holds(watchdog->trusted, address);
    if (limits->header_timeout_s)
        peer->deadline_ms = clock_monotonic_ms() + limits->header_timeout_s * 1000;
    pthread_mutex_lock(&watchdog->mutex);
    bool one_too_many =
        (limits->max_connections && watchdog->count >= limits->max_connections) ||
        (peer->counted && count_same(watchdog, address) >= limits->max_connections_per_address);
    link_peer(watchdog, peer);
    if (one_too_many)
        condemn(peer);
    pthread_mutex_unlock(&watchdog->mutex);
    return peer;
}

void peer_close(struct peer *peer)
{
    struct watchdog *watchdog = peer->watchdog;
    pthread_mutex_lock(&watchdog->mutex);
    unlink_peer(watchdog, peer);
    pthread_mutex_unlock(&watchdog->mutex);
    free(peer);
}

const struct address *peer_address(const struct peer *peer)
{
    return &peer->address;
}

static void enter(struct peer *peer, enum phase phase, int64_t deadline_ms)
{
    pthread_mutex_lock(&peer->watchdog->mutex);
    peer->phase = phase;
    peer->deadline_ms = deadline_ms;
    pthread_mutex_unlock(&peer->watchdog->mutex);
}

void peer_request_line(struct peer *peer, const char *target)
{
    peer->nul_in_target = strstr(target, "%00") != NULL;
    const struct limits *limits = peer->watchdog->limits;
    int64_t allowed = limits->header_timeout_s * 1000, deadline = clock_monotonic_ms() + allowed;
    /* A first request keeps the deadline that began with the connection. */
    if (allowed && (!peer->deadline_ms || deadline < peer->deadline_ms))
        enter(peer, PHASE_HEADER, deadline);
}

bool peer_target_has_nul(const struct peer *peer)
{
    return peer->nul_in_target;
}

void peer_header_done(struct peer *peer)
{
    pthread_mutex_lock(&peer->watchdog->mutex);
    peer->phase = PHASE_BODY;
    peer->window_start_ms = clock_monotonic_ms();
    peer->window_bytes = 0;
    pthread_mutex_unlock(&peer->watchdog->mutex);
}

void peer_body(struct peer *peer, size_t bytes)
{
    pthread_mutex_lock(&peer->watchdog->mutex);
    peer->window_bytes += (int64_t)bytes;
    pthread_mutex_unlock(&peer->watchdog->mutex);
}

void peer_body_done(struct peer *peer)
{
    enter(peer, PHASE_BUSY, 0);
}

void peer_answered(struct peer *peer)
{
    const struct limits *limits = peer->watchdog->limits;
    /* When the next request begins cannot be seen before its first line is in, so the pause that
     * idle_timeout_s allows comes on top. */
    int64_t allowed = (limits->idle_timeout_s + limits->header_timeout_s) * 1000;
    bool watched = limits->header_timeout_s && limits->idle_timeout_s;
    enter(peer, PHASE_HEADER, watched ? clock_monotonic_ms() + allowed : 0);
}
