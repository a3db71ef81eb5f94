/* Parts of the board's page; private to its sources. */
#ifndef BENCHLEDGER_PAGES_BOARD_PARTS_H
#define BENCHLEDGER_PAGES_BOARD_PARTS_H

#include "pages/board_links.h"
#include "pages/terms.h"

/* The filters as a form, and what is chosen as links that take it back. */
void form_write(struct buffer *out, const struct board_view *view, const struct board_asked *asked);
void chosen_write(struct buffer *out, const struct board_asked *asked);
/* Whether ASKED leaves anything out. */
bool asked_narrows(const struct board_asked *asked);
/* The first SHOWN rows. */
void table_write(struct buffer *out, const struct board_view *view, const struct board_asked *asked,
                 size_t shown);
void legend_write(struct buffer *out, struct text protocol);

#endif
