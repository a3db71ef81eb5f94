/* What lies in a work tree and is not committed as it lies there: git's own ids of the files tell. */
#include <stdlib.h>
#include <string.h>

#include "archive/audit_state.h"
#include "github/rebuild/walk.h"
#include "github/repository/loose.h"

static const char *const folders[] = {"runs", "quarantine", "withdrawn", "ledger", "index"};

struct comparing {
    struct auditing *audit;
    struct walk_list committed, present;
};

static void look_at_copy(void *context, struct walk_file *file)
{
    const struct comparing *comparing = context;
    bool *same = file->result = arena_take(&file->arena, sizeof *same);
    git_oid id;
    *same = file->bytes && loose_id(GIT_OBJECT_BLOB, file->bytes, file->size, &id) &&
            git_oid_equal(&id, &comparing->committed.items[file->number].blob);
}

static bool take_copy(void *context, struct walk_file *file, struct store_error *error)
{
    const struct comparing *comparing = context;
    const bool *same = file->result;
    (void)error;
    if (!*same)
        findings_add(comparing->audit->findings, FINDING_UNCOMMITTED, true, file->path, "%s",
                     file->bytes ? "differs from the last commit" : file->problem.message);
    return true;
}

static int by_path(const void *left, const void *right)
{
    const struct walk_item *a = left, *b = right;
    return strcmp(a->path, b->path);
}

static void sort_list(struct walk_list *list)
{
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_path);
}

static void find_new(struct comparing *comparing)
{
    size_t known = 0;
    sort_list(&comparing->committed);
    sort_list(&comparing->present);
    for (size_t i = 0; i < comparing->present.count; i++) {
        const char *path = comparing->present.items[i].path;
        while (known < comparing->committed.count &&
               strcmp(comparing->committed.items[known].path, path) < 0)
            known++;
        if (known == comparing->committed.count ||
            strcmp(comparing->committed.items[known].path, path) != 0)
            findings_add(comparing->audit->findings, FINDING_UNCOMMITTED, true, path,
                         "is not committed");
    }
}

bool audit_work_tree(struct auditing *audit, struct repository *repository, const git_oid *commit)
{
    struct comparing comparing = {.audit = audit};
    const struct source *present = &audit->options->source,
                        committed = source_commit(repository, commit);
    const struct walk walk = {.source = present,
                              .list = &comparing.committed,
                              .most = SOURCE_FILE_MOST,
                              .context = &comparing,
                              .look = look_at_copy,
                              .take = take_copy};
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof folders / sizeof *folders; i++)
        fine = walk_list_add(&comparing.committed, &committed, folders[i], "", audit->error) &&
               walk_list_add(&comparing.present, present, folders[i], "", audit->error);
    fine = fine && walk_run(&walk, audit->error);
    if (fine)
        find_new(&comparing);
    walk_list_free(&comparing.committed);
    walk_list_free(&comparing.present);
    return fine;
}
