#include <math.h>
#include <stdlib.h>

#include "validator/bench_run.h"

const char *metric_name(enum metric metric)
{
    static const char *const names[METRIC_COUNT] = {"ttftMs",
                                                    "decodeCharsPerSec",
                                                    "decodeChunksPerSec",
                                                    "generatedChars",
                                                    "prefillTokPerSecApprox",
                                                    "totalMs",
                                                    "overallCharsPerSec",
                                                    "singleLatencyMs",
                                                    "batchTextsPerSec"};
    return names[metric];
}

bool metric_is_compared(enum metric metric)
{
    return metric != METRIC_DECODE_CHUNKS && metric != METRIC_GENERATED && metric != METRIC_PREFILL;
}

/* The values of every metric of one cell, at most one for each iteration. */
struct values {
    double *of[METRIC_COUNT], *scratch;
    size_t counts[METRIC_COUNT];
};

static void add(struct measurement *measured, enum metric metric, double value)
{
    measured->values[metric] = value;
    measured->has |= 1u << metric;
}

static struct values make_values(struct arena *arena, size_t iterations)
{
    struct values values = {.scratch = arena_clear_take(arena, iterations, sizeof(double))};
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        values.of[metric] = arena_clear_take(arena, iterations, sizeof(double));
    return values;
}

/* What the chunks of a stream are summed up to. */
static void read_stream(const struct bench_iteration *iteration, struct measurement *measured)
{
    for (size_t i = 0; i < iteration->chunk_count; i++) {
        const struct bench_chunk *chunk = &iteration->chunks[i];
        measured->chars += chunk->c;
        if (!(chunk->c > 0))
            continue;
        if (!measured->first)
            measured->first = chunk;
        measured->last_filled = chunk;
    }
    const struct bench_chunk *first = measured->first, *last = measured->last_filled;
    double total = measured->total;
    measured->incremental =
        first != last && total > 0 && (last->t - first->t) / total >= INCREMENTAL_SPAN;
}

/* Prompt tokens of the fixed workloads, 0 for others. */
static double prompt_tokens(const struct js_value *workload)
{
    return js_equals(workload, "chat-pp128-tg128")   ? 128
           : js_equals(workload, "chat-pp512-tg128") ? 512
                                                     : 0;
}

/* The metrics that only an incremental stream has. */
static void measure_stream(const struct bench_iteration *iteration, struct measurement *measured)
{
    const struct bench_chunk *first = measured->first,
                             *last = &iteration->chunks[iteration->chunk_count - 1];
    double ttft = first->t - iteration->start;
    double ms = last->t - first->t, decoded = measured->chars - first->c;
    add(measured, METRIC_TTFT, ttft);
    if (ms > 0 && decoded > 0) {
        add(measured, METRIC_DECODE_CHARS, decoded / ms * 1000);
        add(measured, METRIC_DECODE_CHUNKS, ((double)iteration->chunk_count - 1) / ms * 1000);
    }
    if (measured->prompt > 0 && ttft > 0)
        add(measured, METRIC_PREFILL, measured->prompt / ttft * 1000);
}

static void measure_llm(const struct bench_iteration *iteration, bool incremental,
                        struct measurement *measured)
{
    double chars = measured->chars, total = measured->total;
    if (total > 0)
        add(measured, METRIC_TOTAL, total);
    if (total > 0 && chars > 0)
        add(measured, METRIC_OVERALL, chars / total * 1000);
    add(measured, METRIC_GENERATED, chars);
    if (incremental)
        measure_stream(iteration, measured);
}

/* The first iteration's count says what the cell measures. */
static void measure_embedding(const struct bench_cell *cell,
                              const struct bench_iteration *iteration, struct measurement *measured)
{
    double duration = measured->total;
    if (!(duration > 0))
        return;
    if (cell->iterations[0].count == 1)
        add(measured, METRIC_SINGLE_LATENCY, duration);
    else
        add(measured, METRIC_BATCH_TEXTS, iteration->count / duration * 1000);
}

