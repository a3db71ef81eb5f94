#include <math.h>
#include <stdlib.h>

#include "aggregate/board_state.h"
#include "validator/number.h"

enum { RECENT_SUBMISSIONS = 25, PROVISIONAL_BELOW = 3 };

enum column_kind { COLUMN_TEXT, COLUMN_COUNT, COLUMN_FIGURE, COLUMN_NAMES, COLUMN_BOOL };

/* One column of a row: for JSON in this order, for CSV those marked. */
struct column {
    const char *key;
    enum column_kind kind;
    bool csv;
    enum figure figure;
    const struct name *(*text)(const struct row *row);
    struct tally *(*names)(struct row *row);
    int (*said)(const struct row *row); /* -1: absent */
};

static const struct name *of_protocol(const struct row *row)
{
    return row->protocol;
}
static const struct name *of_class(const struct row *row)
{
    return row->contributions[0].entry->device_class;
}
static const struct name *of_subclass(const struct row *row)
{
    return row->device_subclass;
}
static const struct name *of_runtime(const struct row *row)
{
    return row->runtime;
}
static const struct name *of_model(const struct row *row)
{
    return row->model;
}
static const struct name *of_model_name(const struct row *row)
{
    for (size_t i = 0; i < row->count; i++)
        if (row->contributions[i].cell->model_name)
            return row->contributions[i].cell->model_name;
    return NULL;
}
static const struct name *of_workload(const struct row *row)
{
    return row->workload;
}
static struct tally *of_backends(struct row *row)
{
    return &row->backends;
}
static struct tally *of_browsers(struct row *row)
{
    return &row->browsers;
}
static int is_high_variance(const struct row *row)
{
    return row->high_variance > 0;
}
static int is_incremental(const struct row *row)
{
    return row->burst ? 0 : row->incremental ? 1 : -1;
}
static int is_provisional(const struct row *row)
{
    return row->submissions < PROVISIONAL_BELOW;
}

static const struct column columns[] = {
    {"protocol", COLUMN_TEXT, true, 0, of_protocol, NULL, NULL},
    {"deviceClass", COLUMN_TEXT, true, 0, of_class, NULL, NULL},
    {"deviceSubclass", COLUMN_TEXT, true, 0, of_subclass, NULL, NULL},
    {"runtimeId", COLUMN_TEXT, true, 0, of_runtime, NULL, NULL},
    {"benchModelId", COLUMN_TEXT, true, 0, of_model, NULL, NULL},
    {"modelName", COLUMN_TEXT, true, 0, of_model_name, NULL, NULL},
    {"workloadId", COLUMN_TEXT, true, 0, of_workload, NULL, NULL},
    {"submissions", COLUMN_COUNT, true, 0, NULL, NULL, NULL},
    {"ttftMs", COLUMN_FIGURE, true, FIGURE_TTFT, NULL, NULL, NULL},
    {"decodeCharsPerSec", COLUMN_FIGURE, true, FIGURE_DECODE, NULL, NULL, NULL},
    {"overallCharsPerSec", COLUMN_FIGURE, true, FIGURE_OVERALL, NULL, NULL, NULL},
    {"singleLatencyMs", COLUMN_FIGURE, true, FIGURE_LATENCY, NULL, NULL, NULL},
    {"batchTextsPerSec", COLUMN_FIGURE, true, FIGURE_BATCH, NULL, NULL, NULL},
    {"loadColdMs", COLUMN_FIGURE, true, FIGURE_LOAD_COLD, NULL, NULL, NULL},
    {"loadWarmMs", COLUMN_FIGURE, true, FIGURE_LOAD_WARM, NULL, NULL, NULL},
    {"qualityScore", COLUMN_FIGURE, true, FIGURE_QUALITY, NULL, NULL, NULL},
    {"qualityParseRate", COLUMN_FIGURE, true, FIGURE_PARSE_RATE, NULL, NULL, NULL},
    {"resolvedBackends", COLUMN_NAMES, true, 0, NULL, of_backends, NULL},
    {"browsers", COLUMN_NAMES, true, 0, NULL, of_browsers, NULL},
    {"highVariance", COLUMN_BOOL, true, 0, NULL, NULL, is_high_variance},
    {"streamIncremental", COLUMN_BOOL, false, 0, NULL, NULL, is_incremental},
    {"provisional", COLUMN_BOOL, true, 0, NULL, NULL, is_provisional},
};
enum { COLUMN_COUNT_ALL = sizeof columns / sizeof *columns };

