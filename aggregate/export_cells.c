#include <math.h>

#include "aggregate/csv.h"
#include "aggregate/export_row.h"
#include "validator/calendar.h"

/* Times of which a file with four digits for the year can tell (0000 to 9999). */
#define WALL_LEAST (-62167219200000.0)
#define WALL_MOST 253402300799999.0

static void write_iteration_count(const struct export_row *row, struct buffer *out)
{
    csv_number(out, (double)row->cell->iteration_count);
}

static void write_size(const struct export_row *row, const char *path, struct buffer *out)
{
    const struct js_value *list = export_find(row->cell_value, path);
    if (list && list->type == JS_ARRAY)
        csv_number(out, list->size);
}

static void write_discarded(const struct export_row *row, struct buffer *out)
{
    write_size(row, "discardedIterations", out);
}

static void write_attempts(const struct export_row *row, struct buffer *out)
{
    write_size(row, "attempts", out);
}

static void write_progress_events(const struct export_row *row, struct buffer *out)
{
    write_size(row, "load.progress", out);
}

static double number_of(const struct js_value *object, const char *name)
{
    const struct js_value *value = js_get(object, name);
    return value && value->type == JS_NUMBER ? value->number : NAN;
}

static void write_progress_span(const struct export_row *row, struct buffer *out)
{
    const struct js_value *progress = js_get(row->cell->load, "progress");
    double first = NAN, last = NAN;
    for (uint32_t i = 0; progress && i < progress->size; i++) {
        double t = number_of(&progress->items[i], "t");
        if (isnan(first))
            first = t;
        if (!isnan(t))
            last = t;
    }
    export_write_figure(out, last - first);
}

/* The earliest and the latest moment of a cell, by the page's clock; NAN without any. */
struct span {
    double first, last;
};

static void widen(struct span *span, double t)
{
    if (isnan(t))
        return;
    span->first = t < span->first || isnan(span->first) ? t : span->first;
    span->last = t > span->last || isnan(span->last) ? t : span->last;
}

/* The members NAMES of every item of LIST, which may be NULL. */
static void widen_list(struct span *span, const struct js_value *list, const char *const *names)
{
    for (uint32_t i = 0; list && i < list->size; i++)
        for (const char *const *name = names; *name; name++)
            widen(span, number_of(&list->items[i], *name));
}

static struct span span_of(const struct export_row *row)
{
    static const char *const progress[] = {"t", NULL}, *const times[] = {"startT", "endT", NULL},
                             *const attempts[] = {"at", NULL};
    struct span span = {NAN, NAN};
    const struct bench_cell *cell = row->cell;
    if (cell->load) {
        widen(&span, cell->load_start);
        widen(&span, cell->load_end);
        widen(&span, cell->load_end + number_of(row->cell_value, "warmupMs"));
        widen_list(&span, js_get(cell->load, "progress"), progress);
    }
    widen_list(&span, cell->iterations_value, times);
    widen_list(&span, js_get(row->cell_value, "discardedIterations"), times);
    widen_list(&span, js_get(row->cell_value, "attempts"), attempts);
    return span;
}

/* createdAt is the wall time of the suite's end. */
static void write_wall(const struct export_run *run, double t, struct buffer *out)
{
    char text[CALENDAR_SIZE];
    double ms = trunc(run->run->identity.created_ms + (t - run->suite_end));
    if (!(ms >= WALL_LEAST && ms <= WALL_MOST))
        return;
    calendar_print(ms, text);
    buffer_text(out, text);
}

static void write_started(const struct export_row *row, struct buffer *out)
{
    write_wall(row->run, span_of(row).first, out);
}

static void write_ended(const struct export_row *row, struct buffer *out)
{
    write_wall(row->run, span_of(row).last, out);
}

#define CONFIG(key, about)                                                  \
    {                                                                       \
        key, EXPORT_ANY, NULL, about, FROM_CELL, "runtimeConfig." key, NULL \
    }

