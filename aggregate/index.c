#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/index_state.h"
#include "validator/arena.h"

bool index_fail(struct index_problem *problem, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (problem)
        vsnprintf(problem->message, sizeof problem->message, format, values);
    va_end(values);
    return false;
}

struct index *index_new(size_t summary_limit)
{
    struct index *index = memory_grow(NULL, sizeof *index);
    *index =
        (struct index){.summary_limit = summary_limit, .summary_complete = true, .unsaved = true};
    index->settled.summary_complete = true;
    return index;
}

static void free_open(struct index *index, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        buffer_free(&index->open[i]);
}

static void drop_edits(struct index *index)
{
    for (size_t i = 0; i < index->edited_count; i++)
        buffer_free(&index->edited[i].bytes);
    free(index->edited);
    index->edited = NULL;
    index->edited_count = 0;
    index->open_edited = index->summary_edited = index->summary_loaded = index->changed = false;
    buffer_free(&index->whole_summary);
}

static void free_parts(struct index *index)
{
    free_open(index, 0, index->open_count);
    free(index->open);
    free(index->segments);
    free(index->files);
    drop_edits(index);
    buffer_free(&index->summary);
    buffer_free(&index->manifest);
}

void index_free(struct index *index)
{
    if (!index)
        return;
    index_free(index->saved);
    free_parts(index);
    free(index);
}

static struct segment *add_segment(struct index *index)
{
    if (index->segment_count == index->segment_room) {
        index->segment_room = index->segment_room ? index->segment_room * 2 : 16;
        index->segments =
            memory_grow(index->segments, index->segment_room * sizeof *index->segments);
    }
    struct segment *segment = &index->segments[index->segment_count++];
    *segment = (struct segment){0};
    return segment;
}

static struct buffer *add_open(struct index *index)
{
    if (index->open_count == index->open_room) {
        index->open_room = index->open_room ? index->open_room * 2 : 4;
        index->open = memory_grow(index->open, index->open_room * sizeof *index->open);
    }
    assert(index->open); /* there was room, or it was made */
    struct buffer *open = &index->open[index->open_count++];
    *open = (struct buffer){0};
    return open;
}

void index_segment_path(size_t i, char path[INDEX_PATH_MAX])
{
    snprintf(path, INDEX_PATH_MAX, INDEX_SEGMENTS_FOLDER "/%05zu.json", i + 1);
}

size_t index_segments(const struct index *index)
{
    return index->segment_count;
}

size_t index_entries(const struct index *index)
{
    return index->entries;
}

size_t index_segment_entries(const struct index *index, size_t i)
{
    return index->segments[i].entries;
}

size_t index_flagged(const struct index *index)
{
    return index->flagged;
}

static bool read_entry(const struct js_value *value, struct index_entry *entry)
{
    const struct js_value *flagged = js_get(value, "flagged");
    *entry = (struct index_entry){
        .run_id = js_get(value, "runId"),
        .path = js_get(value, "path"),
        .created_at = js_get(value, "createdAt"),
        .flagged = flagged && flagged->type == JS_TRUE,
    };
    return entry->run_id && entry->run_id->type == JS_STRING;
}

/* Tells what an array of entries holds, but for the first SKIP; counts them. */
static bool tell_array(const char *bytes, size_t size, size_t skip, index_tell tell, void *context,
                       size_t *count, size_t *flagged)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer json BUFFER_SCOPE = {0};
    struct js_document document;
    struct js_error error;
    if (!js_read(&arena, bytes, size, &document, &error) || document.root.type != JS_ARRAY)
        return false;
    for (size_t i = 0; i < document.root.size; i++) {
        struct index_entry entry;
        if (!read_entry(&document.root.items[i], &entry))
            return false;
        if (i < skip)
            continue;
        *flagged += entry.flagged;
        if (!tell)
            continue;
        json.size = 0;
        js_print(&document, &document.root.items[i], &json);
        entry.json = json.data;
        entry.size = json.size;
        tell(context, &entry);
    }
    *count += document.root.size;
    return true;
}

static bool read_count(const struct js_value *root, const char *name, size_t *count)
{
    const struct js_value *value = js_get(root, name);
    if (!value || value->type != JS_NUMBER || !(value->number >= 0) || value->number > 1e15 ||
        value->number != (double)(size_t)value->number)
        return false;
    *count = (size_t)value->number;
    return true;
}

