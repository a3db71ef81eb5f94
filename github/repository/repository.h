/* A dataset's git repository: opening, making, reading the tip, one commit (spec 03, "Commits").
 *
 * A handle belongs to one thread at a time (libgit2 objects are not shared between threads);
 * whoever needs another opens another. */
#ifndef BENCHLEDGER_GITHUB_REPOSITORY_REPOSITORY_H
#define BENCHLEDGER_GITHUB_REPOSITORY_REPOSITORY_H

#include <git2.h>
#include <stdbool.h>
#include <stddef.h>

#include "github/error.h"
#include "validator/buffer.h"

enum { DATASET_FORMAT_VERSION = 1, REPOSITORY_BRANCH_MAX = 256 };

/* Of new and of empty repositories (spec 03, "Commits"). */
#define REPOSITORY_MAIN "refs/heads/main"

struct tree_cache;

struct repository {
    git_repository *git;
    char *path;                         /* the git directory, without a final slash */
    char branch[REPOSITORY_BRANCH_MAX]; /* full name: what HEAD points to */
    struct tree_cache *trees;           /* of the commits that were made, tree.h */
};

struct repository_author {
    const char *name, *email;
};

/* Opens a bare repository. Changes nothing. */
bool repository_open(const char *path, struct repository **repository, struct store_error *error);
/* Commands that only read may look at what belongs to somebody else: nothing of ours runs what a repository's
 * configuration or hooks say. For the whole process. */
void repository_open_foreign(void);
/* For reading: also the repository of a work tree, and one whose HEAD is detached. */
bool repository_open_any(const char *path, struct repository **repository,
                         struct store_error *error);
/* Opens it for writing: a missing or empty folder becomes a repository with branch main, an empty
 * repository gets its first commit (a README that names the files and LICENCE), object folders are
 * made and stale locks removed. Takes the commit lock meanwhile. */
bool repository_prepare(const char *path, const struct repository_author *author,
                        const char *licence, struct repository **repository,
                        struct store_error *error);
/* The same for the mirror of a remote, which gets no commit of its own here. */
bool repository_prepare_mirror(const char *path, struct repository **repository,
                               struct store_error *error);
/* The first commit of a dataset, its README; moves no reference. */
bool repository_begin(struct repository *repository, const struct repository_author *author,
                      const char *licence, git_oid *commit, struct store_error *error);
/* NULL is fine. */
void repository_close(struct repository *repository);
void repository_closep(struct repository **repository);
#define REPOSITORY_SCOPE __attribute__((cleanup(repository_closep)))

enum repository_found { REPOSITORY_FAULT, REPOSITORY_ABSENT, REPOSITORY_FOUND };

/* The commit at the tip. */
bool repository_tip(struct repository *repository, git_oid *commit, struct store_error *error);
/* What REFERENCE, a full name, points to. */
enum repository_found repository_reference(struct repository *repository, const char *reference,
                                           git_oid *commit, struct store_error *error);
/* Removes REFERENCE; fine when it is not there. */
bool repository_forget(struct repository *repository, const char *reference,
                       struct store_error *error);
/* Turns HEAD to the branch with that full name. */
bool repository_turn(struct repository *repository, const char *branch, struct store_error *error);
/* Whether COMMIT is EARLIER or stands on it. False, too, when that cannot be told. */
bool repository_descends(struct repository *repository, const git_oid *commit,
                         const git_oid *earlier);
/* Whether the two commits have a common ancestor. True, too, when that cannot be told. */
bool repository_related(struct repository *repository, const git_oid *a, const git_oid *b);
/* The tree of COMMIT. */
bool repository_root(struct repository *repository, const git_oid *commit, git_oid *tree,
                     struct store_error *error);
/* The blob at PATH in COMMIT. */
enum repository_found repository_find(struct repository *repository, const git_oid *commit,
                                      const char *path, git_oid *blob, struct store_error *error);
/* The tree of the folder PATH in COMMIT: equal ids, equal content. */
enum repository_found repository_folder(struct repository *repository, const git_oid *commit,
                                        const char *path, git_oid *tree, struct store_error *error);
/* The size of BLOB, which is not read. */
bool repository_size(struct repository *repository, const git_oid *blob, size_t *size,
                     struct store_error *error);
/* Adds the content of BLOB to OUT. */
bool repository_read(struct repository *repository, const git_oid *blob, struct buffer *out,
                     struct store_error *error);
/* Both: the content of PATH in COMMIT. BLOB may be NULL. */
enum repository_found repository_content(struct repository *repository, const git_oid *commit,
                                         const char *path, git_oid *blob, struct buffer *out,
                                         struct store_error *error);
/* Tells the files below FOLDER in COMMIT, depth first, in git's order of names; a folder that is
 * not there has none. TELL ends the walk by returning false, which makes this return false. */
typedef bool (*repository_tell)(void *context, const char *path, const git_oid *blob);
bool repository_list(struct repository *repository, const git_oid *commit, const char *folder,
                     repository_tell tell, void *context, struct store_error *error);

/* ON: objects are read without hashing them, which takes a fifth of a start; for what a digest of our own covers. It holds
 * for the process, so only while no other thread reads a repository. */
void repository_trust(bool on);
/* Whether the disk takes a file and an fsync: how a store that failed finds out that it may go
 * on. */
bool repository_probe(struct repository *repository, struct store_error *error);

#endif
