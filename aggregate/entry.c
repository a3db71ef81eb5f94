#include "aggregate/entry.h"

#include <math.h>

#include "aggregate/device.h"
#include "validator/bench_run.h"

static void put_text(struct js_writer *writer, const char *key, const struct js_value *text)
{
    if (!text)
        return;
    js_write_key(writer, key);
    js_write_value(writer, text);
}

static void put_number(struct js_writer *writer, const char *key, double number)
{
    if (!isfinite(number))
        return;
    js_write_key(writer, key);
    js_write_number(writer, number);
}

static void put_bool(struct js_writer *writer, const char *key, bool value)
{
    js_write_key(writer, key);
    js_write_bool(writer, value);
}

static void put_said(struct js_writer *writer, const char *key, enum said said)
{
    if (said != UNSAID)
        put_bool(writer, key, said == SAID_YES);
}

static void put_slice(struct js_writer *writer, const char *key, struct text text)
{
    js_write_key(writer, key);
    js_write_string(writer, text.data, text.size);
}

static void put_median(struct js_writer *writer, const struct bench_summary *summary,
                       enum metric metric)
{
    if (summary->metrics[metric].n)
        put_number(writer, metric_name(metric), summary->metrics[metric].median);
}

static void write_device(const struct bench_run *run, struct js_writer *writer)
{
    ARENA_SCOPE struct arena arena = {0};
    struct text class = device_class(&arena, text_of(run->platform), run->gpu_available == SAID_YES,
                                     run->gpu_vendor, run->gpu_architecture);
    put_slice(writer, "deviceClass", class);
    put_slice(writer, "deviceSubclass", device_subclass(&arena, class, run->gpu_model));
}

static void write_environment(const struct bench_run *run, struct js_writer *writer)
{
    put_text(writer, "browser", run->browser);
    put_text(writer, "browserVersion", run->browser_version);
    put_text(writer, "engine", run->engine);
    put_text(writer, "os", run->platform);
    put_text(writer, "osVersion", run->os_version);
    put_text(writer, "architecture", run->architecture);
    put_text(writer, "gpuVendor", run->gpu_vendor);
    put_text(writer, "gpuArchitecture", run->gpu_architecture);
    put_text(writer, "gpuModel", run->gpu_model);
    put_text(writer, "deviceType", run->device_type);
    put_text(writer, "deviceModel", run->os_model && run->os_model->size ? run->os_model : NULL);
    put_number(writer, "cores", run->cores);
    put_number(writer, "deviceMemoryGB", run->memory_gb);
    put_number(writer, "jsHeapSizeLimitBytes", run->heap_limit);
    put_number(writer, "storageQuotaBytes", run->quota);
    put_said(writer, "crossOriginIsolated", run->cross_origin_isolated);
    put_said(writer, "webgpu", run->gpu_available);
    put_number(writer, "timerResolutionUs", run->timer_us);
    put_said(writer, "webdriver", run->webdriver);
}

static void write_cell(const struct bench_cell *cell, const struct bench_summary *summary,
                       struct js_writer *writer)
{
    js_write_begin(writer, '{');
    put_text(writer, "cellId", cell->cell_id);
    put_text(writer, "runtimeId", cell->runtime_id);
    put_text(writer, "runtimeVersion", cell->runtime_version);
    put_text(writer, "benchModelId", cell->bench_model_id);
    put_text(writer, "modelName", cell->model_name);
    put_text(writer, "workloadId", cell->workload_id);
    put_text(writer, "resolvedBackend", cell->resolved_backend);
    put_median(writer, summary, METRIC_TTFT);
    put_median(writer, summary, METRIC_DECODE_CHARS);
    put_median(writer, summary, METRIC_OVERALL);
    if (cell->llm)
        put_bool(writer, "streamIncremental", summary->incremental);
    put_median(writer, summary, METRIC_SINGLE_LATENCY);
    put_median(writer, summary, METRIC_BATCH_TEXTS);
    put_number(writer, "loadMs", summary->load_ms);
    put_said(writer, "loadCached", cell->load_cached);
    put_number(writer, "qualityScore", cell->score);
    put_number(writer, "qualityParseRate", cell->parse_rate);
    put_bool(writer, "highVariance", summary->high_variance);
    js_write_end(writer, '}');
}

static void bench_entry(const struct verdict *verdict, bool flagged, const char *path,
                        struct js_writer *writer)
{
    const struct bench_run *run = bench_run_of(verdict->run);
    put_text(writer, "runId", run->identity.run_id);
    put_text(writer, "createdAt", run->identity.created_at);
    put_text(writer, "protocol", run->identity.protocol);
    put_text(writer, "suite", run->identity.suite);
    write_device(run, writer);
    write_environment(run, writer);
    put_text(writer, "harnessVersion", run->harness_version);
    if (run->runtime_versions) {
        js_write_key(writer, "runtimeVersions");
        js_print(verdict->document, run->runtime_versions, writer->out);
        writer->follows = true;
    }
    put_text(writer, "userReportedDevice", run->reported_device);
    put_text(writer, "reportedGpu", run->reported_gpu);
    put_text(writer, "reportedChassis", run->reported_chassis);
    put_number(writer, "reportedRamGB", run->reported_ram_gb);
    put_bool(writer, "flagged", flagged);
    js_write_key(writer, "path");
    js_write_text(writer, path);
    js_write_key(writer, "cells");
    js_write_begin(writer, '[');
    for (size_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].status == CELL_OK)
            write_cell(&run->cells[i], &verdict->summaries->cells[i], writer);
    js_write_end(writer, ']');
}

static const struct {
    const struct protocol *(*family)(void);
    void (*write)(const struct verdict *verdict, bool flagged, const char *path,
                  struct js_writer *writer);
} families[] = {{protocol_localmode_bench, bench_entry}};

void entry_write(const struct verdict *verdict, bool flagged, const char *path, struct buffer *out)
{
    struct js_writer writer = {.out = out};
    js_write_begin(&writer, '{');
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i].family() == verdict->family)
            families[i].write(verdict, flagged, path, &writer);
    js_write_end(&writer, '}');
}
