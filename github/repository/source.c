#include "github/repository/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "github/repository/files.h"
#include "validator/arena.h"

enum { DEPTH_MAX = 16 };

struct source source_commit(struct repository *repository, const git_oid *commit)
{
    return (struct source){.repository = repository, .commit = *commit};
}

struct source source_folder(const char *path)
{
    return (struct source){.folder = path};
}

bool source_path_ends(const char *path, const char *suffix)
{
    size_t size = strlen(path), end = strlen(suffix);
    return size >= end && !strcmp(path + size - end, suffix);
}

bool source_is_folder(const char *path)
{
    static const char *const names[] = {"runs",  "quarantine", "withdrawn", "ledger",
                                        "index", "keys",       ".git"};
    struct arena arena ARENA_SCOPE = {0};
    struct stat status;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!stat(arena_format(&arena, "%s/%s", path, names[i]), &status) &&
            (S_ISDIR(status.st_mode) || *names[i] == '.')) /* git makes a file of it in some */
            return true;
    return false;
}

static enum repository_found read_file(const struct source *source, const char *path, size_t most,
                                       struct buffer *out, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *full = arena_format(&arena, "%s/%s", source->folder, path);
    int fd =
        open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* not for a FIFO's writer */
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return REPOSITORY_ABSENT;
    if (fd < 0) {
        error_system(error, "cannot open %s", full);
        return REPOSITORY_FAULT;
    }
    bool fine = files_read(fd, most, out) || error_system(error, "cannot read %s", full);
    close(fd);
    return fine ? REPOSITORY_FOUND : REPOSITORY_FAULT;
}

static int not_hidden(const struct dirent *item)
{
    return item->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool list_folder(const struct source *source, const char *folder, int depth,
                        source_tell tell, void *context, struct store_error *error);

static bool list_item(const struct source *source, const char *path, int depth, source_tell tell,
                      void *context, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    struct stat status;
    if (lstat(arena_format(&arena, "%s/%s", source->folder, path), &status))
        return error_system(error, "cannot look at %s", path);
    if (S_ISREG(status.st_mode))
        return tell(context, path);
    return !S_ISDIR(status.st_mode) || depth >= DEPTH_MAX ||
           list_folder(source, path, depth + 1, tell, context, error);
}

static bool list_folder(const struct source *source, const char *folder, int depth,
                        source_tell tell, void *context, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    struct dirent **items = NULL;
    const char *full = arena_format(&arena, "%s/%s", source->folder, folder);
    int count = scandir(full, &items, not_hidden, by_bytes);
    if (count < 0)
        return errno == ENOENT || error_system(error, "cannot list %s", full);
    bool fine = true;
    for (int i = 0; i < count; i++) {
        const char *path = arena_format(&arena, "%s/%s", folder, items[i]->d_name);
        fine = fine && list_item(source, path, depth, tell, context, error);
        free(items[i]);
    }
    free(items);
    return fine;
}

static enum repository_found read_blob(struct repository *repository, const git_oid *blob,
                                       size_t most, struct buffer *out, struct store_error *error)
{
    size_t size = 0;
    if (!repository_size(repository, blob, &size, error))
        return REPOSITORY_FAULT;
    if (size > most) {
        error_set(error, "is larger than %zu bytes", most);
        return REPOSITORY_FAULT;
    }
    return repository_read(repository, blob, out, error) ? REPOSITORY_FOUND : REPOSITORY_FAULT;
}

enum repository_found source_read(const struct source *source, const char *path, struct buffer *out,
                                  struct store_error *error)
{
    git_oid blob;
    if (!source->repository)
        return read_file(source, path, SOURCE_FILE_MOST, out, error);
    enum repository_found found =
        repository_find(source->repository, &source->commit, path, &blob, error);
    return found == REPOSITORY_FOUND
               ? read_blob(source->repository, &blob, SOURCE_FILE_MOST, out, error)
               : found;
}

enum repository_found source_read_most(const struct source *source, const char *path,
                                       const git_oid *blob, size_t most, struct buffer *out,
                                       struct store_error *error)
{
    if (!source->repository)
        return read_file(source, path, most, out, error);
    return read_blob(source->repository, blob, most, out, error);
}

struct git_listing {
    source_tell tell;
    void *context;
};

static bool tell_path(void *context, const char *path, const git_oid *blob)
{
    const struct git_listing *listing = context;
    (void)blob;
    return listing->tell(listing->context, path);
}

bool source_list(const struct source *source, const char *folder, source_tell tell, void *context,
                 struct store_error *error)
{
    if (!source->repository)
        return list_folder(source, folder, 1, tell, context, error);
    struct git_listing listing = {tell, context};
    return repository_list(source->repository, &source->commit, folder, tell_path, &listing, error);
}
