#include "aggregate/export.h"

#include <math.h>

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

const struct export_run *export_prepare(struct arena *arena, const struct report *report)
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

static void write_row(const struct export_layout *layout, const struct export_row *row,
                      struct buffer *out)
{
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->columns[i].type == EXPORT_VERSIONS) {
            export_open_versions(row->run->run, out);
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

static bool write_iterations(const struct export_layout *layout, struct export_row *row,
                             struct buffer *out)
{
    const struct bench_cell *cell = row->cell;
    for (size_t i = 0; i < cell->iteration_count && out->size <= EXPORT_RUN_MOST; i++) {
        row->iteration_value = &cell->iterations_value->items[i];
        row->number = i + 1;
        row->measured = bench_measure(cell, i, false);
        if (cell->llm && row->measured.incremental)
            row->measured = bench_measure(cell, i, true);
        write_row(layout, row, out);
    }
    if (!cell->iteration_count)
        write_row(layout, row, out);
    return out->size <= EXPORT_RUN_MOST;
}

static bool write_cell(const struct export_layout *layout, const struct export_run *run, size_t i,
                       struct buffer *out)
{
    struct export_row row = {.run = run,
                             .cell = &run->run->cells[i],
                             .summary = &run->verdict->summaries->cells[i],
                             .cell_value = &run->run->cells_value->items[i]};
    if (layout->grain != EACH_CELL)
        return write_iterations(layout, &row, out);
    write_row(layout, &row, out);
    return out->size <= EXPORT_RUN_MOST;
}

bool export_write_run(enum export_table table, const struct export_run *run, struct buffer *out)
{
    struct export_layout layout = export_layout(table);
    const struct export_row row = {.run = run};
    bool fine = true;
    if (layout.grain == EACH_RUN)
        write_row(&layout, &row, out);
    for (size_t i = 0; fine && layout.grain != EACH_RUN && i < run->run->cell_count; i++)
        fine = write_cell(&layout, run, i, out);
    return fine && out->size <= EXPORT_RUN_MOST;
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

bool export_write_texts(const struct export_run *run, struct buffer *out)
{
    for (size_t c = 0; c < run->run->cell_count; c++) {
        const struct bench_cell *cell = &run->run->cells[c];
        for (size_t i = 0; cell->llm && i < cell->iteration_count && out->size <= EXPORT_RUN_MOST;
             i++)
            if (cell->iterations[i].text)
                write_text(run, cell, i, out);
    }
    return out->size <= EXPORT_RUN_MOST;
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
