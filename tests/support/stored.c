#include "tests/support/stored.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"
#include "validator/buffer.h"

enum { FILES = 32 };

/* What a dataset would hold: the files that an index gave. */
static struct stored {
    char path[INDEX_PATH_MAX];
    struct buffer bytes;
} stored[FILES];
struct index *stored_index;
struct index_problem stored_problem;

void stored_forget(void)
{
    for (size_t i = 0; i < FILES; i++) {
        buffer_free(&stored[i].bytes);
        stored[i].path[0] = '\0';
    }
}

struct buffer *stored_file(const char *path)
{
    for (size_t i = 0; i < FILES; i++)
        if (!strcmp(stored[i].path, path))
            return &stored[i].bytes;
    return NULL;
}

size_t stored_changes(void)
{
    size_t count = 0;
    const struct index_file *files = index_changed(stored_index, &count);
    for (size_t i = 0; i < count; i++) {
        struct buffer *file = stored_file(files[i].path);
        for (size_t free_slot = 0; !file; free_slot++) {
            ck_assert_uint_lt(free_slot, FILES);
            if (*stored[free_slot].path)
                continue;
            strcpy(stored[free_slot].path, files[i].path);
            file = &stored[free_slot].bytes;
        }
        file->size = 0;
        buffer_add(file, files[i].bytes, files[i].size);
    }
    index_settle(stored_index);
    return count;
}

void stored_begin(void)
{
    stored_index = index_new(NO_LIMIT);
}

void stored_end(void)
{
    index_free(stored_index);
    stored_index = NULL;
    stored_forget();
}

void stored_manifest_holds(const char *holds)
{
    const char *manifest = buffer_string(stored_file(INDEX_MANIFEST_PATH));
    ck_assert_msg(strstr(manifest, holds) != NULL, "%s in %s", holds, manifest);
}

bool stored_load(size_t limit, index_tell tell, void *context)
{
    struct buffer *manifest = stored_file(INDEX_MANIFEST_PATH),
                  *summary = stored_file(INDEX_SUMMARY_PATH);
    index_free(stored_index);
    stored_index = index_new(limit);
    if (!index_load_manifest(stored_index, manifest->data, manifest->size, &stored_problem))
        return false;
    for (size_t i = 0; i < index_segments(stored_index); i++) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i, path);
        struct buffer *segment = stored_file(path);
        if (!index_load_segment(stored_index, i, segment->data, segment->size, tell, context,
                                &stored_problem))
            return false;
    }
    return index_load_end(stored_index, summary ? summary->data : NULL, summary ? summary->size : 0,
                          &stored_problem);
}
