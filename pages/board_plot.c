#include "pages/board_plot.h"

#include <math.h>

#include "pages/html.h"

double plot_end(double most)
{
    static const double steps[] = {1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10};
    if (!(most > 0) || !isfinite(most))
        return 1;
    double power = pow(10, floor(log10(most)));
    size_t at = 0;
    while (at + 1 < sizeof steps / sizeof *steps && steps[at] * power < most)
        at++;
    return steps[at] * power;
}

static double place(double value, double end)
{
    double share = value / end * 100;
    return share > 0 ? fmin(share, 100) : 0; /* a value below zero stands at the edge */
}

static void put_grid(struct buffer *out, int height)
{
    for (int i = 0; i <= 4; i++)
        buffer_format(out, "<line class=\"g\" x1=\"%d%%\" x2=\"%d%%\" y1=\"0\" y2=\"%d\"/>", 25 * i,
                      25 * i, height);
}

static void put_span(struct buffer *out, const char *class, double from, double to, int y,
                     int height)
{
    buffer_format(out, "<rect class=\"%s\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"%d\" height=\"%d\"/>",
                  class, from, to - from, y, height);
}

static void open_picture(struct buffer *out, const char *class, const struct buffer *title)
{
    html_put(out, "<svg class=\"{}\" role=\"img\"><title>{}</title>", html_text(class),
             html_raw(title));
}

static void put_spans(struct buffer *out, const struct view_figure *figure, double end, int middle)
{
    if (figure->n > 1)
        put_span(out, "w", place(figure->min, end), place(figure->max, end), middle - 1, 2);
    if (figure->n >= VIEW_QUARTILES_FROM)
        put_span(out, "q", place(figure->q25, end), place(figure->q75, end), middle - 5, 10);
}

void plot_bar(struct buffer *out, const struct view_figure *figure, double end, bool provisional,
              const struct buffer *title)
{
    open_picture(out, "plot bar", title);
    put_grid(out, 16);
    put_spans(out, figure, end, 8);
    buffer_format(out, "<circle class=\"%s\" cx=\"%.2f%%\" cy=\"8\" r=\"4\"/></svg>",
                  provisional ? "m o" : "m", place(figure->median, end));
}

void plot_values(struct buffer *out, const struct view_figure *figure, double end,
                 const double *values, size_t count, const struct buffer *title)
{
    open_picture(out, "plot strip", title);
    put_grid(out, 40);
    put_spans(out, figure, end, 10);
    double median = place(figure->median, end);
    buffer_format(out, "<line class=\"d\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"2\" y2=\"38\"/>", median,
                  median);
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            buffer_format(out, "<circle class=\"v\" cx=\"%.2f%%\" cy=\"28\" r=\"5\"/>",
                          place(values[i], end));
    buffer_text(out, "</svg>");
}

void plot_against(struct buffer *out, const struct view_figure *figure, double end, double value,
                  const struct buffer *title)
{
    double median = place(figure->median, end);
    open_picture(out, "plot against", title);
    put_grid(out, 28);
    put_spans(out, figure, end, 14);
    buffer_format(out,
                  "<line class=\"d\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"4\" y2=\"24\"/>"
                  "<circle class=\"own\" cx=\"%.2f%%\" cy=\"14\" r=\"6\"/></svg>",
                  median, median, place(value, end));
}

void plot_axis(struct buffer *out, double end)
{
    buffer_text(out, "<svg class=\"plot axis\" aria-hidden=\"true\">");
    for (int i = 0; i <= 2; i++) {
        static const char *const anchors[] = {"start", "middle", "end"};
        html_put(out, "<text x=\"{}%\" y=\"12\" text-anchor=\"{}\">{}</text>",
                 html_number(50.0 * i), html_text(anchors[i]), html_short(end * i / 2));
    }
    buffer_text(out, "</svg>");
}

void put_range(struct buffer *out, const struct term *known, const struct view_figure *figure)
{
    if (figure->n >= VIEW_QUARTILES_FROM)
        html_put(out, "[{}\xE2\x80\x93{}]", term_value(known, figure->q25),
                 term_value(known, figure->q75));
    else if (figure->n > 1)
        html_put(out, "{}\xE2\x80\x93{}", term_value(known, figure->min),
                 term_value(known, figure->max));
}
