/* The commits: whether each one's ledger is how the present one begins, and whether files came, moved and went
 * in the commits that hold their lines. Only first parents are followed, as the service does. */
#include <stdlib.h>
#include <string.h>

#include "archive/audit_state.h"
#include "github/repository/loose.h"
#include "github/repository/tree.h"
#include "validator/arena.h"

enum { HEX_SHOWN = 12 };

/* A line that a commit added, keyed by its run. */
struct line_there {
    struct table_item item;
    bool accepts, met; /* a file of the run came or went in the same commit */
    const char *path;
};

struct past {
    struct auditing *audit;
    struct repository *repository;
    git_odb *odb;
    git_oid *commits; /* newest first */
    size_t count, room;
    bool ends_early;          /* what is before the oldest one is not here */
    size_t *sizes;            /* of the day files in the commit before, in bytes */
    char name[HEX_SHOWN + 1]; /* of the commit that is looked at */
    struct arena arena;       /* of that commit */
    bool lines_unknown;       /* its ledger is another than the present one, which was said */
    struct table lines;
};

/* The commit that was audited, where it was one; the last one of a work tree. */
static bool begin_at(struct past *past, git_oid *id)
{
    const struct source *source = &past->audit->options->source;
    *id = source->commit;
    return source->repository || repository_tip(past->repository, id, past->audit->error);
}

/* What a clone lacks, and may lack. */
static void note_end(struct past *past, const git_oid *missing)
{
    bool shallow = git_repository_is_shallow(past->repository->git) == 1;
    char name[HEX_SHOWN + 1];
    git_oid_tostr(name, sizeof name, missing);
    findings_add(past->audit->findings, FINDING_HISTORY, shallow, "",
                 shallow ? "the clone is shallow: commit %s and those before it were not looked at"
                         : "commit %s cannot be read, nor any before it",
                 name);
}

static bool collect(struct past *past)
{
    git_oid id;
    if (!begin_at(past, &id))
        return false;
    for (;;) {
        git_commit *commit = NULL;
        past->ends_early = git_commit_lookup(&commit, past->repository->git, &id) != 0;
        if (past->ends_early && !past->count)
            return error_git(past->audit->error, "cannot read the last commit");
        if (past->ends_early) {
            note_end(past, &id);
            return true;
        }
        if (past->count == past->room) {
            past->room = past->room ? past->room * 2 : 256;
            past->commits = memory_grow(past->commits, past->room * sizeof *past->commits);
        }
        past->commits[past->count++] = id;
        const git_oid *parent = git_commit_parent_id(commit, 0);
        if (parent)
            id = *parent;
        git_commit_free(commit);
        if (!parent)
            return true;
    }
}

static void note_line(struct past *past, const char *text, size_t size)
{
    struct ledger_line line = {0};
    const char *problem;
    char key[TABLE_KEY_MAX + 1];
    if (!ledger_parse(&past->arena, text, size, &line, &problem) || !line.known)
        return;
    table_run_key(line.run_id->text, line.run_id->size, key);
    struct line_there *there = (struct line_there *)table_find(&past->lines, key);
    if (!there)
        there = (struct line_there *)table_add(&past->lines, key);
    there->accepts = there->accepts || js_equals(line.event, "accept");
    if (line.path)
        there->path = arena_copy(&past->arena, line.path->text, line.path->size);
}

static void note_lines(struct past *past, const char *bytes, size_t size)
{
    for (size_t from = 0; from < size;) {
        const char *end = memchr(bytes + from, '\n', size - from);
        size_t line = end ? (size_t)(end - bytes) - from : size - from;
        note_line(past, bytes + from, line);
        from += line + 1;
    }
}

/* Whether the present day file begins with what BLOB holds: git's own id of it says so, whatever the size, without
 * its being read. */
