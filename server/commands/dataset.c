/* index and rows: commands about a whole dataset. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregate/board.h"
#include "aggregate/entry.h"
#include "aggregate/index.h"
#include "github/change/archives.h"
#include "github/change/load.h"
#include "github/rebuild/rebuild.h"
#include "server/command.h"
#include "server/commands/dataset.h"
#include "server/commands/offline.h"
#include "server/commands/options.h"
#include "server/commands/progress.h"

enum { PROTOCOLS_MAX = 16 };

/* One run file as any commit would index it: every archived protocol, flagged by its folder. */
static bool index_file(void *context, const char *path, const char *bytes, size_t size,
                       bool flagged, struct buffer *entry, struct store_error *why)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct js_error error;
    struct shape_errors errors;
    struct verdict verdict;
    struct policy policy = report_policy(true);
    (void)context;
    if (!js_read(&arena, bytes, size, &document, &error)) {
        snprintf(why->message, sizeof why->message, "is not JSON: %s (line %zu, column %zu)",
                 error.message, error.line, error.column);
        return false;
    }
    /* No answer key: verdicts are the folder's, and an entry does not depend on it. */
    if (!validate(&arena, &document, &policy, NULL, &verdict, &errors)) {
        snprintf(why->message, sizeof why->message, "%.200s %s", errors.items[0].path,
                 errors.items[0].message);
        return false;
    }
    entry_write(&verdict, flagged, path, entry);
    return true;
}

static void complain(void *context, const char *path, const char *message)
{
    (void)context;
    offline_complain(path, message);
}

static bool step(void *context, size_t done, size_t count, size_t size)
{
    (void)context;
    return progress_step(done, count, size);
}

static void print_result(const struct rebuild_result *result, bool dry_run)
{
    printf("runs %zu, flagged %zu, segments %zu", result->runs, result->flagged, result->segments);
    if (!result->ledger)
        printf(", no ledger");
    else if (result->without_ledger)
        printf(", without a ledger line %zu", result->without_ledger);
    const char *done = dry_run ? "would change" : "written";
    printf(", %s", result->changed ? done : "unchanged");
    if (result->leaderboard_changed)
        printf(", leaderboard %s", done);
    if (*result->commit)
        printf(" in commit %s", result->commit);
    putchar('\n');
}

/* How the command line describes a board. */
struct board_words {
    const char *protocols, *provisional_by;
    struct option_list archives;
};
#define BOARD_WORDS                                                     \
    {                                                                   \
        .protocols = DATASET_PROTOCOLS, .provisional_by = "submissions" \
    }
#define BOARD_ROWS(words)                                                                \
    {.name = "protocols",                                                                \
     .value = "LIST",                                                                    \
     .text = &(words).protocols,                                                         \
     .help = "shown protocols, parted by commas or blanks"},                             \
        {.name = "provisional-by",                                                       \
         .value = "WORD",                                                                \
         .text = &(words).provisional_by,                                                \
         .help = "submissions, or devices: what makes a row provisional (submissions)"}, \
    {                                                                                    \
        .name = "archive", .value = "DATASET", .list = &(words).archives,                \
        .help = "an earlier one whose runs come first; may be repeated"                  \
    }

/* A board that is made anew whenever the entries are told again. */
struct fresh_board {
    struct arena arena;
    struct board_words words;
    struct board *board;
};

static void close_board(struct fresh_board *fresh)
{
    board_free(fresh->board);
    arena_free(&fresh->arena);
}
#define FRESH_SCOPE __attribute__((cleanup(close_board)))

/* False: that is no way to count, which was said. */
static bool check_words(const struct board_words *words)
{
    const char *by = words->provisional_by;
    if (!by || !strcmp(by, "submissions") || !strcmp(by, "devices"))
        return true;
    offline_complain("--provisional-by", "is neither submissions nor devices");
    return false;
}

static bool add_archive(const char *dataset, struct board *board, struct store_error *error)
{
    REPOSITORY_SCOPE struct repository *repository = NULL;
    struct source source;
    bool found = false;
    return dataset_source(dataset, &repository, &source, error) &&
           dataset_index(&source, board, &found, error) &&
           (found || error_set(error, "%s has no index", dataset));
}

/* What it begins with: nothing, or the archives. */
static bool reset_board(void *context, struct store_error *error)
{
    struct fresh_board *fresh = context;
    const struct board_words *words = &fresh->words;
    bool devices = !strcmp(words->provisional_by, "devices"), fine = true;
    board_free(fresh->board);
    fresh->board = board_new(dataset_protocols(&fresh->arena, words->protocols));
    board_count_provisional(fresh->board,
                            devices ? PROVISIONAL_BY_DEVICES : PROVISIONAL_BY_SUBMISSIONS);
    for (size_t i = 0; fine && i < words->archives.count; i++)
        fine = add_archive(words->archives.values[i], fresh->board, error);
    return fine;
}