static void write_names(struct js_writer *writer, struct tally *names)
{
    tally_sort(names);
    js_write_begin(writer, '[');
    for (size_t i = 0; i < names->count; i++)
        js_write_value(writer, &names->items[i].name->text);
    js_write_end(writer, ']');
}

static void write_column(struct js_writer *writer, const struct column *column, struct row *row)
{
    const struct name *text = column->kind == COLUMN_TEXT ? column->text(row) : NULL;
    double median = column->kind == COLUMN_FIGURE ? row_median(row, column->figure) : NAN;
    int said = column->kind == COLUMN_BOOL ? column->said(row) : -1;
    if ((column->kind == COLUMN_TEXT && !text) ||
        (column->kind == COLUMN_FIGURE && isnan(median)) ||
        (column->kind == COLUMN_BOOL && said < 0))
        return;
    js_write_key(writer, column->key);
    switch (column->kind) {
    case COLUMN_TEXT:
        js_write_value(writer, &text->text);
        break;
    case COLUMN_COUNT:
        js_write_number(writer, (double)row->submissions);
        break;
    case COLUMN_FIGURE:
        js_write_number(writer, number_round2(median));
        break;
    case COLUMN_NAMES:
        write_names(writer, column->names(row));
        break;
    case COLUMN_BOOL:
        js_write_bool(writer, said);
        break;
    }
}

/* A row keeps its text until a cell of it comes or goes. */
static void write_row(struct js_writer *writer, struct row *row)
{
    if (!row->json.size) {
        struct js_writer own = {.out = &row->json};
        js_write_begin(&own, '{');
        for (int i = 0; i < COLUMN_COUNT_ALL; i++)
            write_column(&own, &columns[i], row);
        js_write_end(&own, '}');
    }
    js_write_raw(writer, row->json.data, row->json.size);
}

static void write_rows(struct js_writer *writer, struct rows *rows)
{
    rows_sort(rows);
    js_write_begin(writer, '[');
    for (size_t i = 0; i < rows->count; i++)
        write_row(writer, rows->order[i]);
    js_write_end(writer, ']');
}

/* What a filter leaves: entries in order of acceptance and their rows. Without a filter those of
 * the board itself. */
struct selection {
    struct entry **entries;
    size_t count;
    struct rows own;
};

static bool is_empty(const struct board_filter *filter)
{
    static const struct board_filter nothing;
    return !filter || memcmp(filter, &nothing, sizeof nothing) == 0;
}

static struct selection select_entries(struct board *board, const struct board_filter *filter)
{
    struct selection selection = {.entries = board->entries, .count = board->count};
    if (is_empty(filter))
        return selection;
    selection.entries = memory_grow(NULL, board->count * sizeof(struct entry *));
    selection.count = 0;
    for (size_t i = 0; i < board->count; i++) {
        struct entry *entry = board->entries[i];
        bool any = !board_filters_cells(filter);
        if (!board_selects_entry(filter, entry))
            continue;
        for (uint32_t j = 0; j < entry->cell_count; j++) {
            if (!board_selects_cell(filter, &entry->cells[j]))
                continue;
            rows_add(&selection.own, entry, &entry->cells[j]);
            any = true;
        }
        if (any)
            selection.entries[selection.count++] = entry;
    }
    return selection;
}

static struct rows *rows_of(struct board *board, const struct board_filter *filter,
                            struct selection *selection)
{
    return is_empty(filter) ? &board->rows : &selection->own;
}

static void free_selection(const struct board_filter *filter, struct selection *selection)
{
    if (is_empty(filter))
        return;
    free(selection->entries);
    rows_free(&selection->own);
}

/* The newest by createdAt, the later accepted one first among equals, into RECENT. */
static size_t find_recent(const struct selection *selection,
                          const struct entry *recent[RECENT_SUBMISSIONS])
{
    size_t count = 0;
    for (size_t i = selection->count; i > 0; i--) {
        const struct entry *entry = selection->entries[i - 1];
        size_t at = count;
        while (at > 0 && recent[at - 1]->created_ms < entry->created_ms)
            at--;
        if (at == RECENT_SUBMISSIONS)
            continue;
        if (count < RECENT_SUBMISSIONS)
            count++;
        memmove(recent + at + 1, recent + at, (count - at - 1) * sizeof *recent);
        recent[at] = entry;
    }
    return count;
}

void board_write_rows(struct board *board, const struct board_filter *filter, struct buffer *out)
{
    struct js_writer writer = {.out = out};
    struct selection selection = select_entries(board, filter);
    write_rows(&writer, rows_of(board, filter, &selection));
    free_selection(filter, &selection);
}

