/* One commit on a dataset's branch (spec 03, "Commits"). What it reports as done is durable:
 * objects, their folders and the reference have been fsynced. */
#ifndef BENCHLEDGER_GITHUB_REPOSITORY_COMMIT_H
#define BENCHLEDGER_GITHUB_REPOSITORY_COMMIT_H

#include "github/repository/repository.h"

/* A file of the next commit; BYTES NULL removes it. */
struct repository_file {
    const char *path;
    const char *bytes;
    size_t size;
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

#endif
