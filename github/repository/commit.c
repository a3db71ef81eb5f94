#include "github/repository/commit.h"

#include "github/repository/files.h"
#include "github/repository/lock.h"
#include "github/repository/loose.h"
#include "github/repository/repository.h"
#include "github/repository/tree.h"
#include "validator/arena.h"

enum { LOCKED_TRIES = 3 };

/* The objects are on the disk; so shall be the names of their folders (`git gc` removes empty
 * ones). */
static bool sync_object_folders(struct repository *repository, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *objects = arena_format(&arena, "%s/objects", repository->path);
    return files_sync_folder(objects) || error_system(error, "cannot sync %s", objects);
}

static bool write_tree(struct repository *repository, const git_oid *baseline,
                       const struct repository_file *files, size_t count, git_oid *tree,
                       struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    struct tree_edit *edits = arena_clear_take(&arena, count, sizeof *edits);
    for (size_t i = 0; i < count; i++) {
        edits[i].path = files[i].path;
        edits[i].remove = !files[i].bytes && !files[i].blob;
        if (files[i].blob)
            edits[i].blob = *files[i].blob;
        if (files[i].bytes && !files[i].blob &&
            !loose_write(repository, GIT_OBJECT_BLOB, files[i].bytes, files[i].size, LOOSE_DEFLATED,
                         &edits[i].blob, error))
            return false;
    }
    return tree_update(repository, baseline, edits, count, tree, error);
}

/* git_commit_create wants its parent as an object. */
static bool write_object(struct repository *repository, git_commit *parent,
                         const struct repository_file *files, size_t count,
                         const struct repository_author *author, const char *message,
                         git_oid *commit, struct store_error *error)
{
    git_tree *tree = NULL;
    git_signature *signature = NULL;
    git_oid tree_id;
    bool fine = write_tree(repository, parent ? git_commit_tree_id(parent) : NULL, files, count,
                           &tree_id, error);
    if (fine && (git_tree_lookup(&tree, repository->git, &tree_id) ||
                 git_signature_now(&signature, author->name, author->email)))
        fine = error_git(error, "cannot prepare a commit");
    const git_commit *parents[] = {parent};
    if (fine && git_commit_create(commit, repository->git, NULL, signature, signature, NULL,
                                  message, tree, parent ? 1 : 0, parents))
        fine = error_git(error, "cannot store a commit");
    git_signature_free(signature);
    git_tree_free(tree);
    return fine && sync_object_folders(repository, error);
}

/* libgit2 compares under its own lock file. */
enum repository_result repository_move(struct repository *repository, const char *name,
                                       const git_oid *parent, const git_oid *commit,
                                       struct store_error *error)
{
    for (int i = 0; i < LOCKED_TRIES; i++) {
        git_reference *reference = NULL;
        int failed = parent
                         ? git_reference_create_matching(&reference, repository->git, name, commit,
                                                         1, parent, NULL)
                         : git_reference_create(&reference, repository->git, name, commit, 0, NULL);
        git_reference_free(reference);
        if (!failed)
            return REPOSITORY_COMMITTED;
        if (failed == GIT_EMODIFIED || failed == GIT_EEXISTS || failed == GIT_ENOTFOUND)
            return REPOSITORY_MOVED;
        error_git(error, "cannot move %s", name);
        /* Another git writes, or was killed while it did. */
        if (failed != GIT_ELOCKED ||
            !lock_clear_stale(repository->path, LOCK_STALE_RUNNING_MS, error))
            return REPOSITORY_FAILED;
    }
    return REPOSITORY_FAILED;
}

bool repository_point(struct repository *repository, const char *name, const git_oid *commit,
                      struct store_error *error)
{
    git_reference *reference = NULL;
    int failed = git_reference_create(&reference, repository->git, name, commit, 1, NULL);
    git_reference_free(reference);
    return !failed || error_git(error, "cannot move %s", name);
}

bool repository_write(struct repository *repository, const git_oid *parent,
                      const struct repository_file *files, size_t count,
                      const struct repository_author *author, const char *message, git_oid *commit,
                      struct store_error *error)
{
    git_commit *object = NULL;
    if (parent && git_commit_lookup(&object, repository->git, parent))
        return error_git(error, "cannot read a commit of %s", repository->path);
    bool fine = write_object(repository, object, files, count, author, message, commit, error);
    git_commit_free(object);
    return fine;
}

enum repository_result repository_commit(struct repository *repository, const git_oid *parent,
                                         const struct repository_file *files, size_t count,
                                         const struct repository_author *author,
                                         const char *message, git_oid *commit,
                                         struct store_error *error)
{
    git_oid made;
    if (!repository_write(repository, parent, files, count, author, message, &made, error))
        return REPOSITORY_FAILED;
    enum repository_result result =
        repository_move(repository, repository->branch, parent, &made, error);
    if (result == REPOSITORY_COMMITTED)
        *commit = made;
    return result;
}
