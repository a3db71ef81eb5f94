/* Rows and columns of the exports; private to the exports' sources. */
#ifndef BENCHLEDGER_AGGREGATE_EXPORT_ROW_H
#define BENCHLEDGER_AGGREGATE_EXPORT_ROW_H

#include "aggregate/export.h"
#include "validator/bench_run.h"

enum pressure_state {
    PRESSURE_CRITICAL,
    PRESSURE_SERIOUS,
    PRESSURE_FAIR,
    PRESSURE_NOMINAL,
    PRESSURE_STATES
};
struct pressure {
    size_t samples;
    double shares[PRESSURE_STATES]; /* of the suite's time; NAN without a sample or a span */
};

/* What every row of a run shares. */
struct export_run {
    const struct bench_run *run;
    const struct verdict *verdict;
    bool ok; /* as `check` says it */
    struct text device_class, device_subclass;
    double suite_start, suite_end; /* of the page's clock; NAN: not known */
    struct pressure pressure;
};

/* One row: of a run, a cell or an iteration. What its table has no use for is NULL. */
struct export_row {
    const struct export_run *run;
    const struct bench_cell *cell;
    const struct bench_summary *summary;
    const struct js_value *cell_value, *iteration_value;
    size_t number; /* of the iteration, from 1 */
    struct measurement measured;
};

enum export_type {
    EXPORT_TEXT,
    EXPORT_NUMBER,  /* raw */
    EXPORT_FIGURE,  /* rounded to two decimals */
    EXPORT_INTEGER, /* raw; shape or we see to it that it is one */
    EXPORT_BOOL,
    EXPORT_TIME,
    EXPORT_ANY,     /* whatever scalar the file has */
    EXPORT_LIST,    /* strings joined by '|' */
    EXPORT_VERSIONS /* as many columns as there are runtime packages */
};
enum export_origin { FROM_RUN, FROM_CELL, FROM_ITERATION };

/* One column. Its value stands in the file at PATH (dotted) of ORIGIN, or WRITE makes it. */
struct export_column {
    const char *name;
    enum export_type type;
    const char *unit, *about; /* unit: NULL without one */
    enum export_origin origin;
    const char *path;
    void (*write)(const struct export_row *row, struct buffer *out);
};

enum export_grain { EACH_RUN, EACH_CELL, EACH_ITERATION };
struct export_layout {
    const struct export_column *columns;
    size_t count;
    enum export_grain grain;
    const char *about;
};
struct export_layout export_iterations_layout(void);
struct export_layout export_cells_layout(void);
struct export_layout export_runs_layout(void);
struct export_layout export_layout(enum export_table table);

/* The value at PATH below OBJECT, or NULL. */
const struct js_value *export_find(const struct js_value *object, const char *path);
void export_write_figure(struct buffer *out, double value);
struct pressure export_pressure(const struct export_run *run);

/* Columns that several tables have. */
#define SHARED_RUN_ID                                                        \
    {                                                                        \
        "runId", EXPORT_TEXT, NULL, "id of the run", FROM_RUN, "runId", NULL \
    }
#define SHARED_CREATED_AT                                                                    \
    {                                                                                        \
        "createdAt", EXPORT_TIME, NULL, "when the run was made", FROM_RUN, "createdAt", NULL \
    }
#define SHARED_PROTOCOL                                                                    \
    {                                                                                      \
        "protocol", EXPORT_TEXT, NULL, "what was measured how", FROM_RUN, "protocol", NULL \
    }
#define SHARED_SUITE                                                                      \
    {                                                                                     \
        "suite", EXPORT_TEXT, NULL, "which set of cells was run", FROM_RUN, "suite", NULL \
    }
#define SHARED_DEVICE_CLASS                                                                  \
    {                                                                                        \
        "deviceClass", EXPORT_TEXT, NULL, "operating system and GPU family", FROM_RUN, NULL, \
            export_device_class                                                              \
    }
#define SHARED_DEVICE_SUBCLASS                                                                 \
    {                                                                                          \
        "deviceSubclass", EXPORT_TEXT, NULL, "operating system and GPU model", FROM_RUN, NULL, \
            export_device_subclass                                                             \
    }
