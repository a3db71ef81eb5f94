/* export: a dataset as tables. */
#include <stdio.h>
#include <stdlib.h>

#include "aggregate/board.h"
#include "aggregate/entry.h"
#include "aggregate/export.h"
#include "github/rebuild/walk.h"
#include "server/command.h"
#include "server/commands/dataset.h"
#include "server/commands/export_files.h"
#include "server/commands/offline.h"
#include "server/commands/options.h"
#include "server/commands/progress.h"
#include "validator/text.h"

/* What runs are ordered by. */
struct sort_key {
    const char *created_at; /* NULL: the file is no run file */
    struct walk_item item;
};

struct exporting {
    struct source source;
    struct arena arena; /* creation times, answer key */
    struct walk_list list;
    struct sort_key *keys; /* of the list's files */
    size_t written;
    size_t left_out; /* files that are no run files */
    bool narrow;     /* a runtime package has no column */
    struct export_packages packages;
    struct answer_key key;
    struct board *board;
    bool from_index; /* the board's rows are those of the index */
    struct export_files files;
    struct store_error error;
};

/* A run file while it is looked at. */
struct looked {
    struct report report;
    char problem[REPORT_PROBLEM_MAX]; /* when it is not even JSON; else empty */
    struct js_document document;
    struct text parts[EXPORT_FILES]; /* of the files that have lines of it */
    struct text entry;               /* when the board needs it */
};

/* Reads a file on a worker's thread. False: it is not even JSON. */
static bool read_file(struct walk_file *file, struct looked **out)
{
    struct js_error problem;
    struct looked *looked = *out = file->result = arena_clear_take(&file->arena, 1, sizeof *looked);
    if (!file->bytes)
        snprintf(looked->problem, sizeof looked->problem, "%.200s", file->problem.message);
    else if (!js_read(&file->arena, file->bytes, file->size, &looked->document, &problem))
        report_json_problem(&problem, looked->problem);
    return !*looked->problem;
}

/* Whether it is a run file; says why not. */
static bool is_run(const struct walk_file *file)
{
    const struct looked *looked = file->result;
    if (*looked->problem)
        offline_complain(file->path, looked->problem);
    else if (!looked->report.shaped)
        offline_complain_shape(file->path, &looked->report.errors);
    return looked->report.shaped;
}

/* The first pass. Neither digest nor verdict matter in it. */
static void look_for_key(void *context, struct walk_file *file)
{
    struct looked *looked;
    const struct policy policy = report_policy(true);
    (void)context;
    if (read_file(file, &looked))
        looked->report.shaped = validate(&file->arena, &looked->document, &policy, NULL,
                                         &looked->report.verdict, &looked->report.errors);
}

static bool step(const struct walk_file *file, const struct exporting *work,
                 struct store_error *error)
{
    return progress_step(file->number + 1, work->list.count, file->size) ||
           error_set(error, "stopped; nothing was replaced");
}

static bool take_key(void *context, struct walk_file *file, struct store_error *error)
{
    struct exporting *work = context;
    const struct looked *looked = file->result;
    if (is_run(file)) {
        const struct verdict *verdict = &looked->report.verdict;
        const struct js_value *created_at = verdict->identity->created_at;
        work->keys[file->number].created_at =
            arena_copy(&work->arena, created_at->text, created_at->size);
        work->narrow = !export_packages_add(&work->packages, verdict) || work->narrow;
    } else {
        work->left_out++;
    }
    return step(file, work, error);
}

static int by_creation(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    if (!a->created_at || !b->created_at)
        return !a->created_at - !b->created_at;
    int order = strcmp(a->created_at, b->created_at);
    return order ? order : strcmp(a->item.path, b->item.path);
}

/* The list is then that of the run files, in the order of rows. */
static void sort_list(struct exporting *work)
{
    size_t count = 0;
    if (work->list.count)
        qsort(work->keys, work->list.count, sizeof *work->keys, by_creation);
    for (; count < work->list.count && work->keys[count].created_at; count++)
        work->list.items[count] = work->keys[count].item;
    work->list.count = count;
}

static bool gather(struct exporting *work, bool with_quarantine)
{
    const struct walk walk = {.source = &work->source,
                              .list = &work->list,
                              .context = work,
                              .look = look_for_key,
                              .take = take_key};
    if (!walk_list_add(&work->list, &work->source, "runs", ".json", &work->error) ||
        (with_quarantine &&
         !walk_list_add(&work->list, &work->source, "quarantine", ".json", &work->error)))
        return false;
    work->keys = arena_clear_take(&work->arena, work->list.count, sizeof *work->keys);
    for (size_t i = 0; i < work->list.count; i++)
        work->keys[i].item = work->list.items[i];
    if (!walk_run(&walk, &work->error))
        return false;
    sort_list(work);
    return true;
}

static void write_headers(struct exporting *work)
{
    for (int table = 0; table < EXPORT_TABLES; table++)
        export_write_header((enum export_table)table, &work->packages,
                            export_files_at(&work->files, table));
}

static struct text keep(struct arena *arena, const struct buffer *bytes)
{
    return (struct text){arena_copy(arena, bytes->data, bytes->size), bytes->size};
}

