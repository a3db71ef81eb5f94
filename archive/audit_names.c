/* Whether a folder of a commit names two things alike, which git lets pass: of two readers each may find another one. */
#include <git2.h>
#include <stdlib.h>
#include <string.h>

#include "archive/audit_state.h"

enum { DEPTH_MAX = 16 };

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void check_names(struct auditing *audit, const git_tree *tree, const char *folder)
{
    struct arena arena ARENA_SCOPE = {0};
    size_t count = git_tree_entrycount(tree);
    const char **names = arena_clear_take(&arena, count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = git_tree_entry_name(git_tree_entry_byindex(tree, i));
    qsort((void *)names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(names[i - 1], names[i]))
            findings_add(audit->findings, FINDING_UNREADABLE, false,
                         arena_format(&arena, "%s%s", folder, names[i]),
                         "is there twice: its folder has two things of that name");
}

static bool check_tree(struct auditing *audit, git_repository *git, const git_oid *id,
                       const char *folder, int depth)
{
    struct arena arena ARENA_SCOPE = {0};
    git_tree *tree;
    if (git_tree_lookup(&tree, git, id))
        return error_git(audit->error, "cannot read the folder /%s", folder);
    check_names(audit, tree, folder);
    bool fine = true;
    for (size_t i = 0; fine && depth < DEPTH_MAX && i < git_tree_entrycount(tree); i++) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        if (git_tree_entry_type(entry) == GIT_OBJECT_TREE)
            fine = check_tree(audit, git, git_tree_entry_id(entry),
                              arena_format(&arena, "%s%s/", folder, git_tree_entry_name(entry)),
                              depth + 1);
    }
    git_tree_free(tree);
    return fine;
}

bool audit_names(struct auditing *audit, struct repository *repository, const git_oid *commit)
{
    git_commit *last;
    if (git_commit_lookup(&last, repository->git, commit))
        return error_git(audit->error, "cannot read the last commit");
    bool fine = check_tree(audit, repository->git, git_commit_tree_id(last), "", 0);
    git_commit_free(last);
    return fine;
}
