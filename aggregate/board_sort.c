#include "aggregate/board_sort.h"

#include <math.h>
#include <stdlib.h>

#include "aggregate/board.h"
#include "aggregate/board_columns.h"

/* One value of a row: a text or a number; neither (NULL and NAN) comes last. */
struct ranked {
    struct row *row;
    const struct name *text;
    double number;
    size_t place; /* before */
    bool falls;
};

static const struct column *find_column(const char *sort)
{
    size_t count;
    const struct column *columns = board_columns(&count);
    sort += *sort == '-';
    for (size_t i = 0; i < count; i++)
        if (columns[i].kind != COLUMN_NAMES && !strcmp(columns[i].key, sort))
            return &columns[i];
    return NULL;
}

bool board_can_sort(const char *sort)
{
    return !sort || find_column(sort);
}

static double number_of(const struct column *column, struct row *row)
{
    switch (column->kind) {
    case COLUMN_COUNT:
        return (double)column->count(row);
    case COLUMN_FIGURE:
        return row_is_burst(row) && figure_needs_stream(column->figure)
                   ? NAN
                   : row_median(row, column->figure);
    case COLUMN_BOOL:
        return column->said(row) < 0 ? NAN : (double)column->said(row);
    case COLUMN_TEXT:
    case COLUMN_NAMES:
        break;
    }
    return NAN;
}

static int by_value(const struct ranked *a, const struct ranked *b)
{
    if (a->text && b->text)
        return a->text == b->text ? 0 : js_compare(&a->text->text, &b->text->text);
    return (a->number > b->number) - (a->number < b->number);
}

static bool is_absent(const struct ranked *ranked)
{
    return !ranked->text && isnan(ranked->number);
}

static int by_rank(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (is_absent(a) != is_absent(b))
        return is_absent(a) ? 1 : -1;
    int order = is_absent(a) ? 0 : by_value(a, b);
    if (order)
        return a->falls ? -order : order;
    return a->place < b->place ? -1 : 1;
}

void board_sort(struct row **rows, size_t count, const char *sort)
{
    const struct column *column = find_column(sort);
    if (!column || !count)
        return;
    struct ranked *ranked = memory_grow(NULL, count * sizeof *ranked);
    for (size_t i = 0; i < count; i++)
        ranked[i] =
            (struct ranked){.row = rows[i],
                            .text = column->kind == COLUMN_TEXT ? column->text(rows[i]) : NULL,
                            .number = number_of(column, rows[i]),
                            .place = i,
                            .falls = *sort == '-'};
    qsort(ranked, count, sizeof *ranked, by_rank);
    for (size_t i = 0; i < count; i++)
        rows[i] = ranked[i].row;
    free(ranked);
}
