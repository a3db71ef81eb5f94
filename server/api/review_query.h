/* What a list of the quarantine is asked for: the page and the API take the same query. */
#ifndef BENCHLEDGER_SERVER_API_REVIEW_QUERY_H
#define BENCHLEDGER_SERVER_API_REVIEW_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "github/store.h"

struct request;

struct review_query {
    struct store_quarantine wanted; /* points into the request */
    const char *flag, *decision;    /* as in the address, "" for any */
};

/* `before`, `flag`, `decision` and, unless MOST is 0, `limit` up to that; without one it is USUAL. False when one
 * of them cannot be meant; an empty one is as none. */
bool review_query_read(const struct request *request, size_t usual, size_t most,
                       struct review_query *query);

#endif
