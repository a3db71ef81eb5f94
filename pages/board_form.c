#include "pages/board_page.h"
#include "pages/board_parts.h"
#include "pages/html.h"

static const char *const labels[BOARD_DIMENSIONS] = {
    [BY_PROTOCOL] = "Protocol", [BY_CLASS] = "Device class", [BY_DEVICE] = "GPU",
    [BY_RUNTIME] = "Runtime",   [BY_MODEL] = "Model",        [BY_WORKLOAD] = "Workload",
    [BY_BROWSER] = "Browser"};

bool asked_narrows(const struct board_asked *asked)
{
    bool any = asked->query.words && *asked->query.words;
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        any = any || asked->query.equal[i];
    return any;
}

/* Choices beyond are searched for: a list of thousands helps nobody, and weighs on every page. */
enum { SELECT_BYTES_MOST = 24 << 10 };

static bool is_value(struct text text, const char *value)
{
    return value && strlen(value) == text.size && !memcmp(text.data, value, text.size);
}

static void put_option(struct buffer *out, struct text value, size_t rows, bool chosen)
{
    /* The whole value goes back to the server; only what is read is cut. */
    html_put(out, "<option value=\"{}\"{}>{} ({})</option>", html_exact(value),
             html_markup(chosen ? " selected" : ""), html_slice(value, 60),
             html_number((double)rows));
}

static void put_select(struct buffer *out, const struct board_view *view,
                       const struct board_asked *asked, enum board_dimension dimension)
{
    const char *chosen = asked->query.equal[dimension], *name = board_dimension_name(dimension);
    bool listed = !chosen;
    html_put(out,
             "<label for=\"f-{}\">{}</label><select id=\"f-{}\" name=\"{}\"><option "
             "value=\"\">all</option>",
             html_text(name), html_text(labels[dimension]), html_text(name), html_text(name));
    size_t count = view->facets[dimension].count, left = 0, end = out->size + SELECT_BYTES_MOST;
    for (size_t i = 0; i < count; i++) {
        const struct view_choice *choice = &view->facets[dimension].choices[i];
        bool is_chosen = is_value(choice->value, chosen);
        if (!is_chosen && (choice->value.size > ADDRESS_VALUE_MOST || out->size > end)) {
            left++;
            continue;
        }
        put_option(out, choice->value, choice->rows, is_chosen);
        listed = listed || is_chosen;
    }
    if (!listed)
        put_option(out, (struct text){chosen, strlen(chosen)}, 0, true);
    if (left)
        html_put(out, "<option disabled>{} more: search for them</option>",
                 html_number((double)left));
    buffer_text(out, "</select>");
}

static bool has_values(const struct board_view *view, enum figure figure)
{
    for (size_t i = 0; i < view->count; i++)
        if (view->rows[i].figures[figure].n)
            return true;
    return false;
}

static void put_figures(struct buffer *out, const struct board_view *view, enum figure asked)
{
    buffer_text(out, "<label for=\"f-figure\">Charts show</label><select id=\"f-figure\" "
                     "name=\"figure\"><option value=\"\">the main figure</option>");
    for (int i = 0; i < FIGURE_COUNT; i++) {
        const struct term *known = term(figure_name((enum figure)i));
        if (i == (int)asked || has_values(view, (enum figure)i))
            html_put(out, "<option value=\"{}\"{}>{}</option>", html_text(known->key),
                     html_markup(i == (int)asked ? " selected" : ""), html_text(known->label));
    }
    buffer_text(out, "</select>");
}

void form_write(struct buffer *out, const struct board_view *view, const struct board_asked *asked)
{
    const char *words = asked->query.words ? asked->query.words : "";
    buffer_text(out, "<details class=\"filters\" open><summary>Filters</summary>"
                     "<form id=\"filters\" method=\"get\" action=\"/\" role=\"search\" "
                     "autocomplete=\"off\">");
    html_put(out,
             "<div class=\"wide\"><label for=\"f-q\">Search</label><input id=\"f-q\" name=\"q\" "
             "type=\"search\" maxlength=\"{}\" value=\"{}\" placeholder=\"device, runtime, model, "
             "workload, browser, "
             "backend\"></div>",
             html_number(ADDRESS_WORDS_MOST / 3), html_exact((struct text){words, strlen(words)}));
    for (int i = 0; i < BOARD_DIMENSIONS; i++) {
        buffer_text(out, "<div>");
        put_select(out, view, asked, (enum board_dimension)i);
        buffer_text(out, "</div>");
    }
    buffer_text(out, "<div>");
    put_figures(out, view, asked->figure);
    buffer_text(out, "</div><div class=\"last\">");
    html_put(out, "<input type=\"hidden\" name=\"sort\" value=\"{}\">",
             html_text(asked->query.sort));
    buffer_text(out, "<button>Apply</button> <a id=\"reset\" href=\"/\">Reset</a></div></form>"
                     "</details>");
}

static void put_chosen(struct buffer *out, const struct board_asked *without, const char *label,
                       const char *value)
{
    BUFFER_SCOPE struct buffer link = {0};
    address_board(&link, without);
    html_put(out,
             "<li><a href=\"{}\"><span class=\"soft\">{}</span> {} <span aria-hidden=\"true\">"
             "\xC3\x97</span><span class=\"hidden\"> (remove)</span></a></li>",
             html_raw(&link), html_text(label),
             html_slice((struct text){value, strlen(value)}, HTML_NAME_MOST));
}

void chosen_write(struct buffer *out, const struct board_asked *asked)
{
    if (!asked_narrows(asked))
        return;
    buffer_text(out, "<ul class=\"chosen\" aria-label=\"Chosen filters\">");
    for (int i = 0; i < BOARD_DIMENSIONS; i++) {
        struct board_asked without = *asked;
        without.query.equal[i] = NULL;
        if (asked->query.equal[i])
            put_chosen(out, &without, labels[i], asked->query.equal[i]);
    }
    struct board_asked without = *asked;
    without.query.words = NULL;
    if (asked->query.words && *asked->query.words)
        put_chosen(out, &without, "Search", asked->query.words);
    buffer_text(out, "</ul>");
}
