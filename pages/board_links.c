#include "pages/board_links.h"

#include "pages/html.h"

bool row_has_address(const struct view_row *row)
{
    for (int i = 0; i < BOARD_DIMENSIONS; i++) {
        struct text key = row->keys[i];
        bool named = i != BY_BROWSER && i != BY_CLASS; /* the keys of a row */
        if (key.size > ADDRESS_VALUE_MOST || (named && !key.size) ||
            (key.size && memchr(key.data, 0, key.size)))
            return false; /* an empty value is none, and no address holds a NUL */
    }
    return true;
}

struct address {
    struct buffer *out;
    bool follows;
};

static void put_pair(struct address *address, const char *name, struct text value)
{
    if (!value.size)
        return;
    html_put(address->out, "{}{}={}", html_markup(address->follows ? "&amp;" : "?"),
             html_text(name), html_query(value));
    address->follows = true;
}

static void put_word(struct address *address, const char *name, const char *value)
{
    put_pair(address, name, (struct text){value, value ? strlen(value) : 0});
}

static void put_query(struct address *address, const struct board_query *query)
{
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        put_word(address, board_dimension_name((enum board_dimension)i), query->equal[i]);
    put_word(address, "q", query->words);
    put_word(address, "sort", query->sort);
}

void address_board(struct buffer *out, const struct board_asked *asked)
{
    struct address address = {.out = out};
    buffer_byte(out, '/');
    put_query(&address, &asked->query);
    if (asked->figure != FIGURE_COUNT)
        put_word(&address, "figure", figure_name(asked->figure));
    if (asked->all)
        put_word(&address, "rows", "all");
}

void address_data(struct buffer *out, const struct board_query *query, const char *format)
{
    struct address address = {.out = out};
    buffer_text(out, "/api/bench/leaderboard");
    put_query(&address, query);
    if (strcmp(format, "json") != 0)
        put_word(&address, "format", format);
}

static void put_keys(struct address *address, const struct view_row *row, unsigned dimensions)
{
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        if (dimensions >> i & 1)
            put_pair(address, board_dimension_name((enum board_dimension)i), row->keys[i]);
}

void address_row(struct buffer *out, const struct view_row *row, const struct board_query *query)
{
    struct address address = {.out = out};
    buffer_text(out, "/row");
    put_keys(&address, row, ~(1U << BY_CLASS | 1U << BY_BROWSER));
    put_word(&address, board_dimension_name(BY_CLASS), query->equal[BY_CLASS]);
    put_word(&address, board_dimension_name(BY_BROWSER), query->equal[BY_BROWSER]);
    put_word(&address, "q", query->words);
}

void put_row_link(struct buffer *out, const struct view_row *row, enum board_dimension shown,
                  const struct board_query *query)
{
    BUFFER_SCOPE struct buffer address = {0};
    if (row_has_address(row)) {
        address_row(&address, row, query);
        html_put(out, "<a href=\"{}\">{}</a>", html_raw(&address),
                 html_slice(row->keys[shown], HTML_NAME_MOST));
    } else {
        html_put(out, "<span>{}</span>", html_slice(row->keys[shown], HTML_NAME_MOST));
    }
}

void address_rows(struct buffer *out, const struct view_row *row, unsigned dimensions)
{
    struct address address = {.out = out};
    buffer_byte(out, '/');
    put_keys(&address, row, dimensions);
}

void address_run(struct buffer *out, struct text id)
{
    html_put(out, "/run/{}", html_query(id));
}

void put_moment(struct buffer *out, struct text iso)
{
    if (iso.size < 16 || iso.data[10] != 'T') {
        html_put(out, "{}", html_slice(iso, 30));
        return;
    }
    html_put(out, "<time datetime=\"{}\">{} {}</time>", html_slice(iso, 30),
             html_slice((struct text){iso.data, 10}, 10),
             html_slice((struct text){iso.data + 11, 5}, 5));
}
