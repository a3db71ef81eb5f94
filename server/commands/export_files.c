#include "server/commands/export_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "github/repository/files.h"

enum { PENDING_MUCH = 1 << 18 };

static const char *file_name(struct arena *arena, int file)
{
    static const char *const names[EXPORT_FILES] = {[FILE_LEADERBOARD] = "leaderboard.csv",
                                                    [FILE_TEXTS] = "texts.jsonl",
                                                    [FILE_VALIDATION] = "validation.txt",
                                                    [FILE_PACKAGE] = "datapackage.json"};
    return file < EXPORT_TABLES
               ? arena_format(arena, "%s.csv", export_table_name((enum export_table)file))
               : names[file];
}

bool export_files_open(struct export_files *files, const char *folder, struct store_error *error)
{
    files->folder = folder;
    if (!files_make_folders(folder, error))
        return false;
    for (int file = 0; file < EXPORT_FILES; file++) {
        const char *name = file_name(&files->arena, file);
        const char *temporary =
            arena_format(&files->arena, "%s/.%s.%ld.new", folder, name, (long)getpid());
        int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0)
            return error_system(error, "cannot write %s", temporary);
        files->items[file].path = arena_format(&files->arena, "%s/%s", folder, name);
        files->items[file].temporary = temporary;
        files->items[file].fd = fd;
        files->opened++;
    }
    return true;
}

struct buffer *export_files_at(struct export_files *files, int file)
{
    return &files->items[file].pending;
}

static bool flush(struct export_files *files, size_t much, struct store_error *error)
{
    for (size_t i = 0; i < files->opened; i++) {
        struct buffer *pending = &files->items[i].pending;
        if (pending->size < much)
            continue;
        if (!files_write(files->items[i].fd, pending->data, pending->size))
            return error_system(error, "cannot write %s", files->items[i].temporary);
        pending->size = 0;
    }
    return true;
}

bool export_files_flush(struct export_files *files, struct store_error *error)
{
    return flush(files, PENDING_MUCH, error);
}

/* Renaming onto a folder fails, and would leave the files before it replaced. */
static bool can_replace(const struct export_files *files, struct store_error *error)
{
    struct stat status;
    for (size_t i = 0; i < files->opened; i++)
        if (!stat(files->items[i].path, &status) && S_ISDIR(status.st_mode))
            return error_set(error, "cannot replace %s: it is a folder", files->items[i].path);
    return true;
}

bool export_files_publish(struct export_files *files, struct store_error *error)
{
    if (!flush(files, 1, error) || !can_replace(files, error))
        return false;
    for (size_t i = 0; i < files->opened; i++)
        if (fsync(files->items[i].fd))
            return error_system(error, "cannot write %s", files->items[i].temporary);
    for (size_t i = 0; i < files->opened; i++) {
        if (rename(files->items[i].temporary, files->items[i].path))
            return error_system(error, "cannot replace %s", files->items[i].path);
        files->items[i].temporary = NULL;
    }
    return files_sync_folder(files->folder) || error_system(error, "cannot sync %s", files->folder);
}

void export_files_close(struct export_files *files)
{
    for (size_t i = 0; i < files->opened; i++) {
        close(files->items[i].fd);
        if (files->items[i].temporary)
            unlink(files->items[i].temporary);
        buffer_free(&files->items[i].pending);
    }
    arena_free(&files->arena);
    *files = (struct export_files){0};
}
