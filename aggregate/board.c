#include "aggregate/board.h"

#include <math.h>
#include <stdlib.h>

#include "aggregate/board_state.h"
#include "aggregate/device.h"
#include "validator/calendar.h"
#include "validator/protocol.h"

enum { FIRST_BUCKETS = 1024 };

/* FNV-1a; the names come from files that were accepted, and a bucket is walked by whole hashes. */
static uint64_t hash_text(const char *text, size_t size)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001B3);
    return hash ^ hash >> 29;
}

static void grow_names(struct board *board)
{
    size_t count = board->name_buckets ? board->name_buckets * 4 : FIRST_BUCKETS;
    struct name **buckets = memory_grow(NULL, count * sizeof(struct name *));
    memset(buckets, 0, count * sizeof(struct name *));
    for (size_t i = 0; i < board->name_buckets; i++) {
        for (struct name *name = board->names[i], *next; name; name = next) {
            next = name->next;
            name->next = buckets[name->hash % count];
            buckets[name->hash % count] = name;
        }
    }
    free(board->names);
    board->names = buckets;
    board->name_buckets = count;
}

static struct name *find_name(const struct board *board, const char *text, size_t size,
                              uint64_t hash)
{
    struct name *name = board->name_buckets ? board->names[hash % board->name_buckets] : NULL;
    while (name && (name->hash != hash || name->text.size != size ||
                    memcmp(name->text.text, text, size) != 0))
        name = name->next;
    return name;
}

static struct name *intern(struct board *board, const char *text, size_t size)
{
    uint64_t hash = hash_text(text, size);
    struct name *name = find_name(board, text, size, hash);
    if (name)
        return name;
    if (board->name_count >= board->name_buckets)
        grow_names(board);
    name = arena_clear_take(&board->arena, 1, sizeof *name);
    name->text = js_make_string(arena_copy(&board->arena, text, size), size);
    name->hash = hash;
    name->number = (uint32_t)board->name_count;
    name->next = board->names[hash % board->name_buckets];
    board->names[hash % board->name_buckets] = name;
    board->name_count++;
    return name;
}

/* The name of a string member, NULL when it is absent or something else. */
static struct name *intern_member(struct board *board, const struct js_value *object,
                                  const char *key)
{
    const struct js_value *value = js_get(object, key);
    return value && value->type == JS_STRING ? intern(board, value->text, value->size) : NULL;
}

static double number_member(const struct js_value *object, const char *key)
{
    const struct js_value *value = js_get(object, key);
    return value && value->type == JS_NUMBER ? value->number : NAN;
}

/* -1 when absent. */
static signed char bool_member(const struct js_value *object, const char *key)
{
    const struct js_value *value = js_get(object, key);
    return value && value->type == JS_TRUE ? 1 : value && value->type == JS_FALSE ? 0 : -1;
}

static bool read_cell(struct board *board, const struct js_value *value, struct cell *cell)
{
    *cell = (struct cell){.runtime = intern_member(board, value, "runtimeId"),
                          .model = intern_member(board, value, "benchModelId"),
                          .model_name = intern_member(board, value, "modelName"),
                          .workload = intern_member(board, value, "workloadId"),
                          .backend = intern_member(board, value, "resolvedBackend"),
                          .high_variance = bool_member(value, "highVariance") == 1,
                          .incremental = bool_member(value, "streamIncremental")};
    bool warm = bool_member(value, "loadCached") == 1;
    double load = number_member(value, "loadMs");
    for (int figure = 0; figure < FIGURE_COUNT; figure++)
        cell->figures[figure] = figure == FIGURE_LOAD_COLD ? (warm ? NAN : load)
                                : figure == FIGURE_LOAD_WARM
                                    ? (warm ? load : NAN)
                                    : number_member(value, figure_name(figure));
    return cell->runtime && cell->model && cell->workload;
}

