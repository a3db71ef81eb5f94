#include "github/repository/loose.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "github/repository/files.h"
#include "validator/arena.h"

enum { HEADER_MAX = 32, PACKING_MOST = 4096 };

/* `blob 12` and a NUL. Returns its size. */
static size_t make_header(git_object_t type, size_t size, char header[HEADER_MAX])
{
    return (size_t)snprintf(header, HEADER_MAX, "%s %zu", git_object_type2string(type), size) + 1;
}

static bool hash_object(const char *header, size_t header_size, const char *data, size_t size,
                        git_oid *id)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    unsigned got = 0;
    bool fine = context && EVP_DigestInit_ex(context, EVP_sha1(), NULL) &&
                EVP_DigestUpdate(context, header, header_size) &&
                EVP_DigestUpdate(context, data, size) &&
                EVP_DigestFinal_ex(context, id->id, &got) && got == GIT_OID_RAWSZ;
    EVP_MD_CTX_free(context);
    return fine;
}

bool loose_id(git_object_t type, const char *data, size_t size, git_oid *id)
{
    char header[HEADER_MAX];
    return hash_object(header, make_header(type, size, header), data, size, id);
}

static bool pack_object(const char *header, size_t header_size, const char *data, size_t size,
                        enum loose_packing packing, struct buffer *out)
{
    z_stream stream = {0};
    if (size > UINT32_MAX / 2 || deflateInit(&stream, (int)packing) != Z_OK)
        return false;
    size_t room = deflateBound(&stream, (uLong)(header_size + size));
    stream.next_out = (Bytef *)buffer_reserve(out, room);
    stream.avail_out = (uInt)room;
    stream.next_in = (z_const Bytef *)(uintptr_t)header;
    stream.avail_in = (uInt)header_size;
    int result = deflate(&stream, Z_NO_FLUSH);
    stream.next_in = (z_const Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    if (result == Z_OK)
        result = deflate(&stream, Z_FINISH);
    out->size += stream.total_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END;
}

/* The name under which a file grows; `git prune` clears such names away. Under the commit lock it
 * is ours alone, and what a killed process left under it goes. */
static int open_temporary(const char *path)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = open(path, flags, 0444);
    if (fd < 0 && errno == EEXIST && unlink(path) == 0)
        fd = open(path, flags, 0444);
    return fd;
}

static bool write_temporary(const char *path, const struct buffer *packed)
{
    int fd = open_temporary(path);
    if (fd < 0)
        return false;
    bool fine = files_write(fd, packed->data, packed->size) && fsync(fd) == 0;
    int problem = errno;
    close(fd);
    if (!fine)
        unlink(path);
    errno = problem;
    return fine;
}

/* An object as it stands in its file, before it is packed. */
struct object {
    const char *header, *data;
    size_t header_size, size;
};

/* Whether the rest of what STREAM inflates is TEXT. */
static bool inflates_to(z_stream *stream, const char *text, size_t size)
{
    unsigned char block[16384];
    while (size) {
        stream->next_out = block;
        stream->avail_out = (uInt)(size < sizeof block ? size : sizeof block);
        uInt wanted = stream->avail_out;
        int result = inflate(stream, Z_NO_FLUSH);
        uInt got = wanted - stream->avail_out;
        if ((result != Z_OK && result != Z_STREAM_END) || !got || memcmp(block, text, got))
            return false;
        text += got;
        size -= got;
    }
    return true;
}

static bool holds_object(const char *bytes, size_t size, const struct object *object)
{
    z_stream stream = {0};
    unsigned char over;
    if (size > UINT32_MAX / 2 || inflateInit(&stream) != Z_OK)
        return false;
    stream.next_in = (z_const Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size;
    bool same = inflates_to(&stream, object->header, object->header_size) &&
                inflates_to(&stream, object->data, object->size);
    stream.next_out = &over;
    stream.avail_out = 1;
    same = same && inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 1;
    inflateEnd(&stream);
    return same;
}

/* Whether the file at PATH holds OBJECT and is on the disk. It is renewed, so that no `git prune`
 * takes it for old. */
static bool take_over(const char *path, const struct object *object, const struct buffer *packed)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool same = false;
    if (files_read(fd, 2 * (object->size + PACKING_MOST), &bytes) && bytes.data && packed->data)
        same = (bytes.size == packed->size && !memcmp(bytes.data, packed->data, bytes.size)) ||
               holds_object(bytes.data, bytes.size, object);
    same = same && futimens(fd, NULL) == 0 && fsync(fd) == 0;
    close(fd);
    return same;
}

static bool install(const struct repository *repository, const git_oid *id,
                    const struct object *object, const struct buffer *packed)
{
    struct arena arena ARENA_SCOPE = {0};
    char hex[GIT_OID_HEXSZ + 1];
    git_oid_tostr(hex, sizeof hex, id);
    const char *temporary =
        arena_format(&arena, "%s/objects/tmp_obj_benchledger", repository->path);
    const char *folder = arena_format(&arena, "%s/objects/%.2s", repository->path, hex);
    const char *path = arena_format(&arena, "%s/%s", folder, hex + 2);
    if (take_over(path, object, packed))
        return files_sync_folder(folder);
    if (!write_temporary(temporary, packed))
        return false;
    if (rename(temporary, path) &&
        (errno != ENOENT || (mkdir(folder, 0755) && errno != EEXIST) || rename(temporary, path)))
        return false;
    return files_sync_folder(folder);
}

bool loose_write(struct repository *repository, git_object_t type, const char *data, size_t size,
                 enum loose_packing packing, git_oid *id, struct store_error *error)
{
    struct buffer packed BUFFER_SCOPE = {0};
    char header[HEADER_MAX];
    size_t header_size = make_header(type, size, header);
    if (!hash_object(header, header_size, data, size, id))
        return error_set(error, "cannot hash an object");
    if (!pack_object(header, header_size, data, size, packing, &packed))
        return error_set(error, "cannot pack an object of %zu bytes", size);
    struct object object = {header, data, header_size, size};
    if (!install(repository, id, &object, &packed))
        return error_system(error, "cannot store an object in %s", repository->path);
    return true;
}
