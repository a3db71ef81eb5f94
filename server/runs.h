/* GET /api/bench/runs/ID: what became of a submission. */
#ifndef BENCHLEDGER_SERVER_RUNS_H
#define BENCHLEDGER_SERVER_RUNS_H

struct answer;
struct request;

void runs_status(struct request *request, struct answer *answer);

#endif
