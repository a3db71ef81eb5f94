/* The pages of those who decide about quarantined runs, and of everybody who looks on.
 *
 * What a list shows of a run's file is made once and kept by blob id; a run's own page by everything that it
 * shows. Only what has to be made is counted as a view (admission_view). */
#ifndef BENCHLEDGER_SERVER_API_PAGE_REVIEW_H
#define BENCHLEDGER_SERVER_API_PAGE_REVIEW_H

struct answer;
struct request;

void page_review_list(struct request *request, struct answer *answer); /* GET /review */
void page_review_run(struct request *request, struct answer *answer);  /* GET /review/ID */
void page_review_feed(struct request *request, struct answer *answer); /* GET /quarantine.atom */

#endif
