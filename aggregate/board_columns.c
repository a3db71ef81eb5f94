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
    {"protocol", COLUMN_TEXT, true, 0, of_protocol, NULL, NULL, NULL, "what was measured how"},
    {"deviceClass", COLUMN_TEXT, true, 0, row_class, NULL, NULL, NULL,
     "operating system and GPU family"},
    {"deviceSubclass", COLUMN_TEXT, true, 0, of_subclass, NULL, NULL, NULL,
     "operating system and GPU model"},
    {"runtimeId", COLUMN_TEXT, true, 0, of_runtime, NULL, NULL, NULL, "runtime"},
    {"benchModelId", COLUMN_TEXT, true, 0, of_model, NULL, NULL, NULL, "model"},
    {"modelName", COLUMN_TEXT, true, 0, row_model_name, NULL, NULL, NULL, "name of the model"},
    {"workloadId", COLUMN_TEXT, true, 0, of_workload, NULL, NULL, NULL, "workload"},
    {"submissions", COLUMN_COUNT, true, 0, NULL, NULL, NULL, "runs",
     "distinct runs behind the row"},
    {"ttftMs", COLUMN_FIGURE, true, FIGURE_TTFT, NULL, NULL, NULL, "ms",
     "time to the first text, median"},
    {"decodeCharsPerSec", COLUMN_FIGURE, true, FIGURE_DECODE, NULL, NULL, NULL, "characters/s",
     "rate after the first text, median"},
    {"overallCharsPerSec", COLUMN_FIGURE, true, FIGURE_OVERALL, NULL, NULL, NULL, "characters/s",
     "rate over whole iterations, median"},
    {"singleLatencyMs", COLUMN_FIGURE, true, FIGURE_LATENCY, NULL, NULL, NULL, "ms",
     "time to embed one text, median"},
    {"batchTextsPerSec", COLUMN_FIGURE, true, FIGURE_BATCH, NULL, NULL, NULL, "texts/s",
     "rate of embedding, median"},
    {"loadColdMs", COLUMN_FIGURE, true, FIGURE_LOAD_COLD, NULL, NULL, NULL, "ms",
     "time to load without the cache, median"},
    {"loadWarmMs", COLUMN_FIGURE, true, FIGURE_LOAD_WARM, NULL, NULL, NULL, "ms",
     "time to load from the cache, median"},
    {"qualityScore", COLUMN_FIGURE, true, FIGURE_QUALITY, NULL, NULL, NULL, NULL,
     "score of the quality task, median"},
    {"qualityParseRate", COLUMN_FIGURE, true, FIGURE_PARSE_RATE, NULL, NULL, NULL, NULL,
     "share of outputs that had an answer, median"},
    {"resolvedBackends", COLUMN_NAMES, true, 0, NULL, of_backends, NULL, NULL,
     "backends that runtimes ended up with, parted by ;"},
    {"browsers", COLUMN_NAMES, true, 0, NULL, of_browsers, NULL, NULL, "browsers, parted by ;"},
    {"highVariance", COLUMN_BOOL, true, 0, NULL, NULL, is_high_variance, NULL,
     "whether the iterations of any cell vary much"},
    {"streamIncremental", COLUMN_BOOL, false, 0, NULL, NULL, is_incremental, NULL,
     "whether every stream came piece by piece"},
    {"provisional", COLUMN_BOOL, true, 0, NULL, NULL, is_provisional, NULL,
     "whether there are fewer than three runs"},
};

const struct column *board_columns(size_t *count)
{
    *count = sizeof columns / sizeof *columns;
    return columns;
}
