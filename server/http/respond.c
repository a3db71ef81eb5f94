#include "server/http/respond.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Browsers keep a preflight for two hours at most. */
static const char preflight_age[] = "7200";

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
    /* Fails only without memory; an answer that lacks a header is still the right answer. */
    (void)MHD_add_response_header(response, name, value);
}

static const char *skip_blank(const char *at)
{
    return at + strspn(at, " \t");
}

/* Whether "gzip" (or *) is accepted, that is: listed without q=0. */
static bool accepts_gzip(const struct request *request)
{
    const char *at = request_header(request, "Accept-Encoding");
    bool any = false;
    while (at && *at) {
        at = skip_blank(at);
        size_t name = strcspn(at, ",; \t"), item = strcspn(at, ",");
        const char *quality = memchr(at, '=', item);
        double weight = quality ? strtod(quality + 1, NULL) : 1;
        if ((name == 4 && !strncasecmp(at, "gzip", 4)) ||
            (name == 6 && !strncasecmp(at, "x-gzip", 6)))
            return weight > 0;
        if (name == 1 && *at == '*')
            any = weight > 0;
        at += item;
        at += *at == ',';
    }
    return any;
}

/* Weak comparison: the two encodings of one version count as the same. A list that is malformed ends
 * where it is. */
static bool tag_matches(const char *list, const char *tag)
{
    size_t size = strlen(tag);
    if (list && !strcmp(skip_blank(list), "*"))
        return true;
    while (list && *list) {
        list = skip_blank(list);
        if (!strncmp(list, "W/", 2))
            list += 2;
        const char *end = *list == '"' ? strchr(list + 1, '"') : NULL;
        if (!end)
            return false;
        if ((size_t)(end - list - 1) == size && !memcmp(list + 1, tag, size))
            return true;
        list = skip_blank(end + 1);
        if (*list && *list != ',')
            return false;
        list += strspn(list, ", \t");
    }
    return false;
}

static enum cors cors_kind(const struct request *request)
{
    const struct route *route = request->match.route ? request->match.route : request->match.first;
    return route ? route->cors : CORS_NONE;
}

/* What Access-Control-Allow-Origin says, or NULL. */
static const char *allowed_origin(const struct request *request)
{
    enum cors kind = cors_kind(request);
    if (kind == CORS_NONE)
        return NULL;
    if (kind == CORS_PUBLIC || request->service->any_origin)
        return "*";
    const char *origin = request_header(request, "Origin");
    for (char **item = request->service->config->allowed_origins; origin && *item; item++)
        if (!strcmp(*item, origin))
            return *item;
    return NULL;
}

static void add_cors(const struct request *request, struct MHD_Response *response)
{
    const char *origin = allowed_origin(request);
    if (!origin)
        return;
    add_header(response, "Access-Control-Allow-Origin", origin);
    add_header(response, "Access-Control-Expose-Headers", "Retry-After, ETag, X-Request-Id");
    if (request->method != METHOD_OPTIONS)
        return;
    add_header(response, "Access-Control-Allow-Methods", request->match.allow);
    add_header(response, "Access-Control-Allow-Headers",
               "Content-Type, Content-Encoding, X-Withdraw-SHA256");
    add_header(response, "Access-Control-Max-Age", preflight_age);
}

void respond_preflight(struct request *request)
{
    answer_free(&request->answer);
    request->answer.status = 204;
}

static void drop_content(void *content)
{
    content_unref(content);
}

/* What is sent, as an MHD response; *GZIP and *STATUS follow from the request's headers. */
static struct MHD_Response *make_shared(struct request *request, unsigned *status, bool *gzip)
{
    struct content *content = request->answer.content;
    size_t size;
    const char *data = NULL;
    if (accepts_gzip(request))
        data = content_gzip(content, &size);
    *gzip = data != NULL;
    if (!data)
        data = content_data(content, &size);
    if (*status == 200 &&
        tag_matches(request_header(request, "If-None-Match"), content_tag(content)))
        *status = 304; /* no body goes out, whatever the response holds */
    /* The library takes no const, and only reads. NOLINTNEXTLINE(performance-no-int-to-ptr) */
    void *bytes = (void *)(uintptr_t)data;
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(size, bytes, drop_content, content);
    if (response)
        content_ref(content);
    return response;
}