static bool begins_so(struct past *past, const struct ledger_file *day, const git_oid *blob,
                      size_t *size)
{
    size_t length = 0;
    git_object_t type;
    git_oid now;
    if (git_odb_read_header(&length, &type, past->odb, blob))
        return false;
    if (size)
        *size = length;
    return length <= day->bytes.size && loose_id(GIT_OBJECT_BLOB, day->bytes.data, length, &now) &&
           git_oid_equal(&now, blob);
}

static void check_day(struct past *past, size_t i, const git_oid *blob)
{
    const struct ledger_file *day = &past->audit->days[i];
    size_t size = 0;
    if (!begins_so(past, day, blob, &size) || size < past->sizes[i]) {
        past->lines_unknown = true;
        findings_add(past->audit->findings, FINDING_HISTORY, false, day->path,
                     "held other lines in commit %s than it does now", past->name);
        return;
    }
    note_lines(past, day->bytes.data + past->sizes[i], size - past->sizes[i]);
    past->sizes[i] = size;
}

static int by_day(const void *name, const void *day)
{
    return strcmp(name, ((const struct ledger_file *)day)->path + strlen("ledger/"));
}

/* Days are in order; NULL: there is no such file any more. */
static const struct ledger_file *day_now(const struct auditing *audit, const char *name)
{
    return audit->day_count
               ? bsearch(name, audit->days, audit->day_count, sizeof *audit->days, by_day)
               : NULL;
}

/* Of a ledger that was merged. */
static void check_merged_day(struct past *past, const git_tree_entry *entry)
{
    struct arena arena ARENA_SCOPE = {0};
    const struct ledger_file *day = day_now(past->audit, git_tree_entry_name(entry));
    if (!day || !begins_so(past, day, git_tree_entry_id(entry), NULL))
        findings_add(past->audit->findings, FINDING_HISTORY, false,
                     arena_format(&arena, "ledger/%s", git_tree_entry_name(entry)),
                     "has lines in what commit %s merged that are gone", past->name);
}

static git_tree *subtree(struct past *past, const git_tree *root, const char *name)
{
    git_tree *tree = NULL;
    const git_tree_entry *entry = root ? git_tree_entry_byname(root, name) : NULL;
    if (entry && git_tree_entry_type(entry) == GIT_OBJECT_TREE)
        git_tree_lookup(&tree, past->repository->git, git_tree_entry_id(entry));
    return tree;
}

/* Day files of this commit that are no longer there: told where they came. */
static void find_lost_days(struct past *past, const git_tree *old, const git_tree *now)
{
    for (size_t i = 0; now && i < git_tree_entrycount(now); i++) {
        const git_tree_entry *is = git_tree_entry_byindex(now, i);
        const char *name = git_tree_entry_name(is);
        const git_tree_entry *was = old ? git_tree_entry_byname(old, name) : NULL;
        struct arena arena ARENA_SCOPE = {0};
        if (day_now(past->audit, name) ||
            (was && git_oid_equal(git_tree_entry_id(was), git_tree_entry_id(is))))
            continue;
        past->lines_unknown = true;
        if (!was)
            findings_add(past->audit->findings, FINDING_HISTORY, false,
                         arena_format(&arena, "ledger/%s", name), "came in commit %s and is gone",
                         past->name);
    }
}

/* Where the day files that changed since the commit before stand. */
static void check_ledger(struct past *past, const git_tree *before, const git_tree *after)
{
    git_tree *old = subtree(past, before, "ledger"), *now = subtree(past, after, "ledger");
    if (old && now && git_oid_equal(git_tree_id(old), git_tree_id(now))) {
        git_tree_free(old);
        git_tree_free(now);
        return;
    }
    find_lost_days(past, old, now);
    for (size_t i = 0; i < past->audit->day_count; i++) {
        const char *name = past->audit->days[i].path + strlen("ledger/");
        const git_tree_entry *was = old ? git_tree_entry_byname(old, name) : NULL,
                             *is = now ? git_tree_entry_byname(now, name) : NULL;
        if (was && !is)
            findings_add(past->audit->findings, FINDING_HISTORY, false, past->audit->days[i].path,
                         "is missing in commit %s, and was there before it", past->name);
        if (is && (!was || !git_oid_equal(git_tree_entry_id(was), git_tree_entry_id(is))))
            check_day(past, i, git_tree_entry_id(is));
    }
    git_tree_free(old);
    git_tree_free(now);
}

