#include "server/api/page_board.h"

#include <string.h>

#include "server/api/boardview.h"
#include "server/api/pages.h"
#include "server/limits/admission.h"
#include "validator/text.h"

enum { RETRY_S = 5 };

/* An empty value is none. False when it is too long or no UTF-8. */
static bool read_value(const struct request *request, const char *name, size_t most,
                       const char **value)
{
    const char *found = request_query(request, name);
    if (!found || !*found)
        return true;
    if (strlen(found) > most || !text_is_formed((struct text){found, strlen(found)}))
        return false;
    *value = found;
    return true;
}

static bool read_asked(const struct request *request, struct board_asked *asked)
{
    *asked = (struct board_asked){.figure = FIGURE_COUNT};
    bool fits = read_value(request, "q", ADDRESS_WORDS_MOST, &asked->query.words);
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        fits = read_value(request, board_dimension_name((enum board_dimension)i),
                          ADDRESS_VALUE_MOST, &asked->query.equal[i]) &&
               fits;
    const char *sort = request_query(request, "sort"), *figure = request_query(request, "figure"),
               *rows = request_query(request, "rows");
    if (sort && *sort)
        asked->query.sort = sort;
    if (figure)
        asked->figure = figure_find(figure);
    asked->all = rows && !strcmp(rows, "all");
    return fits;
}

/* NULL and *REFUSAL when it would have to be made and may not be now; NULL without one: there is no
 * such row. */
static struct content *get_view(struct request *request, enum board_form form,
                                const struct board_asked *asked, enum error *refusal,
                                int64_t *retry_s)
{
    struct service *service = request->service;
    struct content *content = boardview_find(service->board, form, asked);
    *refusal = ERROR_COUNT;
    *retry_s = RETRY_S;
    if (content)
        return content;
    if (!admission_memory(service)) {
        *refusal = ERROR_BUSY;
        return NULL;
    }
    if (!boardview_is_plain(asked) && !admission_view(request, retry_s)) {
        *refusal = ERROR_RATE_LIMITED;
        return NULL;
    }
    return boardview_get(service->board, form, asked);
}

void board_data(struct request *request, struct answer *answer)
{
    struct board_asked asked;
    const char *format = request_query(request, "format");
    bool csv = format && !strcmp(format, "csv");
    if ((format && *format && !csv && strcmp(format, "json") != 0) ||
        !read_asked(request, &asked) || !board_can_sort(asked.query.sort)) {
        answer_error(answer, ERROR_BAD_REQUEST, "The query is not understood.");
        return;
    }
    enum error refusal;
    int64_t retry_s;
    answer->content = get_view(request, csv ? BOARD_CSV : BOARD_JSON, &asked, &refusal, &retry_s);
    if (!answer->content) {
        answer_error_retry(answer, refusal, "The board is asked for in too many ways at once.",
                           retry_s);
        return;
    }
    answer->status = 200;
    answer->cache_control = "public, max-age=60, stale-while-revalidate=300";
    if (csv)
        answer->type = "text/csv; charset=utf-8";
}

static void send_page(struct request *request, struct answer *answer, enum board_form form)
{
    struct board_asked asked;
    if (!read_asked(request, &asked)) {
        pages_message(answer, 400, "Not a filter",
                      "Nothing on the board has a name as long as that, or one that is no text.");
        return;
    }
    if (!board_can_sort(asked.query.sort) || form == BOARD_ROW)
        asked.query.sort = NULL;
    enum error refusal;
    int64_t retry_s;
    struct content *content = get_view(request, form, &asked, &refusal, &retry_s);
    if (content)
        pages_send_content(answer, 200, content);
    else if (refusal != ERROR_COUNT)
        pages_refuse(answer, refusal, retry_s, "Too many views at once",
                     "The board was asked for in more ways than it can make now. Try again in a "
                     "moment; without filters it is always there.");
    else
        pages_message(answer, 404, "No such row",
                      "The board has no row of this device, runtime, model and workload, or more "
                      "than one: runs may have been withdrawn since the link was made.");
}

void board_page(struct request *request, struct answer *answer)
{
    send_page(request, answer, BOARD_PAGE);
}

void board_row(struct request *request, struct answer *answer)
{
    send_page(request, answer, BOARD_ROW);
}
