#include "server/http/body.h"

#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

#include "validator/arena.h"

enum { GZIP_WINDOW = 15 + 16, STEP = 64 * 1024 };

void body_init(struct body *body, uint64_t limit)
{
    *body = (struct body){.limit = limit};
}

void body_expect_gzip(struct body *body)
{
    z_stream *stream = memory_grow(NULL, sizeof *stream);
    *stream = (z_stream){0};
    if (inflateInit2(stream, GZIP_WINDOW) != Z_OK)
        abort(); /* out of memory: see arena.h */
    body->inflater = stream;
}

static void drop(struct body *body, enum body_state state)
{
    body->state = state;
    buffer_free(&body->data);
    if (body->inflater)
        inflateEnd(body->inflater);
    free(body->inflater);
    body->inflater = NULL;
}

void body_drain(struct body *body)
{
    drop(body, BODY_DRAIN);
}

/* One step of inflating into the buffer; one byte beyond the limit is enough to know. */
static int inflate_step(struct body *body, z_stream *stream)
{
    uint64_t room = body->limit + 1 - body->data.size;
    size_t step = room < STEP ? (size_t)room : STEP;
    stream->next_out = (Bytef *)buffer_reserve(&body->data, step);
    stream->avail_out = (uInt)step;
    int result = inflate(stream, Z_NO_FLUSH);
    body->data.size += step - stream->avail_out;
    return result;
}

static void receive_gzip(struct body *body, const char *data, size_t size)
{
    z_stream *stream = body->inflater;
    stream->next_in = (const Bytef *)data;
    stream->avail_in = (uInt)size;
    while (stream->avail_in || !stream->avail_out) {
        if (body->member_ended) {
            if (!stream->avail_in)
                return;
            body->member_ended = false;
            if (inflateReset(stream) != Z_OK) {
                drop(body, BODY_CORRUPT);
                return;
            }
        }
        int result = inflate_step(body, stream);
        if (body->data.size > body->limit) {
            drop(body, BODY_TOO_LARGE);
            return;
        }
        if (result == Z_STREAM_END) {
            body->member_ended = true;
        } else if (result == Z_BUF_ERROR) {
            return; /* all input is used and nothing is held back */
        } else if (result != Z_OK) {
            drop(body, BODY_CORRUPT);
            return;
        }
    }
}

void body_receive(struct body *body, const char *data, size_t size)
{
    body->received += size;
    if (body->state != BODY_KEEP)
        return;
    if (body->received > body->limit)
        drop(body, BODY_TOO_LARGE);
    else if (body->inflater)
        receive_gzip(body, data, size);
    else
        buffer_add(&body->data, data, size);
}

void body_finish(struct body *body)
{
    if (body->state == BODY_KEEP && body->inflater && !body->member_ended)
        drop(body, BODY_CORRUPT);
}

void body_free(struct body *body)
{
    drop(body, BODY_DRAIN);
}
