#include "github/transport/upkeep.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "github/repository/files.h"
#include "github/transport/git.h"

/* Loose objects are counted in one of 256 folders, as `git gc --auto` does. */
enum {
    LOOK_SECONDS = 20,
    LOOSE_MOST = 6000,
    FOLDERS = 256,
    PACKS_MOST = 50,
    DEPTH_MOST = 8,
    CHILD_MS = 6 * 3600 * 1000
};
#define STAMP "benchledger.gc"

struct upkeep {
    pthread_t thread;
    char *repository, *home;
    int64_t gc_days;
    store_tell tell;
    void *tell_context;
    bool complained;
    atomic_bool stop;
    atomic_ullong bytes;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
};

static uint64_t measure(const char *path, int depth)
{
    uint64_t bytes = 0;
    DIR *folder = opendir(path);
    for (struct dirent *item; folder && (item = readdir(folder));) {
        struct arena arena ARENA_SCOPE = {0};
        struct stat status;
        if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
            continue;
        const char *name = arena_format(&arena, "%s/%s", path, item->d_name);
        if (lstat(name, &status))
            continue;
        bytes += (uint64_t)status.st_blocks * 512;
        if (S_ISDIR(status.st_mode) && depth < DEPTH_MOST)
            bytes += measure(name, depth + 1);
    }
    if (folder)
        closedir(folder);
    return bytes;
}

/* Files in a folder of the repository whose name ends in SUFFIX. */
static size_t count_files(const struct upkeep *upkeep, const char *folder, const char *suffix)
{
    struct arena arena ARENA_SCOPE = {0};
    DIR *handle = opendir(arena_format(&arena, "%s/%s", upkeep->repository, folder));
    size_t count = 0, end = strlen(suffix);
    for (struct dirent *item; handle && (item = readdir(handle));) {
        size_t size = strlen(item->d_name);
        count += *item->d_name != '.' && size >= end && !strcmp(item->d_name + size - end, suffix);
    }
    if (handle)
        closedir(handle);
    return count;
}

static void complain(struct upkeep *upkeep, const char *what, const char *why)
{
    struct arena arena ARENA_SCOPE = {0};
    if (!upkeep->complained && upkeep->tell && !atomic_load(&upkeep->stop))
        upkeep->tell(upkeep->tell_context, STORE_WARNING,
                     arena_format(&arena, "%s failed; the repository grows until it succeeds: %s",
                                  what, why));
    upkeep->complained = true;
}

static bool run_git(struct upkeep *upkeep, const char *const *words)
{
    struct arena arena ARENA_SCOPE = {0};
    struct git_call call;
    struct child_result result CHILD_RESULT_SCOPE = {0};
    struct store_error error = {""};
    git_begin(&call, &arena, upkeep->repository, upkeep->home);
    for (size_t i = 0; words[i]; i++)
        git_word(&call, words[i]);
    bool fine = git_run(&call, CHILD_MS, &upkeep->stop, &result, &error) &&
                result.end == CHILD_EXITED && result.status == 0;
    if (fine)
        upkeep->complained = false;
    else
        complain(upkeep, arena_format(&arena, "git %s", words[0]),
                 *error.message ? error.message : buffer_string(&result.err));
    return fine;
}

static void stamp(const struct upkeep *upkeep)
{
    struct arena arena ARENA_SCOPE = {0};
    FILE *file = fopen(arena_format(&arena, "%s/" STAMP, upkeep->repository), "w");
    if (file)
        fclose(file);
}

static bool gc_is_due(const struct upkeep *upkeep)
{
    struct arena arena ARENA_SCOPE = {0};
    struct stat status;
    if (!upkeep->gc_days)
        return false;
    if (stat(arena_format(&arena, "%s/" STAMP, upkeep->repository), &status)) {
        stamp(upkeep); /* the first of them in so many days, not at the first start */
        return false;
    }
    return (double)status.st_mtim.tv_sec + (double)upkeep->gc_days * 86400 < files_wall_ms() / 1e3;
}

static void tidy(struct upkeep *upkeep)
{
    static const char *const repack[] = {"repack", "-d", "-q", "--geometric=2", NULL};
    static const char *const gc[] = {"gc", "--quiet", "--prune=2.weeks.ago", NULL};
    size_t loose = count_files(upkeep, "objects/17", "") * FOLDERS;
    if (loose > LOOSE_MOST || count_files(upkeep, "objects/pack", ".pack") > PACKS_MOST)
        (void)run_git(upkeep, repack);
    if (!gc_is_due(upkeep))
        return;
    stamp(upkeep); /* also when it fails: not again every minute */
    (void)run_git(upkeep, gc);
}

static void wait_a_while(struct upkeep *upkeep)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOOK_SECONDS;
    pthread_mutex_lock(&upkeep->mutex);
    if (!atomic_load(&upkeep->stop))
        pthread_cond_timedwait(&upkeep->wake, &upkeep->mutex, &until);
    pthread_mutex_unlock(&upkeep->mutex);
}

static void *run(void *context)
{
    struct upkeep *upkeep = context;
    while (!atomic_load(&upkeep->stop)) {
        tidy(upkeep);
        atomic_store(&upkeep->bytes, measure(upkeep->repository, 0));
        wait_a_while(upkeep);
    }
    return NULL;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(memory_grow(NULL, size), text, size);
}

static void discard(struct upkeep *upkeep)
{
    pthread_cond_destroy(&upkeep->wake);
    pthread_mutex_destroy(&upkeep->mutex);
    free(upkeep->repository);
    free(upkeep->home);
    free(upkeep);
}

bool upkeep_start(const char *repository, const char *home, int64_t gc_days, store_tell tell,
                  void *tell_context, struct upkeep **out, struct store_error *error)
{
    if (!files_make_folders(home, error))
        return false;
    struct upkeep *upkeep = memory_grow(NULL, sizeof *upkeep);
    *upkeep = (struct upkeep){.gc_days = gc_days, .tell = tell, .tell_context = tell_context};
    upkeep->repository = copy_text(repository);
    upkeep->home = copy_text(home);
    atomic_store(&upkeep->bytes, measure(repository, 0));
    pthread_mutex_init(&upkeep->mutex, NULL);
    pthread_cond_init(&upkeep->wake, NULL);
    if (pthread_create(&upkeep->thread, NULL, run, upkeep)) {
        discard(upkeep);
        return error_set(error, "cannot start the upkeep thread");
    }
    *out = upkeep;
    return true;
}

void upkeep_stop(struct upkeep *upkeep)
{
    if (!upkeep)
        return;
    atomic_store(&upkeep->stop, true);
    pthread_mutex_lock(&upkeep->mutex);
    pthread_cond_signal(&upkeep->wake);
    pthread_mutex_unlock(&upkeep->mutex);
    pthread_join(upkeep->thread, NULL);
    discard(upkeep);
}

uint64_t upkeep_bytes(struct upkeep *upkeep)
{
    return atomic_load(&upkeep->bytes);
}
