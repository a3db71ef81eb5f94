/* GET /metrics: what the process has counted since its start and what it holds now, as Prometheus text.
 * Every label value is ours: routes, status classes and codes of the tables. Counting takes no lock.
 * Any thread. */
#ifndef BENCHLEDGER_SERVER_API_METRICS_H
#define BENCHLEDGER_SERVER_API_METRICS_H

#include <stdbool.h>

struct answer;
struct metrics;
struct request;
struct route;

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics); /* NULL is fine */

/* A request was answered; ROUTE NULL: no such. */
void metrics_request(struct metrics *metrics, const struct route *route,
                     const struct answer *answer);
/* A run has reached the dataset. */
void metrics_run(struct metrics *metrics, bool quarantined);

void metrics_answer(struct request *request, struct answer *answer);

#endif
