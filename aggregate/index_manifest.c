#include <string.h>

#include "aggregate/index_state.h"

void index_write_manifest(struct index *index)
{
    index->manifest.size = 0;
    struct js_writer writer = {.out = &index->manifest};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "version");
    js_write_number(&writer, 1);
    js_write_key(&writer, "segments");
    js_write_begin(&writer, '[');
    for (size_t i = 0; i < index->segment_count; i++) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i, path);
        js_write_begin(&writer, '{');
        js_write_key(&writer, "path");
        js_write_text(&writer, path);
        js_write_key(&writer, "entries");
        js_write_number(&writer, (double)index->segments[i].entries);
        js_write_key(&writer, "bytes");
        js_write_number(&writer, (double)index->segments[i].bytes);
        js_write_key(&writer, "sha256");
        js_write_text(&writer, index->segments[i].sha256);
        js_write_end(&writer, '}');
    }
    js_write_end(&writer, ']');
    js_write_key(&writer, "entries");
    js_write_number(&writer, (double)index->entries);
    js_write_key(&writer, "flagged");
    js_write_number(&writer, (double)index->flagged);
    js_write_key(&writer, "summaryComplete");
    js_write_bool(&writer, index->summary_complete);
    js_write_key(&writer, "summaryEntries");
    js_write_number(&writer, (double)index->summary_entries);
    js_write_end(&writer, '}');
}

bool index_summary_lags(const struct index *index)
{
    return !index->summary_complete;
}

size_t index_bytes(const struct index *index)
{
    size_t bytes = 2; /* brackets */
    for (size_t i = 0; i < index->segment_count; i++)
        bytes += index->segments[i].bytes - 1;
    return bytes;
}

bool index_is_segment(const struct index *index, size_t i, const char *bytes, size_t size)
{
    char hash[SHA256_HEX + 1];
    const struct segment *segment = &index->segments[i];
    sha256_hex(bytes, size, hash);
    return size == segment->bytes && size >= 2 && !strcmp(hash, segment->sha256);
}

bool index_grew(const struct index *index, const struct index *before, const char *last,
                size_t size)
{
    size_t count = before->segment_count;
    if (!count || index->segment_count < count)
        return false;
    for (size_t i = 0; i + 1 < count; i++)
        if (strcmp(index->segments[i].sha256, before->segments[i].sha256))
            return false;
    size_t bytes = before->segments[count - 1].bytes;
    if (size == bytes)
        return index_is_segment(before, count - 1, last, size);
    if (size < bytes || last[bytes - 1] != ',')
        return false;
    BUFFER_SCOPE struct buffer closed = {0};
    buffer_add(&closed, last, bytes - 1);
    buffer_byte(&closed, ']');
    return index_is_segment(before, count - 1, closed.data, closed.size);
}

const char *index_manifest_with(struct index *index, size_t summary_entries, size_t *size)
{
    index->summary_entries = summary_entries;
    index->summary_complete = summary_entries == index->entries;
    index_write_manifest(index);
    *size = index->manifest.size;
    return index->manifest.data;
}