static void take_indexed(void *context, const char *entry, size_t size)
{
    struct fresh_board *fresh = context;
    board_add(fresh->board, entry, size);
}

static void write_leaderboard(void *context, struct buffer *out)
{
    struct fresh_board *fresh = context;
    board_write_leaderboard(fresh->board, out);
}

/* What index/leaderboard.json is of, unless it was said: the service that keeps it is configured so. */
static void adopt_words(struct fresh_board *fresh, const struct source *source)
{
    BUFFER_SCOPE struct buffer bytes = {0}, protocols = {0};
    struct js_document document = {0};
    struct js_error problem;
    if (source_read(source, INDEX_LEADERBOARD_PATH, &bytes, NULL) != REPOSITORY_FOUND ||
        !js_read(&fresh->arena, buffer_string(&bytes), bytes.size, &document, &problem))
        document.root = (struct js_value){0};
    const struct js_value *list = js_get(&document.root, "protocols");
    for (uint32_t i = 0; list && list->type == JS_ARRAY && i < list->size; i++) {
        const struct js_value *item = &list->items[i];
        if (item->type == JS_STRING)
            buffer_add(&protocols, item->text, item->size);
        buffer_byte(&protocols, ',');
    }
    bool devices = js_equals(js_get(&document.root, "provisionalBy"), "devices");
    if (!fresh->words.protocols)
        fresh->words.protocols = protocols.size
                                     ? arena_copy(&fresh->arena, protocols.data, protocols.size)
                                     : DATASET_PROTOCOLS;
    if (!fresh->words.provisional_by)
        fresh->words.provisional_by = devices ? "devices" : "submissions";
}

/* Prepares the board for leaderboard.json; without the earlier repositories that archives.json names it would be
 * another, and is left alone. */
static void prepare_leaderboard(struct rebuild_options *options, struct fresh_board *fresh)
{
    REPOSITORY_SCOPE struct repository *repository = NULL;
    BUFFER_SCOPE struct buffer pointer = {0};
    struct source source;
    bool fine = dataset_source(options->dataset, &repository, &source, NULL);
    if (!fine)
        fresh->words = (struct board_words)BOARD_WORDS; /* which is told by whoever opens it next */
    if (fine)
        adopt_words(fresh, &source);
    if (fine && !fresh->words.archives.count &&
        source_read(&source, ARCHIVES_PATH, &pointer, NULL) == REPOSITORY_FOUND) {
        options->leaderboard = NULL;
        offline_complain(options->dataset, "archives.json names earlier repositories: "
                                           "leaderboard.json is left alone; see --archive");
    }
}

static int report_rebuild(const struct rebuild_options *options)
{
    struct rebuild_result result;
    struct store_error error = {""};
    switch (rebuild(options, &result, &error)) {
    case REBUILD_DONE:
        print_result(&result, options->dry_run);
        return OFFLINE_OK;
    case REBUILD_REFUSED:
        offline_complain(options->dataset, error.message);
        return OFFLINE_REFUSED;
    case REBUILD_FAILED:
        break;
    }
    offline_complain(options->dataset, error.message);
    return OFFLINE_UNREADABLE;
}

static struct rebuild_options usual_options(const char *dataset)
{
    return (struct rebuild_options){.dataset = dataset,
                                    .author = {"benchledger", "benchledger@localhost"},
                                    .entry = index_file,
                                    .complain = complain,
                                    .step = step};
}

static struct rebuild_options index_options(const char *dataset, struct fresh_board *fresh)
{
    struct rebuild_options options = usual_options(dataset);
    options.reset = reset_board;
    options.tell = take_indexed;
    options.leaderboard = write_leaderboard;
    options.context = fresh;
    return options;
}

int dataset_rebuild(const char *dataset)
{
    FRESH_SCOPE struct fresh_board fresh = {.words = {.protocols = NULL}};
    struct rebuild_options options = index_options(dataset, &fresh);
    options.step = NULL;
    options.locked = true;
    prepare_leaderboard(&options, &fresh);
    return report_rebuild(&options);
}