static struct MHD_Response *make_own(struct answer *answer)
{
    size_t size;
    char *data = buffer_take(&answer->body, &size);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, data, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(data);
    return response;
}

static void add_vary(const struct request *request, struct MHD_Response *response)
{
    bool encoding = request->answer.content != NULL, origin = cors_kind(request) == CORS_ORIGINS;
    if (encoding || origin)
        add_header(response, "Vary",
                   !origin    ? "Accept-Encoding"
                   : encoding ? "Accept-Encoding, Origin"
                              : "Origin");
}

static void add_content_headers(const struct request *request, struct MHD_Response *response,
                                unsigned status, bool gzip)
{
    const struct answer *answer = &request->answer;
    if (status != 204 && status != 304)
        add_header(response, "Content-Type", answer->type ? answer->type : "application/json");
    add_header(response, "Cache-Control",
               answer->cache_control ? answer->cache_control : "no-store");
    if (!answer->content)
        return;
    char tag[ETAG_TEXT + 8];
    snprintf(tag, sizeof tag, gzip ? "W/\"%s\"" : "\"%s\"", content_tag(answer->content));
    add_header(response, "ETag", tag);
    if (gzip)
        add_header(response, "Content-Encoding", "gzip");
}

/* Nothing but this service's own assets runs or is shown in its pages, nothing frames them, and what a form
 * may reach is ours. Data is no page: if a browser shows it nevertheless, nothing in it runs. */
#define POLICY_PAGE                                                              \
    "default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; " \
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; script-src 'self'"
static const char *const policies[] = {
    [PAGE_NONE] = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    [PAGE_PLAIN] = POLICY_PAGE,
    [PAGE_MODULE] = POLICY_PAGE " 'wasm-unsafe-eval'; worker-src 'self'",
    [PAGE_ASSET] =
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

static void add_policy(const struct request *request, struct MHD_Response *response)
{
    const struct route *route = request->match.route;
    bool lost = !route && request->answer.type; /* the only page that no route makes */
    enum page page = route ? route->page : lost ? PAGE_PLAIN : PAGE_NONE;
    add_header(response, "Content-Security-Policy", policies[page]);
    if (page != PAGE_PLAIN && page != PAGE_MODULE)
        return;
    add_header(response, "X-Frame-Options", "DENY"); /* for browsers without frame-ancestors */
    add_header(response, "Referrer-Policy", "no-referrer");
    add_header(response, "Cross-Origin-Opener-Policy", "same-origin");
}

bool respond(struct request *request)
{
    struct answer *answer = &request->answer;
    unsigned status = answer->status;
    bool gzip = false;
    struct MHD_Response *response =
        answer->content ? make_shared(request, &status, &gzip) : make_own(answer);
    if (!response)
        return false;
    add_header(response, "X-Request-Id", request->id);
    add_header(response, "X-Content-Type-Options", "nosniff");
    add_policy(request, response);
    add_content_headers(request, response, status, gzip);
    add_vary(request, response);
    add_cors(request, response);
    if (answer->retry_after_s) {
        char seconds[24];
        snprintf(seconds, sizeof seconds, "%" PRId64, answer->retry_after_s);
        add_header(response, "Retry-After", seconds);
    }
    if (status == 401)
        add_header(response, "WWW-Authenticate", "Bearer");
    if (request->match.allow[0] && (status == 405 || request->method == METHOD_OPTIONS))
        add_header(response, "Allow", request->match.allow);
    if (answer->close || atomic_load(&request->service->stopping))
        add_header(response, "Connection", "close");
    bool queued = MHD_queue_response(request->connection, status, response) == MHD_YES;
    MHD_destroy_response(response);
    answer->status = status;
    return queued;
}
