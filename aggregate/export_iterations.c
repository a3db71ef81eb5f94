#include <math.h>

#include "aggregate/csv.h"
#include "aggregate/export_row.h"

static void write_number(const struct export_row *row, struct buffer *out)
{
    if (row->number)
        csv_number(out, (double)row->number);
}

static void write_metric(const struct export_row *row, enum metric metric, struct buffer *out)
{
    if (row->measured.has & 1u << metric)
        export_write_figure(out, row->measured.values[metric]);
}

static void write_ttft(const struct export_row *row, struct buffer *out)
{
    write_metric(row, METRIC_TTFT, out);
}

static void write_decode(const struct export_row *row, struct buffer *out)
{
    write_metric(row, METRIC_DECODE_CHARS, out);
}

static void write_overall(const struct export_row *row, struct buffer *out)
{
    write_metric(row, METRIC_OVERALL, out);
}

static void write_tokens(const struct export_row *row, struct buffer *out)
{
    if (row->summary->incremental)
        write_metric(row, METRIC_DECODE_CHUNKS, out);
}

static void write_generated(const struct export_row *row, struct buffer *out)
{
    if (row->number && row->cell->llm)
        csv_number(out, row->measured.chars);
}

static void write_incremental(const struct export_row *row, struct buffer *out)
{
    if (row->number && row->cell->llm)
        csv_bool(out, row->measured.incremental);
}

static void write_duration(const struct export_row *row, struct buffer *out)
{
    if (row->number)
        export_write_figure(out, row->cell->iterations[row->number - 1].end -
                                     row->cell->iterations[row->number - 1].start);
}

static void write_chunks(const struct export_row *row, struct buffer *out)
{
    if (row->number && row->cell->llm)
        csv_number(out, (double)row->cell->iterations[row->number - 1].chunk_count);
}

static void write_embeddings(const struct export_row *row, struct buffer *out)
{
    if (row->number && !row->cell->llm)
        csv_number(out, row->cell->iterations[row->number - 1].count);
}

static const struct export_column columns[] = {
    SHARED_RUN_ID,
    SHARED_CREATED_AT,
    SHARED_PROTOCOL,
    SHARED_SUITE,
    SHARED_DEVICE_CLASS,
    SHARED_DEVICE_SUBCLASS,
    SHARED_BROWSER,
    SHARED_BROWSER_VERSION,
    SHARED_OS,
    SHARED_GPU_VENDOR,
    SHARED_GPU_ARCHITECTURE,
    {"cores", EXPORT_NUMBER, NULL, "logical processors that the browser reports", FROM_RUN,
     "environment.hardware.cores", NULL},
    SHARED_MEMORY_GB,
    SHARED_ISOLATED,
    SHARED_MFLOPS,
    SHARED_RUNTIME_ID,
    SHARED_RUNTIME_VERSION,
    SHARED_MODEL_ID,
    {"providerModelId", EXPORT_TEXT, NULL, "the model's name at its provider", FROM_CELL,
     "model.providerModelId", NULL},
    {"quantization", EXPORT_TEXT, NULL, "quantization of the weights", FROM_CELL,
     "model.quantization", NULL},
    {"sizeBytes", EXPORT_NUMBER, "bytes", "declared size of the model", FROM_CELL,
     "model.sizeBytes", NULL},
    SHARED_WORKLOAD_ID,
    SHARED_BACKEND,
    {"iteration", EXPORT_INTEGER, NULL, "from 1; empty for a cell without iterations",
     FROM_ITERATION, NULL, write_number},
    {"ttftMs", EXPORT_FIGURE, "ms", "time to the first text, of an incremental iteration",
     FROM_ITERATION, NULL, write_ttft},
    {"decodeCharsPerSec", EXPORT_FIGURE, "characters/s",
     "rate after the first text, of an incremental iteration", FROM_ITERATION, NULL, write_decode},
    {"generatedChars", EXPORT_NUMBER, "characters", "UTF-16 units that were generated",
     FROM_ITERATION, NULL, write_generated},
    {"overallCharsPerSec", EXPORT_FIGURE, "characters/s", "rate over the whole iteration",
     FROM_ITERATION, NULL, write_overall},
    {"streamIncremental", EXPORT_BOOL, NULL,
     "whether this iteration's text came as a stream; the board asks that of all of a cell",
     FROM_ITERATION, NULL, write_incremental},
    {"durationMs", EXPORT_FIGURE, "ms", "from start to end", FROM_ITERATION, NULL, write_duration},
    SHARED_LOAD_MS,
    SHARED_LOAD_CACHED,
    SHARED_STATUS,
    SHARED_CELL_ID,
    {"chunkCount", EXPORT_INTEGER, NULL, "chunks of the stream", FROM_ITERATION, NULL,
     write_chunks},
    {"generatedTokensApprox", EXPORT_NUMBER, "tokens", "generated tokens, as the provider says",
     FROM_ITERATION, "providerUsage.outputTokens", NULL},
    {"generatedTokensFidelity", EXPORT_TEXT, NULL, "how the provider counted them", FROM_ITERATION,
     "providerUsage.fidelity", NULL},
    {"tokensPerSecApprox", EXPORT_FIGURE, "chunks/s",
     "rate of chunks after the first text, of a cell that is incremental throughout",
     FROM_ITERATION, NULL, write_tokens},
    {"finishReason", EXPORT_TEXT, NULL, "why the generation ended", FROM_ITERATION, "finishReason",
     NULL},
    {"gates", EXPORT_LIST, NULL, "what the runner found wrong, parted by |", FROM_ITERATION,
     "gates", NULL},
    {"embedCount", EXPORT_NUMBER, "texts", "texts that were embedded", FROM_ITERATION, NULL,
     write_embeddings},
};

struct export_layout export_iterations_layout(void)
{
    return (struct export_layout){
        columns, sizeof columns / sizeof *columns, EACH_ITERATION,
        "One row per iteration; a cell without iterations has one row with empty measures."};
}
