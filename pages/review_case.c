#include "pages/review_case.h"

#include <math.h>

#include "pages/board_plot.h"
#include "pages/html.h"
#include "pages/terms.h"

static void put_rank(struct buffer *out, const struct neighbour *figure)
{
    if (!figure->count)
        buffer_text(out, "no accepted value to compare with");
    else if (figure->below == figure->count)
        html_put(out, "above all {} accepted", html_number((double)figure->count));
    else if (figure->value < figure->min)
        html_put(out, "below all {} accepted", html_number((double)figure->count));
    else
        html_put(out, "{} of {} accepted are lower", html_number((double)figure->below),
                 html_number((double)figure->count));
}

static void put_factor(struct buffer *out, const struct neighbour *figure)
{
    double factor = figure->value / figure->median;
    if (figure->count && figure->median > 0 && isfinite(factor))
        html_put(out, "{} \xC3\x97 the median", html_rounded(factor, 2));
}

static void put_strip(struct buffer *out, const struct neighbour *figure, const struct term *known)
{
    const struct view_figure range = {.n = figure->count,
                                      .median = figure->median,
                                      .min = figure->min,
                                      .q25 = figure->q25,
                                      .q75 = figure->q75,
                                      .max = figure->max};
    double end = plot_end(fmax(figure->max, figure->value));
    BUFFER_SCOPE struct buffer title = {0}, rank = {0};
    put_rank(&rank, figure);
    html_put(&title, "{}: this run {} {}; {}, from {} to {}, median {}", html_text(known->label),
             term_value(known, figure->value), html_text(known->unit), html_raw(&rank),
             term_value(known, figure->min), term_value(known, figure->max),
             term_value(known, figure->median));
    if (figure->count >= VIEW_QUARTILES_FROM)
        html_put(&title, ", quartiles {} and {}", term_value(known, figure->q25),
                 term_value(known, figure->q75));
    plot_against(out, &range, end, figure->value, &title);
    plot_axis(out, end);
}

static void put_figure(struct buffer *out, const struct neighbour *figure, struct text protocol)
{
    const struct term *known = term(figure_name(figure->figure));
    buffer_text(out, "<figure class=\"chart\"><figcaption>");
    term_link(out, known->key, protocol);
    html_put(out, " <b>{}</b> {}<small>", term_value(known, figure->value), html_text(known->unit));
    put_rank(out, figure);
    if (figure->count)
        buffer_text(out, ", ");
    put_factor(out, figure);
    buffer_text(out, "</small></figcaption>");
    if (figure->count)
        put_strip(out, figure, known);
    buffer_text(out, "</figure>");
}

static struct text name_of(const struct neighbour_cell *cell)
{
    return cell->model_name.size ? cell->model_name : cell->model;
}

static void put_cell(struct buffer *out, const struct neighbour_cell *cell, struct text protocol)
{
    if (!cell->count)
        return;
    html_put(out, "<h3><bdi>{}</bdi> <small><bdi>{}</bdi>, <bdi>{}</bdi></small></h3>",
             html_slice(name_of(cell), HTML_NAME_MOST), html_slice(cell->workload, HTML_NAME_MOST),
             html_slice(cell->runtime, HTML_NAME_MOST));
    buffer_text(out, "<div class=\"strips\">");
    for (size_t i = 0; i < cell->count; i++)
        put_figure(out, &cell->figures[i], protocol);
    buffer_text(out, "</div>");
}

static void put_count(struct buffer *out, bool given, size_t count)
{
    html_put(out, "<td class=\"number\">{}</td>",
             given ? html_number((double)count) : html_text(""));
}

static void put_number(struct buffer *out, const struct term *known, bool given, double number)
{
    html_put(out, "<td class=\"number\">{}</td>",
             given ? term_value(known, number) : html_text(""));
}

static void put_row(struct buffer *out, const struct neighbour_cell *cell,
                    const struct neighbour *figure)
{
    const struct term *known = term(figure_name(figure->figure));
    bool any = figure->count > 0;
    html_put(out, "<tr><th scope=\"row\">{}, {}, {}</th><td>{} <small>{}</small></td>",
             html_slice(name_of(cell), HTML_NAME_MOST), html_slice(cell->workload, HTML_NAME_MOST),
             html_slice(cell->runtime, HTML_NAME_MOST), html_text(known->label),
             html_text(known->unit));
    put_number(out, known, true, figure->value);
    put_count(out, true, figure->count);
    put_count(out, any, figure->below);
    put_number(out, known, any, figure->min);
    put_number(out, known, any, figure->q25);
    put_number(out, known, any, figure->median);
    put_number(out, known, any, figure->q75);
    put_number(out, known, any, figure->max);
    buffer_text(out, "</tr>");
}