static void read_device(struct board *board, const struct js_value *value, struct entry *entry)
{
    entry->device_class = intern_member(board, value, "deviceClass");
    entry->device_subclass = intern_member(board, value, "deviceSubclass");
    if (entry->device_class && !entry->device_subclass) { /* an old entry */
        ARENA_SCOPE struct arena arena = {0};
        struct text derived =
            device_subclass(&arena, text_of(&entry->device_class->text), js_get(value, "gpuModel"));
        entry->device_subclass = intern(board, derived.data, derived.size);
    }
}

/* What an entry tells of a device, which has neither a screen nor a userAgent: equal machines are one device, and one
 * whose browser was updated in between is two. */
static const struct name *intern_device(struct board *board, const struct js_document *document)
{
    static const char *const traits[] = {
        "gpuModel",       "os",      "osVersion",      "architecture", "cores",
        "deviceMemoryGB", "browser", "browserVersion", "engine",       "deviceModel"};
    BUFFER_SCOPE struct buffer device = {0};
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++) {
        const struct js_value *value = js_get(&document->root, traits[i]);
        if (value)
            js_print(document, value, &device);
        buffer_byte(&device, '\n'); /* stands in no value that is printed */
    }
    return intern(board, device.data, device.size);
}

static void keep_head(struct board *board, const struct js_document *document, struct entry *entry)
{
    BUFFER_SCOPE struct buffer head = {0};
    struct js_writer writer = {.out = &head};
    js_write_begin(&writer, '{');
    for (uint32_t i = 0; i < document->root.size; i++) {
        const struct js_member *member = &document->root.members[i];
        if (js_equals(&member->key, "cells"))
            continue;
        js_write_value(&writer, &member->key);
        buffer_byte(&head, ':');
        js_print(document, &member->value, &head);
    }
    js_write_end(&writer, '}');
    entry->head = arena_copy(&board->arena, head.data, head.size);
    entry->head_size = (uint32_t)head.size;
}

static bool read_entry(struct board *board, const struct js_document *document, struct entry *entry)
{
    const struct js_value *root = &document->root, *cells = js_get(root, "cells");
    entry->created_at = intern_member(board, root, "createdAt");
    entry->browser = intern_member(board, root, "browser");
    entry->device = intern_device(board, document);
    read_device(board, root, entry);
    if (!entry->created_at || !entry->device_class || !cells || cells->type != JS_ARRAY)
        return false;
    entry->protocol_number = board_protocol_number(&entry->protocol->text);
    int year, month;
    if (!calendar_read(text_of(&entry->created_at->text), &entry->created_ms, &year, &month))
        entry->created_ms = 0;
    entry->cells = arena_clear_take(&board->arena, cells->size, sizeof *entry->cells);
    for (uint32_t i = 0; i < cells->size; i++)
        entry->cell_count += read_cell(board, &cells->items[i], &entry->cells[entry->cell_count]);
    keep_head(board, document, entry);
    return true;
}

static bool is_shown(const struct board *board, const struct name *protocol)
{
    for (const struct name **shown = board->protocols; *shown; shown++)
        if (*shown == protocol)
            return true;
    return false;
}

static void keep_entry(struct board *board, struct entry *entry)
{
    if (board->count == board->room) {
        board->room = board->room ? board->room * 2 : FIRST_BUCKETS;
        board->entries = memory_grow(board->entries, board->room * sizeof(struct entry *));
    }
    size_t at = board->count++;
    for (; at > 0 && board->entries[at - 1]->place > entry->place; at--)
        board->entries[at] = board->entries[at - 1];
    board->entries[at] = entry;
    if (at + 1 == board->count)
        board_note_recent(board->recent, &board->recent_count, entry, false);
    else
        board->recent_unknown = true; /* one that was released after others came */
    for (uint32_t i = 0; i < entry->cell_count; i++)
        rows_add(&board->rows, entry, &entry->cells[i]);
}

