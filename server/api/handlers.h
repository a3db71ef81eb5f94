/* Handlers that need no room of their own. */
#ifndef BENCHLEDGER_SERVER_API_HANDLERS_H
#define BENCHLEDGER_SERVER_API_HANDLERS_H

#include "server/http/request.h"

void handle_nonce(struct request *request, struct answer *answer);
void handle_health(struct request *request, struct answer *answer);
void handle_openapi(struct request *request, struct answer *answer);

#endif
