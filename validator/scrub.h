/* What a public file may carry (spec 03, "Scrub"). Pure: the time is an argument. */
#ifndef BENCHLEDGER_VALIDATOR_SCRUB_H
#define BENCHLEDGER_VALIDATOR_SCRUB_H

#include "validator/digest.h"

enum { SCRUB_REMOVED_MAX = 16 };

struct scrubbed {
    struct js_document document;            /* shares text and unchanged values with the original */
    const char *removed[SCRUB_REMOVED_MAX]; /* dotted paths, static */
    size_t removed_count;
    bool changed;                /* schemaVersion, scrubbedAt and digest are new */
    char digest[SHA256_HEX + 1]; /* of the published form */
};

/* The root of DOCUMENT must be an object. DIGEST is what digest_verify said of it: after
 * DIGEST_LEGACY the nonce counts as a change. NOW_MS stamps scrubbedAt. New values live in ARENA.
 */
void scrub(struct arena *arena, const struct js_document *document, enum digest_status digest,
           double now_ms, struct scrubbed *scrubbed);

/* The path of the I-th step, and in *WHAT what becomes of the field, in words; NULL behind the
 * last. */
const char *scrub_step(size_t i, const char **what);

#endif