static bool load_segment_line(struct index *index, const struct js_value *item)
{
    char path[INDEX_PATH_MAX];
    index_segment_path(index->segment_count, path);
    struct segment *segment = add_segment(index);
    const struct js_value *hash = js_get(item, "sha256");
    if (!js_equals(js_get(item, "path"), path) || !read_count(item, "entries", &segment->entries) ||
        !read_count(item, "bytes", &segment->bytes) || !hash || hash->type != JS_STRING ||
        hash->size != SHA256_HEX)
        return false;
    memcpy(segment->sha256, hash->text, SHA256_HEX);
    return true;
}

bool index_load_manifest(struct index *index, const char *bytes, size_t size,
                         struct index_problem *problem)
{
    struct arena arena ARENA_SCOPE = {0};
    struct js_document document;
    struct js_error error;
    if (!js_read(&arena, bytes, size, &document, &error))
        return index_fail(problem, INDEX_MANIFEST_PATH " is not JSON: %s at byte %zu",
                          error.message, error.offset);
    const struct js_value *root = &document.root, *segments = js_get(root, "segments"),
                          *complete = js_get(root, "summaryComplete");
    size_t version = 0;
    if (!read_count(root, "version", &version) || version != 1)
        return index_fail(problem, INDEX_MANIFEST_PATH " is not of version 1");
    bool fine = segments && segments->type == JS_ARRAY && complete &&
                (complete->type == JS_TRUE || complete->type == JS_FALSE) &&
                read_count(root, "entries", &index->entries) &&
                read_count(root, "flagged", &index->flagged) &&
                read_count(root, "summaryEntries", &index->summary_entries);
    for (size_t i = 0; fine && i < segments->size; i++)
        fine = load_segment_line(index, &segments->items[i]);
    if (!fine)
        return index_fail(problem, INDEX_MANIFEST_PATH " does not list segments as it should");
    index->summary_complete = complete->type == JS_TRUE;
    index->unsaved = false;
    return true;
}

/* Whether the summary may still be rewritten: its bytes are then kept. */
static bool summary_fits(const struct index *index, size_t more)
{
    return index->summary_complete && index->summary.size + more <= index->summary_limit;
}

/* Adds the inside of an array to one that lacks its final bracket. */
static void add_inside(struct buffer *array, const char *inside, size_t size)
{
    buffer_byte(array, array->size ? ',' : '[');
    buffer_add(array, inside, size);
}

bool index_load_segment(struct index *index, size_t i, const char *bytes, size_t size,
                        index_tell tell, void *context, struct index_problem *problem)
{
    char path[INDEX_PATH_MAX], hash[SHA256_HEX + 1];
    index_segment_path(i, path);
    const struct segment *segment = &index->segments[i];
    sha256_hex(bytes, size, hash);
    if (size != segment->bytes || strcmp(hash, segment->sha256))
        return index_fail(problem, "%s is not what " INDEX_MANIFEST_PATH " says", path);
    /* What was known of it is not told again. */
    bool continued = index->continued && i == index->continued_at;
    size_t count = 0, skip = continued ? index->continued_entries : 0,
           begin = continued ? index->continued->size : 1;
    if (continued &&
        (size <= begin + 1 || bytes[begin] != ',' || memcmp(bytes, index->continued->data, begin)))
        return index_fail(problem, "%s no longer begins with the entries that it had", path);
    if (!tell_array(bytes, size, skip, tell, context, &count, &index->loaded_flagged) ||
        count != segment->entries || (continued && count <= skip) || bytes[0] != '[' ||
        bytes[size - 1] != ']')
        return index_fail(problem, "%s is not an array of %zu entries", path, segment->entries);
    index->loaded_entries += count - skip;
    if (i + 1 == index->segment_count)
        buffer_add(add_open(index), bytes, count ? size - 1 : 0);
    begin += continued;
    if (index_wants_summary(index) && count)
        add_inside(&index->summary, bytes + begin, size - 1 - begin);
    return true;
}

static bool same_segment(const struct segment *a, const struct segment *b)
{
    return a->entries == b->entries && a->bytes == b->bytes && !strcmp(a->sha256, b->sha256);
}

bool index_continue(struct index *index, const struct index *known, size_t *first)
{
    size_t same = 0, closed = known->segment_count;
    if (known->unsaved || !closed || index->segment_count < closed ||
        (index_wants_summary(index) && !known->summary.size))
        return false;
    while (same < closed && same_segment(&index->segments[same], &known->segments[same]))
        same++;
    if (same + 1 < closed)
        return false;
    const struct buffer *open = &known->open[known->open_count - 1];
    const struct segment *last = &index->segments[closed - 1];
    if (same < closed &&
        (last->entries <= known->segments[closed - 1].entries || last->bytes <= open->size + 1))
        return false;
    index->loaded_entries = known->entries;
    index->loaded_flagged = known->flagged;
    if (index_wants_summary(index))
        buffer_add(&index->summary, known->summary.data, known->summary.size);
    if (same == index->segment_count)
        buffer_add(add_open(index), open->data, open->size);
    if (same < closed) {
        index->continued = open;
        index->continued_at = closed - 1;
        index->continued_entries = known->segments[closed - 1].entries;
    }
    *first = same;
    return true;
}

