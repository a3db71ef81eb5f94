#include "aggregate/export.h"

#include <math.h>
#include <stdlib.h>

#include "aggregate/csv.h"
#include "aggregate/device.h"
#include "aggregate/export_row.h"
#include "validator/number.h"

struct export_layout export_layout(enum export_table table)
{
    static struct export_layout (*const layouts[EXPORT_TABLES])(void) = {
        export_iterations_layout, export_cells_layout, export_runs_layout};
    return layouts[table]();
}

const char *export_table_name(enum export_table table)
{
    static const char *const names[EXPORT_TABLES] = {"iterations", "cells", "runs"};
    return names[table];
}

const struct js_value *export_find(const struct js_value *object, const char *path)
{
    while (object) {
        size_t size = strcspn(path, ".");
        object = js_get_sized(object, path, size);
        if (!path[size])
            break;
        path += size + 1;
    }
    return object;
}

void export_write_figure(struct buffer *out, double value)
{
    csv_number(out, number_round2(value));
}

void export_device_class(const struct export_row *row, struct buffer *out)
{
    csv_text(out, row->run->device_class.data, row->run->device_class.size);
}

void export_device_subclass(const struct export_row *row, struct buffer *out)
{
    csv_text(out, row->run->device_subclass.data, row->run->device_subclass.size);
}

void export_load_ms(const struct export_row *row, struct buffer *out)
{
    export_write_figure(out, row->summary->load_ms);
}

static const struct js_value *find_event(const struct bench_run *run, const char *type, bool last)
{
    const struct js_value *found = NULL;
    for (uint32_t i = 0; i < run->events->size && (last || !found); i++) {
        const struct js_value *event = &run->events->items[i];
        if (js_equals(js_get(event, "type"), type) && js_get(event, "t"))
            found = js_get(event, "t");
    }
    return found;
}

static double event_time(const struct bench_run *run, const char *type, bool last)
{
    const struct js_value *t = find_event(run, type, last);
    return t ? t->number : NAN;
}

/* The column of a package: rv_ and its name, lower-cased, other than letters and digits one `_`, trimmed. */
static const char *package_column(struct arena *arena, const struct js_value *package)
{
    BUFFER_SCOPE struct buffer name = {0};
    struct text lower = text_lower(arena, text_of(package));
    bool gap = false;
    buffer_text(&name, "rv_");
    for (size_t i = 0; i < lower.size; i++) {
        char c = lower.data[i];
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) {
            gap = true;
            continue;
        }
        if (gap && name.size > 3)
            buffer_byte(&name, '_');
        gap = false;
        buffer_byte(&name, c);
    }
    return arena_copy(arena, name.data, name.size);
}

/* Where NAME stands among the names, or has to. */
static size_t find_package(const struct export_packages *packages, const char *name, bool *found)
{
    size_t low = 0, high = packages->count;
    *found = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int way = strcmp(packages->names[middle], name);
        *found = *found || way == 0;
        if (way < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_package(struct export_packages *packages, const char *name)
{
    bool found;
    size_t at = find_package(packages, name, &found);
    if (found)
        return true;
    if (packages->count == EXPORT_PACKAGES_MAX)
        return false;
    if (packages->count == packages->room) {
        packages->room = packages->room ? packages->room * 2 : 32;
        packages->names =
            memory_grow((void *)packages->names, packages->room * sizeof *packages->names);
    }
    memmove((void *)(packages->names + at + 1), (void *)(packages->names + at),
            (packages->count - at) * sizeof *packages->names);
    packages->names[at] = arena_copy(&packages->arena, name, strlen(name));
    packages->count++;
    return true;
}

bool export_packages_add(struct export_packages *packages, const struct verdict *verdict)
{
    ARENA_SCOPE struct arena arena = {0};
    const struct js_value *versions = bench_run_of(verdict->run)->runtime_versions;
    bool fine = true;
    for (uint32_t i = 0; versions && i < versions->size; i++)
        fine = add_package(packages, package_column(&arena, &versions->members[i].key)) && fine;
    return fine;
}

void export_packages_free(struct export_packages *packages)
{
    free((void *)packages->names);
    arena_free(&packages->arena);
    *packages = (struct export_packages){0};
}

/* Of two packages with one column the later one counts, as of two equal keys. */
static void find_versions(struct arena *arena, struct export_run *export)
{
    const struct js_value *versions = export->run->runtime_versions;
    export->versions = arena_clear_take(arena, export->packages->count, sizeof *export->versions);
    for (uint32_t i = 0; versions && i < versions->size; i++) {
        bool found;
        const char *name = package_column(arena, &versions->members[i].key);
        size_t at = find_package(export->packages, name, &found);
        if (found)
            export->versions[at] = &versions->members[i].value;
    }
}

const struct export_run *export_prepare(struct arena *arena, const struct report *report,
                                        const struct export_packages *packages)
{
    const struct bench_run *run = bench_run_of(report->verdict.run);
    struct export_run *export = arena_clear_take(arena, 1, sizeof *export);
    export->run = run;
    export->verdict = &report->verdict;
    export->ok = report->end == REPORT_PUBLISHABLE;
    export->device_class =
        device_class(arena, text_of(run->platform), run->gpu_available == SAID_YES, run->gpu_vendor,
                     run->gpu_architecture);
    export->device_subclass = device_subclass(arena, export->device_class, run->gpu_model);
    export->suite_start = event_time(run, "suite-start", false);
    export->suite_end = event_time(run, "suite-end", true);
    export->pressure = export_pressure(export);
    export->packages = packages;
    find_versions(arena, export);
    return export;
}

static void write_list(const struct js_value *list, struct buffer *out)
{
    BUFFER_SCOPE struct buffer joined = {0};
    for (uint32_t i = 0; i < list->size; i++) {
        if (i)
            buffer_byte(&joined, '|');
        buffer_add(&joined, list->items[i].text, list->items[i].size);
    }
    csv_text(out, joined.data, joined.size);
}

static void write_value(const struct js_value *value, enum export_type type, struct buffer *out)
{
    switch ((enum js_type)value->type) {
    case JS_STRING:
        csv_text(out, value->text, value->size);
        break;
    case JS_NUMBER:
        if (type == EXPORT_FIGURE)
            export_write_figure(out, value->number);
        else
            csv_number(out, value->number);
        break;
    case JS_FALSE:
    case JS_TRUE:
        csv_bool(out, value->type == JS_TRUE);
        break;
    case JS_ARRAY:
        if (type == EXPORT_LIST)
            write_list(value, out);
        break;
    case JS_NULL:
    case JS_OBJECT:
        break;
    }
}

static const struct js_value *origin_of(const struct export_row *row, enum export_origin origin)
{
    return origin == FROM_RUN    ? &row->run->verdict->document->root
           : origin == FROM_CELL ? row->cell_value
                                 : row->iteration_value;
}

static void write_versions(const struct export_row *row, struct buffer *out)
{
    for (size_t i = 0; i < row->run->packages->count; i++) {
        const struct js_value *version = row->run->versions[i];
        if (version)
            csv_text(out, version->text, version->size);
        buffer_byte(out, ',');
    }
}

static void write_column(const struct export_column *column, const struct export_row *row,
                         struct buffer *out)
{
    if (column->write) {
        column->write(row, out);
        return;
    }
    const struct js_value *value = export_find(origin_of(row, column->origin), column->path);
    if (value)
        write_value(value, column->type, out);
}

/* Columns of packages stand before another one, so that each brings its comma. */
static void write_row(const struct export_layout *layout, const struct export_row *row,
                      struct buffer *out)
{
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->columns[i].type == EXPORT_VERSIONS) {
            write_versions(row, out);
            continue;
        }
        write_column(&layout->columns[i], row, out);
        buffer_byte(out, i + 1 < layout->count ? ',' : '\n');
    }
}

