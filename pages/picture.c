#include "pages/picture.h"

#include <math.h>

#include "pages/html.h"
#include "pages/terms.h"

/* The drawing area of a stream and the frame around it, in units of the picture. */
enum { WIDTH = 400, HEIGHT = 150, LEFT = 4, RIGHT = 396, TOP = 22, BOTTOM = 128 };
enum { LABEL_Y = 14, SCALE_Y = 144, WIDE = 640 };
enum { BAR_ROW = 18, BAR_LEFT = 44, BAR_RIGHT = 520 };
enum { LANE_ROW = 20, LANE_LEFT = 190, LANE_RIGHT = 628 };

/* A place between two on the picture; what a trace says wrongly is kept inside. */
static int place(double value, double least, double most, int from, int to)
{
    double share = (value - least) / (most - least);
    if (!(share > 0))
        return from;
    return share < 1 ? from + (int)(share * (to - from) + 0.5) : to;
}

static int at_time(const struct bench_iteration *iteration, double t)
{
    return place(t, iteration->start, iteration->end, LEFT, RIGHT);
}

/* A staircase: one step for each column of the picture at most. */
static void put_staircase(struct buffer *out, const struct bench_iteration *iteration, double chars)
{
    double sum = 0;
    int x = LEFT, y = BOTTOM;
    buffer_format(out, "<path class=\"trace\" d=\"M%d %d", LEFT, BOTTOM);
    for (size_t i = 0; i < iteration->chunk_count; i++) {
        sum += iteration->chunks[i].c;
        int next_x = at_time(iteration, iteration->chunks[i].t);
        int next_y = place(sum, 0, chars, BOTTOM, TOP);
        bool last = i + 1 == iteration->chunk_count;
        if (next_y == y || (next_x < x + 2 && !last))
            continue; /* what follows lifts this step, too */
        buffer_format(out, "H%dV%d", next_x, next_y);
        x = next_x;
        y = next_y;
    }
    buffer_format(out, "H%d\"/>", RIGHT);
}

/* Whether the label stands on the left of its line, which it marks late streams with. */
static bool put_marks(struct buffer *out, const struct bench_iteration *iteration,
                      const struct measurement *measured)
{
    const struct bench_chunk *last = &iteration->chunks[iteration->chunk_count - 1];
    int first_x = at_time(iteration, measured->first->t), last_x = at_time(iteration, last->t);
    buffer_format(out,
                  "<rect class=\"window\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                  "<path class=\"edge\" d=\"M%d %dV%d\"/>",
                  first_x, TOP, last_x - first_x, BOTTOM - TOP, first_x, TOP - 8, BOTTOM);
    bool left = first_x > RIGHT / 2;
    html_put(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">TTFT {} ms</text>",
             html_number(left ? first_x - 4 : first_x + 4), html_number(LABEL_Y),
             html_markup(left ? "end" : "start"),
             term_value(term("ttftMs"), measured->first->t - iteration->start));
    return left;
}

static void put_axis(struct buffer *out, const struct measurement *measured, bool left)
{
    buffer_format(out, "<path class=\"axis\" d=\"M%d %dH%d\"/>", LEFT, BOTTOM, RIGHT);
    html_put(out,
             "<text x=\"{}\" y=\"{}\">0</text>"
             "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} ms</text>",
             html_number(LEFT), html_number(SCALE_Y), html_number(RIGHT), html_number(SCALE_Y),
             term_value(term("totalMs"), measured->total));
    html_put(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{} chars</text>",
             html_number(left ? LEFT : RIGHT), html_number(LABEL_Y),
             html_markup(left ? "start" : "end"), html_rounded(measured->chars, 0));
}

void picture_stream(struct buffer *out, const struct bench_cell *cell, size_t i, bool incremental)
{
    const struct bench_iteration *iteration = &cell->iterations[i];
    struct measurement measured = bench_measure(cell, i, incremental);
    if (!(measured.total > 0) || !isfinite(measured.total) || !(measured.chars > 0)) {
        html_put(out, "<p class=\"soft\">Iteration {}: there is no stream to draw.</p>",
                 html_number((double)i + 1));
        return;
    }
    html_put(out,
             "<figure><svg class=\"stream\" role=\"img\" viewBox=\"0 0 {} {}\" "
             "aria-label=\"Characters over "
             "time: {} characters in {} ms",
             html_number(WIDTH), html_number(HEIGHT), html_rounded(measured.chars, 0),
             term_value(term("totalMs"), measured.total));
    if (incremental)
        html_put(out, ", the first after {} ms",
                 term_value(term("ttftMs"), measured.first->t - iteration->start));
    buffer_text(out, "\">");
    bool left = incremental && put_marks(out, iteration, &measured);
    put_staircase(out, iteration, measured.chars);
    put_axis(out, &measured, left);
    html_put(out, "</svg><figcaption>Iteration {}, {} chunks{}</figcaption></figure>",
             html_number((double)i + 1), html_number((double)iteration->chunk_count),
             html_markup(incremental ? ""
                         : measured.incremental
                             ? ""
                             : ": a burst, only its end-to-end rate can be measured"));
}

