/* Addresses of the board, its rows and its data: the same query everywhere. Pure. */
#ifndef BENCHLEDGER_PAGES_BOARD_LINKS_H
#define BENCHLEDGER_PAGES_BOARD_LINKS_H

#include "aggregate/board_view.h"
#include "validator/buffer.h"

/* What a page is asked for. */
struct board_asked {
    struct board_query query;
    enum figure figure; /* of the charts; FIGURE_COUNT: the first that the selection has */
    bool all;           /* every row, however many there are */
};

/* Values longer than that cannot be asked for: an address that holds one is refused. */
enum { ADDRESS_VALUE_MOST = 1024, ADDRESS_WORDS_MOST = 256 };
bool row_has_address(const struct view_row *row);

/* Each writes an address for a quoted attribute. */
void address_board(struct buffer *out, const struct board_asked *asked);
/* With FORMAT "csv" or "json": what is shown, in the order shown. */
void address_data(struct buffer *out, const struct board_query *query, const char *format);
/* The page of a row, which tells contributions apart as QUERY does. */
void address_row(struct buffer *out, const struct view_row *row, const struct board_query *query);
/* A name of the row as a link to it, or by itself where the row has no address. */
void put_row_link(struct buffer *out, const struct view_row *row, enum board_dimension shown,
                  const struct board_query *query);
/* The board with nothing but those keys of ROW that are in DIMENSIONS, a bit each. */
void address_rows(struct buffer *out, const struct view_row *row, unsigned dimensions);
void address_run(struct buffer *out, struct text id);
/* An ISO time for people: its day and, where it has one, its minute. Whatever else stands there is shown as it
 * is. */
void put_moment(struct buffer *out, struct text iso);

#endif
