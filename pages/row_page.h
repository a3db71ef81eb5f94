/* One row of the board as a page: its figures, and the runs behind them. Pure. */
#ifndef BENCHLEDGER_PAGES_ROW_PAGE_H
#define BENCHLEDGER_PAGES_ROW_PAGE_H

#include "pages/board_links.h"

/* DETAIL is what QUERY leaves. */
void row_page_write(struct buffer *out, const struct board_detail *detail,
                    const struct board_query *query);

#endif
