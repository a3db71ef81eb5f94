#include "github/rebuild/publish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "github/repository/files.h"
#include "validator/arena.h"

static void add_file(struct publish_plan *plan, const char *path, const char *bytes, size_t size)
{
    if (plan->count == plan->room) {
        plan->room = plan->room ? plan->room * 2 : 64;
        plan->files = memory_grow(plan->files, plan->room * sizeof *plan->files);
    }
    plan->files[plan->count++] = (struct repository_file){
        .path = arena_copy(&plan->arena, path, strlen(path)), .bytes = bytes, .size = size};
}

struct stale_search {
    struct publish_plan *plan;
    size_t segments;
};

/* Segments beyond the last one would be taken for part of the index by nobody, and mislead a
 * reader. */
static bool take_segment(void *context, const char *path)
{
    struct stale_search *search = context;
    const char *name = path + sizeof INDEX_SEGMENTS_FOLDER;
    size_t number = 0;
    char rest[8] = "";
    if (sscanf(name, "%6zu%7s", &number, rest) == 2 && !strcmp(rest, ".json") &&
        number > search->segments)
        add_file(search->plan, path, NULL, 0);
    return true;
}

bool publish_add(const struct source *source, const char *path, const char *bytes, size_t size,
                 struct publish_plan *plan, struct store_error *error)
{
    struct buffer present BUFFER_SCOPE = {0};
    enum repository_found found = source_read(source, path, &present, error);
    if (found != REPOSITORY_FOUND || present.size != size ||
        memcmp(buffer_string(&present), bytes, size))
        add_file(plan, path, bytes, size);
    return found != REPOSITORY_FAULT;
}

bool publish_prepare(const struct source *source, struct index *index, struct publish_plan *plan,
                     struct store_error *error)
{
    struct stale_search search = {plan, index_segments(index)};
    size_t count = 0;
    const struct index_file *files = index_changed(index, &count);
    if (!source_list(source, INDEX_SEGMENTS_FOLDER, take_segment, &search, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!publish_add(source, files[i].path, files[i].bytes, files[i].size, plan, error))
            return false;
    return true;
}

void publish_free(struct publish_plan *plan)
{
    free(plan->files);
    arena_free(&plan->arena);
    *plan = (struct publish_plan){0};
}

/* Everything is on the disk before anything has its name: a disk that is full changes nothing. */
static bool stage_all(const struct publish_plan *plan, const char *folder,
                      struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    bool fine = true;
    for (size_t i = 0; fine && i < plan->count; i++) {
        const struct repository_file *file = &plan->files[i];
        fine = !file->bytes || files_stage(arena_format(&arena, "%s/%s", folder, file->path),
                                           file->bytes, file->size, error);
    }
    for (size_t i = 0; !fine && i < plan->count; i++)
        files_unstage(arena_format(&arena, "%s/%s", folder, plan->files[i].path));
    return fine;
}

bool publish_to_folder(const struct publish_plan *plan, const char *folder,
                       struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *index = arena_format(&arena, "%s/index", folder);
    const char *segments = arena_format(&arena, "%s/" INDEX_SEGMENTS_FOLDER, folder);
    if (!files_lies_below(folder, INDEX_SEGMENTS_FOLDER, error) ||
        !files_make_folders(segments, error) || !stage_all(plan, folder, error))
        return false;
    for (size_t i = 0; i < plan->count; i++) {
        const struct repository_file *file = &plan->files[i];
        if (!strcmp(file->path, INDEX_MANIFEST_PATH) && !files_sync_folder(segments))
            return error_system(error, "cannot sync %s", segments);
        if (file->bytes && !files_install(arena_format(&arena, "%s/%s", folder, file->path), error))
            return false;
    }
    for (size_t i = 0; i < plan->count; i++) { /* once the manifest no longer lists them */
        const char *path = arena_format(&arena, "%s/%s", folder, plan->files[i].path);
        if (!plan->files[i].bytes && unlink(path) && errno != ENOENT)
            return error_system(error, "cannot remove %s", path);
    }
    return (files_sync_folder(segments) && files_sync_folder(index)) ||
           error_system(error, "cannot sync %s", index);
}

bool publish_to_commit(const struct publish_plan *plan, const struct source *source,
                       const struct repository_author *author, size_t runs, char *commit,
                       bool *moved, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *message = arena_format(&arena, "bench: rebuild the index of %zu runs\n", runs);
    git_oid id;
    enum repository_result result = repository_commit(
        source->repository, &source->commit, plan->files, plan->count, author, message, &id, error);
    if (result == REPOSITORY_COMMITTED)
        git_oid_tostr(commit, GIT_OID_HEXSZ + 1, &id);
    *moved = result == REPOSITORY_MOVED;
    if (*moved)
        error_set(error, "the tip of %s keeps moving", source->repository->path);
    return result == REPOSITORY_COMMITTED;
}
