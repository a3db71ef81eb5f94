#include "aggregate/board_rows.h"

#include <math.h>
#include <stdlib.h>

#include "validator/stats.h"

enum { FEW_NEW_VALUES = 16, FIRST_BUCKETS = 256 };

const char *figure_name(enum figure figure)
{
    static const char *const names[FIGURE_COUNT] = {
        "ttftMs",          "decodeCharsPerSec", "overallCharsPerSec",
        "singleLatencyMs", "batchTextsPerSec",  "loadColdMs",
        "loadWarmMs",      "qualityScore",      "qualityParseRate"};
    return names[figure];
}

enum figure figure_find(const char *name)
{
    enum figure figure = 0;
    while (figure < FIGURE_COUNT && strcmp(figure_name(figure), name) != 0)
        figure++;
    return figure;
}

bool figure_needs_stream(enum figure figure)
{
    return figure == FIGURE_TTFT || figure == FIGURE_DECODE;
}

static void series_add(struct series *series, double value)
{
    if (series->count == series->room) {
        series->room = series->room ? series->room * 2 : 4;
        series->values = memory_grow(series->values, series->room * sizeof *series->values);
    }
    series->values[series->count++] = value;
}

size_t values_below(const double *values, size_t count, double value)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = (low + count) / 2;
        if (values[middle] < value)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* A few new values are put in place, so that a commit does not sort what thousands of runs gave. */
static void series_sort(struct series *series)
{
    if (series->count - series->sorted > FEW_NEW_VALUES) {
        sort_numbers(series->values, series->count);
        series->sorted = series->count;
    }
    for (; series->sorted < series->count; series->sorted++) {
        double value = series->values[series->sorted];
        size_t place = values_below(series->values, series->sorted, value);
        memmove(series->values + place + 1, series->values + place,
                (series->sorted - place) * sizeof value);
        series->values[place] = value;
    }
}

static void series_remove(struct series *series, double value)
{
    series_sort(series);
    size_t place = values_below(series->values, series->count, value);
    memmove(series->values + place, series->values + place + 1,
            (series->count - place - 1) * sizeof value);
    series->sorted = --series->count;
}

const double *row_values(struct row *row, enum figure figure, size_t *count)
{
    struct series *series = &row->figures[figure];
    series_sort(series);
    *count = series->count;
    return series->values;
}

double row_median(struct row *row, enum figure figure)
{
    size_t count;
    const double *values = row_values(row, figure, &count);
    return count ? quantile(values, count, 0.5) : NAN;
}

static void tally_change(struct tally *tally, const struct name *name, bool add)
{
    size_t at = 0;
    while (at < tally->count && tally->items[at].name != name)
        at++;
    if (at == tally->count) {
        if (tally->count == tally->room) {
            tally->room = tally->room ? tally->room * 2 : 2;
            tally->items = memory_grow(tally->items, tally->room * sizeof *tally->items);
        }
        tally->items[tally->count].name = name;
        tally->items[tally->count++].count = 0;
    }
    if (add)
        tally->items[at].count++;
    else if (--tally->items[at].count == 0)
        tally->items[at] = tally->items[--tally->count];
}

static void devices_change(struct tally *tally, const struct name *name, bool add)
{
    size_t low = 0, high = tally->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (tally->items[middle].name->number < name->number)
            low = middle + 1;
        else
            high = middle;
    }
    struct tally_item *item = low < tally->count ? &tally->items[low] : NULL;
    bool known = item && item->name == name;
    if (known && (add || item->count > 1)) {
        item->count += add ? 1 : (size_t)-1;
        return;
    }
    if (add && tally->count == tally->room) {
        tally->room = tally->room ? tally->room * 2 : 2;
        tally->items = memory_grow(tally->items, tally->room * sizeof *tally->items);
    }
    item = tally->items + low;
    size_t behind = (tally->count - low - known) * sizeof *item;
    memmove(item + add, item + known, behind);
    tally->count += add ? 1 : (size_t)-1;
    if (add)
        *item = (struct tally_item){name, 1};
}

