#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/index_state.h"
#include "validator/arena.h"

/* Past the string that begins at AT; NULL when it does not end. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == '"')
            return at + 1;
    }
    return NULL;
}

/* Past the object that begins at AT; NULL when it does not end. */
static const char *skip_object(const char *at, const char *end)
{
    size_t depth = 0;
    while (at && at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        depth += *at == '{' || *at == '[';
        if ((*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
        at++;
    }
    return NULL;
}

/* Only what an element of the array begins with counts: objects within it have keys of the client's
 * choice, "runId" too. */
bool index_find_entry(const char *bytes, size_t size, const char *run_id, size_t *start,
                      size_t *end)
{
    BUFFER_SCOPE struct buffer needle = {0};
    struct js_writer writer = {.out = &needle};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "runId");
    js_write_text(&writer, run_id);
    if (!memmem(bytes, size, needle.data, needle.size))
        return false; /* mostly so, and much faster than to walk */
    const char *at = bytes + 1, *last = bytes + size;
    while (at < last && *at == '{') {
        const char *behind = skip_object(at, last);
        if (!behind)
            return false;
        if ((size_t)(behind - at) > needle.size && !memcmp(at, needle.data, needle.size)) {
            *start = (size_t)(at - bytes);
            *end = (size_t)(behind - bytes);
            return true;
        }
        at = behind + (behind < last && *behind == ',');
    }
    return false;
}

static bool is_flagged(const char *entry, size_t size)
{
    struct arena arena ARENA_SCOPE = {0};
    struct js_document document;
    struct js_error error;
    const struct js_value *flagged = NULL;
    if (js_read(&arena, entry, size, &document, &error))
        flagged = js_get(&document.root, "flagged");
    return flagged && flagged->type == JS_TRUE;
}

/* ARRAY lacks its final bracket, as the open ones do. An array that is left empty is empty bytes. */
static bool edit_array(struct buffer *array, const char *run_id, const char *entry, size_t size,
                       struct buffer *old)
{
    size_t start, end;
    if (!array->size || !index_find_entry(array->data, array->size, run_id, &start, &end))
        return false;
    if (old)
        buffer_add(old, array->data + start, end - start);
    if (!entry) { /* with one of the commas beside it */
        size = 0;
        if (end < array->size)
            end++;
        else
            start--;
    }
    size_t behind = array->size - end;
    if (size > end - start)
        buffer_reserve(array, size - (end - start));
    memmove(array->data + start + size, array->data + end, behind);
    if (entry)
        memcpy(array->data + start, entry, size);
    array->size = start + size + behind;
    if (array->size == 1) /* a bracket alone */
        array->size = 0;
    return true;
}

void index_save(struct index *index)
{
    if (!index->saved)
        index->saved = index_copy(index);
}

static struct buffer *held(const struct index *index, size_t i)
{
    size_t first_open = index->segment_count - index->open_count;
    if (i >= first_open)
        return &index->open[i - first_open];
    for (size_t k = 0; k < index->edited_count; k++)
        if (index->edited[k].number == i)
            return &index->edited[k].bytes;
    return NULL;
}

bool index_holds_segment(const struct index *index, size_t i)
{
    return held(index, i) != NULL;
}

/* What lies in the dataset as BYTES, without its final bracket. */
static struct buffer *take_in(struct index *index, size_t i, const char *bytes, size_t size)
{
    index->edited = memory_grow(index->edited, (index->edited_count + 1) * sizeof *index->edited);
    struct edited_segment *segment = &index->edited[index->edited_count++];
    *segment = (struct edited_segment){.number = i};
    if (size > 2)
        buffer_add(&segment->bytes, bytes, size - 1);
    return &segment->bytes;
}

static enum index_edit broken(struct index_problem *problem, const char *why)
{
    (void)index_fail(problem, "%s", why);
    return INDEX_BROKEN;
}

bool index_look(const struct index *index, size_t i, const char *bytes, size_t size,
                const char *run_id, struct buffer *old)
{
    const struct buffer *array = held(index, i);
    size_t start, end;
    if (array) {
        bytes = array->data;
        size = array->size;
    }
    if (!size || !index_find_entry(bytes, size, run_id, &start, &end))
        return false;
    buffer_add(old, bytes + start, end - start);
    return true;
}

enum index_edit index_edit_segment(struct index *index, size_t i, const char *bytes, size_t size,
                                   const char *run_id, const char *entry, size_t entry_size,
                                   struct index_problem *problem)
{
    struct buffer old BUFFER_SCOPE = {0};
    assert(index->saved);
    struct segment *segment = &index->segments[i];
    struct buffer *array = held(index, i);
    size_t start, end;
    if (!array && (size != segment->bytes || !size || bytes[size - 1] != ']'))
        return broken(problem, "a segment is not what " INDEX_MANIFEST_PATH " says");
    if (!array && !index_find_entry(bytes, size, run_id, &start, &end))
        return INDEX_MISSING;
    if (!array)
        array = take_in(index, i, bytes, size);
    if (!edit_array(array, run_id, entry, entry_size, &old))
        return INDEX_MISSING;
    index->changed = true;
    index->open_edited = index->open_edited || i + index->open_count >= index->segment_count;
    index->flagged -= is_flagged(buffer_string(&old), old.size);
    index->flagged += entry && is_flagged(entry, entry_size);
    segment->entries -= !entry;
    index->entries -= !entry;
    return INDEX_EDITED;
}

bool index_holds_summary(const struct index *index)
{
    const struct index *before = index->saved ? index->saved : index;
    return index->summary_loaded || before->summary.size ||
           (index->summary_complete && index->summary.size);
}

enum index_edit index_edit_summary(struct index *index, const char *bytes, size_t size,
                                   const char *run_id, const char *entry, size_t entry_size,
                                   struct index_problem *problem)
{
    assert(index->saved);
    if (!index_holds_summary(index)) {
        if (!bytes)
            return INDEX_MISSING; /* there is none */
        if (size < 2 || bytes[size - 1] != ']')
            return broken(problem, INDEX_SUMMARY_PATH " is not an array of entries");
        if (size > 2)
            buffer_add(&index->whole_summary, bytes, size - 1);
        index->summary_loaded = true;
    }
    struct buffer *array = index->summary_loaded ? &index->whole_summary : &index->summary;
    if (!edit_array(array, run_id, entry, entry_size, NULL))
        return INDEX_MISSING; /* it came when the summary was no longer rewritten */
    index->summary_edited = true;
    index->summary_entries -= !entry;
    return INDEX_EDITED;
}
