#include "server/commands/offline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/embedded.h"
#include "validator/text.h"

enum { FILE_SIZE_MAX = 256 << 20, READ_STEP = 65536 };

/* Reads to the end; the size that the system tells of a file is only a hint. */
static bool read_all(int fd, struct buffer *text)
{
    struct stat status;
    size_t step = READ_STEP;
    if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size < FILE_SIZE_MAX)
        step = (size_t)status.st_size + 1;
    for (;;) {
        ssize_t got = read(fd, buffer_reserve(text, step), step);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (got > 0)
            text->size += (size_t)got;
        if (text->size > FILE_SIZE_MAX) {
            errno = EFBIG;
            return false;
        }
        step = READ_STEP;
    }
}

static bool read_file(const char *name, struct buffer *text)
{
    bool standard = strcmp(name, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool fine = read_all(fd, text);
    int problem = errno;
    if (!standard)
        close(fd);
    errno = problem;
    return fine;
}

bool offline_open(struct offline_file *file, const char *name)
{
    struct js_error error;
    *file = (struct offline_file){.name = name};
    if (!read_file(name, &file->text)) {
        snprintf(file->problem, sizeof file->problem, "cannot be read: %s", strerror(errno));
        return false;
    }
    if (!js_read(&file->arena, file->text.data, file->text.size, &file->document, &error)) {
        snprintf(file->problem, sizeof file->problem, "is not JSON: %s (line %zu, column %zu)",
                 error.message, error.line, error.column);
        return false;
    }
    return true;
}

void offline_close(struct offline_file *file)
{
    arena_free(&file->arena);
    buffer_free(&file->text);
}

void offline_add_safely(struct buffer *out, const char *text, size_t size)
{
    for (const char *at = text, *next = text, *end = text + size; at < end; at = next) {
        if (text_is_control(text_next(&next, end)))
            buffer_byte(out, '?');
        else
            buffer_add(out, at, (size_t)(next - at));
    }
}

void offline_complain(const char *file, const char *message)
{
    BUFFER_SCOPE struct buffer line = {0};
    buffer_text(&line, "benchledger: ");
    offline_add_safely(&line, file, strlen(file));
    buffer_text(&line, ": ");
    offline_add_safely(&line, message, strlen(message));
    buffer_byte(&line, '\n');
    fwrite(line.data, 1, line.size, stderr);
}

void offline_complain_shape(const char *file, const struct shape_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        BUFFER_SCOPE struct buffer line = {0};
        buffer_format(&line, "%s %s", *errors->items[i].path ? errors->items[i].path : "the file",
                      errors->items[i].message);
        offline_complain(file, buffer_string(&line));
    }
}

int offline_output(const char *bytes, size_t size)
{
    fwrite(bytes, 1, size, stdout);
    if (isatty(STDOUT_FILENO))
        fputc('\n', stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return OFFLINE_OK;
    offline_complain("standard output", strerror(errno));
    return OFFLINE_UNREADABLE;
}

bool offline_key(struct arena *arena, const char *path, struct answer_key *key)
{
    const char *text = (const char *)embedded_mmlu_key, *problem = NULL;
    size_t size = embedded_mmlu_key_size;
    BUFFER_SCOPE struct buffer own = {0};
    if (path && !read_file(path, &own)) {
        offline_complain(path, strerror(errno));
        return false;
    }
    if (path) {
        text = arena_copy(arena, own.data, own.size);
        size = own.size;
    }
    if (answer_key_read(arena, text, size, key, &problem))
        return true;
    offline_complain(path ? path : "the compiled-in answer key", problem);
    return false;
}

struct policy offline_policy(bool any_protocol)
{
    static const char *const submitted[] = {"localmode-bench/5", NULL};
    return (struct policy){.protocols = any_protocol ? NULL : submitted};
}
