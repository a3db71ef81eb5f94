#include "server/shared/link.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/clock.h"
#include "server/log.h"
#include "server/shared/scripts.h"
#include "validator/arena.h"
#include "validator/sha256.h"

/* As many connections as threads of the service talk at once, on any but large machines. */
enum { CONNECTIONS = 8, QUEUE = 4096, DEADLINE_MS = 500, LOOK_MS = 1000, SHA1_SIZE = 20 };

struct link {
    struct redis_url url;
    const char *password;
    char names[SCRIPT_COUNT][2 * SHA1_SIZE + 1]; /* what EVALSHA calls the scripts */
    pthread_t thread;
    pthread_mutex_t mutex;   /* guards what follows */
    pthread_cond_t wake;     /* the thread has something to do */
    pthread_cond_t returned; /* a connection is idle again */
    bool started, stopping, up;
    uint64_t generation; /* connections of an older one are broken */
    size_t idle_count;
    redisContext *idle[CONNECTIONS];
    char problem[LINK_PROBLEM]; /* why it is not up */
    size_t queue_begin, queue_count;
    struct link_call *queue; /* QUEUE of them, a ring */
};

static void free_reply(redisReply **reply)
{
    if (*reply)
        freeReplyObject(*reply);
}
#define REPLY_SCOPE __attribute__((cleanup(free_reply)))

static void deadline_in(int64_t ms, struct timespec *out)
{
    int64_t at = clock_monotonic_ms() + ms;
    *out = (struct timespec){.tv_sec = at / 1000, .tv_nsec = at % 1000 * 1000000};
}

static void name_scripts(struct link *link)
{
    for (int i = 0; i < SCRIPT_COUNT; i++) {
        unsigned char digest[SHA1_SIZE];
        size_t size = sizeof digest;
        const char *text = script_text((enum link_script)i);
        if (EVP_Q_digest(NULL, "SHA1", NULL, text, strlen(text), digest, &size) != 1)
            abort(); /* a broken crypto library */
        hex_print(digest, sizeof digest, link->names[i]);
    }
}

/* How a look at Redis ends. */
static enum link_start judge_reply(const redisContext *context, const redisReply *reply,
                                   const char *what, char problem[LINK_PROBLEM])
{
    if (reply && reply->type != REDIS_REPLY_ERROR)
        return LINK_UP;
    snprintf(problem, LINK_PROBLEM, "%s: %.150s", what, reply ? reply->str : context->errstr);
    /* It reads its file after a start: no reason to give up. */
    return reply && strncmp(reply->str, "LOADING", 7) != 0 ? LINK_REFUSED : LINK_AWAY;
}

/* What evicts keys forgets nonces that were spent. */
static enum link_start check_policy(redisContext *context, char problem[LINK_PROBLEM])
{
    static const char key[] = "maxmemory_policy:", wanted[] = "noeviction";
    redisReply *reply REPLY_SCOPE = redisCommand(context, "INFO memory");
    enum link_start start = judge_reply(context, reply, "INFO memory", problem);
    if (start != LINK_UP)
        return start;
    const char *found = reply->str ? strstr(reply->str, key) : NULL;
    found = found ? found + sizeof key - 1 : "unknown";
    if (!strncmp(found, wanted, sizeof wanted - 1))
        return LINK_UP;
    snprintf(
        problem, LINK_PROBLEM,
        "its maxmemory-policy is %.*s, which forgets nonces: set `maxmemory-policy noeviction`",
        (int)strcspn(found, "\r\n"), found);
    return LINK_REFUSED;
}

static enum link_start introduce(const struct link *link, redisContext *context,
                                 char problem[LINK_PROBLEM])
{
    enum link_start start = LINK_UP;
    if (*link->password) {
        redisReply *reply REPLY_SCOPE = redisCommand(context, "AUTH %s", link->password);
        start = judge_reply(context, reply, "AUTH", problem);
    }
    if (start == LINK_UP && link->url.db) {
        redisReply *reply REPLY_SCOPE = redisCommand(context, "SELECT %d", link->url.db);
        start = judge_reply(context, reply, "SELECT", problem);
    }
    if (start == LINK_UP) {
        redisReply *reply REPLY_SCOPE = redisCommand(context, "PING");
        start = judge_reply(context, reply, "PING", problem);
    }
    return start == LINK_UP ? check_policy(context, problem) : start;
}

