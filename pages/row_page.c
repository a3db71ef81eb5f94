#include "pages/row_page.h"

#include "pages/board_plot.h"
#include "pages/frame.h"
#include "pages/html.h"
#include "pages/terms.h"

static void put_names(struct buffer *out, const char *label, const struct text *names, size_t count)
{
    if (!count)
        return;
    html_put(out, "<dt>{}</dt><dd>", html_text(label));
    for (size_t i = 0; i < count; i++)
        html_put(out, "{}{}", html_markup(i ? ", " : ""), html_slice(names[i], HTML_NAME_MOST));
    buffer_text(out, "</dd>");
}

static void put_mark(struct buffer *out, const char *key, struct text protocol, bool given)
{
    if (!given)
        return;
    buffer_text(out, "<span class=\"mark warn\">");
    term_link(out, key, protocol);
    buffer_text(out, "</span> ");
}

static void put_heading(struct buffer *out, const struct board_detail *detail,
                        const struct board_query *query)
{
    const struct view_row *row = &detail->row;
    struct text protocol = row->keys[BY_PROTOCOL];
    BUFFER_SCOPE struct buffer board = {0}, csv = {0};
    struct text model = row->model_name.size ? row->model_name : row->keys[BY_MODEL];
    struct board_asked asked = {.query = *query, .figure = FIGURE_COUNT};
    address_board(&board, &asked);
    address_data(&csv, query, "csv");
    html_put(out, "<p><a href=\"{}\">On the board</a></p><h1>{} <small>{}</small></h1><p>",
             html_raw(&board), html_slice(model, HTML_NAME_MOST),
             html_slice(row->keys[BY_WORKLOAD], HTML_NAME_MOST));
    put_mark(out, "provisional", protocol, row->provisional);
    put_mark(out, "highVariance", protocol, row->high_variance);
    put_mark(out, "e2e", protocol, row->burst);
    html_put(out,
             "</p><dl class=\"facts\"><dt>Device</dt><dd>{} <span class=\"soft\">{}</span></dd>"
             "<dt>Runtime</dt><dd>{}</dd><dt>Model</dt><dd>{}</dd><dt>Workload</dt><dd>{}</dd>"
             "<dt>Protocol</dt><dd>{}</dd>",
             html_slice(row->keys[BY_DEVICE], HTML_NAME_MOST),
             html_slice(row->keys[BY_CLASS], HTML_NAME_MOST),
             html_slice(row->keys[BY_RUNTIME], HTML_NAME_MOST),
             html_slice(row->keys[BY_MODEL], HTML_NAME_MOST),
             html_slice(row->keys[BY_WORKLOAD], HTML_NAME_MOST),
             html_slice(protocol, HTML_NAME_MOST));
    put_names(out, "Backend", row->backends, row->backend_count);
    put_names(out, "Browsers", row->browsers, row->browser_count);
    html_put(out,
             "<dt>Runs</dt><dd>{} <span class=\"soft\">of {} {}</span> <a href=\"{}\" "
             "download=\"leaderboard.csv\">CSV of the row"
             "</a></dd></dl>",
             html_number((double)row->runs), html_number((double)row->devices),
             html_text(row->devices == 1 ? "device" : "devices"), html_raw(&csv));
}

static void put_plot(struct buffer *out, const struct board_detail *detail, enum figure figure)
{
    const struct view_figure *shown = &detail->row.figures[figure];
    const struct term *known = term(figure_name(figure));
    double values[VIEW_RUNS_MOST], end = plot_end(shown->max);
    BUFFER_SCOPE struct buffer title = {0}, range = {0};
    for (size_t i = 0; i < detail->count; i++)
        values[i] = detail->runs[i].figures[figure];
    put_range(&range, known, shown);
    html_put(&title, "{}: {} {}, median {}{}{}", html_text(known->label),
             html_number((double)shown->n), html_text(shown->n == 1 ? "value" : "values"),
             term_value(known, shown->median), html_markup(range.size ? ", range " : ""),
             html_raw(&range));
    buffer_text(out, "<figure class=\"chart\"><figcaption>");
    term_link(out, known->key, detail->row.keys[BY_PROTOCOL]);
    html_put(out, " <b>{}</b> {}<small>{}{}</small></figcaption>", term_value(known, shown->median),
             html_text(known->unit), html_raw(&range),
             html_markup(shown->n >= VIEW_QUARTILES_FROM ? " interquartile" : ""));
    plot_values(out, shown, end, values, detail->count, &title);
    plot_axis(out, end);
    buffer_text(out, "</figure>");
}