struct index *index_copy(const struct index *index)
{
    struct index *copy = memory_grow(NULL, sizeof *copy);
    *copy = *index;
    copy->files = NULL;
    copy->open = NULL;
    copy->open_count = copy->open_room = 0;
    copy->segments = NULL;
    copy->segment_room = 0;
    copy->saved = NULL;
    copy->summary_loaded = copy->summary_edited = copy->open_edited = false;
    copy->edited = NULL;
    copy->edited_count = 0;
    copy->summary = copy->manifest = copy->whole_summary = (struct buffer){0};
    for (size_t i = 0; i < index->open_count; i++)
        buffer_add(add_open(copy), index->open[i].data, index->open[i].size);
    if (index->segment_count) {
        size_t size = index->segment_count * sizeof *index->segments;
        copy->segments = memcpy(memory_grow(NULL, size), index->segments, size);
        copy->segment_room = index->segment_count;
    }
    buffer_add(&copy->summary, index->summary.data, index->summary.size);
    return copy;
}

bool index_wants_summary(const struct index *index)
{
    size_t total = 1;
    for (size_t i = 0; i < index->segment_count; i++)
        total += index->segments[i].entries ? index->segments[i].bytes - 1 : 0;
    return index->summary_complete && index->segment_count && total <= index->summary_limit;
}

static void remember(struct index *index)
{
    struct state *state = &index->settled;
    *state = (struct state){
        .segments = index->segment_count,
        .entries = index->entries,
        .flagged = index->flagged,
        .open_count = index->open_count,
        .last_open = index->open_count ? index->open[index->open_count - 1].size : 0,
        .summary_size = index->summary.size,
        .summary_entries = index->summary_entries,
        .summary_complete = index->summary_complete,
    };
    if (index->segment_count)
        state->last = index->segments[index->segment_count - 1];
}

bool index_load_end(struct index *index, const char *summary, size_t size,
                    struct index_problem *problem)
{
    index->continued = NULL;
    if (index->loaded_entries != index->entries || index->loaded_flagged != index->flagged ||
        (index->summary_complete && index->summary_entries != index->entries))
        return index_fail(problem,
                          INDEX_MANIFEST_PATH " counts other entries than its segments hold");
    if (index_wants_summary(index)) {
        /* A present reader, or an older writer, may know only the summary: one that holds something
         * else than the segments is not ours to overwrite. */
        const struct buffer *inside = &index->summary;
        size_t open = inside->size ? inside->size : 1;
        if (!summary || size != open + 1 ||
            memcmp(summary, inside->size ? inside->data : "[", open) || summary[size - 1] != ']')
            return index_fail(problem, INDEX_SUMMARY_PATH " does not hold what the segments hold");
    } else if (index->segment_count) {
        index->summary_limit = 0; /* complete or not, it is past its limit */
    }
    remember(index);
    return true;
}

static void append_to_segment(struct index *index, const char *entry, size_t size)
{
    struct buffer *open = index->open_count ? &index->open[index->open_count - 1] : NULL;
    /* comma, entry, bracket */
    if (!open || open->size + 1 + size + 1 > INDEX_SEGMENT_BYTES) {
        open = add_open(index);
        add_segment(index);
    }
    add_inside(open, entry, size);
    index->segments[index->segment_count - 1].entries++;
}

static void append_to_summary(struct index *index, const char *entry, size_t size)
{
    if (summary_fits(index, 1 + size + 1)) {
        add_inside(&index->summary, entry, size);
        index->summary_entries++;
        return;
    }
    index->summary_complete = false;
}

static void append(struct index *index, const char *entry, size_t size, bool flagged)
{
    append_to_segment(index, entry, size);
    append_to_summary(index, entry, size);
    index->entries++;
    index->flagged += flagged;
    index->changed = true;
}

bool index_append(struct index *index, const char *entry, size_t size,
                  struct index_problem *problem)
{
    struct arena arena ARENA_SCOPE = {0};
    struct js_document document;
    struct js_error error;
    struct index_entry read;
    if (!js_read(&arena, entry, size, &document, &error) || !read_entry(&document.root, &read))
        return index_fail(problem, "an index entry is not an object with a runId");
    append(index, entry, size, read.flagged);
    return true;
}