static enum link_start connect_one(const struct link *link, redisContext **out,
                                   char problem[LINK_PROBLEM])
{
    const struct timeval limit = {.tv_usec = DEADLINE_MS * 1000};
    redisContext *context = *link->url.path
                                ? redisConnectUnixWithTimeout(link->url.path, limit)
                                : redisConnectWithTimeout(link->url.host, link->url.port, limit);
    enum link_start start = LINK_AWAY;
    if (context && !context->err) /* not for the programs that the store starts */
        (void)fcntl(context->fd, F_SETFD, FD_CLOEXEC);
    if (!context)
        snprintf(problem, LINK_PROBLEM, "no memory");
    else if (context->err || redisSetTimeout(context, limit) != REDIS_OK)
        snprintf(problem, LINK_PROBLEM, "connect: %.150s", context->errstr);
    else
        start = introduce(link, context, problem);
    if (start == LINK_UP) {
        *out = context;
        return start;
    }
    if (context)
        redisFree(context);
    return start;
}

/* All connections anew. Called while the link is closed, by the one thread that opens it. */
static enum link_start connect_all(struct link *link)
{
    redisContext *made[CONNECTIONS];
    char problem[LINK_PROBLEM] = "";
    enum link_start start = LINK_UP;
    size_t count = 0;
    while (start == LINK_UP && count < CONNECTIONS)
        if ((start = connect_one(link, &made[count], problem)) == LINK_UP)
            count++;
    pthread_mutex_lock(&link->mutex);
    if (start == LINK_UP) {
        memcpy(link->idle, made, sizeof made);
        link->idle_count = count;
        link->up = true;
    }
    memcpy(link->problem, problem, sizeof problem);
    pthread_mutex_unlock(&link->mutex);
    while (start != LINK_UP && count)
        redisFree(made[--count]);
    return start;
}

/* The link is closed for everybody; connections in use are freed when they come back. */
static void shut(struct link *link, uint64_t generation, const char *why)
{
    pthread_mutex_lock(&link->mutex);
    bool first = link->up && link->generation == generation;
    if (first) {
        link->up = false;
        link->generation++;
        snprintf(link->problem, sizeof link->problem, "%.200s", why);
        while (link->idle_count)
            redisFree(link->idle[--link->idle_count]);
        pthread_cond_signal(&link->wake);
        pthread_cond_broadcast(&link->returned);
    }
    pthread_mutex_unlock(&link->mutex);
    if (first)
        log_event(LOG_WARN, "redis is away: no run is taken", LOG_FIELDS({"error", why}));
}

static redisContext *borrow(struct link *link, uint64_t *generation)
{
    struct timespec until;
    redisContext *context = NULL;
    deadline_in(DEADLINE_MS, &until);
    pthread_mutex_lock(&link->mutex);
    while (link->up && !link->idle_count &&
           pthread_cond_timedwait(&link->returned, &link->mutex, &until) == 0)
        ;
    if (link->up && link->idle_count) { /* in turn, so that none is idle until somebody cuts it */
        context = link->idle[0];
        memmove(link->idle, link->idle + 1, --link->idle_count * sizeof *link->idle);
    }
    *generation = link->generation;
    pthread_mutex_unlock(&link->mutex);
    return context;
}

static void give_back(struct link *link, redisContext *context, uint64_t generation)
{
    pthread_mutex_lock(&link->mutex);
    bool good = link->up && link->generation == generation && !context->err;
    if (good) {
        link->idle[link->idle_count++] = context;
        pthread_cond_signal(&link->returned);
    }
    pthread_mutex_unlock(&link->mutex);
    if (!good)
        redisFree(context);
}

/* EVALSHA, or EVAL with the text, which Redis then knows. */
static redisReply *evaluate(const struct link *link, redisContext *context,
                            const struct link_call *call, bool by_name)
{
    const char *words[LINK_ARGUMENTS + 3];
    char keys[8];
    snprintf(keys, sizeof keys, "%zu", call->keys);
    words[0] = by_name ? "EVALSHA" : "EVAL";
    words[1] = by_name ? link->names[call->script] : script_text(call->script);
    words[2] = keys;
    for (size_t i = 0; i < call->count; i++)
        words[3 + i] = call->arguments[i];
    return redisCommandArgv(context, (int)call->count + 3, words, NULL);
}

static bool is_error(const redisReply *reply, const char *begin)
{
    return reply && reply->type == REDIS_REPLY_ERROR &&
           (!begin || !strncmp(reply->str, begin, strlen(begin)));
}

bool link_run(struct link *link, const struct link_call *call, int64_t *result)
{
    uint64_t generation;
    redisContext *context = borrow(link, &generation);
    if (!context)
        return false;
    redisReply *reply REPLY_SCOPE = evaluate(link, context, call, true);
    if (is_error(reply, "NOSCRIPT")) {
        freeReplyObject(reply);
        reply = evaluate(link, context, call, false);
    }
    bool good = reply && reply->type == REDIS_REPLY_INTEGER;
    if (good)
        *result = reply->integer;
    else
        shut(link, generation, is_error(reply, NULL) ? reply->str : context->errstr);
    give_back(link, context, generation);
    return good;
}

