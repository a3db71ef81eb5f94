/* From an answer to bytes on the socket: the headers of every response (spec 04), ETag and 304,
 * gzip, CORS, preflight. */
#ifndef BENCHLEDGER_SERVER_HTTP_RESPOND_H
#define BENCHLEDGER_SERVER_HTTP_RESPOND_H

#include "server/http/request.h"

/* Queues the answer of REQUEST; it keeps owning what is in it. False: the connection must be
 * dropped. */
bool respond(struct request *request);
/* Fills the answer of an OPTIONS request on a known path. */
void respond_preflight(struct request *request);

#endif