static void kinds_change(struct row *row, const struct entry *entry, const struct cell *cell,
                         bool add)
{
    const struct kind kind = {entry->device_class, entry->browser, cell->model_name, cell->backend,
                              1};
    size_t at = 0;
    while (at < row->kind_count &&
           memcmp(&row->kinds[at], &kind, offsetof(struct kind, count)) != 0)
        at++;
    if (at < row->kind_count && add) {
        row->kinds[at].count++;
    } else if (at < row->kind_count) {
        if (--row->kinds[at].count == 0)
            row->kinds[at] = row->kinds[--row->kind_count];
    } else {
        if (row->kind_count == row->kind_room) {
            row->kind_room = row->kind_room ? row->kind_room * 2 : 2;
            row->kinds = memory_grow(row->kinds, row->kind_room * sizeof kind);
        }
        row->kinds[row->kind_count++] = kind;
    }
}

static int by_name(const void *left, const void *right)
{
    const struct tally_item *a = left, *b = right;
    return js_compare(&a->name->text, &b->name->text);
}

void tally_sort(struct tally *tally)
{
    if (tally->count)
        qsort(tally->items, tally->count, sizeof *tally->items, by_name);
}

static uint64_t hash_row(const struct entry *entry, const struct cell *cell)
{
    const struct name *const parts[] = {entry->protocol, entry->device_subclass, cell->runtime,
                                        cell->model, cell->workload};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = (hash ^ parts[i]->hash) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static struct row *find_row(const struct rows *rows, uint64_t hash, const struct entry *entry,
                            const struct cell *cell)
{
    if (!rows->bucket_count)
        return NULL;
    struct row *row = rows->buckets[hash % rows->bucket_count];
    while (row &&
           (row->hash != hash || row->protocol != entry->protocol ||
            row->device_subclass != entry->device_subclass || row->runtime != cell->runtime ||
            row->model != cell->model || row->workload != cell->workload))
        row = row->next;
    return row;
}

struct row *rows_find(const struct rows *rows, const struct entry *entry, const struct cell *cell)
{
    return find_row(rows, hash_row(entry, cell), entry, cell);
}

static void grow_buckets(struct rows *rows)
{
    size_t count = rows->bucket_count ? rows->bucket_count * 2 : FIRST_BUCKETS;
    struct row **buckets = memory_grow(NULL, count * sizeof(struct row *));
    memset(buckets, 0, count * sizeof(struct row *));
    for (size_t i = 0; i < rows->count; i++) {
        struct row *row = rows->order[i];
        row->next = buckets[row->hash % count];
        buckets[row->hash % count] = row;
    }
    free(rows->buckets);
    rows->buckets = buckets;
    rows->bucket_count = count;
}

static struct row *make_row(struct rows *rows, uint64_t hash, const struct entry *entry,
                            const struct cell *cell)
{
    if (rows->count >= rows->bucket_count)
        grow_buckets(rows);
    if (rows->count == rows->room) {
        rows->room = rows->room ? rows->room * 2 : FIRST_BUCKETS;
        rows->order = memory_grow(rows->order, rows->room * sizeof(struct row *));
    }
    struct row *row = memory_grow(NULL, sizeof *row);
    *row = (struct row){.hash = hash,
                        .protocol = entry->protocol,
                        .protocol_number = entry->protocol_number,
                        .by_devices = rows->by_devices,
                        .device_subclass = entry->device_subclass,
                        .runtime = cell->runtime,
                        .model = cell->model,
                        .workload = cell->workload,
                        .next = rows->buckets[hash % rows->bucket_count]};
    rows->buckets[hash % rows->bucket_count] = row;
    rows->order[rows->count++] = row;
    rows->ordered = false;
    return row;
}

/* Counts or uncounts one cell in everything that a row sums up. */
static void count_cell(struct row *row, const struct entry *entry, const struct cell *cell,
                       bool add)
{
    for (int figure = 0; figure < FIGURE_COUNT; figure++) {
        if (isnan(cell->figures[figure]))
            continue;
        if (add)
            series_add(&row->figures[figure], cell->figures[figure]);
        else
            series_remove(&row->figures[figure], cell->figures[figure]);
    }
    if (cell->backend)
        tally_change(&row->backends, cell->backend, add);
    if (entry->browser)
        tally_change(&row->browsers, entry->browser, add);
    devices_change(&row->devices, entry->device, add);
    kinds_change(row, entry, cell, add);
    size_t one = add ? 1 : (size_t)-1;
    row->high_variance += cell->high_variance ? one : 0;
    row->incremental += cell->incremental == 1 ? one : 0;
    row->burst += cell->incremental == 0 ? one : 0;
    row->json.size = 0;
}

void rows_add(struct rows *rows, const struct entry *entry, const struct cell *cell)
{
    uint64_t hash = hash_row(entry, cell);
    struct row *row = find_row(rows, hash, entry, cell);
    if (!row)
        row = make_row(rows, hash, entry, cell);
    if (row->count == row->room) {
        row->room = row->room ? row->room * 2 : 4;
        row->contributions =
            memory_grow(row->contributions, row->room * sizeof *row->contributions);
    }
    size_t at = row->count; /* the end, but for a run that was released after others came */
    while (at > 0 && row->contributions[at - 1].entry->place > entry->place)
        at--;
    if (!at || row->contributions[at - 1].entry != entry)
        row->submissions++;
    memmove(row->contributions + at + 1, row->contributions + at,
            (row->count++ - at) * sizeof *row->contributions);
    row->contributions[at] = (struct contribution){entry, cell};
    if (!at)
        rows->ordered = false; /* the class, by which rows are ordered, is the first one's */
    count_cell(row, entry, cell, true);
}

static void free_row(struct row *row)
{
    for (int figure = 0; figure < FIGURE_COUNT; figure++)
        free(row->figures[figure].values);
    free(row->contributions);
    free(row->backends.items);
    free(row->browsers.items);
    free(row->devices.items);
    free(row->kinds);
    buffer_free(&row->json);
    free(row);
}

static void drop_row(struct rows *rows, struct row *row)
{
    struct row **link = &rows->buckets[row->hash % rows->bucket_count];
    while (*link != row)
        link = &(*link)->next;
    *link = row->next;
    size_t at = 0;
    while (rows->order[at] != row)
        at++;
    memmove(rows->order + at, rows->order + at + 1, (rows->count - at - 1) * sizeof(struct row *));
    rows->count--;
    free_row(row);
}

static void remove_from_row(struct row *row, const struct entry *entry)
{
    size_t kept = 0;
    for (size_t i = 0; i < row->count; i++) {
        if (row->contributions[i].entry == entry)
            count_cell(row, entry, row->contributions[i].cell, false);
        else
            row->contributions[kept++] = row->contributions[i];
    }
    row->submissions -= kept < row->count;
    row->count = kept;
}

void rows_remove(struct rows *rows, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->cell_count; i++) {
        const struct cell *cell = &entry->cells[i];
        struct row *row = find_row(rows, hash_row(entry, cell), entry, cell);
        if (!row)
            continue; /* two cells of one row: the first took both */
        remove_from_row(row, entry);
        rows->ordered = false;
        if (!row->count)
            drop_row(rows, row);
    }
}

/* Protocol newest first, then class, subclass, model, runtime, workload (spec 03, "Board rows"). */
static int by_board_order(const void *left, const void *right)
{
    const struct row *a = *(struct row *const *)left, *b = *(struct row *const *)right;
    if (a->protocol_number != b->protocol_number)
        return a->protocol_number > b->protocol_number ? -1 : 1;
    const struct name *const pairs[][2] = {
        {a->protocol, b->protocol},
        {a->contributions[0].entry->device_class, b->contributions[0].entry->device_class},
        {a->device_subclass, b->device_subclass},
        {a->model, b->model},
        {a->runtime, b->runtime},
        {a->workload, b->workload}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i][0] == pairs[i][1])
            continue;
        return js_compare(&pairs[i][0]->text, &pairs[i][1]->text);
    }
    return 0;
}

void rows_sort(struct rows *rows)
{
    if (!rows->ordered && rows->count)
        qsort(rows->order, rows->count, sizeof *rows->order, by_board_order);
    rows->ordered = true;
}

void rows_free(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free_row(rows->order[i]);
    free(rows->order);
    free(rows->buckets);
    *rows = (struct rows){0};
}
