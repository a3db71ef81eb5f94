#include "aggregate/board_select.h"

#include <stdlib.h>

#include "aggregate/board_sort.h"

/* Dimensions that belong to a run, and those that all contributions of a row share. */
enum {
    OF_ENTRY = 1 << BY_PROTOCOL | 1 << BY_CLASS | 1 << BY_DEVICE | 1 << BY_BROWSER,
    OF_ROW = 1 << BY_PROTOCOL | 1 << BY_DEVICE | 1 << BY_RUNTIME | 1 << BY_MODEL | 1 << BY_WORKLOAD,
    LOOKED_AT = 0x80, /* the words take the other seven bits */
};

const char *board_dimension_name(enum board_dimension dimension)
{
    static const char *const names[BOARD_DIMENSIONS] = {
        [BY_PROTOCOL] = "protocol", [BY_CLASS] = "deviceClass",  [BY_DEVICE] = "deviceSubclass",
        [BY_RUNTIME] = "runtimeId", [BY_MODEL] = "benchModelId", [BY_WORKLOAD] = "workloadId",
        [BY_BROWSER] = "browser",
    };
    return names[dimension];
}

const struct name *dimension_of(enum board_dimension dimension, const struct entry *entry,
                                const struct cell *cell)
{
    switch (dimension) {
    case BY_PROTOCOL:
        return entry->protocol;
    case BY_CLASS:
        return entry->device_class;
    case BY_DEVICE:
        return entry->device_subclass;
    case BY_RUNTIME:
        return cell->runtime;
    case BY_MODEL:
        return cell->model;
    case BY_WORKLOAD:
        return cell->workload;
    case BY_BROWSER:
    case BOARD_DIMENSIONS:
        break;
    }
    return entry->browser;
}

/* Stands for a value that nothing on the board has. */
static const struct name nobody;

static void read_words(struct matcher *matcher, const char *words)
{
    if (!words)
        return;
    struct text rest = text_lower(&matcher->arena, (struct text){words, strlen(words)});
    const char *at = rest.data, *end = rest.data + rest.size;
    while (at < end && matcher->word_count < BOARD_WORDS_MOST) {
        const char *first = at, *behind = at;
        while (at < end && !text_is_space(text_next(&at, end)))
            behind = at;
        if (behind > first)
            matcher->words[matcher->word_count++] = (struct text){first, (size_t)(behind - first)};
    }
}

void matcher_open(struct matcher *matcher, const struct board *board,
                  const struct board_query *query)
{
    *matcher = (struct matcher){0};
    if (!query)
        return;
    for (int i = 0; i < BOARD_DIMENSIONS; i++) {
        const char *wanted = query->equal[i];
        const struct name *name = wanted ? board_find_name(board, wanted) : NULL;
        matcher->equal[i] = wanted && !name ? &nobody : name;
    }
    read_words(matcher, query->words);
    if (matcher->word_count)
        matcher->found = arena_clear_take(&matcher->arena, board->name_count, 1);
}

void matcher_close(struct matcher *matcher)
{
    arena_free(&matcher->arena);
}

unsigned matcher_misses(const struct matcher *matcher, const struct entry *entry,
                        const struct cell *cell)
{
    unsigned misses = 0;
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        if (matcher->equal[i] && (cell || OF_ENTRY >> i & 1) &&
            matcher->equal[i] != dimension_of((enum board_dimension)i, entry, cell))
            misses |= 1U << i;
    return misses;
}

/* Names repeat, so each is searched once. */
static unsigned words_in(struct matcher *matcher, const struct name *name)
{
    if (!name)
        return 0;
    unsigned char *found = &matcher->found[name->number];
    if (!*found) {
        ARENA_SCOPE struct arena arena = {0};
        struct text lower = text_lower(&arena, text_of(&name->text));
        *found = LOOKED_AT;
        for (size_t i = 0; i < matcher->word_count; i++)
            if (memmem(lower.data, lower.size, matcher->words[i].data, matcher->words[i].size))
                *found |= (unsigned char)(1U << i);
    }
    return *found;
}

bool matcher_has_words(struct matcher *matcher, const struct entry *entry, const struct cell *cell)
{
    if (!matcher->word_count)
        return true;
    const struct name *const names[] = {
        entry->device_class, entry->device_subclass, entry->browser, cell->runtime,
        cell->model,         cell->model_name,       cell->workload, cell->backend};
    unsigned all = (1U << matcher->word_count) - 1, found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found |= words_in(matcher, names[i]);
    return (found & all) == all;
}

