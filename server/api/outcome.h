/* What a submission that waits for its commit keeps for its answer; the run itself is the store's by
 * then. Belongs to its request. */
#ifndef BENCHLEDGER_SERVER_API_OUTCOME_H
#define BENCHLEDGER_SERVER_API_OUTCOME_H

#include "server/http/request.h"

struct outcome {
    /* Writes the answer of a decision (review.c); NULL: it is a submission. */
    void (*answer)(const struct request *request, struct answer *answer);
    bool joined; /* waits for the commit of an earlier submission of the same run */
    bool flagged;
    char path[RUN_PATH_MAX + 1], run_id[RUN_ID_MAX + 1], submitted_digest[SHA256_HEX + 1];
    char digest[SHA256_HEX + 1], at[32]; /* as in struct change; unused when joined */
    struct buffer judgement;             /* as in runs.h */
    struct buffer reason;                /* of a decision, whose PATH is where it puts the run */
};

/* NULL is fine. */
void outcome_free(struct outcome *outcome);
/* The answer after the resume, from the result that came or did not come in time. */
void outcome_answer(const struct request *request, struct answer *answer);
/* 422: REASON is a stable word, PATH where the run would have gone; MESSAGE NULL: the usual one. */
void outcome_declined(struct answer *answer, const char *reason, const char *path,
                      const char *message);
#define OUTCOME_BY_HOST "declined-by-host"
/* 409: the id is that of the run in STATE. */
void outcome_duplicate(const struct service *service, struct answer *answer,
                       const struct run_state *state, const char *submitted_digest);

#endif