void link_later(struct link *link, const struct link_call *call)
{
    pthread_mutex_lock(&link->mutex);
    if (link->queue_count == QUEUE) {
        link->queue_begin = (link->queue_begin + 1) % QUEUE;
        link->queue_count--;
    }
    link->queue[(link->queue_begin + link->queue_count++) % QUEUE] = *call;
    pthread_cond_signal(&link->wake);
    pthread_mutex_unlock(&link->mutex);
}

/* Does what was put off, in order, until Redis goes away. */
static void work_off(struct link *link)
{
    struct link_call call;
    int64_t result;
    for (;;) {
        pthread_mutex_lock(&link->mutex);
        bool any = link->up && link->queue_count;
        if (any)
            call = link->queue[link->queue_begin];
        size_t begin = link->queue_begin;
        pthread_mutex_unlock(&link->mutex);
        if (!any || !link_run(link, &call, &result))
            return;
        pthread_mutex_lock(&link->mutex);
        if (link->queue_begin == begin && link->queue_count) { /* else it was pushed out */
            link->queue_begin = (begin + 1) % QUEUE;
            link->queue_count--;
        }
        pthread_mutex_unlock(&link->mutex);
    }
}

/* Whether Redis still answers, when nobody else asks it. */
static void look(struct link *link)
{
    uint64_t generation;
    char problem[LINK_PROBLEM] = "";
    redisContext *context = borrow(link, &generation);
    if (!context)
        return;
    if (check_policy(context, problem) != LINK_UP)
        shut(link, generation, problem);
    give_back(link, context, generation);
}

static bool is_up(struct link *link)
{
    pthread_mutex_lock(&link->mutex);
    bool up = link->up;
    pthread_mutex_unlock(&link->mutex);
    return up;
}

/* Until somebody has something to do, or a second. False when it is over. Shut links wait in any
 * case: there is nothing to do before Redis is tried again. */
static bool rest(struct link *link)
{
    struct timespec until;
    deadline_in(LOOK_MS, &until);
    pthread_mutex_lock(&link->mutex);
    bool was_up = link->up;
    while (!link->stopping && link->up == was_up && !(was_up && link->queue_count) &&
           pthread_cond_timedwait(&link->wake, &link->mutex, &until) == 0)
        ;
    bool goes_on = !link->stopping;
    pthread_mutex_unlock(&link->mutex);
    return goes_on;
}

static void *keep_open(void *context)
{
    struct link *link = context;
    int64_t looked_ms = clock_monotonic_ms();
    while (rest(link)) {
        int64_t now_ms = clock_monotonic_ms();
        bool due = now_ms - looked_ms >= LOOK_MS;
        if (!is_up(link)) {
            if (connect_all(link) == LINK_UP)
                log_event(LOG_INFO, "redis is back", NULL);
        } else if (due) {
            look(link);
        }
        if (due)
            looked_ms = now_ms;
        work_off(link);
    }
    work_off(link);
    return NULL;
}

static void init_conditions(struct link *link)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&link->wake, &attributes);
    pthread_cond_init(&link->returned, &attributes);
    pthread_condattr_destroy(&attributes);
}

enum link_start link_open(const struct redis_url *url, const char *password, struct link **out,
                          char problem[LINK_PROBLEM])
{
    struct link *link = memory_grow(NULL, sizeof *link);
    *link = (struct link){.url = *url, .password = password};
    pthread_mutex_init(&link->mutex, NULL);
    init_conditions(link);
    name_scripts(link);
    link->queue = memory_grow(NULL, QUEUE * sizeof *link->queue);
    enum link_start start = connect_all(link);
    memcpy(problem, link->problem, LINK_PROBLEM);
    if (start != LINK_REFUSED) {
        link->started = pthread_create(&link->thread, NULL, keep_open, link) == 0;
        if (link->started) {
            *out = link;
            return start;
        }
        snprintf(problem, LINK_PROBLEM, "no thread could be started");
    }
    link_close(link);
    return LINK_REFUSED;
}

void link_close(struct link *link)
{
    if (!link)
        return;
    pthread_mutex_lock(&link->mutex);
    link->stopping = true;
    pthread_cond_signal(&link->wake);
    pthread_mutex_unlock(&link->mutex);
    if (link->started)
        pthread_join(link->thread, NULL);
    while (link->idle_count)
        redisFree(link->idle[--link->idle_count]);
    pthread_cond_destroy(&link->wake);
    pthread_cond_destroy(&link->returned);
    pthread_mutex_destroy(&link->mutex);
    free(link->queue);
    free(link);
}

bool link_ready(struct link *link, char problem[LINK_PROBLEM])
{
    pthread_mutex_lock(&link->mutex);
    bool up = link->up;
    memcpy(problem, link->problem, LINK_PROBLEM);
    pthread_mutex_unlock(&link->mutex);
    return up;
}
