#include "server/commands/export_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "github/repository/files.h"

enum { PENDING_MUCH = 1 << 20 };

bool export_lines_open(struct export_lines *lines, const char *folder, struct store_error *error)
{
    char *name = arena_format(&lines->arena, "%s/.lines.XXXXXX", folder);
    lines->fd = mkostemp(name, O_CLOEXEC);
    if (lines->fd < 0)
        return error_system(error, "cannot write in %s", folder);
    unlink(name);
    return true;
}

static bool write_pending(struct export_lines *lines, struct store_error *error)
{
    bool fine = files_write(lines->fd, lines->pending.data, lines->pending.size);
    lines->pending.size = 0;
    return fine || error_system(error, "cannot write the lines of runs");
}

bool export_lines_keep(struct export_lines *lines, struct text created_at, const char *path,
                       const struct text parts[EXPORT_FILES], struct store_error *error)
{
    if (lines->count == lines->room) {
        lines->room = lines->room ? lines->room * 2 : 1024;
        lines->runs = memory_grow(lines->runs, lines->room * sizeof *lines->runs);
    }
    struct kept_run *run = &lines->runs[lines->count++];
    *run =
        (struct kept_run){.created_at = arena_copy(&lines->arena, created_at.data, created_at.size),
                          .path = path,
                          .at = lines->size};
    for (int i = 0; i < EXPORT_FILES; i++) {
        run->sizes[i] = parts[i].size;
        lines->size += parts[i].size;
        buffer_add(&lines->pending, parts[i].data, parts[i].size);
    }
    return lines->pending.size < PENDING_MUCH || write_pending(lines, error);
}

static int by_creation(const void *left, const void *right)
{
    const struct kept_run *a = left, *b = right;
    int order = strcmp(a->created_at, b->created_at);
    return order ? order : strcmp(a->path, b->path);
}

bool export_lines_sort(struct export_lines *lines, struct store_error *error)
{
    if (lines->count)
        qsort(lines->runs, lines->count, sizeof *lines->runs, by_creation);
    return write_pending(lines, error);
}

/* All of SIZE bytes at AT, also when the kernel gives them in parts. */
static bool read_at(int fd, char *bytes, size_t size, uint64_t at)
{
    while (size) {
        ssize_t got = pread(fd, bytes, size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got ? errno : EIO;
            return false;
        }
        bytes += got;
        size -= (size_t)got;
        at += (uint64_t)got;
    }
    return true;
}

bool export_lines_read(struct export_lines *lines, size_t number, struct text parts[EXPORT_FILES],
                       struct store_error *error)
{
    const struct kept_run *run = &lines->runs[number];
    size_t size = 0;
    for (int i = 0; i < EXPORT_FILES; i++)
        size += run->sizes[i];
    lines->pending.size = 0;
    char *bytes = buffer_reserve(&lines->pending, size);
    if (!read_at(lines->fd, bytes, size, run->at))
        return error_system(error, "cannot read the lines of runs");
    for (int i = 0; i < EXPORT_FILES; bytes += run->sizes[i++])
        parts[i] = (struct text){bytes, run->sizes[i]};
    return true;
}

void export_lines_close(struct export_lines *lines)
{
    if (lines->fd > 0)
        close(lines->fd);
    buffer_free(&lines->pending);
    free(lines->runs);
    arena_free(&lines->arena);
    *lines = (struct export_lines){0};
}
