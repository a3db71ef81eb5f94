/* The listening socket. */
#ifndef BENCHLEDGER_SERVER_HTTP_LISTEN_H
#define BENCHLEDGER_SERVER_HTTP_LISTEN_H

#include <stdbool.h>

/* Binds PLACE ("ADDR:PORT", "[::1]:PORT", ":PORT"). False and a one-line *PROBLEM. BOUND is
 * ADDR:PORT with the real port. */
bool listen_open(const char *place, int *socket, char bound[128], char problem[256]);

#endif
