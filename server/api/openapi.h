/* The OpenAPI 3.1 description, made from the route table, the error table and the limits. */
#ifndef BENCHLEDGER_SERVER_API_OPENAPI_H
#define BENCHLEDGER_SERVER_API_OPENAPI_H

#include "config/config.h"

struct content;

/* A new reference. */
struct content *openapi_make(const struct config *config);

#endif
