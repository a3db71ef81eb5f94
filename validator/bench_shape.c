#include <math.h>
#include <stdlib.h>

#include "validator/bench_run.h"
#include "validator/calendar.h"
#include "validator/text.h"

enum {
    CELLS_MAX = 500,
    RUNTIME_VERSIONS_MAX = 64,
    REPORTED_GPU_UNITS_MAX = 64,
    SERIES_ID_UNITS_MAX = 64,
};

#define RUN(member) offsetof(struct bench_run, member)
#define CHECKED FIELD_CHECKED_ONLY

static const struct field series_fields[] = {
    {"id", FIELD_TEXT, FIELD_REQUIRED, CHECKED, NULL},
    {"index", FIELD_NUMBER, FIELD_REQUIRED, CHECKED, NULL},
    {"count", FIELD_NUMBER, FIELD_REQUIRED, CHECKED, NULL},
    {"cooldownMs", FIELD_NUMBER, 0, CHECKED, NULL},
    {"idleBeforeMs", FIELD_NUMBER, 0, CHECKED, NULL},
    {0},
};
static const struct field harness_fields[] = {
    {"name", FIELD_TEXT, FIELD_REQUIRED, CHECKED, NULL},
    {"version", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, RUN(harness_version), NULL},
    {"appVersion", FIELD_TEXT, 0, CHECKED, NULL},
    {"commit", FIELD_TEXT, 0, CHECKED, NULL},
    {"runtimeVersions", FIELD_OBJECT, 0, RUN(runtime_versions), NULL},
    {"series", FIELD_OBJECT, 0, RUN(series), series_fields},
    {"coldStart", FIELD_TEXT, 0, CHECKED, NULL},
    {0},
};
static const struct field browser_fields[] = {
    {"name", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, RUN(browser), NULL},
    {"version", FIELD_TEXT, FIELD_INDEXED, RUN(browser_version), NULL},
    {"engine", FIELD_TEXT, FIELD_INDEXED, RUN(engine), NULL},
    {"webdriver", FIELD_BOOL, 0, RUN(webdriver), NULL},
    {0},
};
static const struct field os_fields[] = {
    {"platform", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, RUN(platform), NULL},
    {"version", FIELD_TEXT, FIELD_INDEXED, RUN(os_version), NULL},
    {"architecture", FIELD_TEXT, FIELD_INDEXED, RUN(architecture), NULL},
    {"model", FIELD_TEXT, FIELD_INDEXED, RUN(os_model), NULL},
    {0},
};
static const struct field hardware_fields[] = {
    {"cores", FIELD_NUMBER, FIELD_NULLABLE, RUN(cores), NULL},
    {"coresClamped", FIELD_BOOL, 0, CHECKED, NULL},
    {"deviceMemoryGB", FIELD_NUMBER, FIELD_NULLABLE, RUN(memory_gb), NULL},
    {"deviceMemoryCapped", FIELD_BOOL, 0, CHECKED, NULL},
    {"jsHeapSizeLimitBytes", FIELD_NUMBER, 0, RUN(heap_limit), NULL},
    {0},
};
static const struct field gpu_fields[] = {
    {"available", FIELD_BOOL, FIELD_REQUIRED, RUN(gpu_available), NULL},
    {"vendor", FIELD_TEXT, FIELD_INDEXED, RUN(gpu_vendor), NULL},
    {"architecture", FIELD_TEXT, FIELD_INDEXED, RUN(gpu_architecture), NULL},
    {"device", FIELD_TEXT, 0, RUN(gpu_device), NULL},
    {"description", FIELD_TEXT, 0, RUN(gpu_description), NULL},
    {"isFallbackAdapter", FIELD_BOOL, 0, CHECKED, NULL},
    {0},
};
static const struct field flags_fields[] = {
    {"crossOriginIsolated", FIELD_BOOL, 0, RUN(cross_origin_isolated), NULL},
    {0},
};
static const struct field device_fields[] = {
    {"type", FIELD_TEXT, FIELD_INDEXED, RUN(device_type), NULL},
    {0},
};
static const struct field storage_fields[] = {
    {"quotaBytes", FIELD_NUMBER, 0, RUN(quota), NULL},
    {0},
};
static const struct field power_fields[] = {
    {"charging", FIELD_BOOL, 0, CHECKED, NULL},
    {"level", FIELD_NUMBER, 0, CHECKED, NULL},
    {0},
};
static const struct field screen_fields[] = {
    {"width", FIELD_NUMBER, 0, CHECKED, NULL},
    {"height", FIELD_NUMBER, 0, CHECKED, NULL},
    {"dpr", FIELD_NUMBER, 0, CHECKED, NULL},
    {0},
};
static const struct field reported_fields[] = {
    {"gpu", FIELD_TEXT, 0, RUN(reported_gpu), NULL},
    {"chassis", FIELD_TEXT, 0, RUN(reported_chassis), NULL},
    {"ramGB", FIELD_NUMBER, FIELD_NULLABLE, RUN(reported_ram_gb), NULL},
    {"otherAppsRunning", FIELD_BOOL, 0, CHECKED, NULL},
    {0},
};
static const struct field environment_fields[] = {
    {"browser", FIELD_OBJECT, FIELD_REQUIRED, CHECKED, browser_fields},
    {"os", FIELD_OBJECT, FIELD_REQUIRED, CHECKED, os_fields},
    {"hardware", FIELD_OBJECT, FIELD_REQUIRED, CHECKED, hardware_fields},
    {"gpu", FIELD_OBJECT, 0, RUN(gpu), gpu_fields},
    {"webglRenderer", FIELD_TEXT, FIELD_NULLABLE, RUN(webgl_renderer), NULL},
    {"gpuModel", FIELD_TEXT, FIELD_INDEXED, RUN(gpu_model), NULL},
    {"flags", FIELD_OBJECT, FIELD_REQUIRED, CHECKED, flags_fields},
    {"device", FIELD_OBJECT, 0, CHECKED, device_fields},
    {"storage", FIELD_OBJECT, FIELD_NULLABLE, CHECKED, storage_fields},
    {"power", FIELD_OBJECT, 0, CHECKED, power_fields},
    {"timerResolutionUs", FIELD_NUMBER, FIELD_NULLABLE, RUN(timer_us), NULL},
    {"screen", FIELD_OBJECT, FIELD_NULLABLE, CHECKED, screen_fields},
    {"userReportedDevice", FIELD_TEXT, FIELD_INDEXED, RUN(reported_device), NULL},
    {"userReportedHardware", FIELD_OBJECT, 0, RUN(reported_hardware), reported_fields},
    /* The scrub steps into these (spec 03); anything else there would pass it by. */
    {"locale", FIELD_OBJECT, 0, CHECKED, NULL},
    {"display", FIELD_OBJECT, 0, CHECKED, NULL},
    {0},
};
static const struct field fingerprint_fields[] = {
    {"mflops", FIELD_NUMBER, 0, RUN(mflops), NULL},
    {"n", FIELD_NUMBER, 0, CHECKED, NULL},
    {"iterations", FIELD_NUMBER, 0, CHECKED, NULL},
    {"durationMs", FIELD_NUMBER, 0, CHECKED, NULL},
    {"checksum", FIELD_NUMBER, FIELD_NULLABLE, RUN(checksum), NULL},
    {0},
};
static const struct field run_fields[] = {
    {"protocol", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, RUN(identity.protocol), NULL},
    {"schemaVersion", FIELD_NUMBER, FIELD_REQUIRED, RUN(identity.schema_version), NULL},
    {"runId", FIELD_TEXT, FIELD_REQUIRED, RUN(identity.run_id), NULL},
    {"createdAt", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, RUN(identity.created_at), NULL},
    {"harness", FIELD_OBJECT, FIELD_REQUIRED, RUN(harness), harness_fields},
    {"suite", FIELD_TEXT, FIELD_REQUIRED, RUN(identity.suite), NULL},
    {"environment", FIELD_OBJECT, FIELD_REQUIRED, RUN(environment), environment_fields},
    {"fingerprint", FIELD_OBJECT, FIELD_NULLABLE, RUN(fingerprint), fingerprint_fields},
    {"cells", FIELD_ARRAY, FIELD_REQUIRED, RUN(cells_value), NULL},
    {"events", FIELD_ARRAY, FIELD_REQUIRED, RUN(events), NULL},
    {"clientSummaries", FIELD_ARRAY, 0, RUN(client_summaries), NULL},
    {"nonce", FIELD_TEXT, 0, CHECKED, NULL},
    {"scrubbedAt", FIELD_TEXT, 0, CHECKED, NULL},
    {0},
};

