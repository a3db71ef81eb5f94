#include <math.h>

#include "validator/bench_run.h"

enum {
    QUALITY_ITEMS_MAX = 1000,
    OUTPUT_UNITS_MAX = 500,
    CAUSE_STACK_UNITS_MAX = 4000,
    TEXT_UNITS_MAX = 20000,
};

#define CELL(member) offsetof(struct bench_cell, member)
#define CHECKED FIELD_CHECKED_ONLY

static const struct field model_fields[] = {
    {"benchModelId", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, CELL(bench_model_id), NULL},
    {"providerModelId", FIELD_TEXT, FIELD_REQUIRED, CHECKED, NULL},
    {"displayName", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, CELL(model_name), NULL},
    {"quantization", FIELD_TEXT, 0, CHECKED, NULL},
    {"sizeBytes", FIELD_NUMBER, 0, CELL(size_bytes), NULL},
    {0},
};
static const struct field load_fields[] = {
    {"cached", FIELD_BOOL, 0, CELL(load_cached), NULL},
    {"startT", FIELD_NUMBER, FIELD_REQUIRED, CELL(load_start), NULL},
    {"endT", FIELD_NUMBER, FIELD_REQUIRED, CELL(load_end), NULL},
    {"progress", FIELD_ARRAY, 0, CHECKED, NULL},
    {"declaredBytes", FIELD_NUMBER, 0, CHECKED, NULL},
    {0},
};
static const struct field memory_fields[] = {
    {"api", FIELD_TEXT, 0, CHECKED, NULL},        {"baseline", FIELD_NUMBER, 0, CHECKED, NULL},
    {"postLoad", FIELD_NUMBER, 0, CHECKED, NULL}, {"postRun", FIELD_NUMBER, 0, CHECKED, NULL},
    {"atError", FIELD_NUMBER, 0, CHECKED, NULL},  {0},
};
static const struct field quality_fields[] = {
    {"taskId", FIELD_TEXT, FIELD_REQUIRED, CELL(task_id), NULL},
    {"score", FIELD_NUMBER, FIELD_REQUIRED, CELL(score), NULL},
    {"n", FIELD_NUMBER, FIELD_REQUIRED, CELL(quality_n), NULL},
    {"details", FIELD_ARRAY, 0, CELL(details), NULL},
    {"outputs", FIELD_ARRAY, 0, CELL(outputs), NULL},
    {"parseRate", FIELD_NUMBER, 0, CELL(parse_rate), NULL},
    {0},
};
static const struct field error_fields[] = {
    {"name", FIELD_TEXT, 0, CHECKED, NULL},       {"message", FIELD_TEXT, 0, CHECKED, NULL},
    {"cause", FIELD_TEXT, 0, CHECKED, NULL},      {"causeName", FIELD_TEXT, 0, CHECKED, NULL},
    {"causeStack", FIELD_TEXT, 0, CHECKED, NULL}, {0},
};
static const struct field cell_fields[] = {
    {"cellId", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, CELL(cell_id), NULL},
    {"runtimeId", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, CELL(runtime_id), NULL},
    {"runtimeVersion", FIELD_TEXT, FIELD_INDEXED, CELL(runtime_version), NULL},
    {"model", FIELD_OBJECT, FIELD_REQUIRED, CELL(model), model_fields},
    {"workloadId", FIELD_TEXT, FIELD_REQUIRED | FIELD_INDEXED, CELL(workload_id), NULL},
    {"workloadKind", FIELD_TEXT, 0, CELL(workload_kind), NULL},
    {"resolvedBackend", FIELD_TEXT, FIELD_INDEXED, CELL(resolved_backend), NULL},
    {"runtimeConfig", FIELD_OBJECT, 0, CHECKED, NULL},
    {"load", FIELD_OBJECT, FIELD_NULLABLE, CELL(load), load_fields},
    {"warmupMs", FIELD_NUMBER, 0, CHECKED, NULL},
    {"iterations", FIELD_ARRAY, FIELD_REQUIRED, CELL(iterations_value), NULL},
    {"discardedIterations", FIELD_ARRAY, 0, CHECKED, NULL},
    {"memory", FIELD_OBJECT, 0, CHECKED, memory_fields},
    {"quality", FIELD_OBJECT, 0, CELL(quality), quality_fields},
    {"status", FIELD_TEXT, FIELD_REQUIRED, CELL(status_text), NULL},
    {"invalidReasons", FIELD_ARRAY, 0, CHECKED, NULL},
    {"attempts", FIELD_ARRAY, 0, CHECKED, NULL},
    {"error", FIELD_OBJECT, 0, CHECKED, error_fields},
    {0},
};

