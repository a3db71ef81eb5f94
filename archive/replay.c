#include "archive/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/report.h"
#include "github/change/ledger.h"
#include "github/change/table.h"
#include "github/rebuild/walk.h"
#include "validator/calendar.h"

/* What the line says that accepted a run. Keyed by the run's id. */
struct accepted {
    struct table_item item;
    uint64_t seq;
    bool quarantined;
    int rules;
    double at_ms;      /* 0: not told */
    const char *flags; /* codes, JSON */
};

/* What is kept of a run until the end. */
struct kept {
    const char *path, *created_at;
    const char *const *cell_ids; /* of ok cells; else NULL */
    uint64_t accepted;           /* seq; 0: not known */
    uint32_t number;             /* in the list */
};

struct replaying {
    const struct replay_options *options;
    struct replay_counts *counts;
    struct store_error *error;
    struct arena arena;
    struct table accepted;
    struct walk_list list;
    struct kept *runs; /* as in the list */
    struct reuse reuse;
    struct outliers outliers;
    bool whole; /* the archive is looked at as a whole, too */
};

/* What a worker makes of a file. */
struct replayed {
    char problem[REPORT_PROBLEM_MAX]; /* it cannot be judged; else empty */
    struct js_document document;
    struct verdict verdict;
    const struct accepted *accepted; /* NULL: no line */
    struct reuse_features streams;
    struct outlier_figures figures;
};

static void take_line(struct replaying *replaying, const struct ledger_line *line)
{
    char key[TABLE_KEY_MAX + 1];
    int year, month;
    struct buffer flags BUFFER_SCOPE = {0};
    if (!line->known || !js_equals(line->event, "accept"))
        return;
    table_run_key(line->run_id->text, line->run_id->size, key);
    if (table_find(&replaying->accepted, key))
        return;
    struct accepted *run = (struct accepted *)table_add(&replaying->accepted, key);
    run->seq = line->seq;
    run->quarantined =
        line->path && line->path->size > 11 && !memcmp(line->path->text, "quarantine/", 11);
    run->rules = line->rules && line->rules->number >= 1 && line->rules->number <= 1e6
                     ? (int)line->rules->number
                     : 0;
    if (!calendar_read(text_of(line->at), &run->at_ms, &year, &month))
        run->at_ms = 0;
    if (line->flags)
        js_print(line->document, line->flags, &flags);
    run->flags = arena_copy(&replaying->arena, buffer_string(&flags), flags.size);
}

/* Whether the chain holds is the audit's question: lines that cannot be read are passed over. */
static bool take_day(void *context, const char *path)
{
    struct replaying *replaying = context;
    struct buffer bytes BUFFER_SCOPE = {0};
    if (source_read(&replaying->options->source, path, &bytes, replaying->error) !=
        REPOSITORY_FOUND)
        return false;
    for (size_t from = 0; from < bytes.size;) {
        struct arena arena ARENA_SCOPE = {0};
        struct ledger_line line = {0};
        const char *text = bytes.data + from, *end = memchr(text, '\n', bytes.size - from), *why;
        size_t size = end ? (size_t)(end - text) : bytes.size - from;
        if (size <= LEDGER_LINE_MAX && ledger_parse(&arena, text, size, &line, &why))
            take_line(replaying, &line);
        from += size + 1;
    }
    return true;
}

static void judge(const struct replaying *replaying, struct walk_file *file,
                  struct replayed *replayed)
{
    char key[TABLE_KEY_MAX + 1];
    struct shape_errors errors = {0};
    struct policy policy = replaying->options->policy;
    const struct js_value *id = js_get(&replayed->document.root, "runId");
    if (id && id->type == JS_STRING) {
        table_run_key(id->text, id->size, key);
        replayed->accepted = (const struct accepted *)table_find(&replaying->accepted, key);
    }
    policy.accepted_ms = replayed->accepted ? replayed->accepted->at_ms : 0;
    if (!validate(&file->arena, &replayed->document, &policy, replaying->options->key,
                  &replayed->verdict, &errors)) {
        snprintf(replayed->problem, sizeof replayed->problem, "%.200s %s", errors.items[0].path,
                 errors.items[0].message);
        return;
    }
    const struct bench_run *run = bench_run_of(replayed->verdict.run);
    if (!replaying->whole)
        return;
    replayed->streams = reuse_of_run(&file->arena, run);
    replayed->figures = outlier_of_run(&file->arena, run, replayed->verdict.summaries);
}

