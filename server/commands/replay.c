/* replay: what another rule set would say of a dataset. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "archive/replay.h"
#include "server/command.h"
#include "server/commands/dataset.h"
#include "server/commands/judging.h"
#include "server/commands/progress.h"

static void write_number(struct js_writer *writer, const char *key, double number)
{
    js_write_key(writer, key);
    js_write_number(writer, number);
}

static void write_bool(struct js_writer *writer, const char *key, bool value)
{
    js_write_key(writer, key);
    js_write_bool(writer, value);
}

static const char *verdict_name(bool quarantined)
{
    return quarantined ? "quarantine" : "publish";
}

static void put_flags(struct buffer *out, const struct verdict *verdict)
{
    for (const struct flag *flag = verdict->flags; flag; flag = flag->next) {
        buffer_format(out, "    %-6s %s", severity_name(flag->severity), flag->code);
        if (flag->cell_id)
            buffer_byte(out, ' ');
        if (flag->cell_id)
            offline_add_safely(out, flag->cell_id->text, flag->cell_id->size);
        buffer_format(out, ": %s ", flag->message);
        offline_add_safely(out, flag->evidence, flag->evidence_size);
        buffer_byte(out, '\n');
    }
}

static void put_path(struct buffer *out, const char *path)
{
    offline_add_safely(out, path, strlen(path));
}

static void flip_text(void *context, const struct replay_flip *flip)
{
    BUFFER_SCOPE struct buffer out = {0};
    (void)context;
    buffer_format(&out, "flips    %s -> %s  ", verdict_name(flip->was_quarantined),
                  verdict_name(flip->verdict->flagged));
    put_path(&out, flip->path);
    if (flip->rules_before)
        buffer_format(&out, "  set %d said ", flip->rules_before);
    if (flip->rules_before)
        put_path(&out, flip->codes_before);
    if (flip->lies_in_quarantine != flip->was_quarantined)
        buffer_text(&out, "  (a decision moved it since)");
    buffer_byte(&out, '\n');
    put_flags(&out, flip->verdict);
    offline_print(&out);
}

static void flip_json(void *context, const struct replay_flip *flip)
{
    BUFFER_SCOPE struct buffer out = {0};
    struct js_writer writer = {.out = &out};
    (void)context;
    js_write_begin(&writer, '{');
    offline_write_member(&writer, "kind", "flip");
    offline_write_member(&writer, "path", flip->path);
    offline_write_member(&writer, "was", verdict_name(flip->was_quarantined));
    offline_write_member(&writer, "now", verdict_name(flip->verdict->flagged));
    offline_write_member(&writer, "lies", verdict_name(flip->lies_in_quarantine));
    if (flip->rules_before) {
        write_number(&writer, "rulesBefore", flip->rules_before);
        js_write_key(&writer, "codesBefore");
        if (*flip->codes_before)
            js_write_raw(&writer, flip->codes_before, strlen(flip->codes_before));
        else
            js_write_null(&writer);
    }
    js_write_key(&writer, "flags");
    verdict_write_flags(flip->verdict, &writer);
    js_write_end(&writer, '}');
    buffer_byte(&out, '\n');
    offline_print(&out);
}

static void complain(void *context, const char *path, const char *problem)
{
    (void)context;
    offline_complain(path, problem);
}

static void put_stream(struct buffer *out, const struct replay_stream *stream)
{
    put_path(out, stream->path);
    buffer_byte(out, ' ');
    put_path(out, stream->cell_id);
    buffer_format(out, " iteration %zu", stream->iteration);
}

static void reuse_text(void *context, const struct replay_reuse *reuse)
{
    BUFFER_SCOPE struct buffer out = {0};
    (void)context;
    buffer_text(&out, "reuse    ");
    put_stream(&out, &reuse->later);
    buffer_text(&out, " repeats ");
    put_stream(&out, &reuse->earlier);
    buffer_format(&out, ": %zu chunks", reuse->chunks);
    if (fabs(reuse->scale - 1) > 1e-9)
        buffer_format(&out, ", times %.9g as long", reuse->scale);
    buffer_byte(&out, '\n');
    offline_print(&out);
}

static void write_stream(struct js_writer *writer, const struct replay_stream *stream)
{
    js_write_begin(writer, '{');
    offline_write_member(writer, "path", stream->path);
    offline_write_member(writer, "cellId", stream->cell_id);
    write_number(writer, "iteration", (double)stream->iteration);
    js_write_end(writer, '}');
}

static void reuse_json(void *context, const struct replay_reuse *reuse)
{
    BUFFER_SCOPE struct buffer out = {0};
    struct js_writer writer = {.out = &out};
    (void)context;
    js_write_begin(&writer, '{');
    offline_write_member(&writer, "kind", "trace-reuse");
    js_write_key(&writer, "later");
    write_stream(&writer, &reuse->later);
    js_write_key(&writer, "earlier");
    write_stream(&writer, &reuse->earlier);
    write_number(&writer, "scale", reuse->scale);
    write_number(&writer, "chunks", (double)reuse->chunks);
    js_write_end(&writer, '}');
    buffer_byte(&out, '\n');
    offline_print(&out);
}

static void outlier_text(void *context, const struct replay_outlier *outlier)
{
    BUFFER_SCOPE struct buffer out = {0};
    const struct outlier_found *found = outlier->found;
    (void)context;
    buffer_text(&out, "outlier  ");
    put_path(&out, outlier->path);
    buffer_byte(&out, ' ');
    put_path(&out, outlier->cell_id);
    buffer_format(&out, ": %s %.6g, the median of %zu runs is %.6g, z %.1f\n",
                  metric_name(found->metric), found->value, found->runs, found->median, found->z);
    offline_print(&out);
}

static void outlier_json(void *context, const struct replay_outlier *outlier)
{
    BUFFER_SCOPE struct buffer out = {0};
    struct js_writer writer = {.out = &out};
    const struct outlier_found *found = outlier->found;
    (void)context;
    js_write_begin(&writer, '{');
    offline_write_member(&writer, "kind", "rate-outlier");
    offline_write_member(&writer, "path", outlier->path);
    offline_write_member(&writer, "cellId", outlier->cell_id);
    offline_write_member(&writer, "metric", metric_name(found->metric));
    write_number(&writer, "value", found->value);
    write_number(&writer, "median", found->median);
    write_number(&writer, "runs", (double)found->runs);
    write_number(&writer, "z", found->z);
    js_write_end(&writer, '}');
    buffer_byte(&out, '\n');
    offline_print(&out);
}

static bool step(void *context, size_t done, size_t count, size_t size)
{
    (void)context;
    return progress_step(done, count, size);
}

static void print_counts_text(const struct replay_counts *counts, int rules)
{
    for (size_t i = 0; i < counts->code_count; i++) {
        const struct replay_code *code = &counts->codes[i];
        printf("code     %-6s %-28s runs %zu, flags %zu, known to the ledger %zu\n",
               code->rejects ? "reject" : "warn", code->code, code->runs, code->flags,
               code->known_runs);
    }
    printf("set %d: files %zu, flips to quarantine %zu, flips to the board %zu, repeated streams "
           "%zu, outliers %zu, not judged %zu\n",
           rules, counts->files, counts->to_quarantine, counts->to_board, counts->reused,
           counts->outliers, counts->unjudged);
}

static void print_counts_json(const struct replay_counts *counts, int rules)
{
    BUFFER_SCOPE struct buffer out = {0};
    for (size_t i = 0; i < counts->code_count; i++) {
        struct js_writer writer = {.out = &out};
        js_write_begin(&writer, '{');
        offline_write_member(&writer, "kind", "code");
        offline_write_member(&writer, "code", counts->codes[i].code);
        write_bool(&writer, "rejects", counts->codes[i].rejects);
        write_number(&writer, "runs", (double)counts->codes[i].runs);
        write_number(&writer, "flags", (double)counts->codes[i].flags);
        write_number(&writer, "knownRuns", (double)counts->codes[i].known_runs);
        js_write_end(&writer, '}');
        buffer_byte(&out, '\n');
    }
    struct js_writer writer = {.out = &out};
    js_write_begin(&writer, '{');
    offline_write_member(&writer, "kind", "counts");
    write_number(&writer, "rules", rules);
    write_number(&writer, "files", (double)counts->files);
    write_number(&writer, "toQuarantine", (double)counts->to_quarantine);
    write_number(&writer, "toBoard", (double)counts->to_board);
    write_number(&writer, "repeatedStreams", (double)counts->reused);
    write_number(&writer, "outliers", (double)counts->outliers);
    write_number(&writer, "notJudged", (double)counts->unjudged);
    js_write_end(&writer, '}');
    buffer_byte(&out, '\n');
    offline_print(&out);
}

static int run_replay(const struct judging *judging, bool json, const char *dataset)
{
    REPOSITORY_SCOPE struct repository *repository = NULL;
    struct replay_options options = {.policy = judging->policy,
                                     .key = judging->key,
                                     .tell = {.flip = json ? flip_json : flip_text,
                                              .unjudged = complain,
                                              .reuse = json ? reuse_json : reuse_text,
                                              .outlier = json ? outlier_json : outlier_text,
                                              .step = step}};
    struct store_error error;
    struct replay_counts counts;
    progress_begin("replay");
    repository_open_foreign();
    if (!dataset_source(dataset, &repository, &options.source, &error) ||
        !replay(&options, &counts, &error)) {
        offline_complain(dataset, error.message);
        return OFFLINE_UNREADABLE;
    }
    (json ? print_counts_json : print_counts_text)(&counts, options.policy.rules);
    return offline_printed() ? counts.to_quarantine || counts.to_board || counts.unjudged
                             : OFFLINE_UNREADABLE;
}

int replay_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "replay --rules N [OPTION]... DATASET",
        .summary = "Judges every published and quarantined run by rule set N, and lists each "
                   "verdict that\n"
                   "would be another one than when the run was accepted, with its flags; then "
                   "streams that\n"
                   "stand in two runs, and outliers (set 3); then each code with the number of "
                   "runs. Nothing\n"
                   "is written.\n" DATASET_HELP,
        .exits = "  0  no verdict would flip\n"
                 "  1  some would, or a file cannot be judged (stderr names it)\n"
                 "  3  the dataset cannot be read, or the command was stopped by a signal\n"
                 "  64 wrong usage",
        .operands_least = 1,
        .operands_most = 1};
    bool json = false;
    struct judging judging = {.any_protocol = true};
    const struct option_row rows[] = {
        {.name = "rules",
         .value = "N",
         .text = &judging.rules,
         .help = "rule set to judge by: 2, or 3, a draft; needed"},
        {.name = "json", .flag = &json, .help = "one JSON object a line, the counts last"},
        JUDGING_OPTIONS(judging),
        {0}};
    ARENA_SCOPE struct arena arena = {0};
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    if (!judging.rules) {
        offline_complain("replay", "--rules is missing; see `benchledger replay --help`");
        return EXIT_USAGE;
    }
    exit_code = judging_begin(&judging, &arena);
    return exit_code == OFFLINE_OK ? run_replay(&judging, json, arguments[0]) : exit_code;
}
