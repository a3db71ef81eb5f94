/* /check, and what of the assets has an address or a policy of its own. */
#ifndef BENCHLEDGER_SERVER_API_PAGE_CHECK_H
#define BENCHLEDGER_SERVER_API_PAGE_CHECK_H

struct answer;
struct request;

void page_check(struct request *request, struct answer *answer);
/* The module for runners, at an address that does not change. */
void page_check_client(struct request *request, struct answer *answer);
/* The module that reads datasets, likewise. */
void page_check_dataset(struct request *request, struct answer *answer);
/* A worker takes its policy from its own answer, and must be allowed to compile the validator. */
void page_check_worker(struct request *request, struct answer *answer);
/* A page among the assets. */
void page_check_example(struct request *request, struct answer *answer);

#endif
