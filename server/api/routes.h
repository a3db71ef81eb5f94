/* THE table of the HTTP API. Dispatch, 404, 405 and `Allow`, HEAD, preflight, body limits, rates
 * and OpenAPI all derive from it; a new endpoint is a new row and its handler. */
#ifndef BENCHLEDGER_SERVER_API_ROUTES_H
#define BENCHLEDGER_SERVER_API_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "server/api/errors.h"
#include "server/limits/ratelimit.h"

struct answer;
struct request;

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_OPTIONS, METHOD_OTHER };

enum cors {
    CORS_NONE,
    CORS_PUBLIC,  /* any origin may read */
    CORS_ORIGINS, /* those of allowed_origins */
};

/* What a browser may do with the answer (Content-Security-Policy and what belongs to it). */
enum page {
    PAGE_NONE,   /* data: it is not shown as a page, and nothing in it runs */
    PAGE_PLAIN,  /* a page of ours with the assets of this service and nothing else */
    PAGE_MODULE, /* the same, and it may compile the validator's WebAssembly */
    PAGE_ASSET,  /* fetched by pages, ours and others' */
};

struct parameter {
    const char *name, *help;
    const char *values; /* NULL or the allowed ones, parted by | */
};

struct route {
    /* Segments; {name} is one, {name:class} one of a class: year, month, day, file, segment, run,
     * asset, family, version. */
    const char *path;
    void (*handle)(struct request *request, struct answer *answer);
    /* Before the body is read: false and *ANSWER when it is refused (spec 04: draining). May be
     * NULL. */
    bool (*admit)(struct request *request, struct answer *answer);
    /* The body of an admitted request is not taken after all (too large, no gzip, no room): the answer says
     * why. May be NULL. */
    void (*dropped)(const struct request *request);
    const char *summary;
    const char *success; /* "200 text" parted by |, for OpenAPI; the first is the usual one */
    const char *type;    /* of the usual answer */
    const struct parameter *query;   /* ends with a NULL name; NULL: none */
    const struct parameter *headers; /* optional ones, likewise */
    const enum error *errors;        /* ends with ERROR_COUNT; NULL: none of its own */
    enum method method;              /* GET or POST; HEAD follows GET */
    enum cors cors;
    enum rate_class rate;
    enum page page;
    bool secured;     /* takes a maintainer's token */
    const char *body; /* what it takes, as JSON; NULL: nothing */
};
/* Read only; *COUNT rows. */
const struct route *routes(size_t *count);

#endif
