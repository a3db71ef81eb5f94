#include "server/maintainers/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/file.h"

enum { LOCK_TRIES = 500, LOCK_PAUSE_MS = 20 };

static bool fail(struct maintainers_edit *edit, const char *what, const char *why)
{
    snprintf(edit->problem, sizeof edit->problem, "%s%s%s", what, *what ? ": " : "", why);
    return false;
}

/* Parts PATH, links followed, into folder and name. A file that does not exist yet has a folder that does. */
static bool resolve(struct maintainers_edit *edit, const char *path)
{
    char whole[PATH_MAX], start[PATH_MAX];
    struct stat status;
    const char *name = NULL;
    if (realpath(path, whole)) {
        char *slash = strrchr(whole, '/');
        name = slash + 1;
        *slash = '\0';
    } else if (errno != ENOENT) {
        return fail(edit, "", strerror(errno));
    } else if (lstat(path, &status) == 0) {
        return fail(edit, "", "is a link to nothing");
    } else {
        const char *slash = strrchr(path, '/');
        name = slash ? slash + 1 : path;
        int size = slash ? (int)(name - path) : 1;
        snprintf(start, sizeof start, "%.*s", size, slash ? path : ".");
        if (!realpath(start, whole))
            return fail(edit, "its folder", strerror(errno));
    }
    if (!*name || strlen(name) >= sizeof edit->name || strlen(whole) >= sizeof edit->folder_path)
        return fail(edit, "", "is no usable path");
    strcpy(edit->name, name);
    strcpy(edit->folder_path, *whole ? whole : "/");
    return true;
}

static bool lock(struct maintainers_edit *edit)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
    edit->folder = open(edit->folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (edit->folder < 0)
        return fail(edit, "its folder", strerror(errno));
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(edit->folder, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail(edit, "its folder cannot be locked", strerror(errno));
        nanosleep(&pause, NULL);
    }
    return fail(edit, "", "somebody else has locked its folder");
}

static bool parse(struct maintainers_edit *edit)
{
    char problem[MAINTAINERS_PROBLEM];
    maintainer_list_free(&edit->list);
    return maintainer_list_parse(edit->text.data, edit->text.size, &edit->list, problem) ||
           fail(edit, "", problem);
}

static bool read_text(struct maintainers_edit *edit, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return fail(edit, "", "is no regular file");
    if (!file_read_all(fd, MAINTAINERS_BYTES, &edit->text))
        return fail(edit, "", strerror(errno));
    edit->exists = true;
    return parse(edit);
}

bool edit_look(struct maintainers_edit *edit, const char *path)
{
    *edit = (struct maintainers_edit){.folder = -1};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail(edit, "", strerror(errno));
    bool good = read_text(edit, fd);
    close(fd);
    return good;
}

bool edit_begin(struct maintainers_edit *edit, const char *path)
{
    *edit = (struct maintainers_edit){.folder = -1};
    if (!resolve(edit, path) || !lock(edit))
        return false;
    int fd = openat(edit->folder, edit->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT || fail(edit, "", strerror(errno));
    bool good = read_text(edit, fd);
    close(fd);
    return good;
}

/* The owner first: a change of owner may take rights from the mode. */
static bool dress(const struct maintainers_edit *edit, int fd)
{
    struct stat old, made;
    if (!edit->exists)
        return fchmod(fd, S_IRUSR | S_IWUSR) == 0;
    if (fstatat(edit->folder, edit->name, &old, 0) != 0 || fstat(fd, &made) != 0)
        return false;
    bool owned = old.st_uid == made.st_uid && old.st_gid == made.st_gid;
    return (owned || fchown(fd, old.st_uid, old.st_gid) == 0) &&
           fchmod(fd, old.st_mode & 07777) == 0;
}

bool edit_save(struct maintainers_edit *edit)
{
    char path[EDIT_PATH + 32];
    if (!parse(edit))
        return false;
    snprintf(path, sizeof path, "%s/.benchledger-XXXXXX", edit->folder_path);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return fail(edit, "its folder", strerror(errno));
    bool saved = dress(edit, fd) && file_write_synced(fd, edit->text.data, edit->text.size) &&
                 renameat(AT_FDCWD, path, edit->folder, edit->name) == 0;
    int problem = errno;
    close(fd);
    if (!saved) {
        unlink(path);
        return fail(edit, "cannot be replaced", strerror(problem));
    }
    return fsync(edit->folder) == 0 || fail(edit, "its folder", strerror(errno));
}

void edit_end(struct maintainers_edit *edit)
{
    if (edit->folder >= 0)
        close(edit->folder);
    maintainer_list_free(&edit->list);
    buffer_free(&edit->text);
}
