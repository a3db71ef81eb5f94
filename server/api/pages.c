#include "server/api/pages.h"

#include "pages/frame.h"
#include "server/api/answer.h"

void pages_send_content(struct answer *answer, unsigned status, struct content *content)
{
    answer->status = status;
    answer->type = "text/html; charset=utf-8";
    answer->content = content;
    answer->cache_control =
        "no-cache"; /* asked for again each time, and mostly answered with 304 */
}

void pages_send(struct answer *answer, unsigned status, struct buffer *page)
{
    size_t size;
    char *data = buffer_take(page, &size);
    pages_send_content(answer, status, content_new(data, size, NULL));
}

void pages_message(struct answer *answer, unsigned status, const char *title, const char *message)
{
    struct buffer page = {0};
    frame_message(&page, title, message);
    pages_send(answer, status, &page);
}

void pages_refuse(struct answer *answer, enum error error, int64_t retry_s, const char *title,
                  const char *message)
{
    pages_message(answer, error_row(error)->status, title, message);
    answer->error = error_row(error);
    answer->retry_after_s = retry_s;
    answer->cache_control = NULL; /* it holds for this moment only */
}
