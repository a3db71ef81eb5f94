/* The columns of a row, for JSON, CSV and sorting; private to the board's sources. */
#ifndef BENCHLEDGER_AGGREGATE_BOARD_COLUMNS_H
#define BENCHLEDGER_AGGREGATE_BOARD_COLUMNS_H

#include "aggregate/board_rows.h"

enum column_kind { COLUMN_TEXT, COLUMN_COUNT, COLUMN_FIGURE, COLUMN_NAMES, COLUMN_BOOL };

/* One column of a row: for JSON in this order, for CSV those marked. What its kind does not need is NULL. */
struct column {
    const char *key;
    enum column_kind kind;
    bool csv;
    enum figure figure;
    const struct name *(*text)(const struct row *row);
    struct tally *(*names)(struct row *row);
    int (*said)(const struct row *row);     /* -1: absent */
    const char *unit, *about;               /* for who reads the CSV; unit: NULL without one */
    size_t (*count)(const struct row *row); /* of COLUMN_COUNT */
};

const struct column *board_columns(size_t *count);

/* What pages show of a row beside its columns. */
const struct name *row_class(const struct row *row);
const struct name *row_model_name(const struct row *row); /* or NULL */
bool row_is_provisional(const struct row *row);
/* Whether the stream of a contributing cell came in a burst. */
bool row_is_burst(const struct row *row);

#endif