/* A file that came, went (AFTER is NULL) or changed. */
static void check_file(void *context, const char *path, const git_oid *before, const git_oid *after)
{
    struct past *past = context;
    struct auditing *audit = past->audit;
    char key[TABLE_KEY_MAX + 1];
    audit_path_key(path, key);
    struct line_there *line = (struct line_there *)table_find(&past->lines, key);
    const struct audited *run = (const struct audited *)table_find(&audit->runs, key);
    if (line)
        line->met = true;
    if (before && after)
        findings_add(audit->findings, FINDING_HISTORY, !line && (!run || !run->accepted), path,
                     "was changed in commit %s", past->name);
    else if (!line && !past->lines_unknown && (!run || !run->redacted))
        findings_add(audit->findings, FINDING_HISTORY, after && (!run || !run->accepted), path,
                     "%s in commit %s, which has no line of it", after ? "came" : "went",
                     past->name);
}

/* The folder NAME of a commit; NULL when there is none, or something else is in its place. */
static const git_oid *folder_of(struct past *past, const git_tree *root, const char *name,
                                bool tell)
{
    const git_tree_entry *entry = root ? git_tree_entry_byname(root, name) : NULL;
    if (!entry || git_tree_entry_type(entry) == GIT_OBJECT_TREE)
        return entry ? git_tree_entry_id(entry) : NULL;
    if (tell)
        findings_add(past->audit->findings, FINDING_HISTORY, false, name,
                     "is no folder in commit %s", past->name);
    return NULL;
}

static bool compare_folders(struct past *past, const git_tree *before, const git_tree *after,
                            tree_tell tell)
{
    static const char *const folders[] = {"runs", "quarantine", "withdrawn"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!tree_compare(past->repository, folders[i], folder_of(past, before, folders[i], false),
                          folder_of(past, after, folders[i], true), tell, past, past->audit->error))
            return false;
    return true;
}

static bool check_files(struct past *past, const git_tree *before, const git_tree *after)
{
    return compare_folders(past, before, after, check_file);
}

/* Files of redacted runs are gone from a history that was rewritten. */
static void check_lines(struct past *past)
{
    for (size_t slot = 0; slot < past->lines.room; slot++)
        for (const struct table_item *item = past->lines.slots[slot]; item; item = item->next) {
            const struct line_there *line = (const struct line_there *)item;
            const struct audited *run =
                (const struct audited *)table_find(&past->audit->runs, item->key);
            if (line->accepts && !line->met && !(run && run->redacted))
                findings_add(past->audit->findings, FINDING_HISTORY, false,
                             line->path ? line->path : item->key,
                             "was accepted in commit %s, and its file did not come with it",
                             past->name);
        }
}

static bool check_commit(struct past *past, git_tree *before, git_tree *after, bool with_files)
{
    table_begin(&past->lines, sizeof(struct line_there), NULL);
    past->lines_unknown = false;
    check_ledger(past, before, after);
    bool fine = !with_files || check_files(past, before, after);
    if (fine && with_files)
        check_lines(past);
    table_free(&past->lines);
    arena_free(&past->arena);
    return fine;
}

/* A file of what was merged that is not the same in the merge. Where the ledger still has its run, that explains
 * it, or is told elsewhere. */