void board_write_snapshot(struct board *board, const struct board_filter *filter, const char *repo,
                          const char *generated_at, struct buffer *out)
{
    const struct entry *recent[RECENT_SUBMISSIONS];
    struct js_writer writer = {.out = out};
    struct selection selection = select_entries(board, filter);
    js_write_begin(&writer, '{');
    js_write_key(&writer, "rows");
    write_rows(&writer, rows_of(board, filter, &selection));
    js_write_key(&writer, "runs");
    js_write_number(&writer, (double)selection.count);
    js_write_key(&writer, "protocols");
    js_write_begin(&writer, '[');
    for (const struct name **shown = board->protocols; *shown; shown++)
        js_write_value(&writer, &(*shown)->text);
    js_write_end(&writer, ']');
    js_write_key(&writer, "repo");
    if (repo)
        js_write_text(&writer, repo);
    else
        js_write_null(&writer);
    js_write_key(&writer, "recentSubmissions");
    js_write_begin(&writer, '[');
    size_t count = find_recent(&selection, recent);
    for (size_t i = 0; i < count; i++)
        js_write_raw(&writer, recent[i]->head, recent[i]->head_size);
    js_write_end(&writer, ']');
    js_write_key(&writer, "entries");
    js_write_number(&writer, (double)board->all);
    js_write_key(&writer, "generatedAt");
    js_write_text(&writer, generated_at);
    js_write_end(&writer, '}');
    free_selection(filter, &selection);
}

/* RFC 4180 quoting; what a spreadsheet would run as a formula is given a leading apostrophe. A lone surrogate
 * has no UTF-8: it becomes U+FFFD, as an encoder of the web prints it. */
static void csv_text(struct buffer *out, const char *text, size_t size)
{
    bool formula = size && strchr("=+-@", *text) && *text;
    bool quoted = false;
    for (size_t i = 0; i < size; i++)
        quoted = quoted || text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
    if (quoted)
        buffer_byte(out, '"');
    if (formula)
        buffer_byte(out, '\'');
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            buffer_byte(out, '"');
        if ((unsigned char)text[i] == 0xED && (unsigned char)text[i + 1] >= 0xA0) {
            buffer_add(out, "\xEF\xBF\xBD", 3);
            i += 2;
        } else {
            buffer_byte(out, text[i]);
        }
    }
    if (quoted)
        buffer_byte(out, '"');
}

static void csv_number(struct buffer *out, double number)
{
    if (isfinite(number))
        out->size += number_print(number, buffer_reserve(out, NUMBER_PRINT_MAX));
}

static void csv_names(struct buffer *out, struct tally *names)
{
    BUFFER_SCOPE struct buffer joined = {0};
    tally_sort(names);
    for (size_t i = 0; i < names->count; i++) {
        if (i)
            buffer_byte(&joined, ';');
        buffer_add(&joined, names->items[i].name->text.text, names->items[i].name->text.size);
    }
    csv_text(out, joined.data, joined.size);
}

static void csv_column(struct buffer *out, const struct column *column, struct row *row)
{
    const struct name *text;
    int said;
    switch (column->kind) {
    case COLUMN_TEXT:
        text = column->text(row);
        if (text)
            csv_text(out, text->text.text, text->text.size);
        break;
    case COLUMN_COUNT:
        csv_number(out, (double)row->submissions);
        break;
    case COLUMN_FIGURE:
        csv_number(out, number_round2(row_median(row, column->figure)));
        break;
    case COLUMN_NAMES:
        csv_names(out, column->names(row));
        break;
    case COLUMN_BOOL:
        said = column->said(row);
        if (said >= 0)
            buffer_text(out, said ? "true" : "false");
        break;
    }
}

static void csv_line(struct buffer *out, struct row *row)
{
    bool follows = false;
    for (int i = 0; i < COLUMN_COUNT_ALL; i++) {
        if (!columns[i].csv)
            continue;
        if (follows)
            buffer_byte(out, ',');
        follows = true;
        if (row)
            csv_column(out, &columns[i], row);
        else
            buffer_text(out, columns[i].key);
    }
    buffer_byte(out, '\n');
}

void board_write_csv(struct board *board, const struct board_filter *filter, struct buffer *out)
{
    struct selection selection = select_entries(board, filter);
    struct rows *rows = rows_of(board, filter, &selection);
    rows_sort(rows);
    csv_line(out, NULL);
    for (size_t i = 0; i < rows->count; i++)
        csv_line(out, rows->order[i]);
    free_selection(filter, &selection);
}
