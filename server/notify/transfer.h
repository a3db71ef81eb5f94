/* One HTTP POST of the webhook: headers, signature, deadlines. A transfer belongs to one thread at a time. */
#ifndef BENCHLEDGER_SERVER_NOTIFY_TRANSFER_H
#define BENCHLEDGER_SERVER_NOTIFY_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRANSFER_ANSWER_MOST = 64 << 10, /* bytes of an answer that are read, and thrown away */
    TRANSFER_SIGNATURE = 64,         /* hex digits */
    TRANSFER_ID = 16                 /* hex digits */
};

struct transfer_options {
    const char *url, *secret; /* outlive the transfer */
    int64_t connect_ms, total_ms;
};

struct transfer_result {
    long status;         /* of the answer; 0: there was none */
    const char *problem; /* why there was none: a constant text that names no address; NULL */
    bool aborted;        /* ABORTED said so */
};

struct transfer;

/* What is wrong with URL, or NULL. */
const char *transfer_url_problem(const char *url);
/* `https://host` of a good URL, to be freed; without user, password and path. NULL when there is no memory. */
char *transfer_url_shown(const char *url);
/* Hex HMAC-SHA256 of "TIMESTAMP.BODY", NUL-terminated. */
bool transfer_sign(const char *secret, int64_t timestamp_s, const char *body, size_t size,
                   char hex[TRANSFER_SIGNATURE + 1]);

/* NULL when the library cannot be had. */
struct transfer *transfer_new(const struct transfer_options *options);
void transfer_free(struct transfer *transfer);
/* Sends BODY and waits for the answer, no longer than the deadline. ABORTED is asked several times a
 * second. */
struct transfer_result transfer_run(struct transfer *transfer, const char id[TRANSFER_ID + 1],
                                    const char *body, size_t size, bool (*aborted)(void *context),
                                    void *context);
#endif