struct archive {
    struct index *index;
    index_tell tell;
    void *context;
};

static void append_archived(void *context, const struct index_entry *entry)
{
    struct archive *archive = context;
    append(archive->index, entry->json, entry->size, entry->flagged);
    if (archive->tell)
        archive->tell(archive->context, entry);
}

bool index_load_archive(struct index *index, const char *summary, size_t size, index_tell tell,
                        void *context, struct index_problem *problem)
{
    struct archive archive = {index, tell, context};
    size_t count = 0, flagged = 0;
    if (!tell_array(summary, size, 0, append_archived, &archive, &count, &flagged))
        return index_fail(problem, INDEX_SUMMARY_PATH " is not an array of entries");
    if (!index->summary_complete) { /* it is whole, only too large to be rewritten */
        index->summary_complete = true;
        index->summary_entries = count;
        buffer_free(&index->summary);
        index->summary_limit = 0;
    }
    remember(index);
    return true;
}

static struct index_file *close_array(struct index_file *file, struct buffer *array)
{
    size_t open = array->size; /* it stays open for the next entry */
    buffer_text(array, open ? "]" : "[]");
    file->bytes = array->data;
    file->size = array->size;
    array->size = open;
    return file;
}

/* Whether the I-th open segment is not in the dataset as it stands here. */
static bool segment_changed(const struct index *index, size_t i)
{
    const struct state *settled = &index->settled;
    return index->unsaved || index->open_edited || i + 1 > settled->open_count ||
           (i + 1 == settled->open_count && index->open[i].size != settled->last_open);
}

static struct index_file *add_segment_file(struct index *index, size_t *count, size_t number,
                                           struct buffer *bytes)
{
    struct index_file *file = close_array(&index->files[(*count)++], bytes);
    index_segment_path(number, file->path);
    index->segments[number].bytes = file->size;
    sha256_hex(file->bytes, file->size, index->segments[number].sha256);
    return file;
}

static void add_summary_file(struct index *index, size_t *count)
{
    struct buffer *bytes = index->summary_loaded ? &index->whole_summary : &index->summary;
    bool differs = index->unsaved || index->summary_edited ||
                   index->summary.size != index->settled.summary_size;
    if (index->entries && (!differs || (!bytes->size && !index->summary_edited)))
        return;
    struct index_file *file = close_array(&index->files[(*count)++], bytes);
    snprintf(file->path, sizeof file->path, "%s", INDEX_SUMMARY_PATH);
}

const struct index_file *index_changed(struct index *index, size_t *count)
{
    *count = 0;
    if (!index->unsaved && !index->changed)
        return NULL;
    index->files = memory_grow(index->files, (index->open_count + index->edited_count + 2) *
                                                 sizeof *index->files);
    for (size_t i = 0; i < index->edited_count; i++)
        add_segment_file(index, count, index->edited[i].number, &index->edited[i].bytes);
    for (size_t i = 0; i < index->open_count; i++)
        if (segment_changed(index, i))
            add_segment_file(index, count, index->segment_count - index->open_count + i,
                             &index->open[i]);
    add_summary_file(index, count);
    index_write_manifest(index);
    struct index_file *file = &index->files[(*count)++];
    snprintf(file->path, sizeof file->path, "%s", INDEX_MANIFEST_PATH);
    file->bytes = index->manifest.data;
    file->size = index->manifest.size;
    return index->files;
}

void index_settle(struct index *index)
{
    if (index->open_count > 1) {
        free_open(index, 0, index->open_count - 1);
        index->open[0] = index->open[index->open_count - 1];
        index->open_count = 1;
    }
    if (!index->summary_complete)
        buffer_free(&index->summary);
    index->unsaved = false;
    index_free(index->saved);
    index->saved = NULL;
    drop_edits(index);
    remember(index);
}

void index_undo(struct index *index)
{
    if (index->saved) {
        struct index *saved = index->saved;
        index->saved = NULL;
        free_parts(index);
        *index = *saved;
        free(saved);
    }
    index->changed = false;
    const struct state *settled = &index->settled;
    free_open(index, settled->open_count, index->open_count);
    index->open_count = settled->open_count;
    if (index->open_count)
        index->open[index->open_count - 1].size = settled->last_open;
    index->segment_count = settled->segments;
    if (index->segment_count)
        index->segments[index->segment_count - 1] = settled->last;
    index->entries = settled->entries;
    index->flagged = settled->flagged;
    index->summary.size = settled->summary_size;
    index->summary_entries = settled->summary_entries;
    index->summary_complete = settled->summary_complete;
}
