/* Every run file by itself, and against what ledger and index say of it. */
#include <stdio.h>
#include <string.h>

#include "aggregate/entry.h"
#include "aggregate/publication.h"
#include "aggregate/report.h"
#include "archive/audit_state.h"
#include "github/rebuild/walk.h"
#include "validator/calendar.h"
#include "validator/scrub.h"

static const char *const folders[] = {"runs", "quarantine", "withdrawn"};

/* What a worker makes of a run file. */
struct file_read {
    char problem[REPORT_PROBLEM_MAX]; /* it is not even JSON; else empty */
    struct js_document document;
    struct report report;
    bool printed;                    /* its bytes are what JSON.stringify prints */
    const char *removable;           /* something in it that publication removes; NULL: nothing */
    char tail[PUBLICATION_PATH_MAX]; /* YYYY/MM/ID.json, as createdAt and runId say */
    const char *run_id;
    bool known; /* to the ledger, which says: */
    struct run_state state;
    const char *ledger_flags; /* codes, JSON */
    const char *codes;        /* of its flags by the rules that its line names: JSON, too */
    unsigned char entry[SHA256_SIZE];
};

struct filing {
    struct auditing *audit;
    struct walk_list list;
};

static bool is_quarantined(const char *path)
{
    return !strncmp(path, "quarantine/", 11);
}

static void look_at_form(struct walk_file *file, struct file_read *read)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    struct scrubbed scrubbed = {0};
    js_print(&read->document, &read->document.root, &bytes);
    read->printed = bytes.size == file->size && !memcmp(bytes.data, file->bytes, file->size);
    scrub(&file->arena, &read->document, read->report.digest.status, 0, &scrubbed);
    if (scrubbed.removed_count)
        read->removable = scrubbed.removed[0];
}

/* The state that the ledger gives; only flags outlive the call, in the arena. */
static void ask_ledger(struct auditing *audit, struct walk_file *file, struct file_read *read)
{
    uint64_t accepted;
    read->known = catalogue_find(audit->catalogue, read->run_id, &read->state, &accepted);
    if (!read->known)
        return;
    const char *flags = read->state.flags ? read->state.flags : "[]";
    flags = arena_copy(&file->arena, flags, strlen(flags));
    run_state_free(&read->state);
    read->state.flags = NULL;
    read->state.history = read->state.dropped = read->state.by = NULL;
    read->state.accepted = accepted;
    read->ledger_flags = flags;
}

static void judge(struct auditing *audit, struct walk_file *file, struct file_read *read)
{
    struct buffer codes BUFFER_SCOPE = {0}, entry BUFFER_SCOPE = {0};
    struct js_writer writer = {.out = &codes};
    const struct js_value *run_id = js_get(&read->document.root, "runId");
    struct policy policy = report_policy(true);
    if (run_id && run_id->type == JS_STRING) {
        read->run_id = arena_copy(&file->arena, run_id->text, run_id->size);
        ask_ledger(audit, file, read);
    }
    policy.catalogue = audit->options->catalogue;
    if (read->known && read->state.accepted) {
        int year, month;
        const char *at = read->state.at;
        policy.rules = rules_known(read->state.rules) ? read->state.rules : 0;
        calendar_read((struct text){at, strlen(at)}, &policy.accepted_ms, &year, &month);
    }
    report_judge(&read->report, file->path, &file->arena, &read->document, &policy,
                 audit->options->key);
    if (read->document.root.type == JS_OBJECT)
        look_at_form(file, read);
    if (!read->report.shaped)
        return;
    const struct verdict *verdict = &read->report.verdict;
    char path[PUBLICATION_PATH_MAX];
    publication_path(verdict, path);
    memcpy(read->tail, strchr(path, '/') + 1, strlen(strchr(path, '/')));
    verdict_write_codes(verdict, &writer);
    read->codes = arena_copy(&file->arena, codes.data, codes.size);
    entry_write(verdict, is_quarantined(file->path), file->path, &entry);
    sha256(entry.data, entry.size, read->entry);
}

static void look_at_file(void *context, struct walk_file *file)
{
    const struct filing *filing = context;
    struct js_error error;
    struct file_read *read = file->result = arena_clear_take(&file->arena, 1, sizeof *read);
    if (!file->bytes)
        return;
    if (js_read(&file->arena, file->bytes, file->size, &read->document, &error))
        judge(filing->audit, file, read);
    else
        report_json_problem(&error, read->problem);
}

