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
static size_t count_runs(const struct row *row)
{
    return row->submissions;
}
static size_t count_devices(const struct row *row)
{
    return row->devices.count;
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
    return row->submissions < PROVISIONAL_BELOW ||
           (row->by_devices && row->devices.count < PROVISIONAL_BELOW);
}
static int is_provisional(const struct row *row)
{
    return row_is_provisional(row);
}

static const struct column columns[] = {
    {"protocol", COLUMN_TEXT, true, 0, of_protocol, NULL, NULL, NULL, "what was measured how",
     NULL},
    {"deviceClass", COLUMN_TEXT, true, 0, row_class, NULL, NULL, NULL,
     "operating system and GPU family", NULL},
    {"deviceSubclass", COLUMN_TEXT, true, 0, of_subclass, NULL, NULL, NULL,
     "operating system and GPU model", NULL},
    {"runtimeId", COLUMN_TEXT, true, 0, of_runtime, NULL, NULL, NULL, "runtime", NULL},
    {"benchModelId", COLUMN_TEXT, true, 0, of_model, NULL, NULL, NULL, "model", NULL},
    {"modelName", COLUMN_TEXT, true, 0, row_model_name, NULL, NULL, NULL, "name of the model",
     NULL},
    {"workloadId", COLUMN_TEXT, true, 0, of_workload, NULL, NULL, NULL, "workload", NULL},
    {"submissions", COLUMN_COUNT, true, 0, NULL, NULL, NULL, "runs", "distinct runs behind the row",
     count_runs},
    {"devices", COLUMN_COUNT, false, 0, NULL, NULL, NULL, "devices",
     "distinct devices behind the row", count_devices},
    {"ttftMs", COLUMN_FIGURE, true, FIGURE_TTFT, NULL, NULL, NULL, "ms",
     "time to the first text, median", NULL},
    {"decodeCharsPerSec", COLUMN_FIGURE, true, FIGURE_DECODE, NULL, NULL, NULL, "characters/s",
     "rate after the first text, median", NULL},
    {"overallCharsPerSec", COLUMN_FIGURE, true, FIGURE_OVERALL, NULL, NULL, NULL, "characters/s",
     "rate over whole iterations, median", NULL},
    {"singleLatencyMs", COLUMN_FIGURE, true, FIGURE_LATENCY, NULL, NULL, NULL, "ms",
     "time to embed one text, median", NULL},
    {"batchTextsPerSec", COLUMN_FIGURE, true, FIGURE_BATCH, NULL, NULL, NULL, "texts/s",
     "rate of embedding, median", NULL},
    {"loadColdMs", COLUMN_FIGURE, true, FIGURE_LOAD_COLD, NULL, NULL, NULL, "ms",
     "time to load without the cache, median", NULL},
    {"loadWarmMs", COLUMN_FIGURE, true, FIGURE_LOAD_WARM, NULL, NULL, NULL, "ms",
     "time to load from the cache, median", NULL},
    {"qualityScore", COLUMN_FIGURE, true, FIGURE_QUALITY, NULL, NULL, NULL, NULL,
     "score of the quality task, median", NULL},
    {"qualityParseRate", COLUMN_FIGURE, true, FIGURE_PARSE_RATE, NULL, NULL, NULL, NULL,
     "share of outputs that had an answer, median", NULL},
    {"resolvedBackends", COLUMN_NAMES, true, 0, NULL, of_backends, NULL, NULL,
     "backends that runtimes ended up with, parted by ;", NULL},
    {"browsers", COLUMN_NAMES, true, 0, NULL, of_browsers, NULL, NULL, "browsers, parted by ;",
     NULL},
    {"highVariance", COLUMN_BOOL, true, 0, NULL, NULL, is_high_variance, NULL,
     "whether the iterations of any cell vary much", NULL},
    {"streamIncremental", COLUMN_BOOL, false, 0, NULL, NULL, is_incremental, NULL,
     "whether every stream came piece by piece", NULL},
    {"provisional", COLUMN_BOOL, true, 0, NULL, NULL, is_provisional, NULL,
     "whether there are fewer than three runs", NULL},
};

const struct column *board_columns(size_t *count)
{
    *count = sizeof columns / sizeof *columns;
    return columns;
}
