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

struct pending {
    struct pending *next;
    struct change change; /* pointers into one allocation of ours */
    change_done done;
    void *context;
    struct waiters *waiters; /* from the claim, once it has ended; may be NULL */
    bool stored;             /* the file is in the repository already, as BLOB; no bytes then */
    git_oid blob;
    struct change_result result;
};

/* A copy of CHANGE. */
struct pending *pending_new(const struct change *change, change_done done, void *context);
/* Tells DONE and the waiters the result, then frees. */
void pending_finish(struct pending *pending);

/* The event that the ledger gets. Shares the strings of CHANGE. */
struct ledger_event change_event(const struct change *change);

/* The commit's subject for the changes of BATCH that are committed (result.outcome). */
void batch_message(const struct pending *batch, struct buffer *out);

#endif
