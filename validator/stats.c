#include "validator/stats.h"

#include <math.h>
#include <stdlib.h>

/* Student's t, 97.5 %, by degrees of freedom from 1; the last one serves beyond (spec 02). */
static const double t_975[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                               2.262,  2.228, 2.201, 2.179, 2.16,  2.145, 2.131, 2.12,
                               2.11,   2.101, 2.093, 2.086, 2.08,  2.074, 2.069, 2.064,
                               2.06,   2.056, 2.052, 2.048, 2.045, 2.042};
enum { T_COUNT = sizeof t_975 / sizeof *t_975 };

/* NaN goes last, so that the order is total whatever a hostile trace computes to. */
static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return a < b ? -1 : a > b;
}

void sort_numbers(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
}

double quantile(const double *sorted, size_t count, double q)
{
    double p = (double)(count - 1) * q;
    size_t l = (size_t)floor(p), h = (size_t)ceil(p);
    return l == h ? sorted[l] : sorted[l] + (sorted[h] - sorted[l]) * (p - (double)l);
}

struct sample sample_of(const double *values, size_t count, double *scratch)
{
    struct sample sample = {.n = count};
    if (count == 0)
        return sample;
    double n = (double)count, sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    sample.mean = sum / n;
    if (count > 1) {
        double squares = 0;
        for (size_t i = 0; i < count; i++)
            squares += (values[i] - sample.mean) * (values[i] - sample.mean);
        sample.sd = sqrt(squares / (n - 1));
        sample.ci95 = t_975[count - 1 < T_COUNT ? count - 2 : T_COUNT - 1] * sample.sd / sqrt(n);
    }
    sample.cv = sample.mean == 0 ? 0 : sample.sd / fabs(sample.mean);
    memcpy(scratch, values, count * sizeof *values);
    sort_numbers(scratch, count);
    sample.median = quantile(scratch, count, 0.5);
    sample.iqr = quantile(scratch, count, 0.75) - quantile(scratch, count, 0.25);
    sample.min = scratch[0];
    sample.max = scratch[count - 1];
    return sample;
}

void sample_write(const struct sample *sample, struct js_writer *writer)
{
    const struct {
        const char *key;
        double value;
    } figures[] = {{"n", (double)sample->n}, {"median", sample->median}, {"mean", sample->mean},
                   {"sd", sample->sd},       {"iqr", sample->iqr},       {"min", sample->min},
                   {"max", sample->max},     {"ci95", sample->ci95},     {"cv", sample->cv}};
    js_write_begin(writer, '{');
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        js_write_key(writer, figures[i].key);
        js_write_number(writer, figures[i].value);
    }
    js_write_end(writer, '}');
}