void picture_durations(struct buffer *out, const struct bench_cell *cell)
{
    size_t count = cell->iteration_count < PICTURE_BARS ? cell->iteration_count : PICTURE_BARS;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double duration = cell->iterations[i].end - cell->iterations[i].start;
        most = isfinite(duration) && duration > most ? duration : most;
    }
    if (!(most > 0))
        return;
    html_put(out,
             "<figure><svg class=\"bars\" role=\"img\" viewBox=\"0 0 {} {}\" "
             "aria-label=\"Durations of {} "
             "iterations, the longest {} ms\">",
             html_number(WIDE), html_number((double)count * BAR_ROW + 4),
             html_number((double)count), term_value(term("singleLatencyMs"), most));
    for (size_t i = 0; i < count; i++) {
        const struct bench_iteration *iteration = &cell->iterations[i];
        int y = (int)i * BAR_ROW + 2;
        int right = place(iteration->end - iteration->start, 0, most, BAR_LEFT, BAR_RIGHT);
        buffer_format(out, "<rect class=\"bar\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
                      BAR_LEFT, y, right - BAR_LEFT, BAR_ROW - 4);
        html_put(out,
                 "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><text x=\"{}\" y=\"{}\">{} "
                 "ms</text>",
                 html_number(BAR_LEFT - 6), html_number(y + 12), html_number((double)i + 1),
                 html_number(right + 6), html_number(y + 12),
                 term_value(term("singleLatencyMs"), iteration->end - iteration->start));
    }
    html_put(out, "</svg><figcaption>Durations by iteration{}</figcaption></figure>",
             html_markup(count < cell->iteration_count ? ", the first 50" : ""));
}

/* The types that occur, in order of appearance, and the span of their times. */
struct lanes {
    const struct js_value *types[PICTURE_LANES];
    size_t count, events;
    double least, most;
};

static size_t lane_of(const struct lanes *lanes, const struct js_value *type)
{
    size_t at = 0;
    while (at < lanes->count && js_compare(lanes->types[at], type) != 0)
        at++;
    return at;
}

static bool is_event(const struct js_value *event, const struct js_value **type, double *t)
{
    const struct js_value *time = js_get(event, "t");
    *type = js_get(event, "type");
    if (!time || time->type != JS_NUMBER || !*type || (*type)->type != JS_STRING)
        return false;
    *t = time->number;
    return true;
}

static struct lanes find_lanes(const struct js_value *events)
{
    struct lanes lanes = {.least = INFINITY, .most = -INFINITY};
    lanes.events = events->size < PICTURE_EVENTS ? events->size : PICTURE_EVENTS;
    for (size_t i = 0; i < lanes.events; i++) {
        const struct js_value *type;
        double t;
        if (!is_event(&events->items[i], &type, &t))
            continue;
        size_t lane = lane_of(&lanes, type);
        if (lane == PICTURE_LANES)
            continue;
        lanes.types[lane] = type;
        lanes.count += lane == lanes.count;
        lanes.least = fmin(lanes.least, t);
        lanes.most = fmax(lanes.most, t);
    }
    return lanes;
}

static void put_lane(struct buffer *out, const struct lanes *lanes, size_t lane,
                     const struct js_value *events)
{
    int y = (int)lane * LANE_ROW + 14, drawn = -1;
    html_put(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><path class=\"event\" d=\"",
             html_number(LANE_LEFT - 8), html_number(y),
             html_slice(text_of(lanes->types[lane]), 24));
    for (size_t i = 0; i < lanes->events; i++) {
        const struct js_value *type;
        double t;
        if (!is_event(&events->items[i], &type, &t) || lane_of(lanes, type) != lane)
            continue;
        int x = place(t, lanes->least, lanes->most, LANE_LEFT, LANE_RIGHT);
        if (x != drawn)
            buffer_format(out, "M%d %dv10", x, y - 10);
        drawn = x;
    }
    buffer_text(out, "\"/>");
}

void picture_events(struct buffer *out, const struct js_value *events)
{
    struct lanes lanes = find_lanes(events);
    if (!lanes.count)
        return;
    html_put(out,
             "<svg class=\"events\" role=\"img\" viewBox=\"0 0 {} {}\" aria-label=\"Events of the "
             "run over "
             "{} s; the table below lists them\">",
             html_number(WIDE), html_number((double)lanes.count * LANE_ROW + 22),
             html_rounded((lanes.most - lanes.least) / 1000, 1));
    for (size_t lane = 0; lane < lanes.count; lane++)
        put_lane(out, &lanes, lane, events);
    html_put(out,
             "<path class=\"axis\" d=\"M{} {}H{}\"/><text x=\"{}\" y=\"{}\">0</text>"
             "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} s</text></svg>",
             html_number(LANE_LEFT), html_number((double)lanes.count * LANE_ROW + 2),
             html_number(LANE_RIGHT), html_number(LANE_LEFT),
             html_number((double)lanes.count * LANE_ROW + 18), html_number(LANE_RIGHT),
             html_number((double)lanes.count * LANE_ROW + 18),
             html_rounded((lanes.most - lanes.least) / 1000, 1));
}
