#include "server/api/ready.h"

#include <stdio.h>

#include "server/api/handover.h"
#include "server/clock.h"
#include "server/expiry.h"
#include "server/http/request.h"
#include "server/log.h"

/* Told every reason and, with WARNING, what will become one. */
typedef void (*tell_problem)(void *context, bool warning, const char *text);

static void list_problems(const struct service *service, tell_problem tell, void *context)
{
    char why[LINK_PROBLEM], line[LINK_PROBLEM + 16], expiry[EXPIRY_TEXT];
    if (service->store)
        store_problems(service->store, tell, context);
    if (service->unbound)
        tell(context, false,
             service->store ? "bench-store-unbound: the dataset is read only, without a token"
                            : "bench-store-unbound: no dataset is configured");
    if (service->shared && !shared_ready(service->shared, why)) {
        snprintf(line, sizeof line, "redis-down: %s", why);
        tell(context, false, line);
    }
    if (handovers_full(service->handovers))
        tell(context, false, "queue-full: too many runs wait for their commit");
    if (atomic_load(&service->stopping))
        tell(context, false, "stopping");
    if (service->token_expires && expiry_warn(service->token_expires, clock_wall_ms(), expiry))
        tell(context, true, expiry);
}

struct lists {
    struct js_writer reasons, warnings;
    size_t count; /* of reasons */
};

static void write_problem(void *context, bool warning, const char *text)
{
    struct lists *lists = context;
    js_write_text(warning ? &lists->warnings : &lists->reasons, text);
    lists->count += !warning;
}

void ready_answer(struct request *request, struct answer *answer)
{
    BUFFER_SCOPE struct buffer reasons = {0}, warnings = {0};
    struct lists lists = {.reasons = {.out = &reasons}, .warnings = {.out = &warnings}};
    js_write_begin(&lists.reasons, '[');
    js_write_begin(&lists.warnings, '[');
    list_problems(request->service, write_problem, &lists);
    js_write_end(&lists.reasons, ']');
    js_write_end(&lists.warnings, ']');
    bool ready = lists.count == 0;
    answer->status = ready ? 200 : 503;
    struct js_writer writer = {.out = &answer->body};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "ok");
    js_write_bool(&writer, ready);
    js_write_key(&writer, "reasons");
    js_write_raw(&writer, reasons.data, reasons.size);
    js_write_key(&writer, "warnings");
    js_write_raw(&writer, warnings.data, warnings.size);
    js_write_end(&writer, '}');
}

static void note_reason(void *context, bool warning, const char *text)
{
    bool *ready = context;
    (void)text;
    *ready &= warning;
}

bool ready_now(const struct service *service)
{
    bool ready = true;
    list_problems(service, note_reason, &ready);
    return ready;
}

void ready_remind(struct service *service)
{
    char text[EXPIRY_TEXT];
    int64_t now_ms = clock_wall_ms(), today = now_ms / (24 * RATE_HOUR_MS) + 1; /* never 0 */
    if (!service->token_expires || service->reminded == today)
        return;
    service->reminded = today;
    if (expiry_warn(service->token_expires, now_ms, text))
        log_event(LOG_WARN, text, NULL);
}
