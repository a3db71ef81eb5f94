/* What several rooms do with the file system and the clock. Any thread may call. */
#ifndef BENCHLEDGER_GITHUB_REPOSITORY_FILES_H
#define BENCHLEDGER_GITHUB_REPOSITORY_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "github/error.h"
#include "validator/buffer.h"

/* Adds the whole of a regular file of at most MOST bytes to OUT. False: errno says why. */
bool files_read(int fd, size_t most, struct buffer *out);
/* All of BYTES, also when the kernel takes them in parts. False: errno says why. */
bool files_write(int fd, const char *bytes, size_t size);
/* Puts BYTES under the name PATH, whole and on the disk; the folder is not synced. */
bool files_replace(const char *path, const char *bytes, size_t size, struct store_error *error);
/* Its two halves, for several files that are to change together: BYTES on the disk under another name, and that
 * name changed; or the other one removed. Whatever has that other name is removed first, and never followed. */
bool files_stage(const char *path, const char *bytes, size_t size, struct store_error *error);
bool files_install(const char *path, struct store_error *error);
void files_unstage(const char *path);
/* Whether there is a regular file under that other name. */
bool files_is_staged(const char *path);
/* Makes the names in the folder at PATH durable. False: errno says why. */
bool files_sync_folder(const char *path);
/* Makes the folder at PATH and what is above it, durably. */
bool files_make_folders(const char *path, struct store_error *error);

/* Whether FOLDER (`runs/2026/01`) of the dataset in ROOT lies in ROOT itself: as far as it is there, it and what is
 * above it are folders, and no symbolic links that lead elsewhere, as a clone may bring them. */
bool files_lies_below(const char *root, const char *folder, struct store_error *error);

/* The wall clock, since 1970. */
double files_wall_ms(void);

#endif
