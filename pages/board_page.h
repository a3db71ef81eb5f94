/* The board as a page: filters, charts, table, newest runs. Pure. */
#ifndef BENCHLEDGER_PAGES_BOARD_PAGE_H
#define BENCHLEDGER_PAGES_BOARD_PAGE_H

#include "pages/board_links.h"

/* Rows of one page, unless all are asked for. */
enum { BOARD_ROWS_MOST = 2000 };

/* VIEW is what ASKED leaves; CHANGED_AT: ISO time of the last change. */
void board_page_write(struct buffer *out, const struct board_view *view,
                      const struct board_asked *asked, const char *changed_at);

#endif
