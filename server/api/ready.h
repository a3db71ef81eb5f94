/* GET /readyz: whether a run can be taken and reaches the dataset, and what will become a reason why
 * not. Any thread. */
#ifndef BENCHLEDGER_SERVER_API_READY_H
#define BENCHLEDGER_SERVER_API_READY_H

#include <stdbool.h>
#include <stdint.h>

struct answer;
struct request;
struct service;

void ready_answer(struct request *request, struct answer *answer);
bool ready_now(const struct service *service);
/* Says once a day in the log what is a warning of time: by one thread, as often as it likes. */
void ready_remind(struct service *service);

#endif