#define SHARED_BROWSER                                                                      \
    {                                                                                       \
        "browser", EXPORT_TEXT, NULL, "browser", FROM_RUN, "environment.browser.name", NULL \
    }
#define SHARED_BROWSER_VERSION                                                   \
    {                                                                            \
        "browserVersion", EXPORT_TEXT, NULL, "version of the browser", FROM_RUN, \
            "environment.browser.version", NULL                                  \
    }
#define SHARED_OS                                                                              \
    {                                                                                          \
        "os", EXPORT_TEXT, NULL, "operating system", FROM_RUN, "environment.os.platform", NULL \
    }
#define SHARED_GPU_VENDOR                                                                        \
    {                                                                                            \
        "gpuVendor", EXPORT_TEXT, NULL, "vendor, of WebGPU", FROM_RUN, "environment.gpu.vendor", \
            NULL                                                                                 \
    }
#define SHARED_GPU_ARCHITECTURE                                                    \
    {                                                                              \
        "gpuArchitecture", EXPORT_TEXT, NULL, "architecture, of WebGPU", FROM_RUN, \
            "environment.gpu.architecture", NULL                                   \
    }
#define SHARED_MEMORY_GB                                                                    \
    {                                                                                       \
        "deviceMemoryGB", EXPORT_NUMBER, "GB", "memory as the browser rounds it", FROM_RUN, \
            "environment.hardware.deviceMemoryGB", NULL                                     \
    }
#define SHARED_ISOLATED                                                                         \
    {                                                                                           \
        "crossOriginIsolated", EXPORT_BOOL, NULL, "whether the page was cross-origin isolated", \
            FROM_RUN, "environment.flags.crossOriginIsolated", NULL                             \
    }
#define SHARED_MFLOPS                                                                             \
    {                                                                                             \
        "fingerprintMflops", EXPORT_FIGURE, "Mflop/s", "speed of the calibration loop", FROM_RUN, \
            "fingerprint.mflops", NULL                                                            \
    }
#define SHARED_CELL_ID                                                                          \
    {                                                                                           \
        "cellId", EXPORT_TEXT, NULL, "id of the cell within its run", FROM_CELL, "cellId", NULL \
    }
#define SHARED_RUNTIME_ID                                                       \
    {                                                                           \
        "runtimeId", EXPORT_TEXT, NULL, "runtime", FROM_CELL, "runtimeId", NULL \
    }
#define SHARED_RUNTIME_VERSION                                                    \
    {                                                                             \
        "runtimeVersion", EXPORT_TEXT, NULL, "version of the runtime", FROM_CELL, \
            "runtimeVersion", NULL                                                \
    }
#define SHARED_MODEL_ID                                                                   \
    {                                                                                     \
        "benchModelId", EXPORT_TEXT, NULL, "model", FROM_CELL, "model.benchModelId", NULL \
    }
#define SHARED_WORKLOAD_ID                                                         \
    {                                                                              \
        "workloadId", EXPORT_TEXT, NULL, "workload", FROM_CELL, "workloadId", NULL \
    }
#define SHARED_BACKEND                                                                             \
    {                                                                                              \
        "resolvedBackend", EXPORT_TEXT, NULL, "backend that the runtime ended up with", FROM_CELL, \
            "resolvedBackend", NULL                                                                \
    }
#define SHARED_STATUS                                                                           \
    {                                                                                           \
        "status", EXPORT_TEXT, NULL, "ok, invalid, error or skipped", FROM_CELL, "status", NULL \
    }
#define SHARED_LOAD_MS                                                                     \
    {                                                                                      \
        "loadMs", EXPORT_FIGURE, "ms", "how long the model took to load", FROM_CELL, NULL, \
            export_load_ms                                                                 \
    }
#define SHARED_LOAD_CACHED                                                                  \
    {                                                                                       \
        "loadCached", EXPORT_BOOL, NULL, "whether the model came from the browser's cache", \
            FROM_CELL, "load.cached", NULL                                                  \
    }

void export_device_class(const struct export_row *row, struct buffer *out);
void export_device_subclass(const struct export_row *row, struct buffer *out);
void export_load_ms(const struct export_row *row, struct buffer *out);

/* The versions of RUN's packages where their columns go, open: each column brings its comma. */
void export_open_versions(const struct bench_run *run, struct buffer *out);

#endif
