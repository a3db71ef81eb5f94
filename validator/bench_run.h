/* The typed view of a localmode-bench run (spec 01, "Fields that the service reads") and its
 * statistics.
 *
 * Made by bench_shape.c and only then read by anything else: after shape there is no type left to
 * check. Strings are values of the document, NULL when absent; absent numbers are NAN. Pure. */
#ifndef BENCHLEDGER_VALIDATOR_BENCH_RUN_H
#define BENCHLEDGER_VALIDATOR_BENCH_RUN_H

#include "validator/protocol.h"
#include "validator/stats.h"

struct bench_chunk {
    double t, c; /* ms, UTF-16 units */
};

struct bench_iteration {
    double start, end; /* ms */
    const struct bench_chunk *chunks;
    size_t chunk_count;
    const struct js_value *text;  /* of an LLM cell */
    const struct js_value *gates; /* array of strings: why the runner doubts it; NULL: not told */
    double count;                 /* of an embedding cell */
};

enum cell_status { CELL_OK, CELL_INVALID, CELL_ERROR, CELL_SKIPPED };

struct bench_cell {
    const struct js_value *cell_id, *runtime_id, *runtime_version, *workload_id, *workload_kind,
        *resolved_backend, *status_text;
    const struct js_value *model, *bench_model_id, *model_name;
    double size_bytes;
    const struct js_value *load;
    double load_start, load_end;
    enum said load_cached;
    const struct js_value *quality, *task_id, *details, *outputs;
    double score, quality_n, parse_rate;
    const struct js_value *iterations_value;
    enum cell_status status;
    bool llm; /* its first iteration has chunks */
    const struct bench_iteration *iterations;
    size_t iteration_count;
};

/* The metrics of a cell in the order in which a summary prints them (spec 02). */
enum metric {
    METRIC_TTFT,
    METRIC_DECODE_CHARS,
    METRIC_DECODE_CHUNKS,
    METRIC_GENERATED,
    METRIC_PREFILL,
    METRIC_TOTAL,
    METRIC_OVERALL,
    METRIC_SINGLE_LATENCY,
    METRIC_BATCH_TEXTS,
    METRIC_COUNT
};
const char *metric_name(enum metric metric);

/* Share of the request that a stream must span to count as one, and the coefficient of variation
 * above which a cell's variance is high (spec 02). */
#define INCREMENTAL_SPAN 0.2
#define HIGH_VARIANCE_CV 0.05

/* What one iteration gives, with the terms that its figures are made of. */
struct measurement {
    double values[METRIC_COUNT];
    unsigned has; /* bit of each metric that has a value: one that is not finite is a value, too */
    double total, chars, prompt;                   /* ms, UTF-16 units, tokens (0: not known) */
    const struct bench_chunk *first, *last_filled; /* with text; NULL without */
    bool incremental;                              /* of this iteration alone */
};
/* Whether a client's median of it is held against ours (rule client-summary-disagrees). */
bool metric_is_compared(enum metric metric);

/* What the client computed for one cell; only medians are compared. */
struct client_summary {
    const struct bench_cell *cell; /* NULL: no such cell */
    double medians[METRIC_COUNT];  /* NAN: none */
};

struct bench_run {
    struct run_identity identity; /* first: every family's run begins with it */
    const struct js_value *harness, *harness_version, *runtime_versions, *series;
    const struct js_value *environment, *browser, *browser_version, *engine, *platform, *os_version,
        *architecture, *os_model, *gpu, *gpu_vendor, *gpu_architecture, *gpu_device,
        *gpu_description, *webgl_renderer, *gpu_model, *device_type, *reported_device,
        *reported_hardware, *reported_gpu, *reported_chassis;
    enum said webdriver, gpu_available, cross_origin_isolated;
    double cores, memory_gb, heap_limit, quota, timer_us, reported_ram_gb;
    const struct js_value *fingerprint;
    double mflops, checksum;
    const struct js_value *cells_value, *events, *client_summaries;
    struct bench_cell *cells;
    size_t cell_count;
    const struct client_summary *clients;
    size_t client_count;
};

struct bench_summary {
    bool has_iterations;
    bool incremental; /* of an LLM cell with iterations */
    bool high_variance;
    double load_ms; /* NAN without load */
    struct sample metrics[METRIC_COUNT];
};

/* One for each cell, in the same order. */
struct summaries {
    const struct bench_summary *cells;
};

static inline const struct bench_run *bench_run_of(const struct run *run)
{
    return (const struct bench_run *)run;
}

/* Iteration I of a cell; INCREMENTAL as its summary says. */
struct measurement bench_measure(const struct bench_cell *cell, size_t i, bool incremental);

/* One item of `cells`; CELL is cleared. */
void bench_read_cell(struct shape *shape, const struct js_value *value, struct bench_cell *cell);
const struct run *bench_read(struct shape *shape, const struct js_document *document);
const struct summaries *bench_recompute(struct arena *arena, const struct run *run);
void bench_judge(struct flags *flags, const struct run *run, const struct summaries *summaries);
bool bench_rule(int rules, size_t i, struct rule_text *text);
void bench_write_summaries(const struct run *run, const struct summaries *summaries,
                           struct js_writer *writer);

#endif
