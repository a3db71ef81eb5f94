/* Who may hand in a run now: the checks before the body, and the budgets of everybody together. */
#ifndef BENCHLEDGER_SERVER_LIMITS_ADMISSION_H
#define BENCHLEDGER_SERVER_LIMITS_ADMISSION_H

#include "server/http/request.h"

/* Before the body: store, rate, declared size, type and encoding. False and the refusal. */
bool admission_admit(struct request *request, struct answer *answer);
/* Of it declared size, type and encoding alone. */
bool admission_body(struct request *request, struct answer *answer);
/* CLIENT sent what the dataset's host declines, or would: that counts as some further attempts, and
 * what he sends within the hour travels apart from other people's runs. */
void admission_fine(struct service *service, const struct address *client);
bool admission_suspects(struct service *service, const struct address *client);
/* Charges the global budgets for one run, all or none; false and *RETRY_S when one is used up. */
bool admission_charge(struct service *service, bool flagged, size_t bytes, int64_t now_ms,
                      int64_t *retry_s);
/* Whether a page that is not kept may be made now: bodies that slow readers hold on to are not
 * without end. */
bool admission_memory(const struct service *service);
/* Counts a view of the board that has to be made for this client; false and *RETRY_S: too many. Of
 * this instance, which makes it. */
bool admission_view(const struct request *request, int64_t *retry_s);
/* Whether this client may try a maintainer's token or a code of withdrawal; false and *RETRY_S: too many of
 * his were wrong within the hour. Costs nothing. Of this instance, and not lifted by rate_limit 0. */
bool admission_review(const struct request *request, int64_t *retry_s);
/* What he tried was wrong. */
void admission_review_failed(const struct request *request);
/* The run charged at TAKEN_MS came to nothing. */
void admission_refund(struct service *service, bool flagged, size_t bytes, int64_t taken_ms);

#endif
