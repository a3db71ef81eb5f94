#include "server/api/handlers.h"

#include <string.h>

#include "server/api/boardview.h"
#include "server/clock.h"
#include "server/limits/nonce.h"

enum { FILTER_BYTES_MOST = 1024 };

void handle_nonce(struct request *request, struct answer *answer)
{
    char nonce[NONCE_TEXT];
    if (request->service->unbound) {
        answer_error(answer, ERROR_STORE_UNBOUND, NULL);
        return;
    }
    if (!nonce_issue(&request->service->nonces, clock_wall_ms(), nonce)) {
        answer_error(answer, ERROR_INTERNAL, NULL);
        return;
    }
    answer->status = 200;
    struct js_writer writer = {.out = &answer->body};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "nonce");
    js_write_text(&writer, nonce);
    js_write_end(&writer, '}');
}

/* Reads the filters; an empty one is none. False when one is longer than any name in the index. */
static bool read_filter(const struct request *request, struct board_filter *filter, bool *any)
{
    const struct {
        const char *name;
        const char **field;
    } table[] = {{"protocol", &filter->protocol},
                 {"deviceClass", &filter->device_class},
                 {"deviceSubclass", &filter->device_subclass},
                 {"runtimeId", &filter->runtime_id},
                 {"benchModelId", &filter->bench_model_id},
                 {"workloadId", &filter->workload_id},
                 {"browser", &filter->browser}};
    *any = false;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *value = request_query(request, table[i].name);
        if (!value || !*value)
            continue;
        if (strlen(value) > FILTER_BYTES_MOST)
            return false;
        *table[i].field = value;
        *any = true;
    }
    return true;
}

void handle_leaderboard(struct request *request, struct answer *answer)
{
    struct board_filter filter = {0};
    bool any = false;
    const char *format = request_query(request, "format");
    bool csv = format && !strcmp(format, "csv");
    if ((format && *format && !csv && strcmp(format, "json") != 0) ||
        !read_filter(request, &filter, &any)) {
        answer_error(answer, ERROR_BAD_REQUEST, "The query is not understood.");
        return;
    }
    answer->status = 200;
    answer->content = boardview_get(request->service->board, any ? &filter : NULL, csv);
    answer->cache_control = "public, max-age=60, stale-while-revalidate=300";
    if (csv)
        answer->type = "text/csv; charset=utf-8";
}

void handle_health(struct request *request, struct answer *answer)
{
    (void)request;
    struct js_writer writer = answer_ok_open(answer, 200);
    answer_end(&writer);
}

void handle_openapi(struct request *request, struct answer *answer)
{
    answer->status = 200;
    answer->content = content_ref(request->service->openapi);
    answer->cache_control = "no-cache";
}
