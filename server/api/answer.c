#include "server/api/answer.h"

void answer_free(struct answer *answer)
{
    buffer_free(&answer->body);
    content_unref(answer->content);
    *answer = (struct answer){0};
}

struct js_writer answer_error_open(struct answer *answer, enum error error, const char *message)
{
    const struct error_row *row = error_row(error);
    bool close = answer->close;
    answer_free(answer);
    answer->status = row->status;
    answer->error = row;
    answer->close = close;
    return error_open(error, message, &answer->body);
}

struct js_writer answer_ok_open(struct answer *answer, unsigned status)
{
    answer->status = status;
    struct js_writer writer = {.out = &answer->body};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "ok");
    js_write_bool(&writer, true);
    return writer;
}

void answer_end(struct js_writer *writer)
{
    js_write_end(writer, '}');
}

void answer_error(struct answer *answer, enum error error, const char *message)
{
    struct js_writer writer = answer_error_open(answer, error, message);
    answer_end(&writer);
}

void answer_error_retry(struct answer *answer, enum error error, const char *message,
                        int64_t retry_s)
{
    struct js_writer writer = answer_error_open(answer, error, message);
    js_write_key(&writer, "retryAfterSec");
    js_write_number(&writer, (double)retry_s);
    answer_end(&writer);
    answer->retry_after_s = retry_s;
}