static const struct field event_fields[] = {
    {"t", FIELD_NUMBER, 0, CHECKED, NULL},
    {"type", FIELD_TEXT, 0, CHECKED, NULL},
    {0},
};

static int by_cell_id(const void *left, const void *right)
{
    const struct bench_cell *const *a = left, *const *b = right;
    int order = js_compare((*a)->cell_id, (*b)->cell_id);
    return order ? order : *a < *b ? -1 : *a > *b;
}

/* Cells with an id, ordered by it; errors for ids that stand twice. */
static const struct bench_cell **order_cells(struct shape *shape, struct bench_run *run,
                                             size_t *count)
{
    const struct bench_cell **order =
        arena_clear_take(shape->arena, run->cell_count, sizeof *order);
    *count = 0;
    for (size_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].cell_id)
            order[(*count)++] = &run->cells[i];
    qsort(order, *count, sizeof *order, by_cell_id);
    for (size_t i = 1; i < *count; i++) {
        if (js_compare(order[i - 1]->cell_id, order[i]->cell_id) == 0) {
            shape_enter_index(shape, (size_t)(order[i] - run->cells));
            shape_error(shape, "cellId", "stands in an earlier cell, too");
            shape_leave(shape);
        }
    }
    return order;
}

static const struct bench_cell *find_cell(const struct bench_cell **order, size_t count,
                                          const struct js_value *id)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = (low + count) / 2;
        int way = js_compare(order[middle]->cell_id, id);
        if (way == 0)
            return order[middle];
        if (way < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return NULL;
}

