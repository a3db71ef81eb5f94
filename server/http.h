/* The HTTP library's side of the service: threads, callbacks, start and stop. */
#ifndef BENCHLEDGER_SERVER_HTTP_H
#define BENCHLEDGER_SERVER_HTTP_H

#include "server/service.h"

struct http;

/* Serves on SOCKET, which it owns from now on. NULL when the library refuses. */
struct http *http_start(struct service *service, int socket);
/* For the waiting room: suspends a connection, on the thread that serves it; resumes a suspended one
 * on any thread. */
void http_suspend(void *connection);
void http_resume(void *connection);
/* Accepts no more connections, lets requests in progress end (at most stop_wait_ms), resumes who
 * still waits, and stops. */
void http_stop(struct http *http);

#endif
