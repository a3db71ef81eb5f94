/* A pending change: a submission as a value, waiting for the writer (spec 03, "Commits").
 *
 * It holds everything that its commit needs and nothing that depends on a tip, so it can be applied
 * again when the tip has moved. */
#ifndef BENCHLEDGER_GITHUB_CHANGE_CHANGE_H
#define BENCHLEDGER_GITHUB_CHANGE_CHANGE_H

#include <git2.h>

#include "github/change/ledger.h"
#include "github/store.h"

/* Who else hears of the end of a submission, in the order in which they came. */
struct waiters {
    struct waiter {
        change_done done;
        void *context;
    } list[JOIN_MAX];
    size_t count;
};
/* Tells each of them, then frees WAITERS; NULL is fine. */
void waiters_tell(struct waiters *waiters, const struct change_result *result);

/* What a decision does to a dataset. FROM and TO are paths; equal ones: the file stays; TO
 * empty: it goes. */
struct move {
    char run_id[RUN_ID_MAX + 1]; /* as submitted */
    char from[RUN_PATH_MAX + 1], to[RUN_PATH_MAX + 1];
    uint64_t revision; /* before it */
    git_oid blob;
    bool edits;          /* the index has an entry of it, which changes: */
    struct buffer entry; /* to this; empty: it goes */
    struct buffer line;  /* of the ledger */
};

struct pending {
    struct pending *next;
    struct change change; /* pointers into one allocation of ours */
    change_done done;
    void *context;
    struct waiters *waiters; /* from the claim, once it has ended; may be NULL */
    bool stored;             /* the file is in the repository already, as BLOB; no bytes then */
    git_oid blob;
    struct move move; /* of a decision, on the tip that it was applied to */
    struct change_result result;
};

/* A copy of CHANGE. */
struct pending *pending_new(const struct change *change, change_done done, void *context);
/* Tells DONE and the waiters the result, then frees. */
void pending_finish(struct pending *pending);
/* Frees it, and tells nobody. */
void pending_free(struct pending *pending);

/* The event that the ledger gets. Shares the strings of PENDING. */
struct ledger_event pending_event(const struct pending *pending);
/* What tells a decision from others about the same run. */
uint64_t change_mark(const struct change *change);

/* The commit's subject for the changes of BATCH that are committed (result.outcome). */
void batch_message(const struct pending *batch, struct buffer *out);

#endif
