/* What a verdict publishes (spec 03): scrubbed bytes, their digest, the path and the index entry.
 * Pure. */
#ifndef BENCHLEDGER_AGGREGATE_PUBLICATION_H
#define BENCHLEDGER_AGGREGATE_PUBLICATION_H

#include "validator/digest.h"
#include "validator/validate.h"

enum { ENTRY_BYTES_MAX = 256 * 1024, PUBLICATION_PATH_MAX = 128 };

struct publication {
    char path[PUBLICATION_PATH_MAX]; /* runs/YYYY/MM/ID.json or quarantine/... */
    char digest[65];                 /* of the published form */
    bool flagged;
    struct buffer bytes;        /* the published file */
    struct buffer entry;        /* its index entry, JSON */
    const char *const *removed; /* dotted paths of what the scrub took or changed; in the arena */
    size_t removed_count;
};

/* Where the verdict puts the run: runs/YYYY/MM/ID.json or quarantine/... */
void publication_path(const struct verdict *verdict, char path[PUBLICATION_PATH_MAX]);

/* NOW_MS stamps scrubbedAt when something had to be removed. The caller frees with publication_free in either
 * case. False and ERRORS when the scrubbed form would be no run file: nothing that a rebuild of the index
 * could not read is ever published. */
bool publish(struct arena *arena, const struct verdict *verdict, enum digest_status digest,
             double now_ms, struct publication *publication, struct shape_errors *errors);
void publication_free(struct publication *publication);

#endif