static void look(void *context, struct walk_file *file)
{
    struct js_error error;
    struct replayed *replayed = file->result = arena_clear_take(&file->arena, 1, sizeof *replayed);
    if (!file->bytes)
        snprintf(replayed->problem, sizeof replayed->problem, "%.200s", file->problem.message);
    else if (!js_read(&file->arena, file->bytes, file->size, &replayed->document, &error))
        report_json_problem(&error, replayed->problem);
    else
        judge(context, file, replayed);
}

static bool has_code(const struct accepted *accepted, const char *code)
{
    size_t size = strlen(code);
    const char *at = accepted ? accepted->flags : "";
    for (; (at = strstr(at, code)); at++)
        if (at[-1] == '"' && at[size] == '"') /* it is in a list of strings */
            return true;
    return false;
}

static void count_flag(struct replay_counts *counts, const struct flag *flag, size_t file,
                       const struct accepted *accepted)
{
    struct replay_code *row = counts->codes, *end = row + counts->code_count;
    while (row < end && strcmp(row->code, flag->code) != 0)
        row++;
    if (row == end) {
        if (counts->code_count == RULES_MAX)
            return;
        *row = (struct replay_code){.code = flag->code};
        counts->code_count++;
    }
    row->flags++;
    row->rejects = row->rejects || flag->severity == SEVERITY_REJECT;
    if (row->last == file + 1)
        return;
    row->last = file + 1;
    row->runs++;
    row->known_runs += has_code(accepted, flag->code);
}

static void compare(struct replaying *replaying, const char *path, const struct replayed *replayed)
{
    const struct accepted *accepted = replayed->accepted;
    bool lies = !strncmp(path, "quarantine/", 11);
    const struct replay_flip flip = {.path = path,
                                     .lies_in_quarantine = lies,
                                     .was_quarantined = accepted ? accepted->quarantined : lies,
                                     .rules_before = accepted ? accepted->rules : 0,
                                     .codes_before = accepted ? accepted->flags : NULL,
                                     .verdict = &replayed->verdict};
    if (flip.was_quarantined == replayed->verdict.flagged)
        return;
    *(flip.was_quarantined ? &replaying->counts->to_board : &replaying->counts->to_quarantine) += 1;
    replaying->options->tell.flip(replaying->options->tell.context, &flip);
}

static const char *const *keep_cells(struct arena *arena, const struct bench_run *run)
{
    const char **ids = arena_clear_take(arena, run->cell_count, sizeof *ids);
    for (size_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].status == CELL_OK)
            ids[i] = arena_copy(arena, run->cells[i].cell_id->text, run->cells[i].cell_id->size);
    return ids;
}

static void keep(struct replaying *replaying, const struct walk_file *file,
                 const struct replayed *replayed)
{
    struct kept *kept = &replaying->runs[file->number];
    uint32_t run = (uint32_t)file->number;
    struct text created_at = text_of(replayed->verdict.identity->created_at);
    if (!replayed->streams.count && !replayed->figures.count)
        return;
    *kept = (struct kept){
        .path = arena_copy(&replaying->arena, file->path, strlen(file->path)),
        .created_at = arena_copy(&replaying->arena, created_at.data, created_at.size),
        .cell_ids = keep_cells(&replaying->arena, bench_run_of(replayed->verdict.run)),
        .accepted = replayed->accepted ? replayed->accepted->seq : 0,
    };
    reuse_add(&replaying->reuse, run, &replayed->streams);
    if (strncmp(file->path, "quarantine/", 11) != 0) /* those say nothing of what is usual */
        outlier_add(&replaying->outliers, run, &replayed->figures);
}

static bool take(void *context, struct walk_file *file, struct store_error *error)
{
    struct replaying *replaying = context;
    const struct replay_tell *tell = &replaying->options->tell;
    const struct replayed *replayed = file->result;
    replaying->counts->files++;
    if (*replayed->problem) {
        replaying->counts->unjudged++;
        tell->unjudged(tell->context, file->path, replayed->problem);
    } else {
        for (const struct flag *flag = replayed->verdict.flags; flag; flag = flag->next)
            count_flag(replaying->counts, flag, file->number, replayed->accepted);
        compare(replaying, file->path, replayed);
        keep(replaying, file, replayed);
    }
    return tell->step(tell->context, file->number + 1, replaying->list.count, file->size) ||
           error_set(error, "stopped");
}