#define ITERATION(member) offsetof(struct iteration_fields, member)
struct iteration_fields {
    double start, end, count;
    const struct js_value *chunks, *text, *gates;
};
static const struct field usage_fields[] = {
    {"outputTokens", FIELD_NUMBER, 0, CHECKED, NULL},
    {"fidelity", FIELD_TEXT, 0, CHECKED, NULL},
    {0},
};
static const struct field iteration_fields[] = {
    {"startT", FIELD_NUMBER, FIELD_REQUIRED, ITERATION(start), NULL},
    {"endT", FIELD_NUMBER, FIELD_REQUIRED, ITERATION(end), NULL},
    {"chunks", FIELD_ARRAY, 0, ITERATION(chunks), NULL},
    {"text", FIELD_TEXT, 0, ITERATION(text), NULL},
    {"providerUsage", FIELD_OBJECT, 0, CHECKED, usage_fields},
    {"finishReason", FIELD_TEXT, 0, CHECKED, NULL},
    {"gates", FIELD_ARRAY, 0, ITERATION(gates), NULL},
    {"count", FIELD_NUMBER, 0, ITERATION(count), NULL},
    {"dimensions", FIELD_NUMBER, 0, CHECKED, NULL},
    {0},
};
static const struct field attempt_fields[] = {
    {"at", FIELD_NUMBER, 0, CHECKED, NULL},
    {"error", FIELD_OBJECT, 0, CHECKED, error_fields},
    {0},
};
static const struct field progress_fields[] = {
    {"t", FIELD_NUMBER, 0, CHECKED, NULL},
    {"pct", FIELD_NUMBER, 0, CHECKED, NULL},
    {0},
};
/* A chunk as every runner writes it: `t` and `c` first, in this order, and right. */
static bool take_chunk(const struct js_value *value, struct bench_chunk *chunk)
{
    const struct js_member *members = value->members;
    if (value->type != JS_OBJECT || value->size < 2 || members[0].key.size != 1 ||
        *members[0].key.text != 't' || members[1].key.size != 1 || *members[1].key.text != 'c' ||
        members[0].value.type != JS_NUMBER || members[1].value.type != JS_NUMBER ||
        members[1].value.number < 0)
        return false;
    *chunk = (struct bench_chunk){members[0].value.number, members[1].value.number};
    return true;
}

/* Any other chunk. */
static void read_chunk(struct shape *shape, const struct js_value *value, struct bench_chunk *chunk)
{
    if (!shape_is(shape, value, JS_OBJECT))
        return;
    const struct js_value *t = js_get(value, "t"), *c = js_get(value, "c");
    if (!t || t->type != JS_NUMBER)
        shape_error(shape, "t", "must be a number");
    else
        chunk->t = t->number;
    if (!c || c->type != JS_NUMBER || c->number < 0)
        shape_error(shape, "c", "must be a number that is not negative");
    else
        chunk->c = c->number;
}

static void read_chunks(struct shape *shape, const struct js_value *array,
                        struct bench_iteration *iteration)
{
    struct bench_chunk *chunks = arena_clear_take(shape->arena, array->size, sizeof *chunks);
    shape_enter(shape, "chunks");
    for (uint32_t i = 0; i < array->size; i++) {
        if (take_chunk(&array->items[i], &chunks[i]))
            continue;
        shape_enter_index(shape, i);
        read_chunk(shape, &array->items[i], &chunks[i]);
        shape_leave(shape);
    }
    shape_leave(shape);
    iteration->chunks = chunks;
    iteration->chunk_count = array->size;
}

static void read_iteration(struct shape *shape, const struct js_value *value, bool llm,
                           struct bench_iteration *iteration)
{
    struct iteration_fields fields;
    if (!shape_is(shape, value, JS_OBJECT))
        return;
    shape_fields(shape, value, iteration_fields, &fields);
    *iteration = (struct bench_iteration){.start = fields.start,
                                          .end = fields.end,
                                          .text = fields.text,
                                          .gates = fields.gates,
                                          .count = fields.count};
    shape_units(shape, fields.text, "text", TEXT_UNITS_MAX, "is longer than 20,000 UTF-16 units");
    if (fields.chunks)
        read_chunks(shape, fields.chunks, iteration);
    shape_scalars(shape, fields.gates, "gates", JS_STRING);
    /* What is there and wrong was told before. */
    if (llm && !fields.chunks && !js_get(value, "chunks"))
        shape_error(shape, "chunks", "is required");
    if (llm && !fields.text && !js_get(value, "text"))
        shape_error(shape, "text", "is required");
    if (!llm && isnan(fields.count) && !js_get(value, "count"))
        shape_error(shape, "count", "is required");
}