static void put_table(struct buffer *out, const struct neighbours *neighbours, size_t cells)
{
    static const char *const heads[] = {"This run", "Accepted", "Lower than it", "Smallest",
                                        "Quartile", "Median",   "Quartile",      "Largest"};
    buffer_text(out, "<details><summary>The same as a table</summary><div class=\"scroll\" "
                     "role=\"region\" aria-label=\"Neighbours\" tabindex=\"0\"><table><thead><tr>"
                     "<th scope=\"col\">Cell</th><th scope=\"col\">Figure</th>");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        html_put(out, "<th scope=\"col\" class=\"number\">{}</th>", html_text(heads[i]));
    buffer_text(out, "</tr></thead><tbody>");
    for (size_t i = 0; i < cells; i++)
        for (size_t j = 0; j < neighbours->cells[i].count; j++)
            put_row(out, &neighbours->cells[i], &neighbours->cells[i].figures[j]);
    buffer_text(out, "</tbody></table></div></details>");
}

void review_put_neighbours(struct buffer *out, const struct neighbours *neighbours)
{
    size_t cells = neighbours->count < REVIEW_CELLS_MOST ? neighbours->count : REVIEW_CELLS_MOST;
    if (!neighbours->shown) {
        html_put(out, "<p>The board does not show {}: there is nothing to compare with.</p>",
                 html_slice(neighbours->protocol, HTML_NAME_MOST));
        return;
    }
    if (!neighbours->count) {
        buffer_text(out, "<p>No cell of this run went well: there is nothing to compare.</p>");
        return;
    }
    html_put(
        out,
        "<p class=\"soft\">Accepted runs of the same device (<bdi>{}</bdi>), runtime, model and "
        "workload. The ring is this run; the upright line is the median of the others, the "
        "thin line reaches from their smallest to their largest value, the bar holds the "
        "middle half of four or more.</p>",
        html_slice(neighbours->device, HTML_NAME_MOST));
    for (size_t i = 0; i < cells; i++)
        put_cell(out, &neighbours->cells[i], neighbours->protocol);
    if (neighbours->count > cells)
        html_put(out, "<p class=\"soft\">And {} more cells, which are not compared here.</p>",
                 html_number((double)(neighbours->count - cells)));
    put_table(out, neighbours, cells);
}

/* What can be decided; the first one that fits is chosen by nobody but the maintainer. */
static const struct {
    const char *name, *label, *effect;
    bool published; /* fits a published run, too */
} choices[] = {
    {"release", "Release", "it is plausible after all: it goes onto the board", false},
    {"keep", "Keep", "it stays in quarantine, and is marked as looked at", false},
    {"withdraw", "Withdraw", "it is not shown any more; for admins, and not to be undone", true},
};

static void put_choices(struct buffer *out, bool quarantined)
{
    buffer_text(out, "<fieldset><legend>Decision</legend>");
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (quarantined || choices[i].published)
            html_put(out,
                     "<div class=\"tick\"><input type=\"radio\" name=\"action\" id=\"review-{}\" "
                     "value=\"{}\" required><label for=\"review-{}\">{} <span class=\"soft\">{}"
                     "</span></label></div>",
                     html_text(choices[i].name), html_text(choices[i].name),
                     html_text(choices[i].name), html_text(choices[i].label),
                     html_text(choices[i].effect));
    buffer_text(out, "</fieldset>");
}

void review_put_form(struct buffer *out, const struct review_form *form)
{
    if (form->closed) {
        buffer_text(out,
                    "<p>Nothing can be decided at this service: it has no maintainers, or only "
                    "reads the dataset.</p>");
        return;
    }
    buffer_text(out, "<noscript><p class=\"note\">This form needs JavaScript. Without it, "
                     "<code>POST /api/bench/review</code> does the same, see "
                     "<a href=\"/openapi.json\">the description of the API</a>.</p></noscript>");
    html_put(
        out,
        "<form id=\"review\" class=\"review\" method=\"post\" autocomplete=\"off\" hidden "
        "data-run=\"{}\" data-revision=\"{}\">"
        "<div><label for=\"review-token\">Token of a maintainer</label>"
        "<input id=\"review-token\" type=\"password\" autocomplete=\"off\" "
        "spellcheck=\"false\" maxlength=\"256\" required></div>"
        "<div class=\"tick\"><input id=\"review-remember\" type=\"checkbox\">"
        "<label for=\"review-remember\">Keep it for this tab <span class=\"soft\">until the tab "
        "is closed; otherwise until you leave the page</span></label></div>",
        html_slice(form->run_id, HTML_NAME_MOST), html_number((double)form->revision));
    put_choices(out, form->quarantined);
    html_put(out,
             "<div><label for=\"review-reason\">Reason <span class=\"soft\">public, at most {} "
             "characters</span></label><textarea id=\"review-reason\" rows=\"3\" maxlength=\"{}\" "
             "required></textarea></div>"
             "<button class=\"primary\">Decide</button></form>"
             "<p id=\"review-said\" role=\"status\" tabindex=\"-1\"></p>",
             html_number(REVIEW_REASON_MOST), html_number(REVIEW_REASON_MOST));
}
