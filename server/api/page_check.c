#include "server/api/page_check.h"

#include <string.h>

#include "aggregate/report.h"
#include "pages/check_page.h"
#include "server/api/assets.h"
#include "server/api/pages.h"
#include "server/http/request.h"

enum { USUAL_BODY = 4 << 20 }; /* what client.js takes the limit to be */

/* Whether this service judges submissions in another way than the module that it serves. */
static bool has_own_rules(const struct service *service)
{
    const char *const *module = report_policy(false).protocols;
    char *const *own = service->config->protocols;
    while (*module && *own && !strcmp(*module, *own))
        module++, own++;
    return *module || *own || *service->config->mmlu_key ||
           service->policy.rules != RULES_VERSION || service->config->limits.max_body < USUAL_BODY;
}

void page_check(struct request *request, struct answer *answer)
{
    struct buffer page = {0};
    check_page_write(&page, has_own_rules(request->service), request->service->policy.rules);
    pages_send(answer, 200, &page);
}

void page_check_client(struct request *request, struct answer *answer)
{
    assets_send(request, answer, "client.js");
}

void page_check_dataset(struct request *request, struct answer *answer)
{
    assets_send(request, answer, "dataset.js");
}

void page_check_worker(struct request *request, struct answer *answer)
{
    assets_send(request, answer, "check_worker.js");
}

void page_check_example(struct request *request, struct answer *answer)
{
    assets_send(request, answer, "example.html");
}
