#include "aggregate/board_columns.h"

enum { PROVISIONAL_BELOW = 3 };

static const struct name *of_protocol(const struct row *row)
{
    return row->protocol;
}
const struct name *row_class(const struct row *row)
{
    return row->contributions[0].entry->device_class;
}
static const struct name *of_subclass(const struct row *row)
{
    return row->device_subclass;
}
static const struct name *of_runtime(const struct row *row)
{
    return row->runtime;
}
static const struct name *of_model(const struct row *row)
{
    return row->model;
}
const struct name *row_model_name(const struct row *row)
{
    for (size_t i = 0; i < row->count; i++)
        if (row->contributions[i].cell->model_name)
            return row->contributions[i].cell->model_name;
    return NULL;
}
static const struct name *of_workload(const struct row *row)
{
    return row->workload;
}
static struct tally *of_backends(struct row *row)
{
    return &row->backends;
}
static struct tally *of_browsers(struct row *row)
{
    return &row->browsers;
}
static int is_high_variance(const struct row *row)
{
    return row->high_variance > 0;
}
bool row_is_burst(const struct row *row)
{
    return row->burst > 0;
}
static int is_incremental(const struct row *row)
{
    return row->burst ? 0 : row->incremental ? 1 : -1;
}
bool row_is_provisional(const struct row *row)
{
    return row->submissions < PROVISIONAL_BELOW;
}
static int is_provisional(const struct row *row)
{
    return row_is_provisional(row);
}

static const struct column columns[] = {
    {"protocol", COLUMN_TEXT, true, 0, of_protocol, NULL, NULL},
    {"deviceClass", COLUMN_TEXT, true, 0, row_class, NULL, NULL},
    {"deviceSubclass", COLUMN_TEXT, true, 0, of_subclass, NULL, NULL},
    {"runtimeId", COLUMN_TEXT, true, 0, of_runtime, NULL, NULL},
    {"benchModelId", COLUMN_TEXT, true, 0, of_model, NULL, NULL},
    {"modelName", COLUMN_TEXT, true, 0, row_model_name, NULL, NULL},
    {"workloadId", COLUMN_TEXT, true, 0, of_workload, NULL, NULL},
    {"submissions", COLUMN_COUNT, true, 0, NULL, NULL, NULL},
    {"ttftMs", COLUMN_FIGURE, true, FIGURE_TTFT, NULL, NULL, NULL},
    {"decodeCharsPerSec", COLUMN_FIGURE, true, FIGURE_DECODE, NULL, NULL, NULL},
    {"overallCharsPerSec", COLUMN_FIGURE, true, FIGURE_OVERALL, NULL, NULL, NULL},
    {"singleLatencyMs", COLUMN_FIGURE, true, FIGURE_LATENCY, NULL, NULL, NULL},
    {"batchTextsPerSec", COLUMN_FIGURE, true, FIGURE_BATCH, NULL, NULL, NULL},
    {"loadColdMs", COLUMN_FIGURE, true, FIGURE_LOAD_COLD, NULL, NULL, NULL},
    {"loadWarmMs", COLUMN_FIGURE, true, FIGURE_LOAD_WARM, NULL, NULL, NULL},
    {"qualityScore", COLUMN_FIGURE, true, FIGURE_QUALITY, NULL, NULL, NULL},
    {"qualityParseRate", COLUMN_FIGURE, true, FIGURE_PARSE_RATE, NULL, NULL, NULL},
    {"resolvedBackends", COLUMN_NAMES, true, 0, NULL, of_backends, NULL},
    {"browsers", COLUMN_NAMES, true, 0, NULL, of_browsers, NULL},
    {"highVariance", COLUMN_BOOL, true, 0, NULL, NULL, is_high_variance},
    {"streamIncremental", COLUMN_BOOL, false, 0, NULL, NULL, is_incremental},
    {"provisional", COLUMN_BOOL, true, 0, NULL, NULL, is_provisional},
};

const struct column *board_columns(size_t *count)
{
    *count = sizeof columns / sizeof *columns;
    return columns;
}