/* Findings of a file by itself. False: nothing else can be said of it. */
static bool check_itself(struct findings *findings, const struct walk_file *file,
                         const struct file_read *read)
{
    const char *path = file->path;
    if (!file->bytes) {
        findings_add(findings, FINDING_UNREADABLE, false, path, "%s", file->problem.message);
        return false;
    }
    if (*read->problem) {
        findings_add(findings, FINDING_NOT_JSON, false, path, "%s", read->problem);
        return false;
    }
    if (!read->report.shaped) {
        const struct shape_error *error = &read->report.errors.items[0];
        findings_add(findings, FINDING_SHAPE, false, path, "%.200s %s", error->path,
                     error->message);
        return false;
    }
    enum digest_status digest = read->report.digest.status;
    if (digest != DIGEST_OK && digest != DIGEST_LEGACY)
        findings_add(findings, FINDING_DIGEST, false, path, "%s: the content gives %s",
                     digest_status_name(digest), read->report.digest.computed);
    if (read->removable)
        findings_add(findings, FINDING_SCRUB, false, path, "%s", read->removable);
    if (!read->printed)
        findings_add(findings, FINDING_FORM, !read->known, path, "its bytes are others");
    if (strcmp(strchr(path, '/') + 1, read->tail) != 0)
        findings_add(findings, FINDING_PATH, false, path, "createdAt and runId say %s", read->tail);
    return true;
}

/* Codes that hang on what need not be here: the catalogue of that time, which nobody kept, or the answer key. */
static const struct hanging {
    const char *code;
    bool on_key, rejects;
} hanging[] = {{"unknown-name", false, true},
               {"size-looser-envelope", false, true},
               {"quality-details-mismatch", true, true},
               {"parse-rate-mismatch", true, false}};

/* Whether CODE cannot be judged in this audit; NULL: it can. OWN: it was found here, which the key cannot undo. */
static const struct hanging *hangs(const struct auditing *audit, const struct file_read *read,
                                   bool own, const char *code, size_t size)
{
    for (size_t i = 0; i < sizeof hanging / sizeof *hanging; i++)
        if (strlen(hanging[i].code) == size && !memcmp(hanging[i].code, code, size) &&
            (hanging[i].on_key ? !own && !audit->options->key : read->state.rules > RULES_VERSION))
            return &hanging[i];
    return NULL;
}

/* The codes that were found here, or that the accept line has, without those; whether one of these REJECTS. */
static const char *without_hanging(const struct auditing *audit, const struct file_read *read,
                                   bool own, struct arena *arena, bool *rejects)
{
    static const char around[] = "[]\",";
    struct buffer out BUFFER_SCOPE = {0};
    const char *codes = own ? read->codes : read->ledger_flags;
    for (const char *at = codes + strspn(codes, around); *at; at += strspn(at, around)) {
        size_t size = strcspn(at, around);
        const struct hanging *one = hangs(audit, read, own, at, size);
        *rejects = *rejects || (one && one->rejects);
        if (!one)
            buffer_format(&out, "%.*s,", (int)size, at);
        at += size;
    }
    return arena_copy(arena, out.data, out.size);
}

/* Whether what is not here, or a rule set of a later version, can be why the accept line says something else. The
 * line then still has to agree with itself. */
static bool is_excused(const struct auditing *audit, const struct file_read *read,
                       const struct audited *run)
{
    struct arena arena ARENA_SCOPE = {0};
    bool rejects = false, ignored = false;
    if (!rules_known(read->state.rules))
        return read->state.rules > RULES_NEWEST;
    if (strcmp(without_hanging(audit, read, true, &arena, &ignored),
               without_hanging(audit, read, false, &arena, &rejects)) != 0)
        return false;
    for (const struct flag *flag = read->report.verdict.flags; flag; flag = flag->next)
        rejects = rejects || (flag->severity == SEVERITY_REJECT &&
                              !hangs(audit, read, true, flag->code, strlen(flag->code)));
    return rejects == run->accepted_flagged;
}

static void check_verdict(struct auditing *audit, const struct walk_file *file,
                          const struct file_read *read, const struct audited *run)
{
    const struct verdict *verdict = &read->report.verdict;
    if (!run->accepted) {
        if (verdict->flagged != is_quarantined(file->path) && strncmp(file->path, "withdrawn/", 10))
            findings_add(audit->findings, FINDING_VERDICT, true, file->path,
                         "rules %d give %s, and no line says who decided otherwise",
                         verdict->rules_version, read->codes);
        return;
    }
    if (verdict->flagged != run->accepted_flagged || strcmp(read->codes, read->ledger_flags) != 0)
        findings_add(audit->findings, FINDING_VERDICT, is_excused(audit, read, run), file->path,
                     "rules %d give %s, its accept line says rules %d, %s and %s",
                     verdict->rules_version, read->codes, read->state.rules,
                     run->accepted_flagged ? "quarantine" : "publish", read->ledger_flags);
}

