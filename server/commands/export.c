/* export: a dataset as tables. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/board.h"
#include "aggregate/entry.h"
#include "aggregate/export.h"
#include "github/rebuild/walk.h"
#include "server/command.h"
#include "server/commands/dataset.h"
#include "server/commands/export_lines.h"
#include "server/commands/offline.h"
#include "server/commands/options.h"
#include "server/commands/progress.h"

struct exporting {
    struct source source;
    struct arena arena; /* of the answer key */
    struct walk_list list;
    size_t left_out; /* files that are no run files, or too long in rows */
    bool narrow;     /* a runtime package has no column */
    struct export_packages packages;
    struct answer_key key;
    struct board *board;
    bool from_index; /* the board's rows are those of the index */
    struct export_lines lines;
    struct export_files files;
    struct store_error error;
};

/* A run file while it is looked at. */
struct looked {
    struct report report;
    char
        problem[REPORT_PROBLEM_MAX]; /* when it is not even JSON, or too long in rows; else empty */
    struct js_document document;
    /* Its lines of each file of the export. The leaderboard is made of entries: the one of this run stands in for its
     * lines, where the board needs it. */
    struct text parts[EXPORT_FILES];
};

/* Whether its lines can be had; says why not. */
static bool has_lines(const struct walk_file *file)
{
    const struct looked *looked = file->result;
    if (*looked->problem)
        offline_complain(file->path, looked->problem);
    else if (!looked->report.shaped)
        offline_complain_shape(file->path, &looked->report.errors);
    return looked->report.shaped && !*looked->problem;
}

static struct text keep(struct arena *arena, struct buffer *bytes)
{
    struct text kept = {arena_copy(arena, bytes->data, bytes->size), bytes->size};
    bytes->size = 0;
    return kept;
}

static bool write_long(const struct export_run *run, int file, struct buffer *out)
{
    return file == FILE_TEXTS ? export_write_texts(run, out)
                              : export_write_run((enum export_table)file, run, out);
}

static void write_lines(const struct exporting *work, struct walk_file *file, struct looked *looked)
{
    static const int files[] = {EXPORT_ITERATIONS, EXPORT_CELLS, EXPORT_RUNS, FILE_TEXTS};
    BUFFER_SCOPE struct buffer out = {0};
    const struct export_run *run = export_prepare(&file->arena, &looked->report);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!write_long(run, files[i], &out)) {
            snprintf(looked->problem, sizeof looked->problem, "its rows would take more than %d MB",
                     EXPORT_RUN_MOST >> 20);
            return;
        }
        looked->parts[files[i]] = keep(&file->arena, &out);
    }
    export_write_validation(run, &out);
    looked->parts[FILE_VALIDATION] = keep(&file->arena, &out);
    if (work->from_index)
        return;
    entry_write(&looked->report.verdict, !strncmp(file->path, "quarantine/", 11), file->path, &out);
    looked->parts[FILE_LEADERBOARD] = keep(&file->arena, &out);
}

/* On a worker's thread: all lines of a run are made there. */
static void look_at(void *context, struct walk_file *file)
{
    const struct exporting *work = context;
    const struct policy policy = report_policy(true);
    struct js_error problem;
    struct looked *looked = file->result = arena_clear_take(&file->arena, 1, sizeof *looked);
    if (!file->bytes) {
        snprintf(looked->problem, sizeof looked->problem, "%.200s", file->problem.message);
        return;
    }
    if (!js_read(&file->arena, file->bytes, file->size, &looked->document, &problem)) {
        report_json_problem(&problem, looked->problem);
        return;
    }
    report_judge(&looked->report, file->path, &file->arena, &looked->document, &policy, &work->key);
    if (looked->report.shaped)
        write_lines(work, file, looked);
}

static bool step(size_t done, size_t count, size_t size, struct store_error *error)
{
    return progress_step(done, count, size) || error_set(error, "stopped; nothing was replaced");
}

static bool take(void *context, struct walk_file *file, struct store_error *error)
{
    struct exporting *work = context;
    const struct looked *looked = file->result;
    if (!has_lines(file)) {
        work->left_out++;
        return step(file->number + 1, work->list.count, file->size, error);
    }
    const struct verdict *verdict = &looked->report.verdict;
    work->narrow = !export_packages_add(&work->packages, verdict) || work->narrow;
    return export_lines_keep(&work->lines, text_of(verdict->identity->created_at), file->path,
                             looked->parts, error) &&
           step(file->number + 1, work->list.count, file->size, error);
}

