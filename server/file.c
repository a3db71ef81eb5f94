#include "server/file.h"

#include <errno.h>
#include <sys/stat.h>

enum { READ_STEP = 65536 };

bool file_read_stream(FILE *stream, size_t most, struct buffer *text)
{
    struct stat status;
    size_t got, step = READ_STEP;
    /* The size that the system tells of a file is only a hint. */
    if (fstat(fileno(stream), &status) == 0 && status.st_size > 0 && (size_t)status.st_size < most)
        step = (size_t)status.st_size + 1;
    do {
        got = fread(buffer_reserve(text, step), 1, step, stream);
        text->size += got;
        step = READ_STEP;
    } while (got && text->size <= most);
    if (text->size > most)
        errno = EFBIG;
    return !ferror(stream) && text->size <= most;
}

bool file_read(const char *path, size_t most, struct buffer *text)
{
    FILE *stream = fopen(path, "rbe");
    if (!stream)
        return false;
    setvbuf(stream, NULL, _IONBF, 0); /* it is read in one piece */
    bool read = file_read_stream(stream, most, text);
    int problem = errno;
    fclose(stream);
    errno = problem;
    return read;
}
