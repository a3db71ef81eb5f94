#include "server/http/http.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/api/metrics.h"
#include "server/api/outcome.h"
#include "server/clock.h"
#include "server/http/open.h"
#include "server/http/request.h"
#include "server/http/respond.h"
#include "server/http/waitroom.h"
#include "server/http/watchdog.h"
#include "server/log.h"
#include "validator/arena.h"

enum {
    CONNECTION_MEMORY = 64 * 1024,
    LIBRARY_CONNECTIONS = 1 << 20,
    STOP_STEP_MS = 5,
    LAST_ANSWERS_MS = 1000,
    RETRY_S = 5
};

struct http {
    struct service *service;
    struct MHD_Daemon *daemon;
};

static struct peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct service *service = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*socket_context)
            peer_close(*socket_context);
        *socket_context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *socket =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct address address = {0};
    if (from && from->client_addr)
        address_from_socket(from->client_addr, &address);
    *socket_context = peer_open(service->watchdog, socket->connect_fd, &address);
}

static void *request_line(void *context, const char *uri, struct MHD_Connection *connection)
{
    (void)context;
    struct peer *peer = peer_of(connection);
    if (peer)
        peer_request_line(peer, uri);
    return NULL; /* the request is made when its header is complete */
}

static void log_request(const struct request *request, const char *method)
{
    unsigned status = request->answer.status;
    enum log_level level = status >= 500                    ? LOG_WARN
                           : request->method == METHOD_POST ? LOG_INFO
                                                            : LOG_DEBUG;
    if (!log_wanted(level))
        return;
    char client[ADDRESS_TEXT], number[16];
    address_print(&request->client, client);
    snprintf(number, sizeof number, "%u", status);
    log_event(level, "request",
              LOG_FIELDS({"id", request->id}, {"client", client}, {"method", method},
                         {"path", request->path}, {"status", number}));
}

static enum MHD_Result send_answer(struct request *request, const char *method)
{
    request->stage = STAGE_DONE;
    peer_body_done(request->peer);
    bool sent = respond(request);
    metrics_request(request->service->metrics, request->match.route, &request->answer);
    log_request(request, method);
    return sent ? MHD_YES : MHD_NO;
}

static void tell_dropped(const struct request *request)
{
    if (request->match.route && request->match.route->dropped)
        request->match.route->dropped(request);
}

static enum MHD_Result receive(struct request *request, const char *data, size_t size)
{
    peer_body(request->peer, size);
    body_receive(&request->body, data, size);
    if (!request_account(request)) {
        body_drain(&request->body);
        request_account(request);
        answer_error_retry(&request->answer, ERROR_BUSY, "Too many runs are on their way.",
                           RETRY_S);
        request->answer.close = true;
        if (!request->refused)
            tell_dropped(request);
        request->refused = true;
    }
    bool dropped = request->body.state != BODY_KEEP;
    uint64_t most = (uint64_t)request->service->config->limits.drain_limit;
    return dropped && request->body.received > most ? MHD_NO : MHD_YES;
}

/* The body has been dropped: why, in the order of spec 04 (size before type). */
static bool body_refused(struct request *request)
{
    struct body *body = &request->body;
    bool typed = request->refused && request->answer.status == 415;
    if (body->state == BODY_TOO_LARGE || (typed && body->received > body->limit))
        answer_error(&request->answer, ERROR_PAYLOAD_TOO_LARGE, NULL);
    else if (body->state == BODY_CORRUPT)
        answer_error(&request->answer, ERROR_BAD_REQUEST, "The body is not valid gzip.");
    else
        return request->refused;
    request->answer.close = true;
    if (!request->refused)
        tell_dropped(request);
    return true;
}

static enum MHD_Result finish(struct request *request, const char *method)
{
    if (request->stage == STAGE_WAITING) {
        outcome_answer(request, &request->answer);
        return send_answer(request, method);
    }
    body_finish(&request->body);
    if (body_refused(request))
        return send_answer(request, method);
    peer_body_done(request->peer);
    request->match.route->handle(request, &request->answer);
    /* A suspended connection comes back to this very thread, and not before this returns. */
    return request->stage == STAGE_WAITING ? MHD_YES : send_answer(request, method);
}

static enum MHD_Result serve_request(void *context, struct MHD_Connection *connection,
                                     const char *path, const char *method, const char *version,
                                     const char *data, size_t *size, void **request_context)
{
    struct service *service = context;
    struct request *request = *request_context;
    (void)version;
    if (!request) {
        struct peer *peer = peer_of(connection);
        enum open_verdict verdict;
        if (!peer)
            return MHD_NO;
        peer_header_done(peer);
        request = request_open(service, connection, peer, method, path, &verdict);
        *request_context = request;
        return verdict == OPEN_ANSWER ? send_answer(request, method) : MHD_YES;
    }
    if (!*size)
        return request->stage == STAGE_DONE ? MHD_YES : finish(request, method);
    size_t received = *size;
    *size = 0;
    return receive(request, data, received);
}

static void request_completed(void *context, struct MHD_Connection *connection,
                              void **request_context, enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)code;
    struct peer *peer = peer_of(connection);
    if (peer)
        peer_answered(peer);
    request_free(*request_context);
    *request_context = NULL;
}

void http_suspend(void *connection)
{
    MHD_suspend_connection(connection);
}

void http_resume(void *connection)
{
    MHD_resume_connection(connection);
}

static unsigned thread_count(const struct config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (config->threads)
        return (unsigned)config->threads;
    return cores < 1 ? 1 : cores > 64 ? 64 : (unsigned)cores;
}

struct http *http_start(struct service *service, int socket)
{
    struct http *http = memory_grow(NULL, sizeof *http);
    unsigned threads = thread_count(service->config);
    *http = (struct http){.service = service};
    /* Connections are counted by the watchdog: the library's own limit would leave newcomers
     * waiting behind those that hold on, and its count per address does not know proxies. */
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO, 0, NULL, NULL,
        serve_request, service, MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_THREAD_POOL_SIZE,
        threads > 1 ? threads : 0, MHD_OPTION_CONNECTION_LIMIT, (unsigned)LIBRARY_CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)service->config->limits.idle_timeout_s,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, service, MHD_OPTION_URI_LOG_CALLBACK,
        request_line, service, MHD_OPTION_NOTIFY_COMPLETED, request_completed, service,
        MHD_OPTION_END);
    if (!http->daemon) {
        close(socket);
        free(http);
        return NULL;
    }
    return http;
}

static void wait_for_requests(struct service *service, int64_t until_ms)
{
    const struct timespec step = {.tv_nsec = STOP_STEP_MS * 1000000L};
    while (atomic_load(&service->requests) > 0 && clock_monotonic_ms() < until_ms)
        nanosleep(&step, NULL);
}

void http_stop(struct http *http)
{
    struct service *service = http->service;
    int socket = MHD_quiesce_daemon(http->daemon);
    if (socket != -1)
        close(socket);
    atomic_store(&service->stopping, true);
    wait_for_requests(service, clock_monotonic_ms() + service->config->limits.stop_wait_ms);
    /* The library aborts on suspended connections. Whoever still waits is told that it is not known
     * yet; the store commits what is queued when it closes. A body that ends later is refused. */
    waitroom_expire(service->waitroom, INT64_MAX);
    wait_for_requests(service, clock_monotonic_ms() + LAST_ANSWERS_MS);
    waitroom_close(service->waitroom);
    MHD_stop_daemon(http->daemon);
    free(http);
}
