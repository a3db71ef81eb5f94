/* Runs that the store has and has not ended yet: the budget that each goes back to when it comes to
 * nothing, and its flags for those who ask before its file can be read.
 *
 * Any thread. A handover outlives its request: clients go away, commits do not. */
#ifndef BENCHLEDGER_SERVER_API_HANDOVER_H
#define BENCHLEDGER_SERVER_API_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "github/store.h"
#include "server/limits/address.h"
#include "server/shared/shared.h"
#include "validator/buffer.h"

struct handovers;
struct service;
struct waiting;

/* SERVICE outlives it. */
struct handovers *handovers_new(struct service *service);
void handovers_free(struct handovers *handovers); /* after the store; NULL is fine */

/* What is to be remembered of a run beside its change. All is copied, but for the judgement. */
struct handover_facts {
    const char *request_id;   /* for the log */
    struct buffer *judgement; /* as in runs.h; taken */
    int64_t charged_ms;       /* when the budgets were charged */
    struct address client;
    struct shared_nonce nonce; /* unused without service->shared */
};
/* Hands CHANGE to the store; WAITING hears of its end. */
void handovers_commit(struct handovers *handovers, const struct change *change,
                      struct waiting *waiting, const struct handover_facts *facts);
/* Copies the judgement of the run in flight whose published file has DIGEST. False: none is. */
bool handovers_judgement(struct handovers *handovers, const char *digest, struct buffer *out);
/* The store has refused the last run that it was handed because its queue was full, and has ended
 * none since. */
bool handovers_full(struct handovers *handovers);

#endif
