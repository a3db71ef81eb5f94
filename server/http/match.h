/* Finds the row of a route table that a method and a path meet. Pure. */
#ifndef BENCHLEDGER_SERVER_HTTP_MATCH_H
#define BENCHLEDGER_SERVER_HTTP_MATCH_H

#include "server/api/routes.h"

enum { ROUTE_PARAMETERS = 3 };

/* What a path met: the first row that fits path and method. */
struct route_match {
    const struct route *route;
    struct {
        const char *text;
        size_t size;
    } parameters[ROUTE_PARAMETERS];
    char allow[48];            /* methods of the path, for Allow; empty: no such path */
    const struct route *first; /* the path's first row whatever the method, for its CORS kind */
};
void routes_match(const struct route *table, size_t count, enum method method, const char *path,
                  struct route_match *match);
enum method method_parse(const char *text);

#endif
