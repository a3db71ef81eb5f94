/* Digest of a run file (spec 01, "Canonical form and digest"). Pure. */
#ifndef BENCHLEDGER_VALIDATOR_DIGEST_H
#define BENCHLEDGER_VALIDATOR_DIGEST_H

#include "validator/js.h"
#include "validator/sha256.h"

enum digest_status {
    DIGEST_OK,
    DIGEST_LEGACY, /* verifies under the older rule, which covered the nonce */
    DIGEST_MISSING,
    DIGEST_MISMATCH,
};

struct digest_check {
    enum digest_status status;
    char computed[SHA256_HEX + 1]; /* by the present rule: without digest and nonce */
};

/* ROOT must be an object. */
struct digest_check digest_verify(const struct js_document *document);
/* The digest by the present rule; CANONICAL, when not NULL, receives the bytes that are hashed. */
void digest_compute(const struct js_document *document, char hex[SHA256_HEX + 1],
                    struct buffer *canonical);
/* "ok", "legacy", "missing", "mismatch". */
const char *digest_status_name(enum digest_status status);

#endif
