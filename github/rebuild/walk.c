#include "github/rebuild/walk.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 64, FILES_PER_THREAD = 4 };

static bool add_item(struct walk_list *list, const char *path, const git_oid *blob)
{
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 1024;
        list->items = memory_grow(list->items, list->room * sizeof *list->items);
    }
    struct walk_item *item = &list->items[list->count++];
    *item = (struct walk_item){.path = arena_copy(&list->arena, path, strlen(path))};
    if (blob)
        item->blob = *blob;
    return true;
}

struct adding {
    struct walk_list *list;
    const char *suffix;
};

static bool tell_blob(void *context, const char *path, const git_oid *blob)
{
    const struct adding *adding = context;
    return !source_path_ends(path, adding->suffix) || add_item(adding->list, path, blob);
}

static bool tell_path(void *context, const char *path)
{
    return tell_blob(context, path, NULL);
}

bool walk_list_add(struct walk_list *list, const struct source *source, const char *folder,
                   const char *suffix, struct store_error *error)
{
    struct adding adding = {list, suffix};
    if (source->repository)
        return repository_list(source->repository, &source->commit, folder, tell_blob, &adding,
                               error);
    return source_list(source, folder, tell_path, &adding, error);
}

bool walk_list_add_file(struct walk_list *list, const struct source *source, const char *path,
                        struct store_error *error)
{
    git_oid blob;
    if (!source->repository)
        return add_item(list, path, NULL);
    enum repository_found found =
        repository_find(source->repository, &source->commit, path, &blob, error);
    if (found == REPOSITORY_ABSENT)
        error_set(error, "%s is missing", path);
    return found == REPOSITORY_FOUND && add_item(list, path, &blob);
}

void walk_list_free(struct walk_list *list)
{
    arena_free(&list->arena);
    free(list->items);
    *list = (struct walk_list){0};
}

struct slot {
    struct walk_file file;
    struct buffer bytes;
    bool done; /* looked at, not taken */
};

struct walking {
    const struct walk *walk;
    pthread_mutex_t mutex; /* guards all below, but for slots that are a worker's or being taken */
    pthread_cond_t looked, taken;
    struct slot *slots; /* file N is in N % window */
    size_t window;
    size_t begun;   /* files that workers have begun with */
    size_t through; /* files that were taken */
    bool stopped;
    struct store_error error;
};

/* The number of a file to look at; false when there is none any more. */
static bool begin_next(struct walking *walking, size_t *number)
{
    pthread_mutex_lock(&walking->mutex);
    size_t count = walking->walk->list->count;
    while (!walking->stopped && walking->begun < count &&
           walking->begun >= walking->through + walking->window)
        pthread_cond_wait(&walking->taken, &walking->mutex);
    bool more = !walking->stopped && walking->begun < count;
    if (more)
        *number = walking->begun++;
    pthread_mutex_unlock(&walking->mutex);
    return more;
}

static void look_at(struct walking *walking, const struct source *source, size_t number)
{
    struct slot *slot = &walking->slots[number % walking->window];
    const struct walk_item *item = &walking->walk->list->items[number];
    size_t most = walking->walk->most ? walking->walk->most : WALK_FILE_MOST;
    slot->file = (struct walk_file){.number = number, .path = item->path, .problem = {"is gone"}};
    if (source_read_most(source, item->path, &item->blob, most, &slot->bytes,
                         &slot->file.problem) == REPOSITORY_FOUND) {
        slot->file.bytes = buffer_string(&slot->bytes);
        slot->file.size = slot->bytes.size;
    }
    walking->walk->look(walking->walk->context, &slot->file);
    pthread_mutex_lock(&walking->mutex);
    slot->done = true;
    pthread_cond_signal(&walking->looked);
    pthread_mutex_unlock(&walking->mutex);
}

static void stop(struct walking *walking, const struct store_error *error)
{
    pthread_mutex_lock(&walking->mutex);
    if (!walking->stopped && error)
        walking->error = *error;
    walking->stopped = true;
    pthread_cond_broadcast(&walking->looked);
    pthread_cond_broadcast(&walking->taken);
    pthread_mutex_unlock(&walking->mutex);
}

/* A repository handle belongs to one thread, so that each worker has its own. */
static void *work(void *context)
{
    struct walking *walking = context;
    struct source source = *walking->walk->source;
    struct repository *repository REPOSITORY_SCOPE = NULL;
    struct store_error error;
    size_t number;
    if (source.repository && !repository_open(source.repository->path, &repository, &error)) {
        stop(walking, &error);
        return NULL;
    }
    source.repository = repository;
    while (begin_next(walking, &number))
        look_at(walking, &source, number);
    return NULL;
}

static void free_slot(struct slot *slot)
{
    arena_free(&slot->file.arena);
    buffer_free(&slot->bytes);
    slot->done = false;
}

/* The file NUMBER once it was looked at; NULL when the walk was stopped before. */
static struct slot *wait_for(struct walking *walking, size_t number)
{
    struct slot *slot = &walking->slots[number % walking->window];
    pthread_mutex_lock(&walking->mutex);
    while (!slot->done && !walking->stopped)
        pthread_cond_wait(&walking->looked, &walking->mutex);
    bool done = slot->done;
    pthread_mutex_unlock(&walking->mutex);
    return done ? slot : NULL;
}

static void take_all(struct walking *walking)
{
    const struct walk *walk = walking->walk;
    for (size_t number = 0; number < walk->list->count; number++) {
        struct store_error error = {""};
        struct slot *slot = wait_for(walking, number);
        if (!slot)
            return;
        bool fine = walk->take(walk->context, &slot->file, &error);
        pthread_mutex_lock(&walking->mutex);
        free_slot(slot);
        walking->through++;
        pthread_cond_broadcast(&walking->taken);
        pthread_mutex_unlock(&walking->mutex);
        if (!fine) {
            stop(walking, &error);
            return;
        }
    }
}

static size_t cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (size_t)count;
}

static void run(struct walking *walking, size_t wanted)
{
    pthread_t threads[THREADS_MAX];
    size_t count = 0;
    while (count < wanted && !pthread_create(&threads[count], NULL, work, walking))
        count++;
    if (count)
        take_all(walking);
    else
        stop(walking, &(struct store_error){"no thread can be started"});
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

bool walk_run(const struct walk *walk, struct store_error *error)
{
    size_t wanted = cores();
    struct walking walking = {.walk = walk,
                              .mutex = PTHREAD_MUTEX_INITIALIZER,
                              .looked = PTHREAD_COND_INITIALIZER,
                              .taken = PTHREAD_COND_INITIALIZER,
                              .window = wanted * FILES_PER_THREAD};
    walking.slots = memory_grow(NULL, walking.window * sizeof *walking.slots);
    memset(walking.slots, 0, walking.window * sizeof *walking.slots);
    run(&walking, wanted);
    for (size_t i = 0; i < walking.window; i++)
        free_slot(&walking.slots[i]);
    free(walking.slots);
    pthread_cond_destroy(&walking.looked);
    pthread_cond_destroy(&walking.taken);
    pthread_mutex_destroy(&walking.mutex);
    if (walking.stopped)
        *error = walking.error;
    return !walking.stopped;
}
