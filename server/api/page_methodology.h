/* GET /methodology and /methodology/FAMILY/N. */
#ifndef BENCHLEDGER_SERVER_API_PAGE_METHODOLOGY_H
#define BENCHLEDGER_SERVER_API_PAGE_METHODOLOGY_H

struct answer;
struct request;

void page_methodology_list(struct request *request, struct answer *answer);
void page_methodology(struct request *request, struct answer *answer);

#endif
