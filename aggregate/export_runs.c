#include <math.h>

#include "aggregate/csv.h"
#include "aggregate/export_row.h"

static void write_quality_lane(const struct export_row *row, struct buffer *out)
{
    static const char prefix[] = "quality-";
    const struct bench_run *run = row->run->run;
    bool any = false;
    for (size_t i = 0; i < run->cell_count; i++) {
        struct text kind = text_of(run->cells[i].workload_kind);
        any = any ||
              (kind.size >= sizeof prefix - 1 && memcmp(kind.data, prefix, sizeof prefix - 1) == 0);
    }
    csv_bool(out, any);
}

static void write_total(const struct export_row *row, struct buffer *out)
{
    csv_number(out, (double)row->run->run->cell_count);
}

static void write_with_status(const struct export_row *row, enum cell_status status,
                              struct buffer *out)
{
    size_t count = 0;
    for (size_t i = 0; i < row->run->run->cell_count; i++)
        count += row->run->run->cells[i].status == status;
    csv_number(out, (double)count);
}

static void write_ok(const struct export_row *row, struct buffer *out)
{
    write_with_status(row, CELL_OK, out);
}

static void write_invalid(const struct export_row *row, struct buffer *out)
{
    write_with_status(row, CELL_INVALID, out);
}

static void write_error(const struct export_row *row, struct buffer *out)
{
    write_with_status(row, CELL_ERROR, out);
}

static void write_skipped(const struct export_row *row, struct buffer *out)
{
    write_with_status(row, CELL_SKIPPED, out);
}

static void write_suite_duration(const struct export_row *row, struct buffer *out)
{
    export_write_figure(out, row->run->suite_end - row->run->suite_start);
}

static void write_validation_ok(const struct export_row *row, struct buffer *out)
{
    csv_bool(out, row->run->ok);
}

static void write_flags(const struct export_row *row, struct buffer *out)
{
    const struct flag *first = row->run->verdict->flags;
    for (const struct flag *flag = first; flag; flag = flag->next)
        buffer_format(out, "%s%s:%s", flag == first ? "" : "|", severity_name(flag->severity),
                      flag->code);
}

static void write_samples(const struct export_row *row, struct buffer *out)
{
    csv_number(out, (double)row->run->pressure.samples);
}

static void write_critical(const struct export_row *row, struct buffer *out)
{
    csv_number(out, row->run->pressure.shares[PRESSURE_CRITICAL]);
}

static void write_serious(const struct export_row *row, struct buffer *out)
{
    csv_number(out, row->run->pressure.shares[PRESSURE_SERIOUS]);
}

static void write_fair(const struct export_row *row, struct buffer *out)
{
    csv_number(out, row->run->pressure.shares[PRESSURE_FAIR]);
}

static void write_nominal(const struct export_row *row, struct buffer *out)
{
    csv_number(out, row->run->pressure.shares[PRESSURE_NOMINAL]);
}

#define IN_FILE(name, type, unit, path, about)        \
    {                                                 \
        name, type, unit, about, FROM_RUN, path, NULL \
    }
#define MADE(name, type, unit, write, about)           \
    {                                                  \
        name, type, unit, about, FROM_RUN, NULL, write \
    }

