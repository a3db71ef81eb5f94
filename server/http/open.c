#include "server/http/open.h"

#include <microhttpd.h>
#include <openssl/rand.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/api/pages.h"
#include "server/http/match.h"
#include "server/http/respond.h"
#include "server/http/watchdog.h"
#include "validator/arena.h"

/* Beyond the memory of a connection the library refuses a header by itself, see http.h. */
enum { HEADER_MOST = 32 * 1024 };

/* Headers that frame the body, and the forwarded addresses joined in order. */
struct header_facts {
    unsigned lengths, encodings, codings;
    size_t size; /* of the whole header with its request line */
    bool chunked, expects_continue, odd_name, odd_length;
    uint64_t declared;
    struct buffer forwarded;
};

static enum MHD_Result look_at_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    struct header_facts *facts = context;
    (void)kind;
    /* "Content-Length : 5" is another header to the library, and may be none to a proxy. */
    if (!*name || strpbrk(name, " \t\r\n"))
        facts->odd_name = true;
    if (!value)
        return MHD_YES;
    if (!strcasecmp(name, "Content-Length")) {
        facts->lengths++;
        facts->odd_length |= !*value || value[strspn(value, "0123456789")] != '\0';
        facts->declared = strtoull(value, NULL, 10);
    } else if (!strcasecmp(name, "Transfer-Encoding")) {
        facts->encodings++;
        facts->chunked = !strcasecmp(value, "chunked");
    } else if (!strcasecmp(name, "Content-Encoding")) {
        facts->codings++;
    } else if (!strcasecmp(name, "Expect")) {
        facts->expects_continue = !strcasecmp(value, "100-continue");
    } else if (!strcasecmp(name, "X-Forwarded-For")) {
        /* All of them: the last ones are those that our proxies wrote. The library bounds the sum. */
        if (facts->forwarded.size)
            buffer_byte(&facts->forwarded, ',');
        buffer_text(&facts->forwarded, value);
    }
    return MHD_YES;
}

/* Two readings of where a body ends are how requests are smuggled past a proxy: refused, and the
 * connection with them. */
static const char *framing_problem(const struct header_facts *facts, bool takes_body)
{
    if (facts->odd_name || facts->odd_length)
        return "A header is malformed.";
    if (facts->lengths > 1)
        return "Content-Length is repeated.";
    if (facts->lengths && facts->encodings)
        return "Content-Length stands beside Transfer-Encoding.";
    if (facts->encodings > 1 || (facts->encodings && !facts->chunked))
        return "The only Transfer-Encoding taken is chunked.";
    if (facts->codings > 1)
        return "Content-Encoding is repeated.";
    if (facts->size > HEADER_MOST)
        return "The header is larger than 32 KiB.";
    if (takes_body && !facts->lengths && !facts->encodings)
        return "Content-Length is missing."; /* also a folded one, which the library drops */
    return NULL;
}

static bool sane_id(const char *text)
{
    size_t size = text ? strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._-")
                       : 0;
    return size >= 1 && size <= REQUEST_ID_MOST && !text[size];
}

static void choose_id(struct request *request)
{
    static atomic_ullong counter;
    const char *given = request_header(request, "X-Request-Id");
    if (sane_id(given)) {
        memcpy(request->id, given, strlen(given) + 1);
        return;
    }
    unsigned long long number = atomic_fetch_add(&counter, 1);
    if (!number) { /* starts anywhere, so that ids of two starts differ */
        uint32_t start = 0;
        (void)RAND_bytes((unsigned char *)&start, sizeof start);
        number = (unsigned long long)start << 32;
        atomic_fetch_add(&counter, number);
    }
    snprintf(request->id, sizeof request->id, "%016llx", number * 0x9e3779b97f4a7c15ULL);
}

static void read_header(struct MHD_Connection *connection, struct header_facts *facts)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    facts->size = info ? info->header_size : 0;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at_header, facts);
}

/* A browser that goes to an address is told in a page, programs are told in JSON. */
static void answer_nowhere(struct request *request)
{
    const char *accept = request_header(request, "Accept");
    if (accept && strstr(accept, "text/html")) {
        pages_message(&request->answer, 404, "Nothing here",
                      "There is nothing at this address. The board shows all runs.");
        request->answer.cache_control = NULL; /* for programs it is another answer */
    } else {
        answer_error(&request->answer, ERROR_NOT_FOUND, NULL);
    }
}

/* False when the request ends with the answer that is now decided. */
static bool admit(struct request *request, const struct header_facts *facts)
{
    const struct route_match *match = &request->match;
    if (!match->first) {
        answer_nowhere(request);
        return false;
    }
    if (request->method == METHOD_OPTIONS) {
        respond_preflight(request);
        return false;
    }
    if (!match->route) {
        answer_error(&request->answer, ERROR_METHOD_NOT_ALLOWED, NULL);
        return false;
    }
    if (match->route->body && facts->declared > request->body.limit)
        request->body.state = BODY_TOO_LARGE;
    return !match->route->admit || match->route->admit(request, &request->answer);
}

struct request *request_open(struct service *service, struct MHD_Connection *connection,
                             struct peer *peer, const char *method, const char *path,
                             enum open_verdict *verdict)
{
    struct request *request = memory_grow(NULL, sizeof *request);
    memset(request, 0, sizeof *request);
    request->service = service;
    request->connection = connection;
    request->peer = peer;
    request->method = method_parse(method);
    size_t path_size = strlen(path) + 1;
    request->path = memcpy(memory_grow(NULL, path_size), path, path_size);
    struct header_facts facts = {0};
    read_header(connection, &facts);
    request->client = address_client(&service->trusted, peer_address(peer),
                                     facts.forwarded.size ? buffer_string(&facts.forwarded) : NULL);
    buffer_free(&facts.forwarded);
    choose_id(request);
    size_t count;
    const struct route *table = routes(&count);
    routes_match(table, count, request->method, request->path, &request->match);
    body_init(&request->body, (uint64_t)service->config->limits.max_body);
    atomic_fetch_add(&service->requests, 1);

    bool takes_body = request->match.route && request->match.route->body;
    const char *problem =
        peer_target_has_nul(peer) ? "The target holds a NUL." : framing_problem(&facts, takes_body);
    *verdict = OPEN_BODY;
    if (problem) {
        answer_error(&request->answer, ERROR_BAD_REQUEST, problem);
        request->answer.close = true;
        *verdict = OPEN_ANSWER;
        return request;
    }
    request->refused = !admit(request, &facts);
    if (request->refused || !request->match.route->body)
        body_drain(&request->body);
    bool body_comes = facts.declared || facts.encodings;
    if (request->refused && body_comes) {
        request->answer.close = true;
        /* A client that asks first has sent nothing yet; one that announces more than is drained
         * would lose the answer anyway. */
        if (facts.expects_continue ||
            facts.declared > (uint64_t)service->config->limits.drain_limit)
            *verdict = OPEN_ANSWER;
    }
    return request;
}
