/* export: a dataset as tables. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregate/board.h"
#include "aggregate/entry.h"
#include "aggregate/export.h"
#include "server/command.h"
#include "server/commands/dataset.h"
#include "server/commands/export_files.h"
#include "server/commands/offline.h"
#include "server/commands/options.h"
#include "validator/text.h"

/* Set by the first SIGINT or SIGTERM, so that no temporary file stays behind; the second one kills. */
static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static void watch_signals(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static bool go_on(struct store_error *error)
{
    return !stopped || error_set(error, "stopped; nothing was replaced");
}

/* All that is kept of a run between the two passes. */
struct sort_key {
    const char *created_at, *path;
};

struct exporting {
    struct source source;
    struct arena arena; /* sort keys, answer key */
    struct sort_key *keys;
    size_t count, room;
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
struct run_file {
    struct arena arena;
    struct buffer bytes;
    struct js_document document;
    struct report report;
};

static void close_run(struct run_file *file)
{
    arena_free(&file->arena);
    buffer_free(&file->bytes);
}

/* Reads and judges the file at PATH, KEY may be NULL. False when it is no run file, and that was reported. */
static bool open_run(struct exporting *work, const char *path, const struct answer_key *key,
                     struct run_file *file)
{
    struct js_error problem;
    struct store_error error = {"is gone"};
    char text[REPORT_PROBLEM_MAX];
    const struct policy policy = report_policy(true);
    *file = (struct run_file){0};
    if (source_read(&work->source, path, &file->bytes, &error) != REPOSITORY_FOUND) {
        offline_complain(path, error.message);
        return false;
    }
    if (!js_read(&file->arena, buffer_string(&file->bytes), file->bytes.size, &file->document,
                 &problem)) {
        report_json_problem(&problem, text);
        offline_complain(path, text);
        return false;
    }
    report_judge(&file->report, path, &file->arena, &file->document, &policy, key);
    if (!file->report.shaped)
        offline_complain_shape(path, &file->report.errors);
    return file->report.shaped;
}

static void add_key(struct exporting *work, const char *path, const struct js_value *created_at)
{
    if (work->count == work->room) {
        work->room = work->room ? work->room * 2 : 1024;
        work->keys = memory_grow(work->keys, work->room * sizeof *work->keys);
    }
    work->keys[work->count++] =
        (struct sort_key){arena_copy(&work->arena, created_at->text, created_at->size),
                          arena_copy(&work->arena, path, strlen(path))};
}

/* The first pass. Verdicts do not matter in it, so that answers are not parsed. */
static bool take_path(void *context, const char *path)
{
    struct exporting *work = context;
    struct run_file file;
    size_t size = strlen(path);
    if (size < 5 || strcmp(path + size - 5, ".json") != 0)
        return true;
    if (open_run(work, path, NULL, &file)) {
        const struct verdict *verdict = &file.report.verdict;
        add_key(work, path, verdict->identity->created_at);
        work->narrow = !export_packages_add(&work->packages, verdict) || work->narrow;
    } else {
        work->left_out++;
    }
    close_run(&file);
    return go_on(&work->error);
}

static int by_creation(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    int order = strcmp(a->created_at, b->created_at);
    return order ? order : strcmp(a->path, b->path);
}

static bool gather(struct exporting *work, bool with_quarantine)
{
    if (!source_list(&work->source, "runs", take_path, work, &work->error) ||
        (with_quarantine &&
         !source_list(&work->source, "quarantine", take_path, work, &work->error)))
        return false;
    if (work->count)
        qsort(work->keys, work->count, sizeof *work->keys, by_creation);
    return true;
}

static void write_headers(struct exporting *work)
{
    for (int table = 0; table < EXPORT_TABLES; table++)
        export_write_header((enum export_table)table, &work->packages,
                            export_files_at(&work->files, table));
}

static void add_to_board(struct exporting *work, const char *path, const struct verdict *verdict)
{
    BUFFER_SCOPE struct buffer entry = {0};
    entry_write(verdict, !strncmp(path, "quarantine/", 11), path, &entry);
    board_add(work->board, entry.data, entry.size);
}

static void write_run(struct exporting *work, const char *path, struct run_file *file)
{
    const struct export_run *run = export_prepare(&file->arena, &file->report, &work->packages);
    for (int table = 0; table < EXPORT_TABLES; table++)
        export_write_run((enum export_table)table, run, export_files_at(&work->files, table));
    export_write_texts(run, export_files_at(&work->files, FILE_TEXTS));
    export_write_validation(run, export_files_at(&work->files, FILE_VALIDATION));
    if (!work->from_index)
        add_to_board(work, path, &file->report.verdict);
    work->written++;
}

/* The second pass. */
static bool write_runs(struct exporting *work)
{
    write_headers(work);
    for (size_t i = 0; i < work->count; i++) {
        struct run_file file;
        if (open_run(work, work->keys[i].path, &work->key, &file))
            write_run(work, work->keys[i].path, &file);
        else
            work->left_out++; /* somebody changed it meanwhile */
        close_run(&file);
        if (!go_on(&work->error) || !export_files_flush(&work->files, &work->error))
            return false;
    }
    return true;
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
    free(work->keys);
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
            "leaderboard.csv has the rows that `rows` prints.",
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
    watch_signals();
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
