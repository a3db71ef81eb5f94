#include "archive/audit.h"

#include <stdlib.h>
#include <string.h>

#include "archive/audit_state.h"

static struct audited *know(struct auditing *audit, const char *key)
{
    struct table_item *item = table_find(&audit->runs, key);
    return (struct audited *)(item ? item : table_add(&audit->runs, key));
}

struct audited *audit_run(struct auditing *audit, const char *run_id, size_t size)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, size, key);
    return know(audit, key);
}

void audit_path_key(const char *path, char key[TABLE_KEY_MAX + 1])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t size = strlen(name), end = strlen(".json");
    table_run_key(name, size > end ? size - end : size, key);
}

struct audited *audit_run_of_path(struct auditing *audit, const char *path)
{
    char key[TABLE_KEY_MAX + 1];
    audit_path_key(path, key);
    return know(audit, key);
}

const char *audit_keep(struct auditing *audit, const char *text, size_t size)
{
    return arena_copy(&audit->arena, text, size);
}

/* A file that is there and no run file is told as that, not as missing. */
static bool is_missing(const struct audited *run, const char *path)
{
    return !run->broken || strcmp(run->broken, path) != 0;
}

/* What ledger or index name and no file is of. */
static void find_gaps(struct auditing *audit)
{
    for (size_t slot = 0; slot < audit->runs.room; slot++)
        for (const struct table_item *item = audit->runs.slots[slot]; item; item = item->next) {
            const struct audited *run = (const struct audited *)item;
            struct run_state state = {0};
            uint64_t accepted;
            if (run->entry_path && run->redacted)
                findings_add(audit->findings, FINDING_ENTRY, false, run->entry_path,
                             "was redacted, and %s lists it", run->entry_segment);
            if (run->file || run->redacted)
                continue;
            if (run->entry_path && is_missing(run, run->entry_path))
                findings_add(audit->findings, FINDING_ENTRY_WITHOUT_FILE, false, run->entry_path,
                             "%s lists it", run->entry_segment);
            if (!catalogue_find(audit->catalogue, item->key, &state, &accepted))
                continue;
            if (*state.path && is_missing(run, state.path))
                findings_add(audit->findings, FINDING_LINE_WITHOUT_FILE, false, state.path,
                             "line %llu of the ledger says that it is there",
                             (unsigned long long)state.revision);
            run_state_free(&state);
        }
}

bool audit(const struct audit_options *options, struct findings *findings,
           struct audit_counts *counts, struct store_error *error)
{
    struct auditing work = {.options = options,
                            .findings = findings,
                            .counts = counts,
                            .error = error,
                            .catalogue = catalogue_new()};
    *counts = (struct audit_counts){0};
    table_begin(&work.runs, sizeof(struct audited), NULL);
    const struct source *source = &options->source;
    bool fine = (!source->repository || audit_names(&work, source->repository, &source->commit)) &&
                audit_ledger(&work) && audit_index(&work) && audit_files(&work);
    if (fine && !work.has_ledger && counts->files)
        findings_add(findings, FINDING_LEDGER_MISSING, true, "ledger",
                     "nothing says when, and by which rules, runs were accepted");
    if (fine)
        find_gaps(&work);
    fine = fine && (!options->history || audit_history(&work));
    for (size_t i = 0; i < work.day_count; i++)
        buffer_free(&work.days[i].bytes);
    free(work.days);
    table_free(&work.runs);
    catalogue_free(work.catalogue);
    arena_free(&work.arena);
    return fine;
}
