/* One commit on a dataset's branch (spec 03, "Commits"). What it reports as done is durable:
 * objects, their folders and the reference have been fsynced. */
#ifndef BENCHLEDGER_GITHUB_REPOSITORY_COMMIT_H
#define BENCHLEDGER_GITHUB_REPOSITORY_COMMIT_H

#include "github/repository/repository.h"

/* A file of the next commit; BYTES NULL removes it, unless BLOB is what is there already under that
 * id. */
struct repository_file {
    const char *path;
    const char *bytes;
    size_t size;
    const git_oid *blob;
};
enum repository_result {
    REPOSITORY_COMMITTED,
    REPOSITORY_MOVED, /* the tip is no longer PARENT: nothing was changed */
    REPOSITORY_FAILED,
};
/* One commit on PARENT (NULL: the first one) with FILES put in, then moves the branch, if it still
 * is at PARENT. The caller holds the commit lock. */
enum repository_result repository_commit(struct repository *repository, const git_oid *parent,
                                         const struct repository_file *files, size_t count,
                                         const struct repository_author *author,
                                         const char *message, git_oid *commit,
                                         struct store_error *error);

/* The two halves of it. The commit alone; PARENT may be NULL. */
bool repository_write(struct repository *repository, const git_oid *parent,
                      const struct repository_file *files, size_t count,
                      const struct repository_author *author, const char *message, git_oid *commit,
                      struct store_error *error);
/* Makes REFERENCE (full name) point to COMMIT, wherever it pointed before. */
bool repository_point(struct repository *repository, const char *reference, const git_oid *commit,
                      struct store_error *error);
/* Moves REFERENCE (full name) to COMMIT if it still is at PARENT (NULL: if it is not there). */
enum repository_result repository_move(struct repository *repository, const char *reference,
                                       const git_oid *parent, const git_oid *commit,
                                       struct store_error *error);

#endif
