#include "pages/board_parts.h"
#include "pages/board_plot.h"
#include "pages/html.h"

/* A column of the table. KEY sorts it; a figure's is its term, too. */
struct head {
    const char *key, *label;
    enum board_dimension dimension; /* BOARD_DIMENSIONS: it is no name */
    enum figure figure;             /* FIGURE_COUNT: it is none */
};

static const struct head heads[] = {
    {"deviceSubclass", "Device", BY_DEVICE, FIGURE_COUNT},
    {"runtimeId", "Runtime", BY_RUNTIME, FIGURE_COUNT},
    {"benchModelId", "Model", BY_MODEL, FIGURE_COUNT},
    {"workloadId", "Workload", BY_WORKLOAD, FIGURE_COUNT},
    {"submissions", NULL, BOARD_DIMENSIONS, FIGURE_COUNT},
    {"ttftMs", NULL, BOARD_DIMENSIONS, FIGURE_TTFT},
    {"decodeCharsPerSec", NULL, BOARD_DIMENSIONS, FIGURE_DECODE},
    {"overallCharsPerSec", NULL, BOARD_DIMENSIONS, FIGURE_OVERALL},
    {"singleLatencyMs", NULL, BOARD_DIMENSIONS, FIGURE_LATENCY},
    {"batchTextsPerSec", NULL, BOARD_DIMENSIONS, FIGURE_BATCH},
    {"qualityScore", NULL, BOARD_DIMENSIONS, FIGURE_QUALITY},
    {"loadColdMs", NULL, BOARD_DIMENSIONS, FIGURE_LOAD_COLD},
    {"loadWarmMs", NULL, BOARD_DIMENSIONS, FIGURE_LOAD_WARM},
    {"protocol", "Protocol", BY_PROTOCOL, FIGURE_COUNT},
};
enum { HEADS = sizeof heads / sizeof *heads };

struct table {
    struct buffer *out;
    const struct board_view *view;
    const struct board_asked *asked;
    struct text protocol;
    size_t shown;
    bool has[HEADS];
    const struct term *terms[HEADS]; /* of a figure, or NULL */
    /* How a cell of each column begins, one after another: made once, not for each row. */
    struct buffer openings;
    size_t opening[HEADS + 1];
};

/* Columns that hold nothing are left out, and the protocol where all rows have the same. */
static void find_columns(struct table *table)
{
    for (size_t i = 0; i < HEADS; i++)
        table->has[i] = heads[i].figure == FIGURE_COUNT && heads[i].dimension != BY_PROTOCOL;
    for (size_t i = 0; i < table->shown; i++) {
        const struct view_row *row = &table->view->rows[i];
        for (size_t j = 0; j < HEADS; j++) {
            bool holds = heads[j].figure != FIGURE_COUNT && row->figures[heads[j].figure].n;
            bool differs = heads[j].dimension == BY_PROTOCOL &&
                           row->keys[BY_PROTOCOL].data != table->protocol.data;
            table->has[j] = table->has[j] || holds || differs;
        }
    }
}

static const char *sort_state(const char *sort, const char *key)
{
    if (!sort || strcmp(sort + (*sort == '-'), key) != 0)
        return NULL;
    return *sort == '-' ? "descending" : "ascending";
}

/* The first click puts the best on top, the next one turns it round. */
static void put_sort_link(const struct table *table, const struct head *head, const char *label,
                          bool more_is_better, const char *state)
{
    BUFFER_SCOPE struct buffer link = {0}, sort = {0};
    bool falls = state ? !strcmp(state, "ascending") : more_is_better;
    if (falls)
        buffer_byte(&sort, '-');
    buffer_text(&sort, head->key);
    struct board_asked asked = *table->asked;
    asked.query.sort = buffer_string(&sort);
    address_board(&link, &asked);
    html_put(table->out, "<a id=\"sort-{}\" href=\"{}\">{}{}</a>", html_text(head->key),
             html_raw(&link), html_text(label),
             html_markup(!state                        ? ""
                         : !strcmp(state, "ascending") ? "&#160;\xE2\x86\x91"
                                                       : "&#160;\xE2\x86\x93"));
}

static void put_head(const struct table *table, const struct head *head)
{
    const struct term *known = head->label ? NULL : term(head->key);
    const char *state = sort_state(table->asked->query.sort, head->key);
    buffer_text(table->out, "<th scope=\"col\"");
    if (state)
        html_put(table->out, " aria-sort=\"{}\"", html_text(state));
    buffer_byte(table->out, '>');
    put_sort_link(table, head, known ? known->label : head->label, known && known->better > 0,
                  state);
    if (known)
        html_put(table->out,
                 "<small> {} <a class=\"term\" href=\"/methodology/{}#{}\" title=\"{}\" "
                 "aria-label=\"{}: definition\">?</a></small>",
                 html_text(known->unit), html_slice(table->protocol, HTML_NAME_MOST),
                 html_text(known->key), html_text(known->meaning), html_text(known->label));
    buffer_text(table->out, "</th>");
}

