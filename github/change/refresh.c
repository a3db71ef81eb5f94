#include "github/change/refresh.h"

#include <string.h>

#include "aggregate/index.h"
#include "github/repository/source.h"
#include "validator/arena.h"

/* NULL: there is none, or it cannot be read, which *ERROR says. */
static struct index *read_manifest(const struct source *source, struct store_error *error)
{
    struct buffer manifest BUFFER_SCOPE = {0};
    struct index_problem problem;
    error_set(error, "%s", "");
    if (source_read(source, INDEX_MANIFEST_PATH, &manifest, error) != REPOSITORY_FOUND)
        return NULL;
    struct index *index = index_new(0);
    if (index_load_manifest(index, buffer_string(&manifest), manifest.size, &problem))
        return index;
    error_set(error, "the index cannot be read: %s", problem.message);
    index_free(index);
    return NULL;
}

static bool read_segment(const struct source *source, const struct index *index, size_t i,
                         struct buffer *bytes, struct store_error *error)
{
    char path[INDEX_PATH_MAX];
    index_segment_path(i, path);
    bytes->size = 0;
    if (source_read(source, path, bytes, error) == REPOSITORY_FAULT)
        return false;
    return index_is_segment(index, i, buffer_string(bytes), bytes->size) ||
           error_set(error, "%s is not what " INDEX_MANIFEST_PATH " says", path);
}

/* The segments' entries in one array. */
static bool join_segments(const struct source *source, const struct index *index,
                          struct buffer *summary, struct store_error *error)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    buffer_reserve(summary, index_bytes(index) + 1);
    for (size_t i = 0; i < index_segments(index); i++) {
        if (!read_segment(source, index, i, &bytes, error))
            return false;
        if (bytes.size == 2)
            continue;
        buffer_byte(summary, summary->size ? ',' : '[');
        buffer_add(summary, bytes.data + 1, bytes.size - 2);
    }
    buffer_text(summary, summary->size ? "]" : "[]");
    return true;
}

/* Not of the tree of FROM already. */
static bool add_blob(struct repository *repository, const git_oid *from, const char *path,
                     const struct buffer *bytes, git_oid *blob, struct store_error *error)
{
    git_oid present;
    if (git_blob_create_from_buffer(blob, repository->git, bytes->data, bytes->size))
        return error_git(error, "cannot write %s", path);
    enum repository_found found = repository_find(repository, from, path, &present, error);
    if (found == REPOSITORY_FOUND && git_oid_equal(&present, blob))
        memset(blob, 0, sizeof *blob);
    return found != REPOSITORY_FAULT;
}

static bool make_summary(const struct source *source, const struct index *index,
                         struct refresh *refresh, struct store_error *error)
{
    struct buffer summary BUFFER_SCOPE = {0};
    refresh->summary_entries = index_entries(index);
    return join_segments(source, index, &summary, error) &&
           add_blob(source->repository, &source->commit, INDEX_SUMMARY_PATH, &summary,
                    &refresh->summary, error);
}

bool refresh_make(struct repository *repository, const git_oid *tip,
                  const struct buffer *leaderboard, size_t summary_most, struct refresh *refresh,
                  struct store_error *error)
{
    struct source source = source_commit(repository, tip);
    *refresh = (struct refresh){.from = *tip};
    struct index *index = read_manifest(&source, error);
    if (!index)
        return !*error->message; /* a dataset without runs */
    bool fine = true;
    if (index_summary_lags(index) && index_bytes(index) <= summary_most)
        fine = make_summary(&source, index, refresh, error);
    if (fine && leaderboard->size)
        fine = add_blob(repository, tip, INDEX_LEADERBOARD_PATH, leaderboard, &refresh->leaderboard,
                        error);
    index_free(index);
    return fine;
}

bool refresh_is_empty(const struct refresh *refresh)
{
    return git_oid_is_zero(&refresh->summary) && git_oid_is_zero(&refresh->leaderboard);
}

/* Whether the entries that REFRESH was made of are those that NOW begins with. */
static enum refresh_outcome compare(const struct source *source, const struct refresh *refresh,
                                    const struct index *now, struct store_error *error)
{
    struct buffer last BUFFER_SCOPE = {0};
    struct source from = source_commit(source->repository, &refresh->from);
    struct index *before = read_manifest(&from, error);
    if (!before)
        return REFRESH_FAILED;
    size_t count = index_segments(before);
    enum refresh_outcome outcome = REFRESH_STALE;
    if (count && index_segments(now) >= count) {
        if (!read_segment(source, now, count - 1, &last, error))
            outcome = REFRESH_FAILED;
        else if (index_grew(now, before, last.data, last.size))
            outcome = REFRESH_DONE;
    }
    index_free(before);
    return outcome;
}

static enum refresh_outcome write_commit(struct repository *repository, const git_oid *parent,
                                         const struct repository_file *files, size_t count,
                                         const struct repository_author *author, bool branch,
                                         git_oid *commit, struct store_error *error)
{
    static const char message[] = "bench: refresh the summary\n";
    if (!branch)
        return repository_write(repository, parent, files, count, author, message, commit, error)
                   ? REFRESH_DONE
                   : REFRESH_FAILED;
    switch (repository_commit(repository, parent, files, count, author, message, commit, error)) {
    case REPOSITORY_COMMITTED:
        return REFRESH_DONE;
    case REPOSITORY_MOVED:
        return REFRESH_MOVED;
    case REPOSITORY_FAILED:
        break;
    }
    return REFRESH_FAILED;
}

/* Whether BLOB is to be put at PATH: nobody else has put another file there since it was made. */
static bool is_wanted(struct repository *repository, const git_oid *parent,
                      const struct refresh *refresh, const char *path, const git_oid *blob)
{
    git_oid before = {{0}}, now = {{0}};
    return !git_oid_is_zero(blob) &&
           repository_find(repository, &refresh->from, path, &before, NULL) != REPOSITORY_FAULT &&
           repository_find(repository, parent, path, &now, NULL) != REPOSITORY_FAULT &&
           git_oid_equal(&before, &now);
}

enum refresh_outcome refresh_commit(struct repository *repository, const git_oid *parent,
                                    const struct refresh *refresh,
                                    const struct repository_author *author, bool branch,
                                    git_oid *commit, struct store_error *error)
{
    struct source source = source_commit(repository, parent);
    struct index *now = read_manifest(&source, error);
    struct repository_file files[3];
    size_t count = 0, size;
    if (!now)
        return *error->message ? REFRESH_FAILED : REFRESH_STALE;
    enum refresh_outcome outcome = compare(&source, refresh, now, error);
    if (is_wanted(repository, parent, refresh, INDEX_LEADERBOARD_PATH, &refresh->leaderboard))
        files[count++] =
            (struct repository_file){.path = INDEX_LEADERBOARD_PATH, .blob = &refresh->leaderboard};
    if (is_wanted(repository, parent, refresh, INDEX_SUMMARY_PATH, &refresh->summary)) {
        const char *manifest = index_manifest_with(now, refresh->summary_entries, &size);
        files[count++] =
            (struct repository_file){.path = INDEX_SUMMARY_PATH, .blob = &refresh->summary};
        files[count++] =
            (struct repository_file){.path = INDEX_MANIFEST_PATH, .bytes = manifest, .size = size};
    }
    if (outcome == REFRESH_DONE && !count)
        outcome = REFRESH_STALE;
    if (outcome == REFRESH_DONE)
        outcome = write_commit(repository, parent, files, count, author, branch, commit, error);
    index_free(now);
    return outcome;
}
