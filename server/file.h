/* Files read and written whole. */
#ifndef BENCHLEDGER_SERVER_FILE_H
#define BENCHLEDGER_SERVER_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "validator/buffer.h"

/* Appends all of it to TEXT. False, and why in errno: EFBIG when there are more than MOST bytes. */
bool file_read(const char *path, size_t most, struct buffer *text);
bool file_read_all(int fd, size_t most, struct buffer *text);

/* Writes all of it and syncs the file. False, and why in errno. */
bool file_write_synced(int fd, const char *bytes, size_t size);

#endif