static const struct export_column columns[] = {
    SHARED_RUN_ID,
    SHARED_CREATED_AT,
    SHARED_PROTOCOL,
    IN_FILE("schemaVersion", EXPORT_INTEGER, NULL, "schemaVersion", "version of the file's form"),
    IN_FILE("harnessName", EXPORT_TEXT, NULL, "harness.name", "program that measured"),
    IN_FILE("harnessVersion", EXPORT_TEXT, NULL, "harness.version", "its version"),
    IN_FILE("harnessAppVersion", EXPORT_TEXT, NULL, "harness.appVersion", "where it ran"),
    IN_FILE("harnessCommit", EXPORT_TEXT, NULL, "harness.commit", "commit it was built from"),
    SHARED_SUITE,
    MADE("qualityLane", EXPORT_BOOL, NULL, write_quality_lane, "whether any cell measures quality"),
    SHARED_DEVICE_CLASS,
    SHARED_DEVICE_SUBCLASS,
    SHARED_BROWSER,
    SHARED_BROWSER_VERSION,
    IN_FILE("browserEngine", EXPORT_TEXT, NULL, "environment.browser.engine", "browser engine"),
    SHARED_OS,
    IN_FILE("osVersion", EXPORT_TEXT, NULL, "environment.os.version",
            "version of the operating system"),
    IN_FILE("osArchitecture", EXPORT_TEXT, NULL, "environment.os.architecture", "processor family"),
    IN_FILE("deviceType", EXPORT_TEXT, NULL, "environment.device.type", "desktop, phone, tablet"),
    IN_FILE("hardwareConcurrency", EXPORT_NUMBER, NULL, "environment.hardware.cores",
            "logical processors that the browser reports"),
    IN_FILE("coresClamped", EXPORT_BOOL, NULL, "environment.hardware.coresClamped",
            "whether the browser is known to report fewer"),
    SHARED_MEMORY_GB,
    IN_FILE("deviceMemoryCapped", EXPORT_BOOL, NULL, "environment.hardware.deviceMemoryCapped",
            "whether the browser is known to report less"),
    IN_FILE("screenWidth", EXPORT_NUMBER, "CSS pixels", "environment.screen.width",
            "width of the screen"),
    IN_FILE("screenHeight", EXPORT_NUMBER, "CSS pixels", "environment.screen.height",
            "height of the screen"),
    IN_FILE("screenDpr", EXPORT_NUMBER, NULL, "environment.screen.dpr",
            "device pixels per CSS pixel"),
    IN_FILE("gpuAvailable", EXPORT_BOOL, NULL, "environment.gpu.available",
            "whether WebGPU gave an adapter"),
    SHARED_GPU_VENDOR,
    SHARED_GPU_ARCHITECTURE,
    IN_FILE("gpuDevice", EXPORT_TEXT, NULL, "environment.gpu.device", "device, of WebGPU"),
    IN_FILE("gpuDescription", EXPORT_TEXT, NULL, "environment.gpu.description",
            "description, of WebGPU"),
    IN_FILE("gpuIsFallbackAdapter", EXPORT_BOOL, NULL, "environment.gpu.isFallbackAdapter",
            "whether the adapter is a fallback"),
    IN_FILE("gpuModel", EXPORT_TEXT, NULL, "environment.gpuModel", "model of the GPU"),
    SHARED_ISOLATED,
    IN_FILE("timerResolutionUs", EXPORT_NUMBER, "us", "environment.timerResolutionUs",
            "resolution of the page's clock"),
    SHARED_MFLOPS,
    MADE("cellsTotal", EXPORT_INTEGER, NULL, write_total, "cells of the run"),
    MADE("cellsOk", EXPORT_INTEGER, NULL, write_ok, "of them: ok"),
    MADE("cellsInvalid", EXPORT_INTEGER, NULL, write_invalid, "of them: invalid"),
    MADE("cellsError", EXPORT_INTEGER, NULL, write_error, "of them: error"),
    MADE("cellsSkipped", EXPORT_INTEGER, NULL, write_skipped, "of them: skipped"),
    MADE("suiteDurationMs", EXPORT_FIGURE, "ms", write_suite_duration,
         "from the first start of the suite to its last end"),
    IN_FILE("scrubbedAt", EXPORT_TEXT, NULL, "scrubbedAt",
            "when publication took out what could identify a device; empty: nothing was"),
    MADE("validationOk", EXPORT_BOOL, NULL, write_validation_ok,
         "whether the digest verifies and no rule rejects the run today"),
    MADE("validationFlags", EXPORT_TEXT, NULL, write_flags,
         "what the rules find today, severity:code parted by |"),
    IN_FILE("seriesId", EXPORT_TEXT, NULL, "harness.series.id", "series that the run is part of"),
    IN_FILE("seriesIndex", EXPORT_INTEGER, NULL, "harness.series.index", "its place, from 1"),
    IN_FILE("seriesCount", EXPORT_INTEGER, NULL, "harness.series.count", "runs of the series"),
    IN_FILE("coldStart", EXPORT_TEXT, NULL, "harness.coldStart", "what was cleared before"),
    IN_FILE("seriesCooldownMs", EXPORT_INTEGER, "ms", "harness.series.cooldownMs",
            "pause between two runs of the series"),
    IN_FILE("seriesIdleBeforeMs", EXPORT_INTEGER, "ms", "harness.series.idleBeforeMs",
            "how long the device was idle before"),
    MADE("pressureSamples", EXPORT_INTEGER, NULL, write_samples,
         "changes of the compute pressure that were reported"),
    MADE("pressureCriticalFraction", EXPORT_NUMBER, NULL, write_critical,
         "share of the suite's time under critical pressure"),
    MADE("pressureSeriousFraction", EXPORT_NUMBER, NULL, write_serious,
         "share of the suite's time under serious pressure"),
    MADE("pressureFairFraction", EXPORT_NUMBER, NULL, write_fair,
         "share of the suite's time under fair pressure"),
    MADE("pressureNominalFraction", EXPORT_NUMBER, NULL, write_nominal,
         "share of the suite's time under nominal pressure"),
    {"rv_", EXPORT_VERSIONS, NULL, "version of a runtime package", FROM_RUN, NULL, NULL},
    IN_FILE("powerCharging", EXPORT_BOOL, NULL, "environment.power.charging",
            "whether the device was charging"),
    IN_FILE("powerLevel", EXPORT_NUMBER, NULL, "environment.power.level",
            "charge of the battery, from 0 to 1, in quarters"),
    IN_FILE("reportedGpu", EXPORT_TEXT, NULL, "environment.userReportedHardware.gpu",
            "GPU, as its owner says"),
    IN_FILE("reportedChassis", EXPORT_TEXT, NULL, "environment.userReportedHardware.chassis",
            "laptop, desktop or other, as its owner says"),
    IN_FILE("reportedRamGB", EXPORT_INTEGER, "GB", "environment.userReportedHardware.ramGB",
            "memory, as its owner says"),
    IN_FILE("reportedOtherApps", EXPORT_BOOL, NULL,
            "environment.userReportedHardware.otherAppsRunning",
            "whether other programs ran, as its owner says"),
};

struct export_layout export_runs_layout(void)
{
    return (struct export_layout){columns, sizeof columns / sizeof *columns, EACH_RUN,
                                  "One row per run: where it was made and how it was judged."};
}
