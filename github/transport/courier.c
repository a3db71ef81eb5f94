#include "github/transport/courier.h"

#include <pthread.h>
#include <stdlib.h>

#include "validator/arena.h"

enum whereabouts { HERE, AWAY, BACK };

struct courier {
    pthread_t thread;
    struct remote *remote;
    void (*back)(void *context);
    void *context;
    atomic_bool stop;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;
    enum whereabouts whereabouts;
    struct errand errand;
    struct remote_answer answer;
};

static void carry(struct courier *courier)
{
    const struct errand *errand = &courier->errand;
    struct remote_answer *answer = &courier->answer;
    switch (errand->kind) {
    case ERRAND_LOOK:
        remote_look(courier->remote, errand->branch, answer);
        return;
    case ERRAND_FETCH:
        remote_fetch(courier->remote, errand->branch, answer);
        return;
    case ERRAND_PUSH:
        remote_push(courier->remote, errand->branch, &errand->expected, &errand->commit, answer);
        return;
    }
}

static void *run(void *context)
{
    struct courier *courier = context;
    for (;;) {
        pthread_mutex_lock(&courier->mutex);
        while (courier->whereabouts != AWAY && !atomic_load(&courier->stop))
            pthread_cond_wait(&courier->wake, &courier->mutex);
        pthread_mutex_unlock(&courier->mutex);
        if (atomic_load(&courier->stop))
            return NULL;
        carry(courier); /* nobody else touches errand and answer while he is away */
        pthread_mutex_lock(&courier->mutex);
        courier->whereabouts = BACK;
        pthread_mutex_unlock(&courier->mutex);
        courier->back(courier->context);
    }
}

static void discard(struct courier *courier)
{
    remote_answer_free(&courier->answer);
    remote_free(courier->remote);
    pthread_cond_destroy(&courier->wake);
    pthread_mutex_destroy(&courier->mutex);
    free(courier);
}

bool courier_start(const struct store_remote *options, const char *home, const char *mirror,
                   void (*back)(void *context), void *context, struct courier **out,
                   struct store_error *error)
{
    struct courier *courier = memory_grow(NULL, sizeof *courier);
    *courier = (struct courier){.back = back, .context = context};
    pthread_mutex_init(&courier->mutex, NULL);
    pthread_cond_init(&courier->wake, NULL);
    if (!remote_new(options, home, mirror, &courier->stop, &courier->remote, error) ||
        (pthread_create(&courier->thread, NULL, run, courier) &&
         !error_set(error, "cannot start the thread of the remote"))) {
        discard(courier);
        return false;
    }
    *out = courier;
    return true;
}

void courier_stop(struct courier *courier)
{
    if (!courier)
        return;
    atomic_store(&courier->stop, true);
    pthread_mutex_lock(&courier->mutex);
    pthread_cond_signal(&courier->wake);
    pthread_mutex_unlock(&courier->mutex);
    pthread_join(courier->thread, NULL);
    discard(courier);
}

void courier_send(struct courier *courier, const struct errand *errand)
{
    pthread_mutex_lock(&courier->mutex);
    courier->errand = *errand;
    courier->whereabouts = AWAY;
    pthread_cond_signal(&courier->wake);
    pthread_mutex_unlock(&courier->mutex);
}

bool courier_is_away(struct courier *courier)
{
    pthread_mutex_lock(&courier->mutex);
    bool away = courier->whereabouts != HERE;
    pthread_mutex_unlock(&courier->mutex);
    return away;
}

bool courier_receive(struct courier *courier, struct errand *errand, struct remote_answer *answer)
{
    pthread_mutex_lock(&courier->mutex);
    bool back = courier->whereabouts == BACK;
    if (back) {
        *errand = courier->errand;
        *answer = courier->answer;
        courier->answer = (struct remote_answer){0};
        courier->whereabouts = HERE;
    }
    pthread_mutex_unlock(&courier->mutex);
    return back;
}
