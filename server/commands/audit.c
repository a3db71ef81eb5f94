/* audit: a dataset checked against itself. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/audit.h"
#include "server/command.h"
#include "server/commands/dataset.h"
#include "server/commands/judging.h"
#include "server/commands/progress.h"
#include "validator/js.h"
#include "validator/text.h"

static bool step(void *context, size_t done, size_t count, size_t size)
{
    (void)context;
    return progress_step(done, count, size);
}

static bool step_back(void *context, size_t done, size_t count)
{
    (void)context;
    if (done == 1)
        progress_next("history", "commits");
    return progress_step(done, count, 0);
}

static void add_padded(struct buffer *out, const char *text, size_t width)
{
    size_t size = strlen(text);
    buffer_text(out, text);
    for (; size < width; size++)
        buffer_byte(out, ' ');
    buffer_byte(out, ' ');
}

enum { CODE_WIDTH = 18, PATH_WIDTH = 44 };

static void print_table(const struct findings *findings, const struct audit_counts *counts)
{
    BUFFER_SCOPE struct buffer out = {0};
    for (size_t i = 0; i < findings->count; i++, out.size = 0) {
        const struct found *found = &findings->items[i];
        BUFFER_SCOPE struct buffer path = {0};
        offline_add_safely(&path, found->path, strlen(found->path));
        add_padded(&out, found->note ? "note" : "differs", 7);
        add_padded(&out, finding_code(found->finding), CODE_WIDTH);
        add_padded(&out, buffer_string(&path), PATH_WIDTH);
        offline_add_safely(&out, found->text, strlen(found->text));
        buffer_byte(&out, '\n');
        offline_print(&out);
    }
    size_t left_out = findings->differences + findings->notes - findings->count;
    if (left_out)
        buffer_format(&out, "and %zu more of the same codes, which are not listed\n", left_out);
    buffer_format(&out,
                  "files %zu, entries %zu, segments %zu, ledger lines %zu, commits %zu: "
                  "differences %zu, notes %zu\n",
                  counts->files, counts->entries, counts->segments, counts->lines, counts->commits,
                  findings->differences, findings->notes);
    offline_print(&out);
}

static void write_count(struct js_writer *writer, const char *key, size_t count)
{
    js_write_key(writer, key);
    js_write_number(writer, (double)count);
}

static void print_json(const struct findings *findings, const struct audit_counts *counts)
{
    BUFFER_SCOPE struct buffer out = {0};
    for (size_t i = 0; i < findings->count; i++, out.size = 0) {
        const struct found *found = &findings->items[i];
        struct js_writer writer = {.out = &out};
        js_write_begin(&writer, '{');
        offline_write_member(&writer, "code", finding_code(found->finding));
        js_write_key(&writer, "note");
        js_write_bool(&writer, found->note);
        offline_write_member(&writer, "path", found->path);
        offline_write_member(&writer, "text", found->text);
        js_write_end(&writer, '}');
        buffer_byte(&out, '\n');
        offline_print(&out);
    }
    struct js_writer writer = {.out = &out};
    js_write_begin(&writer, '{');
    write_count(&writer, "files", counts->files);
    write_count(&writer, "entries", counts->entries);
    write_count(&writer, "segments", counts->segments);
    write_count(&writer, "ledgerLines", counts->lines);
    write_count(&writer, "commits", counts->commits);
    write_count(&writer, "differences", findings->differences);
    write_count(&writer, "notes", findings->notes);
    js_write_end(&writer, '}');
    buffer_byte(&out, '\n');
    offline_print(&out);
}

/* The commits of DATASET, wherever its files come from; NULL without any. */
static const char *history_of(struct arena *arena, const char *dataset, bool folder)
{
    struct stat status;
    const char *git = arena_format(arena, "%s/.git", dataset);
    if (!folder)
        return dataset;
    return stat(git, &status) ? NULL : dataset;
}

static void print_codes(void)
{
    for (int i = 0; i < FINDINGS; i++)
        printf("%-*s %s\n", CODE_WIDTH, finding_code((enum finding)i),
               finding_words((enum finding)i));
}

struct flags {
    bool json, no_history, codes;
    struct judging judging;
};

static bool run_audit(const struct flags *flags, const char *dataset, struct findings *findings,
                      struct audit_counts *counts)
{
    ARENA_SCOPE struct arena arena = {0};
    REPOSITORY_SCOPE struct repository *repository = NULL;
    struct store_error error = {""};
    struct audit_options options = {.key = flags->judging.key,
                                    .catalogue = &flags->judging.catalogue,
                                    .step = step,
                                    .step_back = step_back};
    bool fine = dataset_source(dataset, &repository, &options.source, &error);
    options.work_tree = !repository;
    options.history = flags->no_history ? NULL : history_of(&arena, dataset, !repository);
    fine = fine && audit(&options, findings, counts, &error);
    if (!fine)
        offline_complain(dataset, error.message);
    return fine;
}

int audit_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "audit [OPTION]... DATASET",
        .summary = "Checks a dataset against itself: every digest, verdict (by the rules that each "
                   "run was\n"
                   "accepted by), path and scrub, the ledger's chain, and whether ledger, index, "
                   "files and\n"
                   "commits agree. Prints what differs, and what is only worth a note. Nothing is "
                   "written.\n" DATASET_HELP,
        .exits = "  0  nothing differs\n"
                 "  1  something does\n"
                 "  3  the dataset cannot be read, or the command was stopped by a signal\n"
                 "  64 wrong usage",
        .operands_least = 0,
        .operands_most = 1};
    struct flags flags = {0};
    const struct option_row rows[] = {
        {.name = "json", .flag = &flags.json, .help = "one JSON object a line, the counts last"},
        {.name = "codes", .flag = &flags.codes, .help = "list what can differ, and end"},
        {.name = "no-history", .flag = &flags.no_history, .help = "do not look at the commits"},
        JUDGING_OPTIONS(flags.judging),
        {0}};
    int exit_code;
    int operands = options_parse(&manual, rows, count, arguments, &exit_code);
    if (operands < 0)
        return exit_code;
    if (flags.codes) {
        print_codes();
        return OFFLINE_OK;
    }
    if (operands == 0) {
        offline_complain("audit", "DATASET is missing; see `benchledger audit --help`");
        return EXIT_USAGE;
    }
    ARENA_SCOPE struct arena arena = {0};
    if ((exit_code = judging_begin(&flags.judging, &arena)) != OFFLINE_OK)
        return exit_code;
    struct findings findings = {0};
    struct audit_counts counts = {0};
    progress_begin("audit");
    repository_open_foreign();
    bool fine = run_audit(&flags, arguments[0], &findings, &counts);
    findings_sort(&findings);
    /* Also when it could not go on: what was found stands. */
    if (flags.json)
        print_json(&findings, &counts);
    else
        print_table(&findings, &counts);
    exit_code = !offline_printed() || !fine ? OFFLINE_UNREADABLE : findings.differences > 0;
    findings_free(&findings);
    return exit_code;
}
