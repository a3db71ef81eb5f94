/* Secret-like strings, as push protection of git hosts looks for them: a file that holds one makes the
 * host refuse the whole push. A model can generate one, and so can whoever wants to stop the others.
 * Pure; one pass over the bytes. */
#ifndef BENCHLEDGER_AGGREGATE_BAIT_H
#define BENCHLEDGER_AGGREGATE_BAIT_H

#include <stdbool.h>
#include <stddef.h>

enum bait_level {
    BAIT_NONE,
    BAIT_SUSPECT, /* begins like one and has another length: a host may see it in another way */
    BAIT_REFUSED, /* has the very form */
};
struct bait {
    enum bait_level level;
    const char *word; /* the kind, static, such as github-token; NULL: none */
};

/* The worst that TEXT, a published file, holds. */
struct bait bait_find(const char *text, size_t size);

/* A row of the table: what the prefix is followed by are letters of its kind, digits always among them,
 * and how many of them are refused. */
struct bait_kind {
    const char *word, *prefix;
    size_t least, most;
};
/* False behind the last. */
bool bait_kind(size_t index, struct bait_kind *kind);

#endif
