#include "server/api/handlers.h"

#include "server/clock.h"
#include "server/limits/nonce.h"

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
