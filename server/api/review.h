/* Decisions about runs: by maintainers, who have tokens, and by submitters, who have kept a code
 * (spec 03, "Ledger"; the answers are those of a submission, the run's file moves instead of coming). */
#ifndef BENCHLEDGER_SERVER_API_REVIEW_H
#define BENCHLEDGER_SERVER_API_REVIEW_H

#include "server/http/request.h"

/* POST /api/bench/review. Before the body: whose token it is; every attempt is logged. */
bool review_admit(struct request *request, struct answer *answer);
void review_dropped(const struct request *request);
void review_decide(struct request *request, struct answer *answer);

/* POST /api/bench/withdraw. */
bool review_admit_withdrawal(struct request *request, struct answer *answer);
void review_withdraw(struct request *request, struct answer *answer);

/* GET /api/bench/quarantine. */
void review_list(struct request *request, struct answer *answer);

/* What a submission's header says of its code: 64 lower-case hex digits of a SHA-256. */
#define WITHDRAW_HEADER "X-Withdraw-SHA256"
bool review_is_hash(const char *text);

#endif