/* The second pass: all lines of a run are made on a worker's thread. */
static void look_for_lines(void *context, struct walk_file *file)
{
    const struct exporting *work = context;
    const struct policy policy = report_policy(true);
    struct looked *looked;
    BUFFER_SCOPE struct buffer out = {0};
    if (!read_file(file, &looked))
        return;
    report_judge(&looked->report, file->path, &file->arena, &looked->document, &policy, &work->key);
    if (!looked->report.shaped)
        return;
    const struct export_run *run = export_prepare(&file->arena, &looked->report, &work->packages);
    for (int table = 0; table < EXPORT_TABLES; table++, out.size = 0) {
        export_write_run((enum export_table)table, run, &out);
        looked->parts[table] = keep(&file->arena, &out);
    }
    export_write_texts(run, &out);
    looked->parts[FILE_TEXTS] = keep(&file->arena, &out);
    out.size = 0;
    export_write_validation(run, &out);
    looked->parts[FILE_VALIDATION] = keep(&file->arena, &out);
    out.size = 0;
    if (work->from_index)
        return;
    entry_write(&looked->report.verdict, !strncmp(file->path, "quarantine/", 11), file->path, &out);
    looked->entry = keep(&file->arena, &out);
}

static bool take_lines(void *context, struct walk_file *file, struct store_error *error)
{
    struct exporting *work = context;
    const struct looked *looked = file->result;
    if (is_run(file)) {
        for (int i = 0; i < EXPORT_FILES; i++)
            buffer_add(export_files_at(&work->files, i), looked->parts[i].data,
                       looked->parts[i].size);
        if (looked->entry.size)
            board_add(work->board, looked->entry.data, looked->entry.size);
        work->written++;
    } else {
        work->left_out++; /* somebody changed it meanwhile */
    }
    return step(file, work, error) && export_files_flush(&work->files, error);
}

static bool write_runs(struct exporting *work)
{
    const struct walk walk = {.source = &work->source,
                              .list = &work->list,
                              .context = work,
                              .look = look_for_lines,
                              .take = take_lines};
    write_headers(work);
    return walk_run(&walk, &work->error);
}

static bool export_dataset(struct exporting *work, const char *folder, bool with_quarantine,
                           const char *licence)
{
    if (!dataset_index(&work->source, work->board, &work->from_index, &work->error) ||
        !gather(work, with_quarantine) || !export_files_open(&work->files, folder, &work->error) ||
        !write_runs(work))
        return false;
    board_write_csv(work->board, NULL, export_files_at(&work->files, FILE_LEADERBOARD));
    export_write_package(&work->packages, licence, export_files_at(&work->files, FILE_PACKAGE));
    return export_files_publish(&work->files, &work->error);
}

static int report_end(const struct exporting *work, const char *dataset, bool done)
{
    if (!done) {
        offline_complain(dataset, work->error.message);
        return OFFLINE_UNREADABLE;
    }
    if (work->narrow)
        offline_complain(dataset, "has too many runtime packages: some have no column");
    printf("runs %zu, left out %zu\n", work->written, work->left_out);
    return work->left_out || work->narrow ? EXIT_FAILURE : OFFLINE_OK;
}

static void end(struct exporting *work)
{
    export_files_close(&work->files);
    export_packages_free(&work->packages);
    board_free(work->board);
    walk_list_free(&work->list);
    arena_free(&work->arena);
}

int export_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "export [OPTION]... DATASET OUTDIR",
        .summary =
            "Writes a dataset as tables: leaderboard.csv, iterations.csv, cells.csv, runs.csv,\n"
            "texts.jsonl (what was generated), validation.txt (how each run is judged today) and\n"
            "datapackage.json, which says what every column is.\n" DATASET_HELP
            "\nOUTDIR is made; files of an earlier export in it are replaced, all at the end.\n"
            "leaderboard.csv has the rows that `rows` prints by default.",
        .exits =
            "  0  everything was exported\n"
            "  1  exported, but for what stderr names: files that are no run files\n"
            "  3  nothing was replaced: the dataset cannot be read, OUTDIR cannot be written, or\n"
            "     the command was stopped by a signal\n"
            "  64 wrong usage",
        .operands_least = 2,
        .operands_most = 2};
    bool with_quarantine = false;
    const char *protocols = DATASET_PROTOCOLS, *licence = "CC0-1.0";
    const struct option_row rows[] = {
        {.name = "with-quarantine",
         .flag = &with_quarantine,
         .help = "quarantined runs, too; never in leaderboard.csv"},
        {.name = "protocols",
         .value = "LIST",
         .text = &protocols,
         .help = "protocols of leaderboard.csv, parted by commas or blanks"},
        {.name = "licence",
         .value = "NAME",
         .text = &licence,
         .help = "licence of the data, for datapackage.json (CC0-1.0)"},
        {0}};
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    if (!*arguments[1] || !text_is_formed((struct text){licence, strlen(licence)})) {
        offline_complain(arguments[0], "OUTDIR has a name, and --licence NAME is UTF-8");
        return EXIT_USAGE;
    }
    progress_begin("export");
    repository_open_foreign();
    REPOSITORY_SCOPE struct repository *repository = NULL;
    struct exporting work = {.error = {"the answer key cannot be used"}};
    work.board = board_new(dataset_protocols(&work.arena, protocols));
    bool done = offline_key(&work.arena, NULL, &work.key) &&
                dataset_source(arguments[0], &repository, &work.source, &work.error) &&
                export_dataset(&work, arguments[1], with_quarantine, licence);
    exit_code = report_end(&work, arguments[0], done);
    end(&work);
    return exit_code;
}
