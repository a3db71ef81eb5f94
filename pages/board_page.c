#include "pages/board_page.h"

#include "pages/board_chart.h"
#include "pages/board_parts.h"
#include "pages/frame.h"
#include "pages/html.h"

static const char *plural(size_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void put_counts(struct buffer *out, const struct board_view *view, const char *changed_at)
{
    html_put(out,
             "<h1>How fast AI models run in browsers</h1><p class=\"lead\">{} {} in {} {}, each "
             "recomputed from its raw trace. <span class=\"whole\">Last change ",
             html_number((double)view->all_runs), html_text(plural(view->all_runs, "run", "runs")),
             html_number((double)view->all_rows), html_text(plural(view->all_rows, "row", "rows")));
    put_moment(out, (struct text){changed_at, strlen(changed_at)});
    buffer_text(out, " UTC.</span></p>");
}

/* What #count says a script copies into the live region. */
static void put_found(struct buffer *out, const struct board_view *view,
                      const struct board_asked *asked, size_t shown)
{
    BUFFER_SCOPE struct buffer csv = {0}, json = {0}, all = {0};
    address_data(&csv, &asked->query, "csv");
    address_data(&json, &asked->query, "json");
    html_put(out,
             "<p class=\"found\"><span id=\"count\">{}{} {} from {} {}</span> <a href=\"{}\" "
             "download=\"leaderboard.csv\">CSV</a> <a href=\"{}\">JSON</a> <a href=\"#rows\">to "
             "the table</a>",
             html_markup(shown < view->count ? "The first " : ""), html_number((double)shown),
             html_text(plural(shown, "row", "rows")), html_number((double)view->runs),
             html_text(plural(view->runs, "run", "runs")), html_raw(&csv), html_raw(&json));
    if (shown < view->count) {
        struct board_asked more = *asked;
        more.all = true;
        address_board(&all, &more);
        html_put(out, " <a href=\"{}\">All {} rows</a>", html_raw(&all),
                 html_number((double)view->count));
    }
    buffer_text(out, "</p>");
}

static void put_recent(struct buffer *out, const struct board_view *view)
{
    if (!view->recent_count)
        return;
    buffer_text(out, "<h2>Recent submissions</h2><ul class=\"recent\">");
    for (size_t i = 0; i < view->recent_count; i++) {
        const struct view_recent *recent = &view->recent[i];
        BUFFER_SCOPE struct buffer link = {0}, moment = {0};
        address_run(&link, recent->id);
        put_moment(&moment, recent->created_at);
        html_put(out,
                 "<li><a href=\"{}\">{}</a> <span class=\"soft\">{} \xC2\xB7 {} \xC2\xB7 {} "
                 "\xC2\xB7 {} {}</span></li>",
                 html_raw(&link), html_slice(recent->id, HTML_NAME_MOST), html_raw(&moment),
                 html_slice(recent->device, HTML_NAME_MOST),
                 html_slice(recent->browser, HTML_NAME_MOST), html_number((double)recent->cells),
                 html_text(plural(recent->cells, "cell", "cells")));
    }
    buffer_text(out, "</ul>");
}

static void put_nothing(struct buffer *out, const struct board_view *view)
{
    if (view->all_rows)
        buffer_text(
            out,
            "<div class=\"nothing\" id=\"rows\"><p>No row matches. Take a filter back, search for "
            "fewer words, or <a href=\"/\">show the whole board</a>.</p></div>");
    else
        buffer_text(out,
                    "<div class=\"nothing\"><p>No run has been published yet. Whoever has a run "
                    "file can <a href=\"/check\">check it and submit it</a>.</p></div>");
}

void board_page_write(struct buffer *out, const struct board_view *view,
                      const struct board_asked *asked, const char *changed_at)
{
    const struct frame frame = {.title = {"Board", 5},
                                .here = "/",
                                .script = view->all_rows ? "board.js" : NULL,
                                .table = view->all_rows ? "rows" : NULL};
    size_t shown = view->count;
    if (!asked->all && shown > BOARD_ROWS_MOST)
        shown = BOARD_ROWS_MOST;
    frame_open(out, &frame);
    put_counts(out, view, changed_at);
    if (view->all_rows)
        form_write(out, view, asked);
    buffer_text(out, "<p id=\"said\" class=\"hidden\" role=\"status\"></p><div id=\"board\">");
    chosen_write(out, asked);
    if (view->count) {
        put_found(out, view, asked, shown);
        chart_write(out, view, asked);
        buffer_text(out, "<h2 id=\"rows\">Rows</h2>");
        table_write(out, view, asked, shown);
        legend_write(out, view->rows[0].keys[BY_PROTOCOL]);
    } else {
        buffer_text(out, "<p id=\"count\">No rows</p>");
        put_nothing(out, view);
    }
    put_recent(out, view);
    buffer_text(out, "</div>");
    frame_close(out);
}
