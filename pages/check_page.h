/* /check: a run file is judged in the browser before anybody sees it. The page around check.js. Pure. */
#ifndef BENCHLEDGER_PAGES_CHECK_PAGE_H
#define BENCHLEDGER_PAGES_CHECK_PAGE_H

#include <stdbool.h>

#include "validator/buffer.h"

/* The whole page, the same for everybody. OWN_RULES: the service is configured with another answer key, a smaller limit or other
 * protocols than the module has, or judges by another rule set, so that the page must not promise the service's verdict.
 * RULES: the set whose rules it explains, with all that the module may raise. */
void check_page_write(struct buffer *out, bool own_rules, int rules);

#endif