static void check_ledger(struct auditing *audit, const struct walk_file *file,
                         const struct file_read *read, const struct audited *run)
{
    if (!read->known) {
        if (audit->has_ledger)
            findings_add(audit->findings, FINDING_FILE_WITHOUT_LINE,
                         !run->entry_path || run->entry_number < audit->entries_with_line_from,
                         file->path, "nothing says when, and by which rules, it was accepted");
        return;
    }
    if (run->redacted)
        findings_add(audit->findings, FINDING_FOLDER, false, file->path, "the run was redacted");
    else if (strcmp(read->state.path, file->path) != 0)
        findings_add(audit->findings, FINDING_FOLDER, false, file->path, "the ledger says %s",
                     read->state.path);
    if (read->state.accepted && strcmp(read->state.digest, read->report.digest.computed) != 0)
        findings_add(audit->findings, FINDING_LEDGER_DIGEST, false, file->path,
                     "the ledger says %s, the content gives %s", read->state.digest,
                     read->report.digest.computed);
}

static void check_entry(struct auditing *audit, const struct walk_file *file,
                        const struct file_read *read, const struct audited *run)
{
    bool withdrawn = !strncmp(file->path, "withdrawn/", 10);
    if (!audit->has_index)
        return;
    if (!run->entry_path) {
        if (!withdrawn)
            findings_add(audit->findings, FINDING_FILE_WITHOUT_ENTRY, false, file->path,
                         "no segment lists it");
        return;
    }
    if (withdrawn)
        findings_add(audit->findings, FINDING_ENTRY, false, file->path,
                     "is withdrawn, and %s lists it", run->entry_segment);
    else if (memcmp(run->entry, read->entry, sizeof run->entry) != 0)
        findings_add(audit->findings, FINDING_ENTRY, false, file->path,
                     "the entry in %s is another", run->entry_segment);
}

static bool take_file(void *context, struct walk_file *file, struct store_error *error)
{
    struct filing *filing = context;
    struct auditing *audit = filing->audit;
    const struct file_read *read = file->result;
    audit->counts->files++;
    if (!check_itself(audit->findings, file, read)) {
        audit_run_of_path(audit, file->path)->broken =
            audit_keep(audit, file->path, strlen(file->path));
    } else {
        struct audited *run = audit_run(audit, read->run_id, strlen(read->run_id));
        if (run->file) {
            findings_add(audit->findings, FINDING_DUPLICATE_RUN, false, file->path,
                         "%s has the same run id", run->file);
        } else {
            run->file = audit_keep(audit, file->path, strlen(file->path));
            check_verdict(audit, file, read, run);
            check_ledger(audit, file, read, run);
            check_entry(audit, file, read, run);
        }
    }
    const struct audit_options *options = audit->options;
    return !options->step ||
           options->step(options->context, file->number + 1, filing->list.count, file->size) ||
           error_set(error, "stopped");
}

/* What a writer that was killed left behind, say: nobody reads it, and it may hold what was to be removed. */
static bool note_strays(struct auditing *audit)
{
    struct walk_list list = {0};
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof folders / sizeof *folders; i++)
        fine = walk_list_add(&list, &audit->options->source, folders[i], "", audit->error);
    for (size_t i = 0; fine && i < list.count; i++) {
        const char *path = list.items[i].path, *name = strrchr(path, '/') + 1;
        if (*name != '.' && !source_path_ends(name, ".json"))
            findings_add(audit->findings, FINDING_STRAY, true, path, "no run file has such a name");
    }
    walk_list_free(&list);
    return fine;
}

bool audit_files(struct auditing *audit)
{
    struct filing filing = {.audit = audit};
    const struct walk walk = {.source = &audit->options->source,
                              .list = &filing.list,
                              .context = &filing,
                              .look = look_at_file,
                              .take = take_file};
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof folders / sizeof *folders; i++)
        fine = walk_list_add(&filing.list, walk.source, folders[i], ".json", audit->error);
    fine = fine && walk_run(&walk, audit->error) && note_strays(audit);
    walk_list_free(&filing.list);
    return fine;
}