static void check_merged_file(void *context, const char *path, const git_oid *before,
                              const git_oid *after)
{
    struct past *past = context;
    char key[TABLE_KEY_MAX + 1];
    audit_path_key(path, key);
    const struct audited *run = (const struct audited *)table_find(&past->audit->runs, key);
    if (before && (after || !run || !(run->accepted || run->redacted || run->file)))
        findings_add(past->audit->findings, FINDING_HISTORY, false, path,
                     after ? "is another in what commit %s merged"
                           : "was in what commit %s merged, and went with it",
                     past->name);
}

/* What a merge brings in has to be in it: its ledger is how the present one begins, no file of it is lost. Else
 * a history would be replaced by merging it away. */
static bool check_merged(struct past *past, git_commit *commit, const git_tree *after)
{
    bool fine = true;
    for (unsigned i = 1; fine && i < git_commit_parentcount(commit); i++) {
        git_commit *parent = NULL;
        git_tree *tree = NULL;
        if (git_commit_parent(&parent, commit, i)) {
            note_end(past, git_commit_parent_id(commit, i));
            continue;
        }
        fine = !git_commit_tree(&tree, parent);
        git_tree *ledger = fine ? subtree(past, tree, "ledger") : NULL;
        for (size_t k = 0; ledger && k < git_tree_entrycount(ledger); k++)
            check_merged_day(past, git_tree_entry_byindex(ledger, k));
        fine = fine && compare_folders(past, tree, after, check_merged_file);
        git_tree_free(ledger);
        git_tree_free(tree);
        git_commit_free(parent);
    }
    return fine || error_git(past->audit->error, "cannot read what commit %s merged", past->name);
}

static bool check_next(struct past *past, size_t i, git_tree **before)
{
    git_commit *commit = NULL;
    git_tree *after = NULL;
    git_oid_tostr(past->name, sizeof past->name, &past->commits[i]);
    /* Where the oldest commit has a parent, nobody knows what came with it. */
    bool with_files = i + 1 < past->count || !past->ends_early;
    bool fine = (!git_commit_lookup(&commit, past->repository->git, &past->commits[i]) &&
                 !git_commit_tree(&after, commit)) ||
                error_git(past->audit->error, "cannot read commit %s", past->name);
    fine =
        fine && check_commit(past, *before, after, with_files) && check_merged(past, commit, after);
    git_tree_free(*before);
    git_commit_free(commit);
    *before = after;
    return fine;
}

static bool check_commits(struct past *past)
{
    const struct audit_options *options = past->audit->options;
    git_tree *before = NULL;
    bool fine = true;
    for (size_t i = past->count; fine && i > 0; i--) {
        fine = check_next(past, i - 1, &before);
        size_t done = ++past->audit->counts->commits;
        fine = fine &&
               (!options->step_back || options->step_back(options->context, done, past->count) ||
                error_set(past->audit->error, "stopped"));
    }
    git_tree_free(before);
    return fine;
}

static bool look_back(struct past *past)
{
    struct auditing *audit = past->audit;
    if (!repository_open_any(audit->options->history, &past->repository, audit->error))
        return false;
    /* Each tree is looked at twice, one after the other: keeping more of them only takes memory. */
    git_libgit2_opts(GIT_OPT_ENABLE_CACHING, 0);
    if (!collect(past))
        return false;
    if (git_repository_odb(&past->odb, past->repository->git))
        return error_git(audit->error, "cannot read the objects of %s", audit->options->history);
    past->sizes = arena_clear_take(&audit->arena, audit->day_count, sizeof *past->sizes);
    return check_commits(past) && (!audit->options->work_tree ||
                                   (audit_names(audit, past->repository, &past->commits[0]) &&
                                    audit_work_tree(audit, past->repository, &past->commits[0])));
}

bool audit_history(struct auditing *audit)
{
    struct past past = {.audit = audit};
    bool fine = look_back(&past);
    git_odb_free(past.odb);
    repository_close(past.repository);
    arena_free(&past.arena);
    free(past.commits);
    return fine;
}
