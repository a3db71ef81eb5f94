#include "server/api/shelf.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/content.h"
#include "validator/arena.h"

struct place {
    struct content *content; /* NULL: free */
    uint64_t used;
    char key[SHELF_KEY];
};

struct shelf {
    size_t most;
    pthread_mutex_t mutex; /* guards what follows; held for looks only, never while one is packed */
    struct place places[SHELF_PLACES];
    uint64_t uses;
};

struct shelf *shelf_new(size_t most)
{
    struct shelf *shelf = memory_grow(NULL, sizeof *shelf);
    memset(shelf, 0, sizeof *shelf);
    shelf->most = most;
    pthread_mutex_init(&shelf->mutex, NULL);
    return shelf;
}

void shelf_free(struct shelf *shelf)
{
    if (!shelf)
        return;
    for (int i = 0; i < SHELF_PLACES; i++)
        content_unref(shelf->places[i].content);
    pthread_mutex_destroy(&shelf->mutex);
    free(shelf);
}

struct content *shelf_find(struct shelf *shelf, const char *key)
{
    struct content *content = NULL;
    pthread_mutex_lock(&shelf->mutex);
    for (int i = 0; i < SHELF_PLACES && !content; i++) {
        struct place *place = &shelf->places[i];
        if (!place->content || strcmp(place->key, key) != 0)
            continue;
        place->used = ++shelf->uses;
        content = content_ref(place->content);
    }
    pthread_mutex_unlock(&shelf->mutex);
    return content;
}

/* The place used least lately, and the weight of all. */
static struct place *oldest(struct shelf *shelf, size_t *weight)
{
    struct place *oldest = NULL;
    *weight = 0;
    for (int i = 0; i < SHELF_PLACES; i++) {
        struct place *place = &shelf->places[i];
        if (!place->content)
            continue;
        *weight += content_weight(place->content);
        if (!oldest || place->used < oldest->used)
            oldest = place;
    }
    return oldest;
}

static void drop(struct place *place)
{
    content_unref(place->content);
    *place = (struct place){0};
}

void shelf_keep(struct shelf *shelf, const char *key, struct content *content)
{
    size_t own = content_weight(content), weight;
    if (own > shelf->most / 2)
        return; /* one does not push out all others */
    pthread_mutex_lock(&shelf->mutex);
    for (int i = 0; i < SHELF_PLACES; i++) /* two readers may have missed it at once */
        if (shelf->places[i].content && !strcmp(shelf->places[i].key, key))
            drop(&shelf->places[i]);
    for (struct place *place = oldest(shelf, &weight); place && weight + own > shelf->most;
         place = oldest(shelf, &weight))
        drop(place);
    struct place *free_place = NULL;
    for (int i = 0; i < SHELF_PLACES && !free_place; i++)
        if (!shelf->places[i].content)
            free_place = &shelf->places[i];
    if (!free_place) {
        free_place = oldest(shelf, &weight);
        drop(free_place);
    }
    *free_place = (struct place){.content = content_ref(content), .used = ++shelf->uses};
    snprintf(free_place->key, sizeof free_place->key, "%s", key);
    pthread_mutex_unlock(&shelf->mutex);
}

void shelf_clear(struct shelf *shelf)
{
    pthread_mutex_lock(&shelf->mutex);
    for (int i = 0; i < SHELF_PLACES; i++)
        drop(&shelf->places[i]);
    pthread_mutex_unlock(&shelf->mutex);
}

size_t shelf_count(struct shelf *shelf, size_t *weight)
{
    size_t count = 0;
    pthread_mutex_lock(&shelf->mutex);
    (void)oldest(shelf, weight);
    for (int i = 0; i < SHELF_PLACES; i++)
        count += shelf->places[i].content != NULL;
    pthread_mutex_unlock(&shelf->mutex);
    return count;
}
