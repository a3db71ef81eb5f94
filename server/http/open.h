/* The beginning of a request: what its header alone decides (spec 04). */
#ifndef BENCHLEDGER_SERVER_HTTP_OPEN_H
#define BENCHLEDGER_SERVER_HTTP_OPEN_H

#include "server/http/request.h"

enum open_verdict {
    OPEN_BODY,   /* the body may come */
    OPEN_ANSWER, /* the answer is decided and nothing more is read */
};

/* Makes the request. With `refused` set its answer is decided, but the body is drained first. */
struct request *request_open(struct service *service, struct MHD_Connection *connection,
                             struct peer *peer, const char *method, const char *path,
                             enum open_verdict *verdict);

#endif
