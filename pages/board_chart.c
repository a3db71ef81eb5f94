#include "pages/board_chart.h"

#include <math.h>
#include <stdlib.h>

#include "pages/board_plot.h"
#include "pages/html.h"
#include "pages/terms.h"
#include "validator/arena.h"

/* Of a board as a whole, and of what somebody has narrowed down. */
enum { CHARTS_FEW = 8, CHARTS_MOST = 24, ITEMS_FEW = 10, ITEMS_MOST = 20 };

/* What rows of one chart share, in order of comparison, and what tells them apart. */
static const struct kind {
    enum board_dimension shared[4], apart;
    const char *between, *compared;
} kinds[] = {
    {{BY_MODEL, BY_WORKLOAD, BY_PROTOCOL, BY_DEVICE}, BY_RUNTIME, "on", "runtimes"},
    {{BY_MODEL, BY_WORKLOAD, BY_PROTOCOL, BY_RUNTIME}, BY_DEVICE, "with", "devices"},
};
enum { KINDS = sizeof kinds / sizeof *kinds, SHARED = 4 };

/* Rows of one kind's order that make a chart. */
struct group {
    const struct view_row *const *rows;
    size_t count, runs, place;
    const struct kind *kind;
};

enum figure chart_figure(const struct board_view *view, const struct board_asked *asked)
{
    static const enum figure preferred[] = {FIGURE_DECODE,   FIGURE_OVERALL, FIGURE_LATENCY,
                                            FIGURE_BATCH,    FIGURE_QUALITY, FIGURE_LOAD_WARM,
                                            FIGURE_LOAD_COLD};
    if (asked->figure != FIGURE_COUNT)
        return asked->figure;
    for (size_t i = 0; i < sizeof preferred / sizeof *preferred; i++)
        for (size_t j = 0; j < view->count; j++)
            if (view_shows(&view->rows[j], preferred[i]))
                return preferred[i];
    return FIGURE_DECODE;
}