static unsigned asked_dimensions(const struct matcher *matcher)
{
    unsigned asked = 0;
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        asked |= matcher->equal[i] ? 1U << i : 0;
    return asked;
}

/* Entries without a cell count as long as nothing is asked of cells. */
static void select_entries(struct selection *selection, const struct board *board,
                           struct matcher *matcher, bool of_cells, bool groups)
{
    selection->entries = memory_grow(NULL, (board->count + 1) * sizeof(struct entry *));
    selection->owns_entries = true;
    selection->entry_count = 0;
    for (size_t i = 0; i < board->count; i++) {
        struct entry *entry = board->entries[i];
        bool any = !of_cells;
        if (matcher_misses(matcher, entry, NULL))
            continue;
        for (uint32_t j = 0; j < entry->cell_count && (groups || !any); j++) {
            const struct cell *cell = &entry->cells[j];
            if (matcher_misses(matcher, entry, cell) || !matcher_has_words(matcher, entry, cell))
                continue;
            if (groups)
                rows_add(&selection->own, entry, cell);
            any = true;
        }
        if (any)
            selection->entries[selection->entry_count++] = entry;
    }
}

/* What is asked of all contributions of a row alike leaves whole rows of the board. */
static void select_rows(struct selection *selection, const struct rows *rows,
                        const struct matcher *matcher)
{
    selection->rows = memory_grow(NULL, (rows->count + 1) * sizeof(struct row *));
    selection->owns_rows = true;
    for (size_t i = 0; i < rows->count; i++) {
        const struct contribution *first = &rows->order[i]->contributions[0];
        if (!matcher_misses(matcher, first->entry, first->cell))
            selection->rows[selection->row_count++] = rows->order[i];
    }
}

static void borrow_rows(struct selection *selection, const struct rows *rows)
{
    selection->rows = rows->order;
    selection->row_count = rows->count;
}

struct selection board_select(struct board *board, const struct board_query *query)
{
    struct selection selection = {.entries = board->entries, .entry_count = board->count};
    MATCHER_SCOPE struct matcher matcher;
    matcher_open(&matcher, board, query);
    unsigned asked = asked_dimensions(&matcher);
    selection.own.by_devices = board->rows.by_devices;
    bool groups = matcher.word_count || asked & ~(unsigned)OF_ROW;
    if (asked || matcher.word_count)
        select_entries(&selection, board, &matcher,
                       matcher.word_count || asked & ~(unsigned)OF_ENTRY, groups);
    rows_sort(groups ? &selection.own : &board->rows);
    if (groups)
        borrow_rows(&selection, &selection.own);
    else if (asked)
        select_rows(&selection, &board->rows, &matcher);
    else
        borrow_rows(&selection, &board->rows);
    if (query && query->sort) {
        if (!selection.owns_rows && selection.row_count) {
            size_t size = selection.row_count * sizeof(struct row *);
            selection.rows = memcpy(memory_grow(NULL, size), selection.rows, size);
            selection.owns_rows = true;
        }
        board_sort(selection.rows, selection.row_count, query->sort);
    }
    return selection;
}

void selection_free(struct selection *selection)
{
    if (selection->owns_entries)
        free(selection->entries);
    if (selection->owns_rows)
        free(selection->rows);
    rows_free(&selection->own);
}

void board_note_recent(struct entry *recent[RECENT_SUBMISSIONS], size_t *count, struct entry *entry,
                       bool earlier)
{
    size_t at = *count;
    while (at > 0 && (recent[at - 1]->created_ms < entry->created_ms ||
                      (!earlier && recent[at - 1]->created_ms == entry->created_ms)))
        at--;
    if (at == RECENT_SUBMISSIONS)
        return;
    if (*count < RECENT_SUBMISSIONS)
        ++*count;
    memmove(recent + at + 1, recent + at, (*count - at - 1) * sizeof *recent);
    recent[at] = entry;
}

static size_t find_recent(struct entry *const *entries, size_t entry_count,
                          struct entry *recent[RECENT_SUBMISSIONS])
{
    size_t count = 0;
    for (size_t i = entry_count; i > 0; i--)
        board_note_recent(recent, &count, entries[i - 1], true);
    return count;
}

size_t selection_recent(struct board *board, const struct selection *selection,
                        struct entry *recent[RECENT_SUBMISSIONS])
{
    if (selection->owns_entries)
        return find_recent(selection->entries, selection->entry_count, recent);
    if (board->recent_unknown)
        board->recent_count = find_recent(board->entries, board->count, board->recent);
    board->recent_unknown = false;
    memcpy(recent, board->recent, sizeof board->recent);
    return board->recent_count;
}
