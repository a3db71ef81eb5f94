#include "server/api/page_check.h"

#include "pages/check_page.h"
#include "server/api/assets.h"
#include "server/api/pages.h"

void page_check(struct request *request, struct answer *answer)
{
    (void)request;
    struct buffer page = {0};
    check_page_write(&page);
    pages_send(answer, 200, &page);
}

void page_check_client(struct request *request, struct answer *answer)
{
    assets_send(request, answer, "client.js");
}

void page_check_worker(struct request *request, struct answer *answer)
{
    assets_send(request, answer, "check_worker.js");
}

void page_check_example(struct request *request, struct answer *answer)
{
    assets_send(request, answer, "example.html");
}
