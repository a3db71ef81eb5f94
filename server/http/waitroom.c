#include "server/http/waitroom.h"

#include <pthread.h>
#include <stdlib.h>

#include "validator/arena.h"

struct waiting {
    struct waitroom *room;
    struct waiting *previous, *next; /* while it waits */
    void *connection;
    int64_t deadline_ms;
    int owners;
    bool resumed, has_result;
    struct change_result result;
};

struct waitroom {
    void (*suspend)(void *connection);
    void (*resume)(void *connection);
    pthread_mutex_t mutex; /* guards the list and every waiting */
    struct waiting *first;
    bool closed;
};

struct waitroom *waitroom_new(void (*suspend)(void *connection), void (*resume)(void *connection))
{
    struct waitroom *room = memory_grow(NULL, sizeof *room);
    *room = (struct waitroom){.suspend = suspend, .resume = resume};
    pthread_mutex_init(&room->mutex, NULL);
    return room;
}

void waitroom_free(struct waitroom *room)
{
    if (!room)
        return;
    pthread_mutex_destroy(&room->mutex);
    free(room);
}

struct waiting *waiting_new(struct waitroom *room, void *connection, int64_t deadline_ms)
{
    struct waiting *waiting = memory_grow(NULL, sizeof *waiting);
    *waiting = (struct waiting){
        .room = room, .connection = connection, .deadline_ms = deadline_ms, .owners = 2};
    pthread_mutex_lock(&room->mutex);
    bool closed = room->closed;
    if (!closed) {
        waiting->next = room->first;
        if (waiting->next)
            waiting->next->previous = waiting;
        room->first = waiting;
        room->suspend(connection);
    }
    pthread_mutex_unlock(&room->mutex);
    if (!closed)
        return waiting;
    free(waiting);
    return NULL;
}

/* With the lock held. */
static void resume(struct waiting *waiting)
{
    if (waiting->resumed)
        return;
    waiting->resumed = true;
    if (waiting->previous)
        waiting->previous->next = waiting->next;
    else
        waiting->room->first = waiting->next;
    if (waiting->next)
        waiting->next->previous = waiting->previous;
    waiting->room->resume(waiting->connection);
}

static void give_up_share(struct waiting *waiting)
{
    struct waitroom *room = waiting->room;
    pthread_mutex_lock(&room->mutex);
    bool last = --waiting->owners == 0;
    pthread_mutex_unlock(&room->mutex);
    if (last)
        free(waiting);
}

void waiting_done(void *context, const struct change_result *result)
{
    struct waiting *waiting = context;
    pthread_mutex_lock(&waiting->room->mutex);
    if (!waiting->resumed) {
        waiting->result = *result;
        waiting->has_result = true;
        if (!result->more || result->away)
            resume(waiting);
    }
    pthread_mutex_unlock(&waiting->room->mutex);
    if (!result->more)
        give_up_share(waiting);
}

const struct change_result *waiting_result(const struct waiting *waiting)
{
    pthread_mutex_lock(&waiting->room->mutex);
    const struct change_result *result = waiting->has_result ? &waiting->result : NULL;
    pthread_mutex_unlock(&waiting->room->mutex);
    return result;
}

void waiting_leave(struct waiting *waiting)
{
    if (waiting)
        give_up_share(waiting);
}

/* With the lock held. */
static void expire(struct waitroom *room, int64_t now_ms)
{
    for (struct waiting *waiting = room->first; waiting;) {
        struct waiting *next = waiting->next;
        if (now_ms >= waiting->deadline_ms)
            resume(waiting);
        waiting = next;
    }
}

void waitroom_expire(struct waitroom *room, int64_t now_ms)
{
    pthread_mutex_lock(&room->mutex);
    expire(room, now_ms);
    pthread_mutex_unlock(&room->mutex);
}

void waitroom_close(struct waitroom *room)
{
    pthread_mutex_lock(&room->mutex);
    room->closed = true;
    expire(room, INT64_MAX);
    pthread_mutex_unlock(&room->mutex);
}