static void put_figure(const struct table *table, const struct view_row *row, size_t column)
{
    enum figure figure = heads[column].figure;
    bool e2e = row->burst && figure == FIGURE_DECODE && row->figures[FIGURE_OVERALL].n;
    const struct view_figure *shown = &row->figures[e2e ? FIGURE_OVERALL : figure];
    const struct term *known = table->terms[column];
    BUFFER_SCOPE struct buffer range = {0};
    put_range(&range, known, shown);
    if (shown->n != row->runs)
        html_put(&range, "{}n&#160;{}", html_markup(range.size ? " " : ""),
                 html_number((double)shown->n));
    html_put(table->out, "{}{}", term_value(known, shown->median),
             html_markup(e2e ? "<i>e2e</i>" : ""));
    if (range.size)
        html_put(table->out, "<small>{}</small>", html_raw(&range));
    if (figure == FIGURE_QUALITY && row->figures[FIGURE_PARSE_RATE].n)
        html_put(table->out, "<small>of {} read</small>",
                 term_value(term("qualityParseRate"), row->figures[FIGURE_PARSE_RATE].median));
}

/* Where there is no room for columns a row is a card, and each of its values is called what its column is. */
static void make_openings(struct table *table)
{
    for (size_t i = 0; i < HEADS; i++) {
        const struct term *known = heads[i].label ? NULL : term(heads[i].key);
        table->terms[i] = known;
        if (known)
            html_put(&table->openings, "<td data-of=\"{}{}{}\">", html_text(known->label),
                     html_markup(*known->unit ? ", " : ""), html_text(known->unit));
        else
            buffer_text(&table->openings, "<td>");
        table->opening[i + 1] = table->openings.size;
    }
}

static void open_cell(const struct table *table, size_t column)
{
    size_t from = table->opening[column];
    buffer_add(table->out, table->openings.data + from, table->opening[column + 1] - from);
}

static bool is_empty(const struct view_row *row, const struct head *head)
{
    enum figure figure = head->figure;
    return figure != FIGURE_COUNT && !view_shows(row, figure) &&
           !(row->burst && figure == FIGURE_DECODE && row->figures[FIGURE_OVERALL].n);
}

/* Thousands of rows go out with each page, so a row is as terse as HTML lets it be: no end tags, no attributes
 * that a column or the legend can carry. Nothing stands between rows: it would fill a last cell that is empty. */
static void put_row(const struct table *table, const struct view_row *row)
{
    struct buffer *out = table->out;
    buffer_text(out, "<tr><th scope=row>");
    put_row_link(out, row, BY_DEVICE, &table->asked->query);
    for (size_t i = 1; i < HEADS; i++) {
        if (!table->has[i])
            continue;
        if (is_empty(row, &heads[i])) {
            buffer_text(out, "<td>");
            continue;
        }
        open_cell(table, i);
        if (heads[i].dimension != BOARD_DIMENSIONS)
            html_put(out, "{}", html_slice(row->keys[heads[i].dimension], HTML_NAME_MOST));
        else if (heads[i].figure != FIGURE_COUNT)
            put_figure(table, row, i);
        else
            html_put(out, "{}{}{}", html_number((double)row->runs),
                     html_markup(row->provisional ? "<i>provisional</i>" : ""),
                     html_markup(row->high_variance ? "<i>high variance</i>" : ""));
    }
}

void table_write(struct buffer *out, const struct board_view *view, const struct board_asked *asked,
                 size_t shown)
{
    struct table table = {.out = out, .view = view, .asked = asked, .shown = shown};
    table.protocol = view->rows[0].keys[BY_PROTOCOL];
    find_columns(&table);
    make_openings(&table);
    buffer_text(out, "<div class=\"scroll rows\" role=\"region\" aria-label=\"Rows of the board\" "
                     "tabindex=\"0\"><table class=\"board cards");
    for (size_t i = 0; i < HEADS; i++)
        if (heads[i].dimension != BOARD_DIMENSIONS && asked->query.equal[heads[i].dimension])
            html_put(out, " one-{}", html_text(heads[i].key));
    buffer_text(out, "\"><thead><tr>");
    for (size_t i = 0; i < HEADS; i++)
        if (table.has[i])
            put_head(&table, &heads[i]);
    buffer_text(out, "</tr></thead><tbody>");
    for (size_t i = 0; i < shown; i++)
        put_row(&table, &view->rows[i]);
    buffer_text(out, "</tbody></table></div>");
    buffer_free(&table.openings);
}

void legend_write(struct buffer *out, struct text protocol)
{
    static const char *const marks[] = {"provisional", "highVariance", "e2e", "range", "median"};
    buffer_text(out, "<details class=\"legend\" open><summary>How to read the table</summary><dl "
                     "class=\"facts\">");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        buffer_text(out, "<dt>");
        term_link(out, marks[i], protocol);
        html_put(out, "</dt><dd>{}</dd>", html_text(term(marks[i])->meaning));
    }
    buffer_text(
        out,
        "<dt>10\xE2\x80\x93"
        "20</dt><dd>Smallest and largest of two or three values.</dd>"
        "<dt>[10\xE2\x80\x93"
        "20]</dt><dd>Interquartile range of four values or more: the "
        "middle half of them.</dd><dt>n 2</dt><dd>Number of values, where it is not the number of "
        "runs.</dd><dt>?</dt><dd>leads to the definition of a figure.</dd>"
        "</dl></details>");
}
