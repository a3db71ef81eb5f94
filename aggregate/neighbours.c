#include "aggregate/neighbours.h"

#include <math.h>

#include "aggregate/board_state.h"
#include "validator/stats.h"

static const struct js_value *string_member(const struct js_value *object, const char *key)
{
    const struct js_value *value = js_get(object, key);
    return value && value->type == JS_STRING ? value : NULL;
}

static const struct name *name_member(const struct board *board, const struct js_value *object,
                                      const char *key)
{
    const struct js_value *value = string_member(object, key);
    return value ? board_find_text(board, text_of(value)) : NULL;
}

/* The row that CELL would count in, NULL when the board has none. */
static struct row *find_row(const struct board *board, const struct js_value *root,
                            const struct js_value *cell)
{
    const struct entry entry = {.protocol = name_member(board, root, "protocol"),
                                .device_subclass = name_member(board, root, "deviceSubclass")};
    const struct cell wanted = {.runtime = name_member(board, cell, "runtimeId"),
                                .model = name_member(board, cell, "benchModelId"),
                                .workload = name_member(board, cell, "workloadId")};
    bool known = entry.protocol && entry.device_subclass && wanted.runtime && wanted.model &&
                 wanted.workload;
    return known ? rows_find(&board->rows, &entry, &wanted) : NULL;
}

/* The values of a row in ascending order without those of OWN, which may be NULL. */
static const double *values_of_others(struct row *row, enum figure figure, const struct entry *own,
                                      struct arena *arena, size_t *count)
{
    const double *all = row_values(row, figure, count);
    if (!own)
        return all;
    double *others = arena_clear_take(arena, row->count, sizeof *others);
    *count = 0;
    for (size_t i = 0; i < row->count; i++)
        if (row->contributions[i].entry != own &&
            !isnan(row->contributions[i].cell->figures[figure]))
            others[(*count)++] = row->contributions[i].cell->figures[figure];
    sort_numbers(others, *count);
    return others;
}

static struct neighbour compare(struct row *row, enum figure figure, double value,
                                const struct entry *own, struct arena *arena)
{
    struct neighbour found = {.figure = figure, .value = value};
    const double *values = row ? values_of_others(row, figure, own, arena, &found.count) : NULL;
    if (!found.count)
        return found;
    found.below = values_below(values, found.count, value);
    found.min = values[0];
    found.q25 = quantile(values, found.count, 0.25);
    found.median = quantile(values, found.count, 0.5);
    found.q75 = quantile(values, found.count, 0.75);
    found.max = values[found.count - 1];
    return found;
}

static void read_cell(const struct board *board, const struct js_value *root,
                      const struct js_value *value, struct arena *arena,
                      struct neighbour_cell *cell)
{
    const struct name *id = name_member(board, root, "runId");
    const struct js_value *incremental = js_get(value, "streamIncremental");
    bool burst = incremental && incremental->type == JS_FALSE;
    struct row *row = find_row(board, root, value);
    *cell = (struct neighbour_cell){.id = text_of(string_member(value, "cellId")),
                                    .runtime = text_of(string_member(value, "runtimeId")),
                                    .model = text_of(string_member(value, "benchModelId")),
                                    .model_name = text_of(string_member(value, "modelName")),
                                    .workload = text_of(string_member(value, "workloadId"))};
    for (int i = 0; i < NEIGHBOUR_FIGURES; i++) {
        const struct js_value *number = js_get(value, figure_name((enum figure)i));
        if (number && number->type == JS_NUMBER && !(burst && figure_needs_stream((enum figure)i)))
            cell->figures[cell->count++] =
                compare(row, (enum figure)i, number->number, id ? id->run : NULL, arena);
    }
}

bool board_neighbours(struct board *board, const char *entry, size_t size, struct arena *arena,
                      struct neighbours *out)
{
    struct js_document document;
    struct js_error error;
    if (!js_read(arena, entry, size, &document, &error))
        return false;
    const struct js_value *root = &document.root, *cells = js_get(root, "cells"),
                          *protocol = string_member(root, "protocol"),
                          *device = string_member(root, "deviceSubclass");
    if (!cells || cells->type != JS_ARRAY || !protocol || !device)
        return false;
    struct neighbour_cell *found = arena_clear_take(arena, cells->size, sizeof *found);
    for (uint32_t i = 0; i < cells->size; i++)
        read_cell(board, root, &cells->items[i], arena, &found[i]);
    *out = (struct neighbours){.protocol = text_of(protocol),
                               .device = text_of(device),
                               .shown = board_shows(board, text_of(protocol)),
                               .cells = found,
                               .count = cells->size};
    return true;
}
