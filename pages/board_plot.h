/* Pictures of a figure: a scale from zero, a median on the range of its values. Places are percentages, so a
 * picture is as wide as there is room without distorting anything. Pure. */
#ifndef BENCHLEDGER_PAGES_BOARD_PLOT_H
#define BENCHLEDGER_PAGES_BOARD_PLOT_H

#include "aggregate/board_view.h"
#include "pages/terms.h"

/* The round number at or above MOST that a scale ends with. */
double plot_end(double most);
/* The numbers along the scale, for below a picture. */
void plot_axis(struct buffer *out, double end);
/* Range and median of FIGURE, hollow when PROVISIONAL. TITLE: markup of its words. */
void plot_bar(struct buffer *out, const struct view_figure *figure, double end, bool provisional,
              const struct buffer *title);
/* The same with a dot for each of COUNT values; those that are no number are left out. */
void plot_values(struct buffer *out, const struct view_figure *figure, double end,
                 const double *values, size_t count, const struct buffer *title);

/* The same with one value that is set against them, as a ring. */
void plot_against(struct buffer *out, const struct view_figure *figure, double end, double value,
                  const struct buffer *title);

/* The range beside a median of the figure KNOWN, as markup: smallest and largest value, or the quartiles in brackets from
 * VIEW_QUARTILES_FROM values on; nothing for a single value. */
enum { VIEW_QUARTILES_FROM = 4 };
void put_range(struct buffer *out, const struct term *known, const struct view_figure *figure);

#endif
