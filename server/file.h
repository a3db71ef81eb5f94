/* Files read whole. */
#ifndef BENCHLEDGER_SERVER_FILE_H
#define BENCHLEDGER_SERVER_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "validator/buffer.h"

/* Appends all of it to TEXT. False, and why in errno: EFBIG when there are more than MOST bytes. */
bool file_read(const char *path, size_t most, struct buffer *text);
bool file_read_all(int fd, size_t most, struct buffer *text);

#endif
