/* A request body on its way in: kept up to a limit, inflated as it comes, or drained (spec 04).
 *
 * Memory is bounded by the limit whatever is sent: a gzip bomb is noticed while it inflates. A body
 * belongs to one request, which is served by one thread at a time. */
#ifndef BENCHLEDGER_SERVER_HTTP_BODY_H
#define BENCHLEDGER_SERVER_HTTP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validator/buffer.h"

enum body_state {
    BODY_KEEP,
    BODY_DRAIN,     /* refused before or by its content: read and dropped */
    BODY_TOO_LARGE, /* passed the limit: as BODY_DRAIN */
    BODY_CORRUPT,   /* not the gzip it claims to be: as BODY_DRAIN */
};

struct body {
    enum body_state state;
    uint64_t received; /* bytes from the socket */
    uint64_t limit;    /* of bytes kept, and of bytes received */
    struct buffer data;
    void *inflater; /* z_stream; NULL: not compressed */
    bool member_ended;
};

void body_init(struct body *body, uint64_t limit);
/* The body comes as gzip. Before the first byte. */
void body_expect_gzip(struct body *body);
/* From now on bytes are counted and dropped; what was kept is freed. */
void body_drain(struct body *body);
void body_receive(struct body *body, const char *data, size_t size);
/* No more bytes come: a gzip stream that has not ended is corrupt. */
void body_finish(struct body *body);
void body_free(struct body *body);

#endif
