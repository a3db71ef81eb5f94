/* Whether a folder of a commit names two things alike, which git lets pass: of two readers each may find another one. */
#include <git2.h>
#include <stdlib.h>
#include <string.h>

#include "archive/audit_state.h"

/* The folders of a dataset hold a few for each month; one that names itself over and over has no end. */
enum { DEPTH_MAX = 16, FOLDERS_MOST = 1 << 16 };

struct naming {
    struct auditing *audit;
    git_repository *git;
    size_t looked_at;
};

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
            findings_add(audit->findings, FINDING_DUPLICATE_NAME, false,
                         arena_format(&arena, "%s%s", folder, names[i]),
                         "its folder has two things of that name");
}

/* Of the last commit's own folder only these are the dataset's. */
static bool is_of_dataset(const char *name)
{
    static const char *const folders[] = {"runs",   "quarantine", "withdrawn",
                                          "ledger", "index",      "keys"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strcmp(folders[i], name))
            return true;
    return false;
}

static void check_tree(struct naming *naming, const git_oid *id, const char *folder, int depth)
{
    struct arena arena ARENA_SCOPE = {0};
    git_tree *tree;
    if (depth == 1)
        naming->looked_at = 0; /* each of the dataset's folders by itself */
    if (depth > DEPTH_MAX || naming->looked_at > FOLDERS_MOST)
        return;
    if (naming->looked_at++ == FOLDERS_MOST) {
        findings_add(naming->audit->findings, FINDING_UNREADABLE, false, folder,
                     "too many folders: not all names were looked at");
        return;
    }
    if (git_tree_lookup(&tree, naming->git, id)) {
        findings_add(naming->audit->findings, FINDING_UNREADABLE, false, folder,
                     "the folder cannot be read");
        return;
    }
    check_names(naming->audit, tree, folder);
    for (size_t i = 0; i < git_tree_entrycount(tree); i++) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        const char *name = git_tree_entry_name(entry);
        if (git_tree_entry_type(entry) == GIT_OBJECT_TREE && (depth || is_of_dataset(name)))
            check_tree(naming, git_tree_entry_id(entry),
                       arena_format(&arena, "%s%s/", folder, name), depth + 1);
    }
    git_tree_free(tree);
}

bool audit_names(struct auditing *audit, struct repository *repository, const git_oid *commit)
{
    struct naming naming = {.audit = audit, .git = repository->git};
    git_commit *last;
    if (git_commit_lookup(&last, repository->git, commit))
        return error_git(audit->error, "cannot read the last commit");
    check_tree(&naming, git_commit_tree_id(last), "", 0);
    git_commit_free(last);
    return true;
}
