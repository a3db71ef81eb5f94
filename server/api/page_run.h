/* GET /run/ID: the page of one run.
 *
 * A page is made of the run's file and of what the dataset says of it, and is kept until one of them
 * changes: by the file's blob id, the run's status and its revision. */
#ifndef BENCHLEDGER_SERVER_API_PAGE_RUN_H
#define BENCHLEDGER_SERVER_API_PAGE_RUN_H

struct answer;
struct request;

void page_run(struct request *request, struct answer *answer);

#endif
