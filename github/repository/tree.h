/* Folders of a commit, edited as git's own bytes.
 *
 * A month folder holds thousands of names. Its tree is kept in memory as it stands in the object,
 * so that a commit neither reads nor parses it again: one pass puts the new names in. The cache
 * belongs to the repository handle and is of a fixed number of folders. */
#ifndef BENCHLEDGER_GITHUB_REPOSITORY_TREE_H
#define BENCHLEDGER_GITHUB_REPOSITORY_TREE_H

#include <git2.h>
#include <stdbool.h>
#include <stddef.h>

#include "github/error.h"
#include "github/repository/repository.h"

struct tree_cache;
struct tree_cache *tree_cache_new(void);
void tree_cache_free(struct tree_cache *cache); /* NULL is fine */

struct tree_edit {
    const char *path;
    git_oid blob;
    bool remove; /* fine when it is not there */
};

/* What lies at PATH below the tree ROOT, a file or a folder. */
enum repository_found tree_find(struct repository *repository, const git_oid *root,
                                const char *path, git_oid *id, struct store_error *error);
/* What a path may be for a file that is to be taken from there, or to be put there. */
enum tree_kind {
    TREE_FAULT,
    TREE_FREE,    /* nothing is there, and no file in the way */
    TREE_FILE,    /* ID is its blob */
    TREE_BLOCKED, /* a folder, something of another kind, or a path through one that is no folder */
};
enum tree_kind tree_look(struct repository *repository, const git_oid *root, const char *path,
                         git_oid *id, struct store_error *error);
/* Tells every file below the folder PATH that is not the same in two of its trees: its blob BEFORE and AFTER, NULL
 * where it is not there. The trees may be NULL: there is no such folder. Whoever compares commit after commit in
 * their order has each tree read once. */
typedef void (*tree_tell)(void *context, const char *path, const git_oid *before,
                          const git_oid *after);
bool tree_compare(struct repository *repository, const char *path, const git_oid *before,
                  const git_oid *after, tree_tell tell, void *context, struct store_error *error);
/* Writes the trees that EDITS make of ROOT (NULL: of nothing); sorts EDITS. The caller holds the
 * commit lock. False also when a file would replace a folder, or a folder a file. */
bool tree_update(struct repository *repository, const git_oid *root, struct tree_edit *edits,
                 size_t count, git_oid *tree, struct store_error *error);

#endif