static void read_medians(struct shape *shape, const struct js_value *value,
                         struct client_summary *client)
{
    /* A median that was not finite prints as null; it is then absent. */
    static const struct field median_fields[] = {{"median", FIELD_NUMBER, FIELD_NULLABLE, 0, NULL},
                                                 {0}};
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        const char *name = metric_name((enum metric)metric);
        const struct js_value *sample = js_get(value, name);
        client->medians[metric] = NAN;
        if (!sample || !metric_is_compared((enum metric)metric))
            continue;
        shape_enter(shape, name);
        if (shape_is(shape, sample, JS_OBJECT))
            shape_fields(shape, sample, median_fields, &client->medians[metric]);
        shape_leave(shape);
    }
}

static void read_clients(struct shape *shape, struct bench_run *run,
                         const struct bench_cell **order, size_t order_count)
{
    const struct js_value *array = run->client_summaries;
    if (!array)
        return;
    struct client_summary *clients = arena_clear_take(shape->arena, array->size, sizeof *clients);
    shape_enter(shape, "clientSummaries");
    for (uint32_t i = 0; i < array->size; i++) {
        const struct js_value *value = &array->items[i];
        shape_enter_index(shape, i);
        if (shape_is(shape, value, JS_OBJECT)) {
            const struct js_value *id = js_get(value, "cellId");
            if (!id || id->type != JS_STRING)
                shape_error(shape, "cellId", "must be a string");
            else
                clients[i].cell = find_cell(order, order_count, id);
            read_medians(shape, value, &clients[i]);
        }
        shape_leave(shape);
    }
    shape_leave(shape);
    run->clients = clients;
    run->client_count = array->size;
}

static void check_run_id(struct shape *shape, const struct js_value *id)
{
    bool sane = id && id->size >= 8 && id->size <= 64;
    for (uint32_t i = 0; sane && i < id->size; i++) {
        char c = id->text[i];
        sane = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    }
    if (id && !sane)
        shape_error(shape, "runId", "must be 8 to 64 characters of A-Z, a-z, 0-9, _ and -");
}

static bool is_one_of(const struct js_value *value, const char *const *words)
{
    for (; *words; words++)
        if (js_equals(value, *words))
            return true;
    return false;
}

static void check_series(struct shape *shape, const struct js_value *series)
{
    static const struct {
        const char *name;
        double low, high;
        const char *message;
    } numbers[] = {
        {"count", 1, 1000, "must be an integer from 1 to 1000"},
        {"cooldownMs", 0, 3600000, "must be an integer from 0 to 3,600,000"},
        {"idleBeforeMs", 0, 2592000000, "must be an integer from 0 to 2,592,000,000"},
    };
    if (!series)
        return;
    shape_enter(shape, "series");
    const struct js_value *id = js_get(series, "id"), *index = js_get(series, "index"),
                          *count = js_get(series, "count");
    if (id && id->type == JS_STRING && (id->size == 0 || js_units(id) > SERIES_ID_UNITS_MAX))
        shape_error(shape, "id", "must be 1 to 64 UTF-16 units");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct js_value *value = js_get(series, numbers[i].name);
        if (value && value->type == JS_NUMBER &&
            !shape_integer(value->number, numbers[i].low, numbers[i].high))
            shape_error(shape, numbers[i].name, numbers[i].message);
    }
    double last = count && count->type == JS_NUMBER ? count->number : 1000;
    if (index && index->type == JS_NUMBER && !shape_integer(index->number, 1, last))
        shape_error(shape, "index", "must be an integer from 1 to count");
    shape_leave(shape);
}

