/* Rule rate-outlier of set 3: a figure far from those of all other runs with the same protocol, device subclass,
 * runtime, model and workload. Pure.
 *
 * Compared are the natural logarithms x of an ok cell's medians: decode rate, end-to-end rate, embedding rate, and
 * the inverse of the embedding latency. With m their median and MAD the median of |x - m|, a figure's
 * z = 0.6745 (x - m) / max(MAD, OUTLIER_MAD_LEAST); one with |z| > OUTLIER_Z_MOST is an outlier. Groups of fewer
 * than OUTLIER_RUNS_LEAST runs have none. The least MAD is for groups whose middle half is equal: what is within
 * 9 % of them is no outlier.
 *
 * Figures may be read on any thread, a collector is used by one at a time. */
#ifndef BENCHLEDGER_AGGREGATE_OUTLIER_H
#define BENCHLEDGER_AGGREGATE_OUTLIER_H

#include "validator/bench_run.h"
#include "validator/sha256.h"

enum { OUTLIER_RUNS_LEAST = 8, OUTLIER_METRICS = 4 };
#define OUTLIER_Z_MOST 6.0
#define OUTLIER_MAD_LEAST 0.01

/* A figure of one cell of one run; numbers from 0. */
struct outlier_figure {
    unsigned char group[SHA256_SIZE]; /* of what it is compared within, the metric included */
    double value;                     /* in the metric's unit */
    uint32_t run, cell;
    enum metric metric;
};
struct outlier_figures {
    struct outlier_figure *items;
    size_t count;
};

/* Those of a run, in ARENA; their run is set by outlier_add. */
struct outlier_figures outlier_of_run(struct arena *arena, const struct bench_run *run,
                                      const struct summaries *summaries);

/* Zero-initialised is empty. */
struct outliers {
    struct outlier_figure *items;
    size_t count, room;
};
/* In any order of runs. */
void outlier_add(struct outliers *outliers, uint32_t run, const struct outlier_figures *figures);
void outlier_free(struct outliers *outliers);

struct outlier_found {
    uint32_t run, cell;
    enum metric metric;
    double value, median; /* in the metric's unit */
    double z;             /* above 0: faster than the others */
    size_t runs;          /* of the group */
};
/* Tells every outlier, in the order of runs, cells and metrics. */
typedef void (*outlier_tell)(void *context, const struct outlier_found *found);
void outlier_find(struct outliers *outliers, outlier_tell tell, void *context);

#endif
