#include "github/repository/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "github/repository/files.h"
#include "validator/arena.h"

enum { POLL_MS = 20, FOLDER_DEPTH_MAX = 8 };

static void sleep_ms(int ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

static double monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

bool lock_wait_long(void *context, double waited_ms)
{
    (void)context;
    return waited_ms < LOCK_WAIT_MS;
}

bool lock_take(const char *folder, const char *name, lock_wait wait, void *context,
               struct lock *lock, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *path = arena_format(&arena, "%s/%s", folder, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_system(error, "cannot open lock file %s", path);
    double start = monotonic_ms();
    while (flock(fd, LOCK_EX | LOCK_NB)) {
        int problem = errno;
        double waited = monotonic_ms() - start;
        if (problem == EINTR)
            continue;
        if (problem == EWOULDBLOCK && wait && wait(context, waited)) {
            sleep_ms(POLL_MS);
            continue;
        }
        close(fd);
        errno = problem;
        if (problem != EWOULDBLOCK)
            return error_system(error, "cannot lock %s", path);
        if (!wait)
            return error_set(
                error, "%s is held by another process: only one may serve this dataset", path);
        return error_set(error, "%s is held by another process, after %.0f s still", path,
                         waited / 1e3);
    }
    lock->fd = fd;
    return true;
}

bool lock_take_folder(const char *folder, struct lock *lock, struct store_error *error)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_system(error, "cannot open %s", folder);
    /* Where a folder cannot be locked, as on some network file systems, whoever runs two at a time is on his own. */
    if (!flock(fd, LOCK_EX | LOCK_NB) || errno == EBADF || errno == ENOLCK || errno == EOPNOTSUPP) {
        lock->fd = fd;
        return true;
    }
    bool held = errno == EWOULDBLOCK;
    error_system(error, "cannot lock %s", folder);
    close(fd);
    return held ? error_set(error, "another import or index works in %s", folder) : false;
}

void lock_drop(struct lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}

static double age_ms(const struct stat *status)
{
    return files_wall_ms() - (double)status->st_mtim.tv_sec * 1e3 -
           (double)(status->st_mtim.tv_nsec / 1000000);
}

/* Waits until PATH is gone, or is AGE_MS old, or AGE_MS have passed (a clock that jumped). */
static bool clear_one(const char *path, int limit_ms, struct store_error *error)
{
    struct stat status;
    for (int waited = 0; waited < limit_ms; waited += POLL_MS) {
        if (lstat(path, &status))
            return true;
        if (age_ms(&status) >= limit_ms)
            break;
        sleep_ms(POLL_MS);
    }
    if (unlink(path) && errno != ENOENT)
        return error_system(error, "cannot remove the stale git lock %s", path);
    return true;
}

/* One that no commit needs. */
static bool clear_other(const char *path, const struct stat *status, struct store_error *error)
{
    return age_ms(status) < LOCK_STALE_OTHER_MS || clear_one(path, 0, error);
}

static bool is_lock_name(const char *name)
{
    size_t size = strlen(name);
    return size > 5 && !strcmp(name + size - 5, ".lock") && strncmp(name, "benchledger.", 12);
}

static bool clear_folder(const char *folder, int depth, int limit_ms, struct store_error *error)
{
    DIR *handle = opendir(folder);
    if (!handle)
        return errno == ENOENT || error_system(error, "cannot list %s", folder);
    bool fine = true;
    for (struct dirent *item; fine && (item = readdir(handle));) {
        if (item->d_name[0] == '.')
            continue;
        struct arena arena ARENA_SCOPE = {0};
        const char *path = arena_format(&arena, "%s/%s", folder, item->d_name);
        struct stat status;
        if (lstat(path, &status))
            continue;
        if (S_ISDIR(status.st_mode) && depth > 0)
            fine = clear_folder(path, depth - 1, limit_ms, error);
        else if (!S_ISREG(status.st_mode) || !is_lock_name(item->d_name))
            continue;
        else if (depth > 0 || !strcmp(item->d_name, "HEAD.lock"))
            fine = clear_one(path, limit_ms, error);
        else
            fine = clear_other(path, &status, error);
    }
    closedir(handle);
    return fine;
}

/* Beside HEAD there is no reference at depth 0. */
bool lock_clear_stale(const char *folder, int limit_ms, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    return clear_folder(folder, 0, limit_ms, error) &&
           clear_folder(arena_format(&arena, "%s/refs", folder), FOLDER_DEPTH_MAX, limit_ms, error);
}
