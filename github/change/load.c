#include "github/change/load.h"

static bool load_segments(const struct source *source, struct index *index, index_tell tell,
                          void *context, struct store_error *error)
{
    struct index_problem problem;
    struct buffer bytes BUFFER_SCOPE = {0};
    for (size_t i = 0; i < index_segments(index); i++) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i, path);
        bytes.size = 0;
        enum repository_found found = source_read(source, path, &bytes, error);
        if (found == REPOSITORY_ABSENT)
            return error_set(error, "the index is not whole: %s is missing", path);
        if (found == REPOSITORY_FAULT)
            return false;
        if (!index_load_segment(index, i, buffer_string(&bytes), bytes.size, tell, context,
                                &problem))
            return error_set(error, "the index cannot be read: %s", problem.message);
    }
    bytes.size = 0;
    const char *summary = NULL;
    if (index_wants_summary(index)) {
        enum repository_found found = source_read(source, INDEX_SUMMARY_PATH, &bytes, error);
        if (found == REPOSITORY_FAULT)
            return false;
        if (found == REPOSITORY_FOUND)
            summary = buffer_string(&bytes);
    }
    return index_load_end(index, summary, bytes.size, &problem) ||
           error_set(error, "the index cannot be read: %s", problem.message);
}

/* One is enough. */
static bool note_file(void *context, const char *path)
{
    (void)path;
    *(bool *)context = true;
    return false;
}

/* An older dataset has only a summary, a new one nothing. */
static bool load_archive(const struct source *source, size_t summary_limit, index_tell tell,
                         void *context, struct index **index, struct store_error *error)
{
    bool segments = false;
    struct buffer bytes BUFFER_SCOPE = {0};
    if (!source_list(source, INDEX_SEGMENTS_FOLDER, note_file, &segments, error) && !segments)
        return false;
    if (segments)
        return error_set(error, "the index is not whole: " INDEX_MANIFEST_PATH " is missing");
    enum repository_found found = source_read(source, INDEX_SUMMARY_PATH, &bytes, error);
    if (found != REPOSITORY_FOUND)
        return found == REPOSITORY_ABSENT;
    struct index_problem problem;
    *index = index_new(summary_limit);
    return index_load_archive(*index, buffer_string(&bytes), bytes.size, tell, context, &problem) ||
           error_set(error, "the index cannot be read: %s", problem.message);
}

bool load_index(const struct source *source, size_t summary_limit, index_tell tell, void *context,
                struct index **out, struct store_error *error)
{
    struct buffer manifest BUFFER_SCOPE = {0};
    struct index *index = NULL;
    enum repository_found found = source_read(source, INDEX_MANIFEST_PATH, &manifest, error);
    bool fine = false;
    if (found == REPOSITORY_ABSENT) {
        fine = load_archive(source, summary_limit, tell, context, &index, error);
    } else if (found == REPOSITORY_FOUND) {
        struct index_problem problem;
        index = index_new(summary_limit);
        fine = index_load_manifest(index, buffer_string(&manifest), manifest.size, &problem);
        if (!fine)
            error_set(error, "the index cannot be read: %s", problem.message);
        fine = fine && load_segments(source, index, tell, context, error);
    }
    if (!fine) {
        index_free(index);
        return false;
    }
    *out = index;
    return true;
}