/* An entry that is not on the board yet; NULL when DOCUMENT is none. */
static struct entry *make_entry(struct board *board, const struct js_document *document)
{
    const struct js_value *id = js_get(&document->root, "runId");
    if (!id || id->type != JS_STRING)
        return NULL;
    struct entry *entry = arena_clear_take(&board->arena, 1, sizeof *entry);
    entry->id = intern(board, id->text, id->size);
    entry->protocol = intern_member(board, &document->root, "protocol");
    bool shown = entry->protocol && is_shown(board, entry->protocol) &&
                 bool_member(&document->root, "flagged") != 1;
    if (shown && !read_entry(board, document, entry))
        return NULL;
    entry->shown = shown;
    return entry;
}

static struct entry *read_text(struct board *board, const char *text, size_t size)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct js_error error;
    return js_read(&arena, text, size, &document, &error) ? make_entry(board, &document) : NULL;
}

static void put_entry(struct board *board, struct entry *entry, uint64_t place)
{
    struct name *name =
        find_name(board, entry->id->text.text, entry->id->text.size, entry->id->hash);
    entry->place = place;
    name->run = entry;
    board->all++;
    if (entry->shown)
        keep_entry(board, entry);
}

bool board_add(struct board *board, const char *text, size_t size)
{
    struct entry *entry = read_text(board, text, size);
    if (entry)
        put_entry(board, entry, board->added++);
    return entry != NULL;
}

static void take_out(struct board *board, struct name *name)
{
    const struct entry *entry = name->run;
    size_t at = 0;
    name->run = NULL;
    board->all--;
    if (!entry->shown)
        return;
    rows_remove(&board->rows, entry);
    board->recent_unknown = true;
    while (board->entries[at] != entry)
        at++;
    board->count--;
    memmove(board->entries + at, board->entries + at + 1,
            (board->count - at) * sizeof *board->entries);
}

bool board_remove(struct board *board, const char *run_id)
{
    size_t size = strlen(run_id);
    struct name *name = find_name(board, run_id, size, hash_text(run_id, size));
    if (!name || !name->run)
        return false;
    take_out(board, name);
    return true;
}

bool board_replace(struct board *board, const char *text, size_t size)
{
    struct entry *entry = read_text(board, text, size);
    if (!entry || !entry->id->run)
        return false;
    uint64_t place = entry->id->run->place;
    struct name *name =
        find_name(board, entry->id->text.text, entry->id->text.size, entry->id->hash);
    take_out(board, name);
    put_entry(board, entry, place);
    return true;
}

double board_protocol_number(const struct js_value *id)
{
    double number;
    return protocol_number(id, &number) ? number : 0;
}

static int newest_first(const void *left, const void *right)
{
    const struct name *a = *(const struct name *const *)left,
                      *b = *(const struct name *const *)right;
    double first = board_protocol_number(&a->text), second = board_protocol_number(&b->text);
    if (first != second)
        return first > second ? -1 : 1;
    return js_compare(&a->text, &b->text);
}

struct board *board_new(const char *const *protocols)
{
    struct board *board = memory_grow(NULL, sizeof *board);
    size_t count = 0;
    *board = (struct board){0};
    while (protocols[count])
        count++;
    board->protocols = arena_clear_take(&board->arena, count + 1, sizeof *board->protocols);
    for (size_t i = 0; i < count; i++)
        board->protocols[i] = intern(board, protocols[i], strlen(protocols[i]));
    qsort(board->protocols, count, sizeof *board->protocols, newest_first);
    return board;
}

void board_count_provisional(struct board *board, enum board_provisional by)
{
    board->rows.by_devices = by == PROVISIONAL_BY_DEVICES;
}

void board_free(struct board *board)
{
    if (!board)
        return;
    rows_free(&board->rows);
    arena_free(&board->arena);
    free(board->names);
    free(board->entries);
    free(board);
}

size_t board_entries(const struct board *board)
{
    return board->all;
}

const struct name *board_find_text(const struct board *board, struct text text)
{
    return find_name(board, text.data, text.size, hash_text(text.data, text.size));
}

const struct name *board_find_name(const struct board *board, const char *text)
{
    return board_find_text(board, (struct text){text, strlen(text)});
}

bool board_shows(const struct board *board, struct text protocol)
{
    return is_shown(board, board_find_text(board, protocol));
}
