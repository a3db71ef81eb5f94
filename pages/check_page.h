/* /check: a run file is judged in the browser before anybody sees it. The page around check.js. Pure. */
#ifndef BENCHLEDGER_PAGES_CHECK_PAGE_H
#define BENCHLEDGER_PAGES_CHECK_PAGE_H

#include "validator/buffer.h"

/* The whole page, the same for everybody. */
void check_page_write(struct buffer *out);

#endif
