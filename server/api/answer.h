/* An answer before it is bytes on a socket: what a handler fills in. Knows no HTTP library. */
#ifndef BENCHLEDGER_SERVER_API_ANSWER_H
#define BENCHLEDGER_SERVER_API_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "server/api/content.h"
#include "server/api/errors.h"
#include "validator/buffer.h"
#include "validator/js.h"

struct answer {
    unsigned status;           /* 0: none yet, the request waits (suspended) */
    const char *type;          /* Content-Type; NULL: application/json */
    struct buffer body;        /* own bytes, or */
    struct content *content;   /* shared ones (a reference of ours); sent with ETag, 304 and gzip */
    const char *cache_control; /* NULL: no-store */
    int64_t retry_after_s;     /* 0: no such header */
    bool close;                /* the connection ends with this answer */
    const struct error_row *error; /* NULL: it is none */
};

void answer_free(struct answer *answer);

/* {"ok":false,"code":...,"message":...}; MESSAGE NULL: the table's. It must be ours or be valid
 * UTF-8. What the answer held before is dropped. */
void answer_error(struct answer *answer, enum error error, const char *message);
/* The same, left open for more keys; answer_end closes it. */
struct js_writer answer_error_open(struct answer *answer, enum error error, const char *message);
/* {"ok":true, left open. */
struct js_writer answer_ok_open(struct answer *answer, unsigned status);
void answer_end(struct js_writer *writer);
/* 429 or 503 with Retry-After and `retryAfterSec`. */
void answer_error_retry(struct answer *answer, enum error error, const char *message,
                        int64_t retry_s);

#define ANSWER_SCOPE __attribute__((cleanup(answer_free)))

#endif