int index_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "index [OPTION]... DATASET",
        .summary = "Rebuilds index/ (segments, manifest, summary, leaderboard) from the run "
                   "files.\n" DATASET_HELP "\nIn a bare repository the result is committed.",
        .exits =
            "  0  the index is what the files say (it was written, or nothing had to change), or\n"
            "     --dry-run said what would change\n"
            "  2  refused: a file cannot be indexed, or the index would lose a run\n"
            "  3  nothing was written: the dataset cannot be read or written, another import or\n"
            "     index works in it, or the command was stopped by a signal\n"
            "  64 wrong usage",
        .operands_least = 1,
        .operands_most = 1};
    FRESH_SCOPE struct fresh_board fresh = {.words = {.protocols = NULL}};
    struct rebuild_options options = index_options(NULL, &fresh);
    const struct option_row rows[] = {
        BOARD_ROWS(fresh.words),
        {.name = "dry-run", .flag = &options.dry_run, .help = "do everything but the writing"},
        {.name = "allow-shrink",
         .flag = &options.allow_shrink,
         .help =
             "drop runs that have no file, replace an index of which a file cannot be parsed or is "
             "missing"},
        {.name = "author-name",
         .value = "NAME",
         .text = &options.author.name,
         .help = "of the commit in a bare repository"},
        {.name = "author-email",
         .value = "MAIL",
         .text = &options.author.email,
         .help = "of the same commit"},
        {0}};
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    options.dataset = arguments[0];
    prepare_leaderboard(&options, &fresh);
    if (!check_words(&fresh.words))
        return EXIT_USAGE;
    progress_begin("index");
    return report_rebuild(&options);
}

static void take_entry(void *context, const struct index_entry *entry)
{
    board_add(context, entry->json, entry->size);
}

static void take_rebuilt(void *context, const char *entry, size_t size)
{
    board_add(context, entry, size);
}

bool dataset_index(const struct source *source, struct board *board, bool *found,
                   struct store_error *error)
{
    struct index *index = NULL;
    struct index_loading loading = {
        .summary_limit = SIZE_MAX, .tell = take_entry, .context = board};
    if (!load_index(source, &loading, &index, error))
        return false;
    *found = index != NULL;
    index_free(index);
    return true;
}

static bool fill_from_files(const char *dataset, struct board *board, struct store_error *error)
{
    struct rebuild_result result;
    struct rebuild_options options = usual_options(dataset);
    options.dry_run = true;
    options.tell = take_rebuilt;
    options.context = board;
    return rebuild(&options, &result, error) == REBUILD_DONE;
}

bool dataset_source(const char *dataset, struct repository **repository, struct source *source,
                    struct store_error *error)
{
    git_oid tip;
    *source = source_folder(dataset);
    if (source_is_folder(dataset))
        return true;
    if (!repository_open(dataset, repository, error) || !repository_tip(*repository, &tip, error))
        return false;
    *source = source_commit(*repository, &tip);
    return true;
}

/* A dataset without an index has its rows computed from the run files. */
static bool fill_board(const char *dataset, struct board *board, struct store_error *error)
{
    REPOSITORY_SCOPE struct repository *repository = NULL;
    struct source source;
    bool found;
    return dataset_source(dataset, &repository, &source, error) &&
           dataset_index(&source, board, &found, error) &&
           (found || fill_from_files(dataset, board, error));
}

const char *const *dataset_protocols(struct arena *arena, const char *list)
{
    const char **items = arena_clear_take(arena, PROTOCOLS_MAX + 1, sizeof *items);
    size_t count = 0;
    while (*list && count < PROTOCOLS_MAX) {
        size_t size = strcspn(list, ", ");
        if (size)
            items[count++] = arena_copy(arena, list, size);
        list += size + (list[size] != '\0');
    }
    return (const char *const *)items;
}

int rows_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "rows [OPTION]... DATASET",
        .summary =
            "Prints the board rows of a dataset as a JSON array: from its index, or from the run\n"
            "files when it has none.\n" DATASET_HELP,
        .exits = "  0  rows were printed\n"
                 "  3  the dataset cannot be read\n"
                 "  64 wrong usage",
        .operands_least = 1,
        .operands_most = 1};
    FRESH_SCOPE struct fresh_board fresh = {.words = BOARD_WORDS};
    const struct option_row rows[] = {BOARD_ROWS(fresh.words), {0}};
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    BUFFER_SCOPE struct buffer out = {0};
    struct store_error error = {""};
    if (!check_words(&fresh.words))
        return EXIT_USAGE;
    progress_begin("rows");
    repository_open_foreign();
    if (reset_board(&fresh, &error) && fill_board(arguments[0], fresh.board, &error)) {
        board_write_rows(fresh.board, NULL, &out);
        return offline_output(out.data, out.size);
    }
    offline_complain(arguments[0], error.message);
    return OFFLINE_UNREADABLE;
}
