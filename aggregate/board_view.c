#include "aggregate/board_view.h"

#include <stdlib.h>

#include "aggregate/board_columns.h"
#include "aggregate/board_select.h"
#include "validator/number.h"
#include "validator/stats.h"

static struct text text_of_name(const struct name *name)
{
    return text_of(name ? &name->text : NULL);
}

static struct view_figure view_figure(struct row *row, enum figure figure)
{
    struct view_figure view = {0};
    const double *values = row_values(row, figure, &view.n);
    if (!view.n)
        return view;
    view.median = quantile(values, view.n, 0.5);
    view.q25 = quantile(values, view.n, 0.25);
    view.q75 = quantile(values, view.n, 0.75);
    view.min = values[0];
    view.max = values[view.n - 1];
    return view;
}

static const struct text *view_names(struct tally *tally, struct arena *arena)
{
    struct text *names = arena_clear_take(arena, tally->count, sizeof *names);
    tally_sort(tally);
    for (size_t i = 0; i < tally->count; i++)
        names[i] = text_of_name(tally->items[i].name);
    return names;
}

static struct view_row view_row(struct row *row, struct arena *arena)
{
    struct view_row view = {
        .keys = {[BY_PROTOCOL] = text_of_name(row->protocol),
                 [BY_CLASS] = text_of_name(row_class(row)),
                 [BY_DEVICE] = text_of_name(row->device_subclass),
                 [BY_RUNTIME] = text_of_name(row->runtime),
                 [BY_MODEL] = text_of_name(row->model),
                 [BY_WORKLOAD] = text_of_name(row->workload)},
        .model_name = text_of_name(row_model_name(row)),
        .browsers = view_names(&row->browsers, arena),
        .browser_count = row->browsers.count,
        .backends = view_names(&row->backends, arena),
        .backend_count = row->backends.count,
        .runs = row->submissions,
        .devices = row->devices.count,
        .provisional = row_is_provisional(row),
        .high_variance = row->high_variance > 0,
        .burst = row_is_burst(row),
    };
    for (int i = 0; i < FIGURE_COUNT; i++)
        view.figures[i] = view_figure(row, (enum figure)i);
    return view;
}

/* Counts rows by the names that a dimension has in them. */
struct count {
    uint32_t rows, last; /* LAST: number of the row that was counted last, from 1 */
};
struct counter {
    struct count *counts;      /* by number of a name */
    const struct name **names; /* those that occur */
    size_t count, room;
};

static void count_name(struct counter *counter, const struct name *name, uint32_t row)
{
    if (!name || counter->counts[name->number].last == row)
        return;
    struct count *count = &counter->counts[name->number];
    if (!count->rows) {
        if (counter->count == counter->room) {
            counter->room = counter->room ? counter->room * 2 : 32;
            counter->names =
                memory_grow(counter->names, counter->room * sizeof(const struct name *));
        }
        counter->names[counter->count++] = name;
    }
    count->rows++;
    count->last = row;
}

/* Contributions that miss what is asked for in one dimension only would count if that were not asked. */
static void count_kind(struct counter counters[BOARD_DIMENSIONS], struct matcher *matcher,
                       const struct row *row, const struct kind *kind, uint32_t number)
{
    const struct entry entry = {.protocol = row->protocol,
                                .device_class = kind->device_class,
                                .device_subclass = row->device_subclass,
                                .browser = kind->browser};
    const struct cell cell = {.runtime = row->runtime,
                              .model = row->model,
                              .model_name = kind->model_name,
                              .workload = row->workload,
                              .backend = kind->backend};
    unsigned misses = matcher_misses(matcher, &entry, &cell);
    if (misses & (misses - 1) || !matcher_has_words(matcher, &entry, &cell))
        return;
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        if (!(misses & ~(1U << i)))
            count_name(&counters[i], dimension_of((enum board_dimension)i, &entry, &cell), number);
}

static int by_name(const void *left, const void *right)
{
    const struct name *a = *(const struct name *const *)left,
                      *b = *(const struct name *const *)right;
    return js_compare(&a->text, &b->text);
}

static const struct view_choice *list_choices(const struct counter *counter, struct arena *arena)
{
    struct view_choice *choices = arena_clear_take(arena, counter->count, sizeof *choices);
    if (counter->count)
        qsort(counter->names, counter->count, sizeof *counter->names, by_name);
    for (size_t i = 0; i < counter->count; i++)
        choices[i] = (struct view_choice){text_of_name(counter->names[i]),
                                          counter->counts[counter->names[i]->number].rows};
    return choices;
}

