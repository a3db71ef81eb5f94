/* What pages read of a board: the selected rows with their ranges, what each filter would leave, the newest
 * runs, and the runs behind one row. Numbers are copied into the caller's arena; texts point into the
 * board and are good as long as it exists, also while entries are added to it on another thread. */
#ifndef BENCHLEDGER_AGGREGATE_BOARD_VIEW_H
#define BENCHLEDGER_AGGREGATE_BOARD_VIEW_H

#include "aggregate/board.h"
#include "aggregate/figure.h"
#include "validator/text.h"

/* A figure of a row over its cells; N 0: the row has none. */
struct view_figure {
    size_t n;
    double median; /* as exact as the others; the JSON's is rounded */
    double min, q25, q75, max;
};

struct view_row {
    /* By enum board_dimension; equal texts are equal pointers. BY_BROWSER is empty: see browsers. */
    struct text keys[BOARD_DIMENSIONS];
    struct text model_name; /* may be empty */
    const struct text *browsers, *backends;
    size_t browser_count, backend_count;
    size_t runs, devices;
    struct view_figure figures[FIGURE_COUNT];
    bool provisional, high_variance;
    bool burst; /* streamIncremental is false: the rates are end to end */
};

struct view_choice {
    struct text value;
    size_t rows; /* what choosing it leaves, the other filters being as they are */
};

struct view_recent {
    struct text id, created_at, device, browser, protocol;
    size_t cells;
};

struct board_view {
    const struct view_row *rows; /* in the order asked for */
    size_t count;
    size_t runs, entries;      /* runs selected; entries of the whole index */
    size_t all_rows, all_runs; /* of the board without a query */
    struct {
        const struct view_choice *choices; /* by UTF-16 code units */
        size_t count;
    } facets[BOARD_DIMENSIONS];
    const struct view_recent *recent; /* newest first */
    size_t recent_count;
};

/* Whether a page shows FIGURE of the row: TTFT and decode are none of a row whose stream was a burst, whatever its
 * other cells measured. */
bool view_shows(const struct view_row *row, enum figure figure);

/* QUERY may be NULL. */
void board_view_make(struct board *board, const struct board_query *query, struct arena *arena,
                     struct board_view *view);

/* A cell of a run that counts in a row. */
struct view_run {
    struct text id, created_at, browser, backend;
    struct text browser_version, os, os_version; /* empty where the run does not say */
    double figures[FIGURE_COUNT];                /* NAN: none */
    bool high_variance, burst;
};
enum { VIEW_RUNS_MOST = 200 };
struct board_detail {
    struct view_row row;
    const struct view_run *runs; /* the newest VIEW_RUNS_MOST, newest first */
    size_t count, all;           /* of them, and of all that count */
};

/* False when QUERY leaves anything else than one row. */
bool board_view_row(struct board *board, const struct board_query *query, struct arena *arena,
                    struct board_detail *detail);

#endif
