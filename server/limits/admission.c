#include "server/limits/admission.h"

#include <string.h>
#include <strings.h>

#include "server/clock.h"

/* What one declined run costs its address beside its own attempt: of the 20 an hour that are usual,
 * four such runs leave nothing. Whoever shares the address with an offender loses no more than he could
 * take from them by trying, an hour's attempts. */
enum { FINE_ATTEMPTS = 4, RETRY_SHARED_S = 5 };

/* Beside the dataset's files: what is kept of pages and judgements, and as much again that is on its
 * way to readers. */
enum { PAGES_MOST = 512 << 20 };

static struct budget *kind_budget(struct service *service, bool flagged)
{
    return flagged ? service->budgets.quarantined : service->budgets.accepted;
}

bool admission_charge(struct service *service, bool flagged, size_t bytes, int64_t now_ms,
                      int64_t *retry_s)
{
    struct budget *runs = kind_budget(service, flagged);
    if (!budget_take(runs, 1, now_ms, retry_s))
        return false;
    if (budget_take(service->budgets.bytes, (int64_t)bytes, now_ms, retry_s))
        return true;
    budget_return(runs, 1, now_ms);
    return false;
}

void admission_refund(struct service *service, bool flagged, size_t bytes, int64_t taken_ms)
{
    budget_return(kind_budget(service, flagged), 1, taken_ms);
    budget_return(service->budgets.bytes, (int64_t)bytes, taken_ms);
}

void admission_fine(struct service *service, const struct address *client)
{
    ratelimit_charge(service->rates, RATE_SUBMIT, client, FINE_ATTEMPTS, clock_monotonic_ms());
    if (service->shared)
        shared_charge(service->shared, RATE_SUBMIT, client, service->config->limits.rate_limit,
                      FINE_ATTEMPTS);
}

bool admission_suspects(struct service *service, const struct address *client)
{
    return ratelimit_suspects(service->rates, client, clock_monotonic_ms());
}

bool admission_memory(const struct service *service)
{
    return content_held() <= (size_t)service->config->limits.cache_bytes + PAGES_MOST;
}

bool admission_view(const struct request *request, int64_t *retry_s)
{
    const struct service *service = request->service;
    return !service->config->limits.rate_limit ||
           ratelimit_take(service->rates, RATE_VIEW, &request->client, clock_monotonic_ms(),
                          retry_s);
}

bool admission_review(const struct request *request, int64_t *retry_s)
{
    return ratelimit_has_room(request->service->rates, RATE_REVIEW, &request->client,
                              clock_monotonic_ms(), retry_s);
}

void admission_review_failed(const struct request *request)
{
    int64_t retry_s;
    (void)ratelimit_take(request->service->rates, RATE_REVIEW, &request->client,
                         clock_monotonic_ms(), &retry_s);
}

static bool refuse_rate(struct answer *answer, int64_t retry_s, const char *message)
{
    answer_error_retry(answer, ERROR_RATE_LIMITED, message, retry_s);
    return false;
}

/* Of all instances, or of this one. Without the others a submission could not be stored anyway; a dry
 * run can be made. */
static enum shared_answer take_attempt(struct service *service, enum rate_class class,
                                       const struct address *client, int64_t *retry_s)
{
    const int64_t limits[RATE_CLASSES] = {[RATE_SUBMIT] = service->config->limits.rate_limit,
                                          [RATE_VALIDATE] =
                                              service->config->limits.validate_rate_limit};
    enum shared_answer answer = SHARED_AWAY;
    if (service->shared)
        answer = shared_take(service->shared, class, client, limits[class], retry_s);
    if (answer != SHARED_AWAY || (service->shared && class == RATE_SUBMIT))
        return answer;
    return ratelimit_take(service->rates, class, client, clock_monotonic_ms(), retry_s) ? SHARED_YES
                                                                                        : SHARED_NO;
}

static bool admit_rate(struct request *request, struct answer *answer)
{
    struct service *service = request->service;
    enum rate_class class = request->match.route->rate;
    int64_t retry_s = 1;
    if (!service->config->limits.rate_limit)
        return true; /* lifts validate's budget as well */
    if (class == RATE_VALIDATE && service->config->limits.validate_rate_limit) {
        if (!ratelimit_enter(service->rates, class, &request->client))
            return refuse_rate(answer, retry_s, "One dry run at a time, please.");
        request->has_turn = true;
    }
    switch (take_attempt(service, class, &request->client, &retry_s)) {
    case SHARED_YES:
        return true;
    case SHARED_NO:
        return refuse_rate(answer, retry_s, NULL);
    case SHARED_AWAY:
        break;
    }
    answer_error_retry(answer, ERROR_STORE_UNAVAILABLE, NULL, RETRY_SHARED_S);
    return false;
}

/* The media type alone, parameters aside. */
static bool media_type_is(const char *header, const char *type)
{
    size_t size = strlen(type);
    if (!header || strncasecmp(header, type, size) != 0)
        return false;
    header += size;
    header += strspn(header, " \t");
    return !*header || *header == ';';
}

static bool admit_type(struct request *request, struct answer *answer)
{
    const char *encoding = request_header(request, "Content-Encoding");
    bool gzip = encoding && (!strcasecmp(encoding, "gzip") || !strcasecmp(encoding, "x-gzip"));
    bool plain = !encoding || !*encoding || !strcasecmp(encoding, "identity");
    if ((!gzip && !plain) ||
        !media_type_is(request_header(request, "Content-Type"), "application/json")) {
        answer_error(answer, ERROR_UNSUPPORTED_MEDIA_TYPE, NULL);
        return false;
    }
    if (gzip)
        body_expect_gzip(&request->body);
    return true;
}

bool admission_body(struct request *request, struct answer *answer)
{
    if (request->body.state == BODY_TOO_LARGE) { /* by its declared length */
        answer_error(answer, ERROR_PAYLOAD_TOO_LARGE, NULL);
        return false;
    }
    return admit_type(request, answer);
}

bool admission_admit(struct request *request, struct answer *answer)
{
    if (request->match.route->rate == RATE_SUBMIT && request->service->unbound) {
        answer_error(answer, ERROR_STORE_UNBOUND, NULL);
        return false;
    }
    return admit_rate(request, answer) && admission_body(request, answer);
}
