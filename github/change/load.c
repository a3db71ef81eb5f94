#include "github/change/load.h"

static void tell_whole(const struct index_loading *loading)
{
    if (loading->whole)
        loading->whole(loading->context);
}

static bool load_segments(const struct source *source, const struct index_loading *loading,
                          struct index *index, struct store_error *error)
{
    struct index_problem problem;
    struct buffer bytes BUFFER_SCOPE = {0};
    size_t first = 0;
    if (!loading->known || !index_continue(index, loading->known, &first))
        tell_whole(loading);
    for (size_t i = first; i < index_segments(index); i++) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i, path);
        bytes.size = 0;
        if (loading->alone)
            repository_trust(true);
        enum repository_found found = source_read(source, path, &bytes, error);
        if (loading->alone)
            repository_trust(false);
        if (found == REPOSITORY_ABSENT)
            return error_set(error, "the index is not whole: %s is missing", path);
        if (found == REPOSITORY_FAULT)
            return false;
        if (!index_load_segment(index, i, buffer_string(&bytes), bytes.size, loading->tell,
                                loading->context, &problem))
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
static bool load_archive(const struct source *source, const struct index_loading *loading,
                         struct index **index, struct store_error *error)
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
    tell_whole(loading);
    *index = index_new(loading->summary_limit);
    return index_load_archive(*index, buffer_string(&bytes), bytes.size, loading->tell,
                              loading->context, &problem) ||
           error_set(error, "the index cannot be read: %s", problem.message);
}

static bool load(const struct source *source, const struct index_loading *loading,
                 struct index **out, struct store_error *error)
{
    struct buffer manifest BUFFER_SCOPE = {0};
    struct index *index = NULL;
    enum repository_found found = source_read(source, INDEX_MANIFEST_PATH, &manifest, error);
    bool fine = false;
    if (found == REPOSITORY_ABSENT) {
        fine = load_archive(source, loading, &index, error);
    } else if (found == REPOSITORY_FOUND) {
        struct index_problem problem;
        index = index_new(loading->summary_limit);
        fine = index_load_manifest(index, buffer_string(&manifest), manifest.size, &problem);
        if (!fine)
            error_set(error, "the index cannot be read: %s", problem.message);
        fine = fine && load_segments(source, loading, index, error);
    }
    if (!fine) {
        index_free(index);
        return false;
    }
    *out = index;
    return true;
}

bool load_index(const struct source *source, const struct index_loading *loading,
                struct index **out, struct store_error *error)
{
    struct index_loading whole = *loading;
    if (load(source, loading, out, error))
        return true;
    /* The manifest may look like more of what is known, and the segments be others. */
    whole.known = NULL;
    return loading->known && load(source, &whole, out, error);
}

struct skipping {
    size_t left;
    index_tell tell;
    void *context;
};

static void tell_after(void *context, const struct index_entry *entry)
{
    struct skipping *skipping = context;
    if (skipping->left)
        skipping->left--;
    else
        skipping->tell(skipping->context, entry);
}

/* Only the segments that hold any of them are read. */
static bool tell_segments_after(const struct source *source, struct index *index, size_t skip,
                                struct skipping *skipping, struct store_error *error)
{
    struct index_problem problem;
    struct buffer bytes BUFFER_SCOPE = {0};
    for (size_t i = 0, before = 0; i < index_segments(index); i++) {
        char path[INDEX_PATH_MAX];
        size_t entries = index_segment_entries(index, i);
        before += entries;
        if (before <= skip)
            continue;
        skipping->left = skip > before - entries ? skip - (before - entries) : 0;
        index_segment_path(i, path);
        bytes.size = 0;
        if (source_read(source, path, &bytes, error) != REPOSITORY_FOUND)
            return error_set(error, "the index is not whole: %s is missing", path);
        if (!index_load_segment(index, i, buffer_string(&bytes), bytes.size, tell_after, skipping,
                                &problem))
            return error_set(error, "the index cannot be read: %s", problem.message);
    }
    return true;
}

bool load_last_entries(const struct source *source, size_t count, index_tell tell, void *context,
                       struct store_error *error)
{
    struct skipping skipping = {0, tell, context};
    struct buffer manifest BUFFER_SCOPE = {0};
    struct index_problem problem;
    enum repository_found found = source_read(source, INDEX_MANIFEST_PATH, &manifest, error);
    if (found != REPOSITORY_FOUND)
        return found == REPOSITORY_ABSENT; /* a dataset without runs */
    struct index *index = index_new(0);
    bool fine = index_load_manifest(index, buffer_string(&manifest), manifest.size, &problem);
    size_t all = index_entries(index);
    if (fine)
        fine = tell_segments_after(source, index, count < all ? all - count : 0, &skipping, error);
    else
        error_set(error, "the index cannot be read: %s", problem.message);
    index_free(index);
    return fine;
}

struct ledger_loading {
    const struct source *source;
    struct ledger *ledger;
    ledger_tell tell;
    void *context;
    bool *found;
    struct store_error *error;
};

static bool load_day(void *context, const char *path)
{
    const struct ledger_loading *loading = context;
    struct buffer bytes BUFFER_SCOPE = {0};
    char day[LEDGER_DAY + 1];
    if (!ledger_path_day(path, day))
        return true;
    if (loading->found)
        *loading->found = true;
    return source_read(loading->source, path, &bytes, loading->error) == REPOSITORY_FOUND &&
           ledger_read(loading->ledger, day, buffer_string(&bytes), bytes.size, loading->tell,
                       loading->context, loading->error);
}

bool load_ledger(const struct source *source, struct ledger *ledger, ledger_tell tell,
                 void *context, bool *found, struct store_error *error)
{
    struct ledger_loading loading = {source, ledger, tell, context, found, error};
    return source_list(source, "ledger", load_day, &loading, error);
}