static int text_order(struct text a, struct text b)
{
    if (a.data == b.data)
        return 0;
    size_t least = a.size < b.size ? a.size : b.size;
    int order = least ? memcmp(a.data, b.data, least) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int shared_order(const struct view_row *a, const struct view_row *b, const struct kind *kind)
{
    int order = 0;
    for (int i = 0; i < SHARED && !order; i++)
        order = text_order(a->keys[kind->shared[i]], b->keys[kind->shared[i]]);
    return order;
}

static int by_kind(const void *left, const void *right, void *kind)
{
    const struct view_row *a = *(const struct view_row *const *)left,
                          *b = *(const struct view_row *const *)right;
    int order = shared_order(a, b, kind);
    return order ? order : (a > b) - (a < b);
}

static size_t find_groups(const struct view_row **rows, size_t count, const struct kind *kind,
                          struct group *groups)
{
    size_t found = 0;
    struct kind own = *kind; /* qsort_r takes no const */
    if (count)
        qsort_r(rows, count, sizeof *rows, by_kind, &own);
    for (size_t first = 0, end; first < count; first = end) {
        size_t runs = 0;
        for (end = first; end < count && !shared_order(rows[first], rows[end], kind); end++)
            runs += rows[end]->runs;
        if (end - first > 1)
            groups[found++] = (struct group){rows + first, end - first, runs, 0, kind};
    }
    return found;
}

static int by_weight(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if (a->runs != b->runs)
        return a->runs > b->runs ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

static int by_model(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    int order = text_order(a->rows[0]->keys[BY_MODEL], b->rows[0]->keys[BY_MODEL]);
    if (!order)
        order = (a->kind > b->kind) - (a->kind < b->kind);
    return order ? order : by_weight(a, b);
}

/* Of many, the weightiest of each model and kind. */
static size_t pick_groups(struct group *groups, size_t count, bool narrowed)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        groups[i].place = i;
    if (count)
        qsort(groups, count, sizeof *groups, by_weight);
    for (size_t i = 0; i < count && kept < (narrowed ? CHARTS_MOST : CHARTS_FEW); i++) {
        bool seen = false;
        for (size_t j = 0; !narrowed && j < kept; j++)
            seen = seen ||
                   (groups[j].kind == groups[i].kind && groups[j].rows[0]->keys[BY_MODEL].data ==
                                                            groups[i].rows[0]->keys[BY_MODEL].data);
        if (!seen)
            groups[kept++] = groups[i];
    }
    if (kept)
        qsort(groups, kept, sizeof *groups, by_model);
    return kept;
}

struct drawing {
    struct buffer *out;
    const struct board_asked *asked;
    enum figure figure;
    const struct term *term;
    bool narrowed;  /* to one model, or to few charts */
    bool protocols; /* rows of several are shown */
};

static int by_median(const void *left, const void *right, void *context)
{
    const struct drawing *drawing = context;
    const struct view_row *a = *(const struct view_row *const *)left,
                          *b = *(const struct view_row *const *)right;
    double first = a->figures[drawing->figure].median, second = b->figures[drawing->figure].median;
    if (first != second)
        return (first > second ? 1 : -1) * (drawing->term->better > 0 ? -1 : 1);
    return (a > b) - (a < b);
}

static void put_item(const struct drawing *drawing, const struct view_row *row,
                     const struct kind *kind, double end)
{
    const struct view_figure *figure = &row->figures[drawing->figure];
    BUFFER_SCOPE struct buffer range = {0}, title = {0};
    put_range(&range, drawing->term, figure);
    html_put(&title, "{}: median {} {}{}{}", html_slice(row->keys[kind->apart], HTML_NAME_MOST),
             term_value(drawing->term, figure->median), html_text(drawing->term->unit),
             html_markup(range.size ? ", range " : ""), html_raw(&range));
    buffer_text(drawing->out, "<li>");
    put_row_link(drawing->out, row, kind->apart, &drawing->asked->query);
    html_put(drawing->out, "<div><b>{}</b> <small>{}{}{} {}</small></div>",
             term_value(drawing->term, figure->median), html_raw(&range),
             html_markup(range.size ? " \xC2\xB7 " : ""), html_number((double)row->runs),
             html_markup(row->runs == 1 ? "run" : "runs"));
    plot_bar(drawing->out, figure, end, row->provisional, &title);
    buffer_text(drawing->out, "</li>");
}

static void put_caption(const struct drawing *drawing, const struct group *group)
{
    const struct view_row *first = group->rows[0];
    BUFFER_SCOPE struct buffer link = {0};
    unsigned dimensions = 0;
    for (int i = 0; i < SHARED; i++)
        dimensions |= 1U << group->kind->shared[i];
    if (row_has_address(first)) {
        address_rows(&link, first, dimensions);
        html_put(drawing->out, "<figcaption><a href=\"{}\">{}</a>", html_raw(&link),
                 html_slice(first->keys[BY_MODEL], HTML_NAME_MOST));
    } else {
        html_put(drawing->out, "<figcaption>{}", html_slice(first->keys[BY_MODEL], HTML_NAME_MOST));
    }
    html_put(drawing->out, " {} {}<small>{} \xC2\xB7 {}{}{}</small></figcaption>",
             html_text(group->kind->between),
             html_slice(first->keys[group->kind->shared[SHARED - 1]], HTML_NAME_MOST),
             html_slice(first->keys[BY_WORKLOAD], HTML_NAME_MOST), html_text(group->kind->compared),
             html_markup(drawing->protocols ? " \xC2\xB7 " : ""),
             html_slice(drawing->protocols ? first->keys[BY_PROTOCOL] : (struct text){"", 0},
                        HTML_NAME_MOST));
}

static void put_chart(const struct drawing *drawing, const struct group *group)
{
    struct drawing own = *drawing; /* qsort_r takes no const */
    ARENA_SCOPE struct arena arena = {0};
    const struct view_row **rows = arena_take(&arena, group->count * sizeof *rows);
    memcpy(rows, group->rows, group->count * sizeof *rows);
    qsort_r(rows, group->count, sizeof *rows, by_median, &own);
    size_t room = drawing->narrowed ? ITEMS_MOST : ITEMS_FEW;
    size_t shown = group->count < room ? group->count : room;
    double most = 0;
    for (size_t i = 0; i < shown; i++)
        most = fmax(most, rows[i]->figures[drawing->figure].max);
    buffer_text(drawing->out, "<figure class=\"chart\">");
    put_caption(drawing, group);
    buffer_text(drawing->out, "<ol>");
    for (size_t i = 0; i < shown; i++)
        put_item(drawing, rows[i], group->kind, plot_end(most));
    buffer_text(drawing->out, "</ol>");
    plot_axis(drawing->out, plot_end(most));
    if (shown < group->count)
        html_put(drawing->out, "<p class=\"soft\">and {} more {}</p>",
                 html_number((double)(group->count - shown)), html_text(group->kind->compared));
    buffer_text(drawing->out, "</figure>");
}

static void put_heading(const struct drawing *drawing, struct text protocol, size_t shown,
                        size_t found)
{
    static const char *const better[] = {"less is better", "", "more is better"};
    buffer_text(drawing->out, "<h2>");
    term_link(drawing->out, drawing->term->key, protocol);
    html_put(drawing->out, "<small> {}{}{}</small></h2>", html_text(drawing->term->unit),
             html_markup(*drawing->term->unit && drawing->term->better ? ", " : ""),
             html_text(better[drawing->term->better + 1]));
    if (!shown) {
        buffer_text(drawing->out,
                    "<p>No two rows of this selection can be compared by this figure: a chart "
                    "needs one model and workload on one device, or with one runtime.</p>");
        return;
    }
    buffer_text(
        drawing->out,
        "<p class=\"soft\">A dot is the median of a row, hollow where fewer than three runs "
        "stand behind it; the line reaches from the smallest to the largest value, the bar "
        "holds the middle half of four or more.");
    if (shown < found)
        html_put(drawing->out, " Shown are {} of {} charts, those with most runs{}.",
                 html_number((double)shown), html_number((double)found),
                 html_markup(drawing->narrowed ? "" : ": choose a model to see all of its own"));
    buffer_text(drawing->out, "</p>");
}

void chart_write(struct buffer *out, const struct board_view *view, const struct board_asked *asked)
{
    struct drawing drawing = {.out = out, .asked = asked, .figure = chart_figure(view, asked)};
    drawing.term = term(figure_name(drawing.figure));
    ARENA_SCOPE struct arena arena = {0};
    const struct view_row **rows[KINDS];
    struct group *groups = arena_take(&arena, (view->count * KINDS + 1) * sizeof *groups);
    size_t found = 0;
    for (int i = 0; i < KINDS; i++) {
        size_t count = 0;
        rows[i] = arena_take(&arena, (view->count + 1) * sizeof(struct view_row *));
        for (size_t j = 0; j < view->count; j++)
            if (view_shows(&view->rows[j], drawing.figure))
                rows[i][count++] = &view->rows[j];
        found += find_groups(rows[i], count, &kinds[i], groups + found);
    }
    drawing.narrowed = asked->query.equal[BY_MODEL] || found <= CHARTS_FEW;
    for (size_t i = 1; i < view->count; i++)
        drawing.protocols = drawing.protocols || view->rows[i].keys[BY_PROTOCOL].data !=
                                                     view->rows[0].keys[BY_PROTOCOL].data;
    size_t shown = pick_groups(groups, found, drawing.narrowed);
    put_heading(&drawing, view->count ? view->rows[0].keys[BY_PROTOCOL] : (struct text){0}, shown,
                found);
    if (!shown)
        return;
    buffer_text(out, "<div class=\"charts\">");
    for (size_t i = 0; i < shown; i++)
        put_chart(&drawing, &groups[i]);
    buffer_text(out, "</div>");
}
