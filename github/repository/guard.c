#include "github/repository/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/sys/odb_backend.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "validator/arena.h"
#include "validator/buffer.h"

enum { HEADER_MAX = 64, PRIORITY = 100 /* above libgit2's own, which are 1 and 2 */ };
#define OBJECT_MAX ((size_t)1 << 30)

struct guard {
    git_odb_backend parent;
    char *objects; /* folder */
};

/* An object taken apart: its content stands behind the NUL of the header. */
struct object {
    git_object_t type;
    struct buffer bytes;
    size_t header;
};

static int damaged(const git_oid *id)
{
    struct arena arena ARENA_SCOPE = {0};
    char hex[GIT_OID_HEXSZ + 1];
    git_oid_tostr(hex, sizeof hex, id);
    git_error_set_str(GIT_ERROR_ODB, arena_format(&arena, "object %s is cut off or damaged", hex));
    return GIT_ERROR;
}

/* GIT_ENOTFOUND when there is no such loose object. */
static int read_file(const struct guard *guard, const git_oid *id, struct buffer *packed)
{
    struct arena arena ARENA_SCOPE = {0};
    struct stat status;
    char hex[GIT_OID_HEXSZ + 1];
    git_oid_tostr(hex, sizeof hex, id);
    int fd = open(arena_format(&arena, "%s/%.2s/%s", guard->objects, hex, hex + 2),
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return GIT_ENOTFOUND;
    bool fine = fd >= 0 && fstat(fd, &status) == 0 && (size_t)status.st_size <= OBJECT_MAX;
    size_t left = fine ? (size_t)status.st_size : 0;
    while (fine && left) {
        ssize_t got = read(fd, buffer_reserve(packed, left), left);
        if (got < 0 && errno == EINTR)
            continue;
        fine = got > 0;
        packed->size += fine ? (size_t)got : 0;
        left -= fine ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return fine ? GIT_OK : damaged(id);
}

/* Reads "TYPE SIZE" and its NUL. *SIZE is that of the content. */
static bool read_header(struct object *object, size_t *size)
{
    const char *start = object->bytes.data, *end = memchr(start, '\0', object->bytes.size);
    const char *space = end ? memchr(start, ' ', (size_t)(end - start)) : NULL;
    if (!space || space - start > 8 || end == space + 1)
        return false;
    char type[16] = "";
    memcpy(type, start, (size_t)(space - start));
    object->type = git_object_string2type(type);
    object->header = (size_t)(end - start) + 1;
    *size = 0;
    for (const char *at = space + 1; at < end; at++) {
        if (*at < '0' || *at > '9' || *size > OBJECT_MAX)
            return false;
        *size = *size * 10 + (size_t)(*at - '0');
    }
    return git_object_typeisloose(object->type) && *size <= OBJECT_MAX;
}

/* Inflates the header first, then as much as it announces; the stream must end right there. */
static bool inflate_object(const struct buffer *packed, struct object *object)
{
    z_stream stream = {.next_in = (Bytef *)packed->data, .avail_in = (uInt)packed->size};
    size_t size = 0;
    if (inflateInit(&stream) != Z_OK)
        return false;
    stream.next_out = (Bytef *)buffer_reserve(&object->bytes, HEADER_MAX);
    stream.avail_out = HEADER_MAX;
    int result = inflate(&stream, Z_SYNC_FLUSH);
    object->bytes.size = stream.total_out;
    bool fine = (result == Z_OK || result == Z_STREAM_END) && read_header(object, &size);
    if (fine && result == Z_OK) {
        size_t left = object->header + size - object->bytes.size + 1; /* one more shows an excess */
        fine = object->bytes.size <= object->header + size;
        stream.next_out = (Bytef *)buffer_reserve(&object->bytes, fine ? left : 1);
        stream.avail_out = fine ? (uInt)left : 1;
        result = inflate(&stream, Z_FINISH);
        object->bytes.size = stream.total_out;
    }
    inflateEnd(&stream);
    return fine && result == Z_STREAM_END && object->bytes.size == object->header + size;
}

static int read_object(const struct guard *guard, const git_oid *id, struct object *object)
{
    struct buffer packed BUFFER_SCOPE = {0};
    int result = read_file(guard, id, &packed);
    if (result != GIT_OK)
        return result;
    return inflate_object(&packed, object) ? GIT_OK : damaged(id);
}

static int guard_read(void **data, size_t *size, git_object_t *type, git_odb_backend *backend,
                      const git_oid *id)
{
    struct object object = {0};
    int result = read_object((const struct guard *)backend, id, &object);
    if (result == GIT_OK) {
        *size = object.bytes.size - object.header;
        *type = object.type;
        char *copy = git_odb_backend_data_alloc(backend, *size + 1);
        result = copy ? GIT_OK : GIT_ERROR;
        if (copy) {
            memcpy(copy, object.bytes.data + object.header, *size);
            copy[*size] = '\0';
        }
        *data = copy;
    }
    buffer_free(&object.bytes);
    return result;
}

static int guard_read_header(size_t *size, git_object_t *type, git_odb_backend *backend,
                             const git_oid *id)
{
    struct object object = {0};
    int result = read_object((const struct guard *)backend, id, &object);
    if (result == GIT_OK) {
        *size = object.bytes.size - object.header;
        *type = object.type;
    }
    buffer_free(&object.bytes);
    return result;
}

/* Whoever lists objects is told by libgit2's own stores; it does not ask whether this one can. */
static int guard_foreach(git_odb_backend *backend, git_odb_foreach_cb tell, void *context)
{
    (void)backend;
    (void)tell;
    (void)context;
    return GIT_OK;
}

static void guard_free(git_odb_backend *backend)
{
    struct guard *guard = (struct guard *)backend;
    free(guard->objects);
    free(guard);
}

bool guard_install(git_repository *git, const char *path, struct store_error *error)
{
    git_odb *odb = NULL;
    struct guard *guard = memory_grow(NULL, sizeof *guard);
    struct buffer objects = {0};
    *guard = (struct guard){0};
    buffer_format(&objects, "%s/objects", path);
    guard->objects = buffer_take(&objects, NULL);
    git_odb_init_backend(&guard->parent, GIT_ODB_BACKEND_VERSION);
    guard->parent.read = guard_read;
    guard->parent.read_header = guard_read_header;
    guard->parent.foreach = guard_foreach;
    guard->parent.free = guard_free;
    if (git_repository_odb(&odb, git) != GIT_OK ||
        git_odb_add_backend(odb, &guard->parent, PRIORITY) != GIT_OK) {
        guard_free(&guard->parent);
        git_odb_free(odb);
        return error_git(error, "cannot guard the objects of %s", path);
    }
    git_odb_free(odb); /* the repository keeps its own */
    return true;
}
