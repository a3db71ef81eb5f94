/* One request from its header to its answer, as the handlers see it.
 *
 * Made when the header is complete, freed in the completion callback; served by one thread at a
 * time. */
#ifndef BENCHLEDGER_SERVER_HTTP_REQUEST_H
#define BENCHLEDGER_SERVER_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "server/api/answer.h"
#include "server/http/body.h"
#include "server/http/match.h"
#include "server/limits/address.h"
#include "server/maintainers/maintainers.h"
#include "server/service.h"

struct MHD_Connection;
struct waiting;
struct outcome;
struct peer;

enum { REQUEST_ID_MOST = 64 };

enum request_stage {
    STAGE_BODY,    /* receives, then is handled */
    STAGE_WAITING, /* suspended until its commit */
    STAGE_DONE,
};

struct request {
    struct service *service;
    struct MHD_Connection *connection;
    struct peer *peer; /* the connection's record in the watchdog */
    enum method method;
    struct route_match match; /* match.route NULL: none */
    char *path;               /* owned; the match points into it */
    char id[REQUEST_ID_MOST + 1];
    struct address client;
    struct maintainer maintainer; /* whose token it came with; no name: none that counts */
    struct body body;
    int64_t held; /* bytes of the body that the service has been told of */
    enum request_stage stage;
    bool refused;  /* ANSWER was decided before the body; it is sent when the body is through */
    bool has_turn; /* holds validate's turn of its address */
    struct answer answer;
    struct waiting *waiting; /* STAGE_WAITING; a reference of ours */
    struct outcome *outcome; /* STAGE_WAITING: what its answer needs; owned, see outcome.h */
};

/* In the completion callback only. NULL is fine. */
void request_free(struct request *request);
/* A header of the request (the first of that name), a query parameter; NULL when absent. */
const char *request_header(const struct request *request, const char *name);
const char *request_query(const struct request *request, const char *name);
/* Tells the service how much of the body is held now. False when all bodies together have just grown
 * past body_memory. */
bool request_account(struct request *request);
/* Sends the connection to sleep until its result, or DEADLINE_MS. False when the service ends: the
 * request goes on. */
bool request_wait(struct request *request, int64_t deadline_ms);
/* Copies the path parameter INDEX, "" when it does not fit. */
void request_parameter(const struct request *request, size_t index, char *text, size_t room);

#endif