static void view_facets(struct board *board, const struct board_query *query, struct arena *arena,
                        struct board_view *view)
{
    struct counter counters[BOARD_DIMENSIONS] = {0};
    MATCHER_SCOPE struct matcher matcher;
    matcher_open(&matcher, board, query);
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        counters[i].counts =
            arena_clear_take(&matcher.arena, board->name_count, sizeof(struct count));
    for (size_t i = 0; i < board->rows.count; i++) {
        const struct row *row = board->rows.order[i];
        for (size_t j = 0; j < row->kind_count; j++)
            count_kind(counters, &matcher, row, &row->kinds[j], (uint32_t)i + 1);
    }
    for (int i = 0; i < BOARD_DIMENSIONS; i++) {
        view->facets[i].choices = list_choices(&counters[i], arena);
        view->facets[i].count = counters[i].count;
        free(counters[i].names);
    }
}

static void view_recent(struct board *board, const struct selection *selection, struct arena *arena,
                        struct board_view *view)
{
    struct entry *recent[RECENT_SUBMISSIONS];
    view->recent_count = selection_recent(board, selection, recent);
    struct view_recent *list = arena_clear_take(arena, view->recent_count, sizeof *list);
    for (size_t i = 0; i < view->recent_count; i++)
        list[i] = (struct view_recent){.id = text_of_name(recent[i]->id),
                                       .created_at = text_of_name(recent[i]->created_at),
                                       .device = text_of_name(recent[i]->device_subclass),
                                       .browser = text_of_name(recent[i]->browser),
                                       .protocol = text_of_name(recent[i]->protocol),
                                       .cells = recent[i]->cell_count};
    view->recent = list;
}

void board_view_make(struct board *board, const struct board_query *query, struct arena *arena,
                     struct board_view *view)
{
    SELECTION_SCOPE struct selection selection = board_select(board, query);
    struct view_row *rows = arena_clear_take(arena, selection.row_count, sizeof *rows);
    for (size_t i = 0; i < selection.row_count; i++)
        rows[i] = view_row(selection.rows[i], arena);
    *view = (struct board_view){.rows = rows,
                                .count = selection.row_count,
                                .runs = selection.entry_count,
                                .entries = board->all,
                                .all_rows = board->rows.count,
                                .all_runs = board->count};
    view_recent(board, &selection, arena, view);
    view_facets(board, query, arena, view);
}

/* What only the entry's own text says. */
static void read_head(const struct entry *entry, struct arena *arena, struct view_run *run)
{
    struct js_document document;
    struct js_error error;
    if (!js_read(arena, entry->head, entry->head_size, &document, &error))
        return;
    run->browser_version = text_of(js_get(&document.root, "browserVersion"));
    run->os = text_of(js_get(&document.root, "os"));
    run->os_version = text_of(js_get(&document.root, "osVersion"));
}

static struct view_run view_run(const struct contribution *from, struct arena *arena)
{
    const struct entry *entry = from->entry;
    const struct cell *cell = from->cell;
    struct view_run run = {.id = text_of_name(entry->id),
                           .created_at = text_of_name(entry->created_at),
                           .browser = text_of_name(entry->browser),
                           .backend = text_of_name(cell->backend),
                           .high_variance = cell->high_variance,
                           .burst = cell->incremental == 0};
    memcpy(run.figures, cell->figures, sizeof run.figures);
    read_head(entry, arena, &run);
    return run;
}

/* The later accepted one first among equals. Contributions of a row lie in one array, in order of acceptance. */
static int newest_first(const void *left, const void *right)
{
    const struct contribution *a = *(const struct contribution *const *)left,
                              *b = *(const struct contribution *const *)right;
    if (a->entry->created_ms != b->entry->created_ms)
        return a->entry->created_ms > b->entry->created_ms ? -1 : 1;
    return a > b ? -1 : 1;
}

bool view_shows(const struct view_row *row, enum figure figure)
{
    return row->figures[figure].n && !(row->burst && figure_needs_stream(figure));
}

bool board_view_row(struct board *board, const struct board_query *query, struct arena *arena,
                    struct board_detail *detail)
{
    SELECTION_SCOPE struct selection selection = board_select(board, query);
    if (selection.row_count != 1)
        return false;
    struct row *row = selection.rows[0];
    const struct contribution **order = memory_grow(NULL, row->count * sizeof *order);
    for (size_t i = 0; i < row->count; i++)
        order[i] = &row->contributions[i];
    qsort(order, row->count, sizeof *order, newest_first);
    size_t count = row->count < VIEW_RUNS_MOST ? row->count : VIEW_RUNS_MOST;
    struct view_run *runs = arena_clear_take(arena, count, sizeof *runs);
    for (size_t i = 0; i < count; i++)
        runs[i] = view_run(order[i], arena);
    free(order);
    *detail = (struct board_detail){
        .row = view_row(row, arena), .runs = runs, .count = count, .all = row->count};
    return true;
}
