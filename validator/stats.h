/* Sample summaries, equal to a JavaScript computation to the last bit (spec 02, "Recomputed
 * statistics"). Pure. */
#ifndef BENCHLEDGER_VALIDATOR_STATS_H
#define BENCHLEDGER_VALIDATOR_STATS_H

#include <stddef.h>

#include "validator/js.h"

struct sample {
    size_t n; /* 0: the metric is absent */
    double median, mean, sd, iqr, min, max, ci95, cv;
};

/* Summarises COUNT values; SCRATCH holds as many and is overwritten. COUNT may be 0. */
struct sample sample_of(const double *values, size_t count, double *scratch);
/* Type 7 quantile of sorted values, COUNT > 0. */
double quantile(const double *sorted, size_t count, double q);
void sort_numbers(double *values, size_t count);
void sample_write(const struct sample *sample, struct js_writer *writer);

#endif