static bool gather(struct exporting *work, bool with_quarantine)
{
    const struct walk walk = {.source = &work->source,
                              .list = &work->list,
                              .context = work,
                              .look = look_at,
                              .take = take};
    return walk_list_add(&work->list, &work->source, "runs", ".json", &work->error) &&
           (!with_quarantine ||
            walk_list_add(&work->list, &work->source, "quarantine", ".json", &work->error)) &&
           walk_run(&walk, &work->error) && export_lines_sort(&work->lines, &work->error);
}

static void write_run(struct exporting *work, const struct text parts[EXPORT_FILES])
{
    for (int table = 0; table < EXPORT_TABLES; table++)
        export_close_lines(parts[table], &work->packages, export_files_at(&work->files, table));
    for (int i = FILE_TEXTS; i <= FILE_VALIDATION; i++)
        buffer_add(export_files_at(&work->files, i), parts[i].data, parts[i].size);
    if (parts[FILE_LEADERBOARD].size)
        board_add(work->board, parts[FILE_LEADERBOARD].data, parts[FILE_LEADERBOARD].size);
}

/* In the order of rows, once all columns are known. */
static bool write_runs(struct exporting *work)
{
    struct text parts[EXPORT_FILES];
    progress_next("write", "runs");
    for (int table = 0; table < EXPORT_TABLES; table++)
        export_write_header((enum export_table)table, &work->packages,
                            export_files_at(&work->files, table));
    for (size_t i = 0; i < work->lines.count; i++) {
        if (!export_lines_read(&work->lines, i, parts, &work->error))
            return false;
        write_run(work, parts);
        if (!step(i + 1, work->lines.count, 0, &work->error) ||
            !export_files_flush(&work->files, &work->error))
            return false;
    }
    return true;
}

/* The nearest folder at or above PATH that is there. */
static bool find_present(const char *path, char present[PATH_MAX])
{
    ARENA_SCOPE struct arena arena = {0};
    char *part = arena_copy(&arena, path, strlen(path));
    while (!realpath(part, present)) {
        char *slash = strrchr(part, '/');
        if (!slash || slash == part)
            return realpath(slash ? "/" : ".", present);
        *slash = '\0';
    }
    return true;
}

/* What is written among the files of a dataset would be taken for some. */
static bool lies_apart(const struct source *source, const char *folder, struct store_error *error)
{
    static const char *const taken[] = {"runs", "quarantine", "withdrawn", "ledger", "index"};
    ARENA_SCOPE struct arena arena = {0};
    char out[PATH_MAX], place[PATH_MAX];
    if (source->repository || !find_present(folder, out))
        return true;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        size_t size = realpath(arena_format(&arena, "%s/%s", source->folder, taken[i]), place)
                          ? strlen(place)
                          : 0;
        if (size && !strncmp(out, place, size) && (!out[size] || out[size] == '/'))
            return error_set(error, "OUTDIR lies in %s/ of the dataset", taken[i]);
    }
    return true;
}

static bool export_dataset(struct exporting *work, const char *folder, bool with_quarantine,
                           const char *licence)
{
    if (!dataset_index(&work->source, work->board, &work->from_index, &work->error) ||
        !lies_apart(&work->source, folder, &work->error) ||
        !export_files_open(&work->files, folder, &work->error) ||
        !export_lines_open(&work->lines, folder, &work->error) || !gather(work, with_quarantine) ||
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
    printf("runs %zu, left out %zu\n", work->lines.count, work->left_out);
    return work->left_out || work->narrow ? EXIT_FAILURE : OFFLINE_OK;
}

static void end(struct exporting *work)
{
    export_files_close(&work->files);
    export_lines_close(&work->lines);
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
            "leaderboard.csv has the rows that `rows` prints by default; without an index, those "
            "of the\n"
            "files that are exported, in the order of rows.",
        .exits =
            "  0  everything was exported\n"
            "  1  exported, but for what stderr names: files that are no run files, or whose rows\n"
            "     would take more than 64 MB\n"
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