static void put_run(struct buffer *out, const struct board_detail *detail,
                    const struct view_run *run)
{
    struct text protocol = detail->row.keys[BY_PROTOCOL];
    BUFFER_SCOPE struct buffer link = {0}, moment = {0};
    address_run(&link, run->id);
    put_moment(&moment, run->created_at);
    html_put(out,
             "<tr><th scope=\"row\"><a href=\"{}\">{}</a></th><td data-of=\"Date\">{}</td>"
             "<td data-of=\"Browser\">{} {}</td><td data-of=\"System\">{} {}</td>",
             html_raw(&link), html_slice(run->id, HTML_NAME_MOST), html_raw(&moment),
             html_slice(run->browser, HTML_NAME_MOST),
             html_slice(run->browser_version, HTML_NAME_MOST), html_slice(run->os, HTML_NAME_MOST),
             html_slice(run->os_version, HTML_NAME_MOST));
    for (int i = 0; i < FIGURE_COUNT; i++) {
        if (!view_shows(&detail->row, (enum figure)i))
            continue;
        term_cell(out, term(figure_name((enum figure)i)), run->figures[i]);
    }
    buffer_text(out, run->high_variance || run->burst ? "<td data-of=\"Marks\">" : "<td>");
    put_mark(out, "highVariance", protocol, run->high_variance);
    put_mark(out, "e2e", protocol, run->burst);
    buffer_text(out, "</td></tr>");
}

static void put_runs(struct buffer *out, const struct board_detail *detail)
{
    buffer_text(out, "<h2>Runs</h2>");
    if (detail->count < detail->all)
        html_put(out, "<p>The newest {} of {}; medians and ranges are of all.</p>",
                 html_number((double)detail->count), html_number((double)detail->all));
    buffer_text(out, "<div class=\"scroll\" role=\"region\" aria-label=\"Runs of the row\" "
                     "tabindex=\"0\"><table class=\"runs cards\"><thead><tr><th "
                     "scope=\"col\">Run</th><th scope=\"col\">"
                     "Date</th><th scope=\"col\">Browser</th><th scope=\"col\">System</th>");
    for (int i = 0; i < FIGURE_COUNT; i++) {
        const struct term *known = term(figure_name((enum figure)i));
        if (!view_shows(&detail->row, (enum figure)i))
            continue;
        buffer_text(out, "<th scope=\"col\" class=\"number\">");
        term_link(out, known->key, detail->row.keys[BY_PROTOCOL]);
        html_put(out, " <small>{}</small></th>", html_text(known->unit));
    }
    buffer_text(out, "<th scope=\"col\">Marks</th></tr></thead><tbody>");
    for (size_t i = 0; i < detail->count; i++)
        put_run(out, detail, &detail->runs[i]);
    buffer_text(out, "</tbody></table></div>");
}

void row_page_write(struct buffer *out, const struct board_detail *detail,
                    const struct board_query *query)
{
    const struct view_row *row = &detail->row;
    BUFFER_SCOPE struct buffer title = {0};
    buffer_add(&title, row->keys[BY_MODEL].data, row->keys[BY_MODEL].size);
    buffer_text(&title, " on ");
    buffer_add(&title, row->keys[BY_DEVICE].data, row->keys[BY_DEVICE].size);
    const struct frame frame = {.title = {title.data, title.size}};
    frame_open(out, &frame);
    put_heading(out, detail, query);
    buffer_text(
        out, "<h2>Figures</h2><p class=\"soft\">A dot below is a run; the upright line is the "
             "median, the thin line reaches from the smallest to the largest value, the bar holds "
             "the middle half of four or more.</p><div class=\"strips\">");
    for (int i = 0; i < FIGURE_COUNT; i++)
        if (view_shows(&detail->row, (enum figure)i))
            put_plot(out, detail, (enum figure)i);
    buffer_text(out, "</div>");
    put_runs(out, detail);
    frame_close(out);
}
