/* The charts of the board: for a model, workload and device the runtimes, for a model, workload and runtime the
 * devices. A chart compares medians of rows; nothing is averaged over devices or workloads. Pure. */
#ifndef BENCHLEDGER_PAGES_BOARD_CHART_H
#define BENCHLEDGER_PAGES_BOARD_CHART_H

#include "pages/board_links.h"

/* The figure that is drawn: the one asked for, else the first that rows can be compared by. */
enum figure chart_figure(const struct board_view *view, const struct board_asked *asked);
/* Those worth showing, the ones with most runs first; all of them when a model is chosen or there are few. */
void chart_write(struct buffer *out, const struct board_view *view,
                 const struct board_asked *asked);

#endif