static void read_iterations(struct shape *shape, struct bench_cell *cell)
{
    const struct js_value *array = cell->iterations_value;
    if (!array)
        return;
    struct bench_iteration *iterations =
        arena_clear_take(shape->arena, array->size, sizeof *iterations);
    cell->llm = array->size > 0 && js_get(&array->items[0], "chunks") != NULL;
    cell->iterations = iterations;
    cell->iteration_count = array->size;
    shape_enter(shape, "iterations");
    for (uint32_t i = 0; i < array->size; i++) {
        shape_enter_index(shape, i);
        read_iteration(shape, &array->items[i], cell->llm, &iterations[i]);
        shape_leave(shape);
    }
    shape_leave(shape);
}

/* Set aside by the runner and only exported: the times must be numbers, the rest is not read. */
static void check_discarded(struct shape *shape, const struct js_value *cell)
{
    static const struct field times[] = {
        {"startT", FIELD_NUMBER, 0, CHECKED, NULL}, {"endT", FIELD_NUMBER, 0, CHECKED, NULL}, {0}};
    shape_objects(shape, js_get(cell, "discardedIterations"), "discardedIterations", times);
}

static void limit_items(struct shape *shape, const struct js_value *array, const char *name)
{
    if (array && array->size > QUALITY_ITEMS_MAX)
        shape_error(shape, name, "has more than 1,000 items");
}

static void check_cause_stack(struct shape *shape, const struct js_value *error)
{
    shape_enter(shape, "error");
    shape_units(shape, js_get(error, "causeStack"), "causeStack", CAUSE_STACK_UNITS_MAX,
                "is longer than 4,000 UTF-16 units");
    shape_leave(shape);
}

static void check_attempts(struct shape *shape, const struct js_value *attempts)
{
    shape_objects(shape, attempts, "attempts", attempt_fields);
    shape_enter(shape, "attempts");
    for (uint32_t i = 0; attempts && attempts->type == JS_ARRAY && i < attempts->size; i++) {
        shape_enter_index(shape, i);
        check_cause_stack(shape, js_get(&attempts->items[i], "error"));
        shape_leave(shape);
    }
    shape_leave(shape);
}

static void check_quality(struct shape *shape, const struct bench_cell *cell)
{
    if (!cell->quality)
        return;
    shape_enter(shape, "quality");
    limit_items(shape, cell->outputs, "outputs");
    limit_items(shape, cell->details, "details");
    shape_scalars(shape, cell->outputs, "outputs", JS_STRING);
    shape_scalars(shape, cell->details, "details", JS_NUMBER);
    shape_enter(shape, "outputs");
    for (uint32_t i = 0; cell->outputs && i < cell->outputs->size; i++) {
        shape_enter_index(shape, i);
        shape_units(shape, &cell->outputs->items[i], NULL, OUTPUT_UNITS_MAX,
                    "is longer than 500 UTF-16 units");
        shape_leave(shape);
    }
    shape_leave(shape);
    shape_leave(shape);
}

static void check_config(struct shape *shape, const struct js_value *config)
{
    if (!config || config->type != JS_OBJECT)
        return;
    shape_enter(shape, "runtimeConfig");
    for (uint32_t i = 0; i < config->size; i++) {
        const struct js_value *value = &config->members[i].value;
        if (value->type == JS_ARRAY || value->type == JS_OBJECT) {
            shape_enter_key(shape, &config->members[i].key);
            shape_error(shape, NULL, "must not be an array or an object");
            shape_leave(shape);
        }
    }
    shape_leave(shape);
}

static void read_status(struct shape *shape, struct bench_cell *cell)
{
    static const char *const names[] = {"ok", "invalid", "error", "skipped"};
    if (!cell->status_text)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (js_equals(cell->status_text, names[i])) {
            cell->status = (enum cell_status)i;
            return;
        }
    }
    shape_error(shape, "status", "must be ok, invalid, error or skipped");
}

void bench_read_cell(struct shape *shape, const struct js_value *value, struct bench_cell *cell)
{
    if (!shape_is(shape, value, JS_OBJECT))
        return;
    shape_fields(shape, value, cell_fields, cell);
    read_status(shape, cell);
    read_iterations(shape, cell);
    check_discarded(shape, value);
    check_quality(shape, cell);
    check_config(shape, js_get(value, "runtimeConfig"));
    shape_enter(shape, "load");
    shape_objects(shape, js_get(cell->load, "progress"), "progress", progress_fields);
    shape_leave(shape);
    shape_scalars(shape, js_get(value, "invalidReasons"), "invalidReasons", JS_STRING);
    check_attempts(shape, js_get(value, "attempts"));
    check_cause_stack(shape, js_get(value, "error"));
}