struct measurement bench_measure(const struct bench_cell *cell, size_t i, bool incremental)
{
    const struct bench_iteration *iteration = &cell->iterations[i];
    struct measurement measured = {.total = iteration->end - iteration->start};
    if (!cell->llm) {
        measure_embedding(cell, iteration, &measured);
        return measured;
    }
    measured.prompt = prompt_tokens(cell->workload_id);
    read_stream(iteration, &measured);
    measure_llm(iteration, incremental, &measured);
    return measured;
}

static bool is_incremental(const struct bench_cell *cell)
{
    for (size_t i = 0; i < cell->iteration_count; i++) {
        struct measurement measured = {.total =
                                           cell->iterations[i].end - cell->iterations[i].start};
        read_stream(&cell->iterations[i], &measured);
        if (!measured.incremental)
            return false;
    }
    return true;
}

static bool has_high_variance(const struct bench_summary *summary)
{
    static const enum metric judged[] = {METRIC_TTFT, METRIC_DECODE_CHARS, METRIC_OVERALL,
                                         METRIC_SINGLE_LATENCY, METRIC_BATCH_TEXTS};
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        const struct sample *sample = &summary->metrics[judged[i]];
        if (sample->n >= 2 && sample->cv > HIGH_VARIANCE_CV)
            return true;
    }
    return false;
}

static void summarise(struct arena *arena, const struct bench_cell *cell,
                      struct bench_summary *summary)
{
    summary->load_ms = cell->load ? cell->load_end - cell->load_start : NAN;
    summary->has_iterations = cell->iteration_count > 0;
    if (!summary->has_iterations)
        return;
    summary->incremental = cell->llm && is_incremental(cell);
    struct values values = make_values(arena, cell->iteration_count);
    for (size_t i = 0; i < cell->iteration_count; i++) {
        struct measurement measured = bench_measure(cell, i, summary->incremental);
        for (int metric = 0; metric < METRIC_COUNT; metric++)
            if (measured.has & 1u << metric)
                values.of[metric][values.counts[metric]++] = measured.values[metric];
    }
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        summary->metrics[metric] =
            sample_of(values.of[metric], values.counts[metric], values.scratch);
    summary->high_variance = has_high_variance(summary);
}

const struct summaries *bench_recompute(struct arena *arena, const struct run *run)
{
    const struct bench_run *bench = bench_run_of(run);
    struct bench_summary *cells = arena_clear_take(arena, bench->cell_count, sizeof *cells);
    for (size_t i = 0; i < bench->cell_count; i++)
        summarise(arena, &bench->cells[i], &cells[i]);
    struct summaries *summaries = arena_clear_take(arena, 1, sizeof *summaries);
    summaries->cells = cells;
    return summaries;
}

static void write_number(struct js_writer *writer, const char *key, double value)
{
    js_write_key(writer, key);
    js_write_number(writer, value);
}

static void write_cell(const struct bench_cell *cell, const struct bench_summary *summary,
                       struct js_writer *writer)
{
    js_write_begin(writer, '{');
    js_write_key(writer, "cellId");
    js_write_value(writer, cell->cell_id);
    js_write_key(writer, "status");
    js_write_value(writer, cell->status_text);
    js_write_key(writer, "highVariance");
    js_write_bool(writer, summary->high_variance);
    if (cell->load)
        write_number(writer, "loadMs", summary->load_ms);
    if (cell->load_cached != UNSAID) {
        js_write_key(writer, "loadCached");
        js_write_bool(writer, cell->load_cached == SAID_YES);
    }
    if (cell->quality)
        write_number(writer, "qualityScore", cell->score);
    if (!isnan(cell->parse_rate))
        write_number(writer, "qualityParseRate", cell->parse_rate);
    if (cell->llm) {
        js_write_key(writer, "streamIncremental");
        js_write_bool(writer, summary->incremental);
    }
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        if (!summary->metrics[metric].n)
            continue;
        js_write_key(writer, metric_name((enum metric)metric));
        sample_write(&summary->metrics[metric], writer);
    }
    js_write_end(writer, '}');
}

void bench_write_summaries(const struct run *run, const struct summaries *summaries,
                           struct js_writer *writer)
{
    const struct bench_run *bench = bench_run_of(run);
    js_write_begin(writer, '[');
    for (size_t i = 0; i < bench->cell_count; i++)
        write_cell(&bench->cells[i], &summaries->cells[i], writer);
    js_write_end(writer, ']');
}