static struct replay_stream name_stream(const struct replaying *replaying,
                                        const struct reuse_place *place)
{
    const struct kept *run = &replaying->runs[place->run];
    return (struct replay_stream){run->path, run->cell_ids[place->cell], place->iteration};
}

static void tell_reuse(void *context, const struct reuse_found *found)
{
    const struct replaying *replaying = context;
    const struct replay_tell *tell = &replaying->options->tell;
    const struct replay_reuse reuse = {.earlier = name_stream(replaying, &found->earlier),
                                       .later = name_stream(replaying, &found->later),
                                       .scale = found->scale,
                                       .chunks = found->chunks};
    replaying->counts->reused++;
    tell->reuse(tell->context, &reuse);
}

static void tell_outlier(void *context, const struct outlier_found *found)
{
    const struct replaying *replaying = context;
    const struct replay_tell *tell = &replaying->options->tell;
    const struct kept *run = &replaying->runs[found->run];
    const struct replay_outlier outlier = {run->path, run->cell_ids[found->cell], found};
    replaying->counts->outliers++;
    tell->outlier(tell->context, &outlier);
}

/* As the index has them: runs without a line first, by createdAt and path, then in order of acceptance. Who came first
 * is no copy. */
static int by_acceptance(const void *left, const void *right)
{
    const struct kept *a = left, *b = right;
    if (a->accepted != b->accepted)
        return a->accepted < b->accepted ? -1 : 1;
    if (!a->path || !b->path) /* of these nothing is told */
        return !!a->path - !!b->path;
    int order = a->accepted ? 0 : strcmp(a->created_at, b->created_at);
    return order ? order : strcmp(a->path, b->path);
}

/* From now on a run's number is its place in that order. */
static void number_by_acceptance(struct replaying *replaying)
{
    size_t count = replaying->list.count;
    uint32_t *places = arena_clear_take(&replaying->arena, count, sizeof *places);
    for (size_t i = 0; i < count; i++)
        replaying->runs[i].number = (uint32_t)i;
    if (count)
        qsort(replaying->runs, count, sizeof *replaying->runs, by_acceptance);
    for (size_t i = 0; i < count; i++)
        places[replaying->runs[i].number] = (uint32_t)i;
    for (size_t i = 0; i < replaying->reuse.count; i++)
        replaying->reuse.items[i].place.run = places[replaying->reuse.items[i].place.run];
    for (size_t i = 0; i < replaying->outliers.count; i++)
        replaying->outliers.items[i].run = places[replaying->outliers.items[i].run];
}

static bool walk(struct replaying *replaying)
{
    const struct walk walk = {.source = &replaying->options->source,
                              .list = &replaying->list,
                              .context = replaying,
                              .look = look,
                              .take = take};
    if (!source_list(walk.source, "ledger", take_day, replaying, replaying->error) ||
        !walk_list_add(&replaying->list, walk.source, "runs", ".json", replaying->error) ||
        !walk_list_add(&replaying->list, walk.source, "quarantine", ".json", replaying->error))
        return false;
    replaying->runs =
        arena_clear_take(&replaying->arena, replaying->list.count, sizeof *replaying->runs);
    return walk_run(&walk, replaying->error);
}

bool replay(const struct replay_options *options, struct replay_counts *counts,
            struct store_error *error)
{
    struct replaying replaying = {.options = options,
                                  .counts = counts,
                                  .error = error,
                                  .whole = options->policy.rules >= REPLAY_ARCHIVE_RULES};
    *counts = (struct replay_counts){0};
    table_begin(&replaying.accepted, sizeof(struct accepted), NULL);
    bool fine = walk(&replaying);
    if (fine) {
        number_by_acceptance(&replaying);
        reuse_find(&replaying.reuse, tell_reuse, &replaying);
        outlier_find(&replaying.outliers, tell_outlier, &replaying);
    }
    reuse_free(&replaying.reuse);
    outlier_free(&replaying.outliers);
    walk_list_free(&replaying.list);
    table_free(&replaying.accepted);
    arena_free(&replaying.arena);
    return fine;
}
