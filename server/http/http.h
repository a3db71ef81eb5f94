/* The HTTP library's side of the service: threads, callbacks, start and stop.
 *
 * A few refusals are the library's own: a short HTML page without the headers of spec 04, because the
 * service is not asked. They are 400 for a request line, header or chunk that cannot be read, and 414
 * or 431 for what exceeds the memory of a connection (64 KiB with the library's own notes). Headers
 * between 32 KiB and that are refused by open.c with the usual JSON. */
#ifndef BENCHLEDGER_SERVER_HTTP_HTTP_H
#define BENCHLEDGER_SERVER_HTTP_HTTP_H

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
