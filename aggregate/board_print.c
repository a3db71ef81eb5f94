#include <math.h>

#include "aggregate/board_columns.h"
#include "aggregate/board_select.h"
#include "aggregate/csv.h"
#include "validator/number.h"

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
        js_write_number(writer, (double)column->count(row));
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
        size_t count;
        const struct column *columns = board_columns(&count);
        for (size_t i = 0; i < count; i++)
            write_column(&own, &columns[i], row);
        js_write_end(&own, '}');
    }
    js_write_raw(writer, row->json.data, row->json.size);
}

static void write_rows(struct js_writer *writer, const struct selection *selection)
{
    js_write_begin(writer, '[');
    for (size_t i = 0; i < selection->row_count; i++)
        write_row(writer, selection->rows[i]);
    js_write_end(writer, ']');
}

void board_write_rows(struct board *board, const struct board_query *query, struct buffer *out)
{
    struct js_writer writer = {.out = out};
    SELECTION_SCOPE struct selection selection = board_select(board, query);
    write_rows(&writer, &selection);
}

static void write_count(struct js_writer *writer, const char *key, size_t count)
{
    js_write_key(writer, key);
    js_write_number(writer, (double)count);
}

static void write_protocols(struct js_writer *writer, const struct board *board)
{
    js_write_key(writer, "protocols");
    js_write_begin(writer, '[');
    for (const struct name **shown = board->protocols; *shown; shown++)
        js_write_value(writer, &(*shown)->text);
    js_write_end(writer, ']');
}

void board_write_leaderboard(struct board *board, struct buffer *out)
{
    struct js_writer writer = {.out = out};
    SELECTION_SCOPE struct selection selection = board_select(board, NULL);
    js_write_begin(&writer, '{');
    write_count(&writer, "version", 1);
    write_count(&writer, "entries", board->all);
    write_count(&writer, "runs", selection.entry_count);
    write_protocols(&writer, board);
    js_write_key(&writer, "provisionalBy");
    js_write_text(&writer, board->rows.by_devices ? "devices" : "submissions");
    js_write_key(&writer, "rows");
    write_rows(&writer, &selection);
    js_write_end(&writer, '}');
}

void board_write_snapshot(struct board *board, const struct board_query *query, const char *repo,
                          const char *generated_at, struct buffer *out)
{
    struct entry *recent[RECENT_SUBMISSIONS];
    struct js_writer writer = {.out = out};
    SELECTION_SCOPE struct selection selection = board_select(board, query);
    js_write_begin(&writer, '{');
    js_write_key(&writer, "rows");
    write_rows(&writer, &selection);
    write_count(&writer, "runs", selection.entry_count);
    write_protocols(&writer, board);
    js_write_key(&writer, "repo");
    if (repo)
        js_write_text(&writer, repo);
    else
        js_write_null(&writer);
    js_write_key(&writer, "recentSubmissions");
    js_write_begin(&writer, '[');
    size_t count = selection_recent(board, &selection, recent);
    for (size_t i = 0; i < count; i++)
        js_write_raw(&writer, recent[i]->head, recent[i]->head_size);
    js_write_end(&writer, ']');
    write_count(&writer, "entries", board->all);
    js_write_key(&writer, "generatedAt");
    js_write_text(&writer, generated_at);
    js_write_end(&writer, '}');
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
        csv_number(out, (double)column->count(row));
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
            csv_bool(out, said);
        break;
    }
}

static void csv_line(struct buffer *out, struct row *row)
{
    bool follows = false;
    size_t count;
    const struct column *columns = board_columns(&count);
    for (size_t i = 0; i < count; i++) {
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

void board_write_csv(struct board *board, const struct board_query *query, struct buffer *out)
{
    SELECTION_SCOPE struct selection selection = board_select(board, query);
    csv_line(out, NULL);
    for (size_t i = 0; i < selection.row_count; i++)
        csv_line(out, selection.rows[i]);
}
