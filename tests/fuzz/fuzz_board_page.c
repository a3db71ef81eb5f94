/* The board and its rows as pages. The first line is what is asked (NAME=VALUE, parted by &, not encoded), each other
 * one an index entry. Whatever stands in either stays text, and a row with an address is found by it. */
#include <stdlib.h>

#include "pages/board_page.h"
#include "pages/row_page.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/markup.h"

/* A page repeats its query in every link, and percent-encodes it. */
enum { PAGE_MOST = 2 << 20, ROW_MOST = 64 << 10, ROWS_TRIED = 8 };

/* The next piece of *AT, which moves behind the MARK that ends it; terminated, in ARENA. */
static char *next_piece(struct arena *arena, const char **at, const char *end, char mark)
{
    size_t left = (size_t)(end - *at);
    const char *stop = left ? memchr(*at, mark, left) : NULL;
    size_t size = stop ? (size_t)(stop - *at) : left;
    char *made = arena_format(arena, "%.*s", (int)size, *at); /* as a query ends: at a NUL */
    *at = stop ? stop + 1 : end;
    return made;
}

static void ask(struct board_asked *asked, const char *name, const char *value)
{
    bool names = strlen(value) <= ADDRESS_VALUE_MOST && *value;
    for (int i = 0; i < BOARD_DIMENSIONS && names; i++)
        if (!strcmp(name, board_dimension_name((enum board_dimension)i)))
            asked->query.equal[i] = value;
    if (!strcmp(name, "q") && *value && strlen(value) <= ADDRESS_WORDS_MOST)
        asked->query.words = value;
    if (!strcmp(name, "sort") && board_can_sort(value))
        asked->query.sort = value;
    if (!strcmp(name, "figure"))
        asked->figure = figure_find(value);
    if (!strcmp(name, "rows"))
        asked->all = true;
}

static struct board_asked read_asked(struct arena *arena, const char *line)
{
    struct board_asked asked = {.figure = FIGURE_COUNT};
    const char *end = line + strlen(line);
    while (line < end) {
        char *pair = next_piece(arena, &line, end, '&');
        char *value = strchr(pair, '=');
        if (!value)
            continue;
        *value = '\0';
        ask(&asked, pair, value + 1);
    }
    return asked;
}

static void check_board(struct board *board, const struct board_asked *asked)
{
    ARENA_SCOPE struct arena arena = {0};
    BUFFER_SCOPE struct buffer page = {0};
    struct board_view view;
    board_view_make(board, &asked->query, &arena, &view);
    board_page_write(&page, &view, asked, "2026-01-02T03:04:05.678Z");
    markup_check(&page, PAGE_MOST + (view.count + view.recent_count) * ROW_MOST,
                 view.all_rows ? 1 : 0);
    for (size_t i = 0; i < view.count && i < ROWS_TRIED; i++) {
        struct board_query query = asked->query;
        struct board_detail detail;
        query.sort = NULL;
        for (int j = 0; j < BOARD_DIMENSIONS; j++)
            if (j != BY_CLASS && j != BY_BROWSER)
                query.equal[j] = arena_format(&arena, "%.*s", (int)view.rows[i].keys[j].size,
                                              view.rows[i].keys[j].data);
        if (!row_has_address(&view.rows[i]))
            continue;
        if (!board_view_row(board, &query, &arena, &detail))
            abort();
        page.size = 0;
        row_page_write(&page, &detail, &query);
        markup_check(&page, PAGE_MOST + detail.count * ROW_MOST, 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const shown[] = {"localmode-bench/5", "localmode-bench/4", NULL};
    const char *at = (const char *)data, *end = at + size;
    ARENA_SCOPE struct arena arena = {0};
    struct board_asked asked = read_asked(&arena, next_piece(&arena, &at, end, '\n'));
    struct board *board = board_new(shown);
    while (at < end) {
        size_t left = (size_t)(end - at);
        const char *stop = memchr(at, '\n', left);
        board_add(board, at, stop ? (size_t)(stop - at) : left);
        at = stop ? stop + 1 : end;
    }
    check_board(board, &asked);
    board_free(board);
    return 0;
}
