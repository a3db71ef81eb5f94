#include "server/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "github/repository/files.h"

enum { READ_STEP = 65536 };

bool file_read_all(int fd, size_t most, struct buffer *text)
{
    struct stat status;
    size_t step = READ_STEP;
    /* The size that the system tells of a file is only a hint. */
    if (fstat(fd, &status) == 0 && status.st_size > 0 && (size_t)status.st_size < most)
        step = (size_t)status.st_size + 1;
    for (;;) {
        ssize_t got = read(fd, buffer_reserve(text, step), step);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (got > 0)
            text->size += (size_t)got;
        if (text->size > most) {
            errno = EFBIG;
            return false;
        }
        step = READ_STEP;
    }
}

bool file_read(const char *path, size_t most, struct buffer *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool whole = file_read_all(fd, most, text);
    int problem = errno;
    close(fd);
    errno = problem;
    return whole;
}

bool file_write_synced(int fd, const char *bytes, size_t size)
{
    return files_write(fd, bytes, size) && fsync(fd) == 0;
}
