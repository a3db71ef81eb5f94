/* Watches connections for what the HTTP library does not: headers that drip, bodies that crawl, too
 * many connections (spec 04). One thread that looks a few times a second and shuts sockets down.
 *
 * peer_* are called on the threads of the HTTP library, for one connection by one thread at a time.
 */
#ifndef BENCHLEDGER_SERVER_HTTP_WATCHDOG_H
#define BENCHLEDGER_SERVER_HTTP_WATCHDOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "server/limits/address.h"

struct watchdog;
struct peer;

/* LIMITS and TRUSTED outlive the watchdog. TICK is called with every look, from the watchdog's
 * thread. */
struct watchdog *watchdog_new(const struct limits *limits, const struct address_list *trusted,
                              void (*tick)(void *context, int64_t now_ms), void *context);
/* Ends the thread. Connections may still end afterwards. */
void watchdog_stop(struct watchdog *watchdog);
/* After the last connection has ended. */
void watchdog_free(struct watchdog *watchdog);

/* Connections that are open. */
int64_t watchdog_connections(struct watchdog *watchdog);

/* A connection was accepted. It is counted, and shut down at once when it is one too many. */
struct peer *peer_open(struct watchdog *watchdog, int socket, const struct address *address);
void peer_close(struct peer *peer);
const struct address *peer_address(const struct peer *peer);

void peer_request_line(struct peer *peer,
                       const char *target); /* the first line of a request is in */
/* Whether its target holds a NUL (%00), behind which the library's decoded text cannot be seen. */
bool peer_target_has_nul(const struct peer *peer);
void peer_header_done(struct peer *peer); /* its header is in, a body may follow */
void peer_body(struct peer *peer, size_t bytes);
void peer_body_done(struct peer *peer); /* waits, is answered */
void peer_answered(struct peer *peer);  /* the next request may follow */

#endif
