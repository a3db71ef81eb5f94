#include "aggregate/outlier.h"

#include <math.h>
#include <stdlib.h>

#include "aggregate/device.h"

#define NORMAL_QUARTILE 0.6745

/* Of latencies the inverse is compared, so that above 0 is faster everywhere. */
static const struct {
    enum metric metric;
    double sign;
} compared[OUTLIER_METRICS] = {{METRIC_DECODE_CHARS, 1},
                               {METRIC_OVERALL, 1},
                               {METRIC_BATCH_TEXTS, 1},
                               {METRIC_SINGLE_LATENCY, -1}};

static double sign_of(enum metric metric)
{
    size_t i = 0;
    while (compared[i].metric != metric)
        i++;
    return compared[i].sign;
}

static double log_of(const struct outlier_figure *figure)
{
    return sign_of(figure->metric) * log(figure->value);
}

static void name_group(const struct bench_run *run, struct text subclass,
                       const struct bench_cell *cell, enum metric metric,
                       unsigned char group[SHA256_SIZE])
{
    BUFFER_SCOPE struct buffer name = {0};
    const struct text parts[] = {text_of(run->identity.protocol), subclass,
                                 text_of(cell->runtime_id), text_of(cell->bench_model_id),
                                 text_of(cell->workload_id)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buffer_format(&name, "%zu:", parts[i].size);
        buffer_add(&name, parts[i].data, parts[i].size);
    }
    buffer_format(&name, "%d", (int)metric);
    sha256(name.data, name.size, group);
}

struct outlier_figures outlier_of_run(struct arena *arena, const struct bench_run *run,
                                      const struct summaries *summaries)
{
    struct text class = device_class(arena, text_of(run->platform), run->gpu_available == SAID_YES,
                                     run->gpu_vendor, run->gpu_architecture),
                subclass = device_subclass(arena, class, run->gpu_model);
    struct outlier_figures figures = {
        arena_clear_take(arena, run->cell_count * OUTLIER_METRICS, sizeof *figures.items), 0};
    for (size_t i = 0; i < run->cell_count; i++) {
        for (size_t j = 0; run->cells[i].status == CELL_OK && j < OUTLIER_METRICS; j++) {
            const struct sample *sample = &summaries->cells[i].metrics[compared[j].metric];
            if (!sample->n || !(sample->median > 0) || !isfinite(sample->median))
                continue;
            struct outlier_figure *figure = &figures.items[figures.count++];
            *figure = (struct outlier_figure){
                .value = sample->median, .cell = (uint32_t)i, .metric = compared[j].metric};
            name_group(run, subclass, &run->cells[i], figure->metric, figure->group);
        }
    }
    return figures;
}

void outlier_add(struct outliers *outliers, uint32_t run, const struct outlier_figures *figures)
{
    if (outliers->room - outliers->count < figures->count) {
        outliers->room = 2 * outliers->room + figures->count;
        outliers->items = memory_grow(outliers->items, outliers->room * sizeof *outliers->items);
    }
    for (size_t i = 0; i < figures->count; i++) {
        outliers->items[outliers->count] = figures->items[i];
        outliers->items[outliers->count++].run = run;
    }
}

void outlier_free(struct outliers *outliers)
{
    free(outliers->items);
    *outliers = (struct outliers){0};
}

static int by_group(const void *left, const void *right)
{
    const struct outlier_figure *a = left, *b = right;
    int order = memcmp(a->group, b->group, SHA256_SIZE);
    if (order)
        return order;
    return a->run < b->run ? -1 : a->run > b->run;
}

static int by_place(const void *left, const void *right)
{
    const struct outlier_found *a = left, *b = right;
    if (a->run != b->run)
        return a->run < b->run ? -1 : 1;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return (int)a->metric - (int)b->metric;
}

static double median_of(double *values, size_t count)
{
    sort_numbers(values, count);
    return quantile(values, count, 0.5);
}

/* The figures of one group, by run; SCRATCH holds as many. */
static size_t judge(const struct outlier_figure *items, size_t count, double *scratch,
                    struct outlier_found *found)
{
    size_t runs = 1, made = 0;
    for (size_t i = 1; i < count; i++)
        runs += items[i].run != items[i - 1].run;
    if (runs < OUTLIER_RUNS_LEAST)
        return 0;
    for (size_t i = 0; i < count; i++)
        scratch[i] = log_of(&items[i]);
    double median = median_of(scratch, count);
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(log_of(&items[i]) - median);
    double mad = fmax(median_of(scratch, count), OUTLIER_MAD_LEAST);
    for (size_t i = 0; i < count; i++) {
        double z = NORMAL_QUARTILE * (log_of(&items[i]) - median) / mad;
        if (fabs(z) > OUTLIER_Z_MOST)
            found[made++] = (struct outlier_found){.run = items[i].run,
                                                   .cell = items[i].cell,
                                                   .metric = items[i].metric,
                                                   .value = items[i].value,
                                                   .median = exp(sign_of(items[i].metric) * median),
                                                   .z = z,
                                                   .runs = runs};
    }
    return made;
}

void outlier_find(struct outliers *outliers, outlier_tell tell, void *context)
{
    size_t count = 0;
    if (!outliers->count)
        return;
    double *scratch = memory_grow(NULL, outliers->count * sizeof *scratch);
    struct outlier_found *found = memory_grow(NULL, outliers->count * sizeof *found);
    qsort(outliers->items, outliers->count, sizeof *outliers->items, by_group);
    for (size_t from = 0, to; from < outliers->count; from = to) {
        for (to = from + 1; to < outliers->count; to++)
            if (memcmp(outliers->items[to].group, outliers->items[from].group, SHA256_SIZE) != 0)
                break;
        count += judge(outliers->items + from, to - from, scratch, found + count);
    }
    if (count)
        qsort(found, count, sizeof *found, by_place);
    for (size_t i = 0; i < count; i++)
        tell(context, &found[i]);
    free(scratch);
    free(found);
}
