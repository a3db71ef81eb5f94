/* Where the figures of one run lie among those of the accepted runs of the same protocol, device,
 * runtime, model and workload: what somebody looks at who decides about a run in quarantine. The source
 * are the rows of the board. Pure; whoever owns the board guards it meanwhile. */
#ifndef BENCHLEDGER_AGGREGATE_NEIGHBOURS_H
#define BENCHLEDGER_AGGREGATE_NEIGHBOURS_H

#include "aggregate/board.h"
#include "aggregate/figure.h"
#include "validator/text.h"

/* The figures that are compared: those up to FIGURE_BATCH. */
enum { NEIGHBOUR_FIGURES = FIGURE_BATCH + 1 };

/* A figure of a cell, in the figure's unit: ms, characters or texts a second. */
struct neighbour {
    enum figure figure;
    double value;
    size_t count; /* of accepted values; the run's own, if it is on the board, are none of them */
    size_t below; /* how many of them are less than VALUE */
    double min, q25, median, q75, max; /* quantiles as the board's; 0 when COUNT is 0 */
};

struct neighbour_cell {
    struct text id, runtime, model, model_name, workload; /* ID and MODEL_NAME may be empty */
    struct neighbour figures[NEIGHBOUR_FIGURES];          /* those that the cell has */
    size_t count;
};

struct neighbours {
    struct text protocol, device;
    bool shown; /* the board shows the protocol: otherwise nothing can be compared */
    const struct neighbour_cell *cells;
    size_t count;
};

/* ENTRY: an index entry with its ok cells, of any run, on the board or not. TTFT and decode are none of a cell
 * whose stream was a burst. Numbers live in ARENA, texts in ARENA or ENTRY. False when it is no entry;
 * *OUT is then unchanged. */
bool board_neighbours(struct board *board, const char *entry, size_t size, struct arena *arena,
                      struct neighbours *out);

#endif
