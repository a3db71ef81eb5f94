/* The HTTP library's side of the service: listening, threads, callbacks. */
#ifndef BENCHLEDGER_SERVER_HTTP_H
#define BENCHLEDGER_SERVER_HTTP_H

#include "server/service.h"

struct http;

/* Binds LISTEN ("ADDR:PORT", "[::1]:PORT", ":PORT"). False and a one-line *PROBLEM. BOUND is
 * ADDR:PORT with the real port. */
bool http_listen(const char *listen, int *socket, char bound[128], char problem[256]);
/* Serves on SOCKET, which it owns from now on. NULL when the library refuses. */
struct http *http_start(struct service *service, int socket);
/* For the waiting room: resumes a suspended connection. Any thread. */
void http_resume(void *connection);
/* Accepts no more connections, lets requests in progress end (at most stop_wait_ms), resumes who
 * still waits, and stops. */
void http_stop(struct http *http);

#endif