static const struct export_column columns[] = {
    SHARED_RUN_ID,
    SHARED_PROTOCOL,
    SHARED_CELL_ID,
    SHARED_RUNTIME_ID,
    SHARED_RUNTIME_VERSION,
    SHARED_MODEL_ID,
    SHARED_WORKLOAD_ID,
    {"workloadKind", EXPORT_TEXT, NULL, "what kind of work it is", FROM_CELL, "workloadKind", NULL},
    SHARED_BACKEND,
    SHARED_STATUS,
    {"invalidReasons", EXPORT_LIST, NULL, "why the runner set the cell aside, parted by |",
     FROM_CELL, "invalidReasons", NULL},
    {"iterationCount", EXPORT_INTEGER, NULL, "iterations that count", FROM_CELL, NULL,
     write_iteration_count},
    {"discardedIterationCount", EXPORT_INTEGER, NULL, "iterations that the runner set aside",
     FROM_CELL, NULL, write_discarded},
    {"attemptCount", EXPORT_INTEGER, NULL, "attempts that failed", FROM_CELL, NULL, write_attempts},
    {"warmupMs", EXPORT_FIGURE, "ms", "how long the warm-up took", FROM_CELL, "warmupMs", NULL},
    SHARED_LOAD_MS,
    SHARED_LOAD_CACHED,
    {"loadDeclaredBytes", EXPORT_NUMBER, "bytes", "declared size of the download", FROM_CELL,
     "load.declaredBytes", NULL},
    {"loadProgressEvents", EXPORT_INTEGER, NULL, "progress reports of the load", FROM_CELL, NULL,
     write_progress_events},
    {"loadProgressSpanMs", EXPORT_FIGURE, "ms", "from the first of them to the last", FROM_CELL,
     NULL, write_progress_span},
    CONFIG("n_threads", "threads that were asked for"),
    CONFIG("n_threads_used", "threads that were used"),
    CONFIG("multithread", "whether the runtime had threads"),
    CONFIG("n_ctx", "context length, tokens"),
    CONFIG("n_gpu_layers", "layers that were to be on the GPU; -1: all"),
    CONFIG("offloadedLayers", "layers that were on the GPU, of how many"),
    CONFIG("webgpu_adapter", "whether the runtime had a WebGPU adapter"),
    CONFIG("cache_prompt", "whether prompts were cached"),
    CONFIG("mmproj", "whether a projector was loaded"),
    CONFIG("dtype", "type of the weights"),
    CONFIG("device", "device that was asked for"),
    CONFIG("worker", "whether it ran in a worker"),
    {"memoryBaseline", EXPORT_NUMBER, "bytes", "memory before the load", FROM_CELL,
     "memory.baseline", NULL},
    {"memoryPostLoad", EXPORT_NUMBER, "bytes", "memory after the load", FROM_CELL,
     "memory.postLoad", NULL},
    {"memoryPostRun", EXPORT_NUMBER, "bytes", "memory after the iterations", FROM_CELL,
     "memory.postRun", NULL},
    {"memoryAtError", EXPORT_NUMBER, "bytes", "memory when it failed", FROM_CELL, "memory.atError",
     NULL},
    {"memoryApi", EXPORT_TEXT, NULL, "what memory was measured with", FROM_CELL, "memory.api",
     NULL},
    {"qualityTaskId", EXPORT_TEXT, NULL, "quality task", FROM_CELL, "quality.taskId", NULL},
    {"qualityScore", EXPORT_NUMBER, NULL, "score of the task", FROM_CELL, "quality.score", NULL},
    {"qualityN", EXPORT_NUMBER, "items", "items of the task", FROM_CELL, "quality.n", NULL},
    {"qualityParseRate", EXPORT_NUMBER, NULL, "share of outputs that had an answer", FROM_CELL,
     "quality.parseRate", NULL},
    {"errorName", EXPORT_TEXT, NULL, "name of the error", FROM_CELL, "error.name", NULL},
    {"errorMessage", EXPORT_TEXT, NULL, "what it says", FROM_CELL, "error.message", NULL},
    {"errorCause", EXPORT_TEXT, NULL, "what caused it", FROM_CELL, "error.cause", NULL},
    {"cellStartedAt", EXPORT_TIME, NULL,
     "earliest moment of the cell; createdAt is taken for the end of the suite", FROM_CELL, NULL,
     write_started},
    {"cellEndedAt", EXPORT_TIME, NULL, "latest moment of the cell, likewise", FROM_CELL, NULL,
     write_ended},
};

struct export_layout export_cells_layout(void)
{
    return (struct export_layout){columns, sizeof columns / sizeof *columns, EACH_CELL,
                                  "One row per cell: a model with a workload in a runtime."};
}
