/* The dataset store that a configuration names: what is wrong with it, and opening it. */
#ifndef BENCHLEDGER_SERVER_ATTACH_H
#define BENCHLEDGER_SERVER_ATTACH_H

#include <stdbool.h>

#include "github/error.h"

struct config;
struct service;

/* Whether the store is a remote one that is read and never pushed to, for want of a token. */
bool attach_is_read_only(const struct config *config);
/* What is wrong with the configuration of the store: the KEY, and the reason. NULL: nothing. */
const char *attach_problem(const struct config *config, const char **key);
/* Opens it, if there is one. The log hears what it has to say. */
bool attach_open(struct service *service, struct store_error *error);

#endif
