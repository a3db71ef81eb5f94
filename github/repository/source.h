/* Where a dataset's files come from: a commit of a repository, or a folder (spec 04, "Command
 * line").
 *
 * Paths are those of the dataset, with slashes. A source is used by one thread at a time. */
#ifndef BENCHLEDGER_GITHUB_REPOSITORY_SOURCE_H
#define BENCHLEDGER_GITHUB_REPOSITORY_SOURCE_H

#include <git2.h>
#include <stdbool.h>

#include "github/repository/repository.h"

struct source {
    struct repository *repository; /* NULL: a folder */
    git_oid commit;                /* when there is a repository */
    const char *folder;            /* when there is none */
};

/* The files of COMMIT; of the folder at PATH. What they point to must outlive them. */
struct source source_commit(struct repository *repository, const git_oid *commit);
struct source source_folder(const char *path);

/* Whether PATH ends in SUFFIX: files of a dataset are told by the end of their names. */
bool source_path_ends(const char *path, const char *suffix);

/* Whether PATH is a folder with a dataset's files, a work tree among them; a bare repository is none. */
bool source_is_folder(const char *path);

/* Larger files cannot be read: the summary of 100,000 runs has some 400 MB. */
#define SOURCE_FILE_MOST ((size_t)1 << 30)
/* Adds the content of PATH to OUT. */
enum repository_found source_read(const struct source *source, const char *path, struct buffer *out,
                                  struct store_error *error);
/* The same of a file that was listed, BLOB in a repository, unless it is larger than MOST bytes: a fault. */
enum repository_found source_read_most(const struct source *source, const char *path,
                                       const git_oid *blob, size_t most, struct buffer *out,
                                       struct store_error *error);
/* Tells the files below FOLDER, depth first, names in byte order; none when it is not there. TELL
 * ends the listing by returning false, which makes this return false. */
typedef bool (*source_tell)(void *context, const char *path);
bool source_list(const struct source *source, const char *folder, source_tell tell, void *context,
                 struct store_error *error);

#endif
