#include "server/http/request.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/outcome.h"
#include "server/http/waitroom.h"

const char *request_header(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *request_query(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

void request_parameter(const struct request *request, size_t index, char *text, size_t room)
{
    size_t size = request->match.parameters[index].size;
    if (size >= room)
        size = 0;
    if (size)
        memcpy(text, request->match.parameters[index].text, size);
    text[size] = '\0';
}

bool request_account(struct request *request)
{
    struct service *service = request->service;
    int64_t most = service->config->limits.body_memory, held = (int64_t)request->body.data.size;
    int64_t grown = held - request->held;
    request->held = held;
    if (!grown)
        return true;
    int64_t all = atomic_fetch_add(&service->body_bytes, grown) + grown;
    return grown < 0 || !most || all <= most;
}

bool request_wait(struct request *request, int64_t deadline_ms)
{
    /* It may be resumed at once, but is served again by this thread only, after it has returned. */
    request->waiting = waiting_new(request->service->waitroom, request->connection, deadline_ms);
    if (request->waiting)
        request->stage = STAGE_WAITING;
    return request->waiting != NULL;
}

void request_free(struct request *request)
{
    if (!request)
        return;
    struct service *service = request->service;
    if (request->has_turn)
        ratelimit_leave(service->rates, RATE_VALIDATE, &request->client);
    waiting_leave(request->waiting);
    outcome_free(request->outcome);
    body_free(&request->body);
    request_account(request);
    answer_free(&request->answer);
    free(request->path);
    free(request);
    atomic_fetch_sub(&service->requests, 1);
}
