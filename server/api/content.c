#include "server/api/content.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "validator/arena.h"
#include "validator/sha256.h"

/* Below this a gzip form saves no packet; above the other a faster level keeps other requests
 * going. */
enum { WORTH_IT = 860, LARGE = 2 << 20 };

static atomic_size_t held;

struct content {
    atomic_int references;
    char *data;
    size_t size;
    char tag[ETAG_TEXT];
    atomic_size_t weight;
    pthread_mutex_t mutex; /* guards what follows, and is held while it is made */
    bool tried;
    char *gzip;
    size_t gzip_size;
};

struct content *content_new(char *data, size_t size, const char *tag)
{
    struct content *content = memory_grow(NULL, sizeof *content);
    memset(content, 0, sizeof *content);
    atomic_init(&content->references, 1);
    content->data = data;
    content->size = size;
    atomic_init(&content->weight, size);
    atomic_fetch_add(&held, size);
    pthread_mutex_init(&content->mutex, NULL);
    char hex[SHA256_HEX + 1];
    if (!tag) {
        sha256_hex(data, size, hex);
        hex[32] = '\0'; /* 128 bits tell versions apart */
        tag = hex;
    }
    snprintf(content->tag, sizeof content->tag, "%s", tag);
    return content;
}

struct content *content_ref(struct content *content)
{
    atomic_fetch_add_explicit(&content->references, 1, memory_order_relaxed);
    return content;
}

void content_unref(struct content *content)
{
    if (!content || atomic_fetch_sub_explicit(&content->references, 1, memory_order_acq_rel) != 1)
        return;
    atomic_fetch_sub(&held, content_weight(content));
    pthread_mutex_destroy(&content->mutex);
    free(content->data);
    free(content->gzip);
    free(content);
}

const char *content_data(const struct content *content, size_t *size)
{
    *size = content->size;
    return content->data;
}

const char *content_tag(const struct content *content)
{
    return content->tag;
}

static void compress_content(struct content *content)
{
    content->tried = true;
    if (content->size < WORTH_IT)
        return;
    z_stream stream = {0};
    int level = content->size > LARGE ? 3 : 6;
    if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    uLong bound = deflateBound(&stream, content->size);
    char *gzip = memory_grow(NULL, bound);
    stream.next_in = (const Bytef *)content->data;
    stream.avail_in = (uInt)content->size;
    stream.next_out = (Bytef *)gzip;
    stream.avail_out = (uInt)bound;
    bool done = content->size <= UINT32_MAX && deflate(&stream, Z_FINISH) == Z_STREAM_END &&
                stream.total_out < content->size;
    deflateEnd(&stream);
    if (done) {
        content->gzip_size = stream.total_out;
        content->gzip = memory_grow(gzip, content->gzip_size);
        atomic_fetch_add(&content->weight, content->gzip_size);
        atomic_fetch_add(&held, content->gzip_size);
    } else {
        free(gzip);
    }
}

const char *content_gzip(struct content *content, size_t *size)
{
    pthread_mutex_lock(&content->mutex);
    if (!content->tried)
        compress_content(content);
    const char *gzip = content->gzip;
    *size = content->gzip_size;
    pthread_mutex_unlock(&content->mutex);
    return gzip;
}

size_t content_weight(const struct content *content)
{
    return atomic_load(&content->weight);
}

size_t content_held(void)
{
    return atomic_load(&held);
}