void export_write_header(enum export_table table, const struct export_packages *packages,
                         struct buffer *out)
{
    struct export_layout layout = export_layout(table);
    for (size_t i = 0; i < layout.count; i++) {
        if (layout.columns[i].type == EXPORT_VERSIONS) {
            for (size_t package = 0; package < packages->count; package++)
                buffer_format(out, "%s,", packages->names[package]);
            continue;
        }
        buffer_text(out, layout.columns[i].name);
        buffer_byte(out, i + 1 < layout.count ? ',' : '\n');
    }
}

static void write_iterations(const struct export_layout *layout, struct export_row *row,
                             struct buffer *out)
{
    const struct bench_cell *cell = row->cell;
    for (size_t i = 0; i < cell->iteration_count; i++) {
        row->iteration_value = &cell->iterations_value->items[i];
        row->number = i + 1;
        row->measured = bench_measure(cell, i, false);
        if (cell->llm && row->measured.incremental)
            row->measured = bench_measure(cell, i, true);
        write_row(layout, row, out);
    }
    if (!cell->iteration_count)
        write_row(layout, row, out);
}

void export_write_run(enum export_table table, const struct export_run *run, struct buffer *out)
{
    struct export_layout layout = export_layout(table);
    struct export_row row = {.run = run};
    if (layout.grain == EACH_RUN) {
        write_row(&layout, &row, out);
        return;
    }
    for (size_t i = 0; i < run->run->cell_count; i++) {
        row = (struct export_row){.run = run,
                                  .cell = &run->run->cells[i],
                                  .summary = &run->verdict->summaries->cells[i],
                                  .cell_value = &run->run->cells_value->items[i]};
        if (layout.grain == EACH_CELL)
            write_row(&layout, &row, out);
        else
            write_iterations(&layout, &row, out);
    }
}

static void write_text(const struct export_run *run, const struct bench_cell *cell, size_t i,
                       struct buffer *out)
{
    struct js_writer writer = {.out = out};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "runId");
    js_write_value(&writer, run->run->identity.run_id);
    js_write_key(&writer, "cellId");
    js_write_value(&writer, cell->cell_id);
    js_write_key(&writer, "iteration");
    js_write_number(&writer, (double)i + 1);
    js_write_key(&writer, "text");
    js_write_value(&writer, cell->iterations[i].text);
    js_write_end(&writer, '}');
    buffer_byte(out, '\n');
}

void export_write_texts(const struct export_run *run, struct buffer *out)
{
    for (size_t c = 0; c < run->run->cell_count; c++) {
        const struct bench_cell *cell = &run->run->cells[c];
        for (size_t i = 0; cell->llm && i < cell->iteration_count; i++)
            if (cell->iterations[i].text)
                write_text(run, cell, i, out);
    }
}

/* No flag and no run id has a blank. */
void export_write_validation(const struct export_run *run, struct buffer *out)
{
    struct text id = text_of(run->run->identity.run_id);
    buffer_add(out, id.data, id.size);
    buffer_text(out, run->ok ? " ok" : " not-ok");
    for (const struct flag *flag = run->verdict->flags; flag; flag = flag->next)
        buffer_format(out, " %s:%s", severity_name(flag->severity), flag->code);
    buffer_byte(out, '\n');
}