static void check_harness(struct shape *shape, struct bench_run *run)
{
    const struct js_value *versions = run->runtime_versions,
                          *cold = js_get(run->harness, "coldStart");
    shape_enter(shape, "harness");
    check_series(shape, run->series);
    if (cold && cold->type == JS_STRING && !js_equals(cold, "provider-caches-cleared"))
        shape_error(shape, "coldStart", "must be provider-caches-cleared");
    if (versions && versions->size > RUNTIME_VERSIONS_MAX)
        shape_error(shape, "runtimeVersions", "has more than 64 keys");
    shape_enter(shape, "runtimeVersions");
    for (uint32_t i = 0; versions && i < versions->size; i++) {
        const struct js_member *member = &versions->members[i];
        shape_enter_key(shape, &member->key);
        if (shape_is(shape, &member->value, JS_STRING) &&
            (js_units(&member->key) > INDEXED_UNITS_MAX ||
             js_units(&member->value) > INDEXED_UNITS_MAX))
            shape_error(shape, NULL, "is longer than 200 UTF-16 units");
        shape_leave(shape);
    }
    shape_leave(shape);
    shape_leave(shape);
}

/* Characters that would let a device name play tricks on a page (spec 02). */
static bool has_control(struct text text)
{
    const char *end = text.data + text.size;
    for (const char *at = text.data; at < end;)
        if (text_is_control(text_next(&at, end)))
            return true;
    return false;
}

static void check_reported(struct shape *shape, struct bench_run *run)
{
    static const char *const chassis[] = {"laptop", "desktop", "other", NULL};
    shape_enter(shape, "environment");
    shape_enter(shape, "userReportedHardware");
    if (run->reported_gpu) {
        struct text gpu = text_of(run->reported_gpu);
        size_t units = text_units(text_trim(gpu));
        if (units < 1 || units > REPORTED_GPU_UNITS_MAX || has_control(gpu))
            shape_error(shape, "gpu",
                        "must be 1 to 64 UTF-16 units after trimming, without control characters");
    }
    if (run->reported_chassis && !is_one_of(run->reported_chassis, chassis))
        shape_error(shape, "chassis", "must be laptop, desktop or other");
    if (!isnan(run->reported_ram_gb) && !shape_integer(run->reported_ram_gb, 1, 1024))
        shape_error(shape, "ramGB", "must be an integer from 1 to 1024 or null");
    shape_leave(shape);
    shape_leave(shape);
}

static void check_identity(struct shape *shape, struct bench_run *run)
{
    static const char *const suites[] = {"quick", "standard", "thorough", "custom", NULL};
    struct run_identity *identity = &run->identity;
    check_run_id(shape, identity->run_id);
    if (identity->suite && !is_one_of(identity->suite, suites))
        shape_error(shape, "suite", "must be quick, standard, thorough or custom");
    if (identity->created_at && !calendar_read(text_of(identity->created_at), &identity->created_ms,
                                               &identity->year, &identity->month))
        shape_error(shape, "createdAt", "must be a date and time like 2026-01-31T23:59:59.000Z");
}

/* Cells with an id, ordered by it; none when `cells` is no list of 1 to 500. */
static const struct bench_cell **read_cells(struct shape *shape, struct bench_run *run,
                                            size_t *count)
{
    const struct js_value *array = run->cells_value;
    *count = 0;
    if (!array)
        return NULL;
    if (array->size < 1 || array->size > CELLS_MAX) {
        shape_error(shape, "cells", "must have 1 to 500 items");
        return NULL;
    }
    run->cells = arena_clear_take(shape->arena, array->size, sizeof *run->cells);
    run->cell_count = array->size;
    shape_enter(shape, "cells");
    for (uint32_t i = 0; i < array->size; i++) {
        shape_enter_index(shape, i);
        bench_read_cell(shape, &array->items[i], &run->cells[i]);
        shape_leave(shape);
    }
    const struct bench_cell **order = order_cells(shape, run, count);
    shape_leave(shape);
    return order;
}

/* Of the details only those of a pressure change are read. */
static void check_events(struct shape *shape, const struct js_value *events)
{
    shape_objects(shape, events, "events", event_fields);
    shape_enter(shape, "events");
    for (uint32_t i = 0; events && i < events->size; i++) {
        const struct js_value *event = &events->items[i], *detail = js_get(event, "detail");
        shape_enter_index(shape, i);
        if (js_equals(js_get(event, "type"), "pressure-change") && detail &&
            detail->type != JS_STRING)
            shape_error(shape, "detail", "must be a string");
        shape_leave(shape);
    }
    shape_leave(shape);
}

const struct run *bench_read(struct shape *shape, const struct js_document *document)
{
    struct bench_run *run = arena_clear_take(shape->arena, 1, sizeof *run);
    shape_fields(shape, &document->root, run_fields, run);
    check_identity(shape, run);
    check_harness(shape, run);
    check_reported(shape, run);
    size_t count;
    const struct bench_cell **order = read_cells(shape, run, &count);
    read_clients(shape, run, order, count);
    check_events(shape, run->events);
    return (const struct run *)run;
}
