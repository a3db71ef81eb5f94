#include "server/api/making.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

/* No more threads than this serve requests, see http.c. */
enum { MAKERS = 64 };

struct making {
    pthread_mutex_t mutex; /* guards the keys; never held while something is made */
    pthread_cond_t ended;
    const char *keys[MAKERS]; /* NULL: free; the makers own them */
};

struct making *making_new(void)
{
    struct making *making = memory_grow(NULL, sizeof *making);
    *making = (struct making){0};
    pthread_mutex_init(&making->mutex, NULL);
    pthread_cond_init(&making->ended, NULL);
    return making;
}

void making_free(struct making *making)
{
    if (!making)
        return;
    pthread_mutex_destroy(&making->mutex);
    pthread_cond_destroy(&making->ended);
    free(making);
}

/* MUTEX is held. */
static const char **find(struct making *making, const char *key)
{
    for (int i = 0; i < MAKERS; i++)
        if (key ? making->keys[i] && !strcmp(making->keys[i], key) : !making->keys[i])
            return &making->keys[i];
    return NULL;
}

bool making_begin(struct making *making, const char *key)
{
    pthread_mutex_lock(&making->mutex);
    bool first = !find(making, key);
    const char **place = first ? find(making, NULL) : NULL;
    if (place)
        *place = key;
    while (!first && find(making, key))
        pthread_cond_wait(&making->ended, &making->mutex);
    pthread_mutex_unlock(&making->mutex);
    return first;
}

void making_end(struct making *making, const char *key)
{
    pthread_mutex_lock(&making->mutex);
    for (int i = 0; i < MAKERS; i++)
        if (making->keys[i] == key)
            making->keys[i] = NULL;
    pthread_cond_broadcast(&making->ended);
    pthread_mutex_unlock(&making->mutex);
}
