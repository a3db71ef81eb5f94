#include "github/repository/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "validator/arena.h"

bool files_read(int fd, size_t most, struct buffer *out)
{
    struct stat status;
    if (fstat(fd, &status))
        return false;
    if (!S_ISREG(status.st_mode) || status.st_size < 0 || (size_t)status.st_size > most) {
        errno = S_ISREG(status.st_mode) ? EFBIG : EINVAL;
        return false;
    }
    size_t left = (size_t)status.st_size;
    buffer_reserve(out, left + 1); /* with the NUL of buffer_string: else all moves for it */
    while (left) {
        ssize_t got = read(fd, buffer_reserve(out, left), left);
        if (got < 0 && errno != EINTR)
            return false;
        if (got == 0)
            break;
        if (got > 0) {
            out->size += (size_t)got;
            left -= (size_t)got;
        }
    }
    return true;
}

bool files_write(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t put = write(fd, bytes, size);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0) {
            bytes += put;
            size -= (size_t)put;
        }
    }
    return true;
}

static const char *staged_name(struct arena *arena, const char *path)
{
    return arena_format(arena, "%s.new", path);
}

bool files_stage(const char *path, const char *bytes, size_t size, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *temporary = staged_name(&arena, path);
    unlink(temporary); /* a killed writer left it, or a foreign clone brought a link */
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_system(error, "cannot write %s", temporary);
    bool fine = files_write(fd, bytes, size) && fsync(fd) == 0;
    if (!fine)
        error_system(error, "cannot write %s", temporary);
    close(fd);
    if (!fine)
        unlink(temporary);
    return fine;
}

bool files_install(const char *path, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    return !rename(staged_name(&arena, path), path) ||
           error_system(error, "cannot replace %s", path);
}

void files_unstage(const char *path)
{
    struct arena arena ARENA_SCOPE = {0};
    unlink(staged_name(&arena, path));
}

bool files_is_staged(const char *path)
{
    struct arena arena ARENA_SCOPE = {0};
    struct stat status;
    return !lstat(staged_name(&arena, path), &status) && S_ISREG(status.st_mode);
}

bool files_replace(const char *path, const char *bytes, size_t size, struct store_error *error)
{
    if (files_stage(path, bytes, size, error) && files_install(path, error))
        return true;
    files_unstage(path);
    return false;
}

bool files_sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool fine = fsync(fd) == 0;
    int problem = errno;
    close(fd);
    errno = problem;
    return fine;
}

/* One folder, whose name is then durable. */
static bool make_folder(const char *path, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    if (mkdir(path, 0755))
        return errno == EEXIST || error_system(error, "cannot make %s", path);
    const char *slash = strrchr(path, '/');
    const char *parent = !slash          ? "."
                         : slash == path ? "/"
                                         : arena_copy(&arena, path, (size_t)(slash - path));
    return files_sync_folder(parent) || error_system(error, "cannot sync %s", parent);
}

bool files_make_folders(const char *path, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    char *copy = arena_copy(&arena, path, strlen(path));
    for (char *slash = copy + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (!make_folder(copy, error))
            return false;
        *slash = '/';
    }
    return make_folder(copy, error);
}

bool files_lies_below(const char *root, const char *folder, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    struct stat status;
    for (size_t size = 0; folder[size];) {
        size += strspn(folder + size, "/");
        size += strcspn(folder + size, "/");
        const char *path = arena_format(&arena, "%s/%.*s", root, (int)size, folder);
        if (lstat(path, &status))
            return errno == ENOENT || error_system(error, "cannot look at %s", path);
        if (!S_ISDIR(status.st_mode))
            return error_set(error,
                             "%s is no folder, or a link to one: what is written there would not "
                             "be in the dataset",
                             path);
    }
    return true;
}

double files_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec * 1e3 + (double)(now.tv_nsec / 1000000);
}
