#include <math.h>

#include "pages/picture.h"
#include "pages/run_parts.h"
#include "pages/terms.h"

/* Pictures of iterations for each cell, and characters of a generated text that are shown. */
enum { PICTURES_MOST = 12, TEXT_SHOWN = 2000, OUTPUTS_SHOWN = 100, GROUPS_MOST = 100 };

static size_t beyond(size_t count, size_t shown)
{
    return count > shown ? count - shown : 0;
}

static const enum metric overview[] = {METRIC_TTFT, METRIC_DECODE_CHARS, METRIC_OVERALL,
                                       METRIC_SINGLE_LATENCY, METRIC_BATCH_TEXTS};
enum { OVERVIEW = sizeof overview / sizeof *overview };

static const struct js_value *raw_cell(const struct run_view *view, size_t i)
{
    return &view->run->cells_value->items[i];
}

static void put_status(struct buffer *out, const struct bench_cell *cell)
{
    static const char *const classes[] = {"good", "warn", "bad", ""};
    html_put(out, "<span class=\"mark {}\">{}</span>", html_text(classes[cell->status]),
             html_string(cell->status_text));
}

static void put_marks(const struct run_view *view, const struct bench_cell *cell,
                      const struct bench_summary *summary)
{
    static const char form[] =
        " <a class=\"mark warn\" href=\"/methodology/{}#{}\" title=\"{}\">{}</a>";
    const char *const keys[] = {cell->llm && !summary->incremental ? "e2e" : NULL,
                                summary->high_variance ? "highVariance" : NULL};
    for (size_t i = 0; i < 2; i++)
        if (keys[i])
            html_put(view->out, form, html_slice(view->protocol, HTML_NAME_MOST),
                     html_text(keys[i]), html_text(term(keys[i])->meaning),
                     html_text(term(keys[i])->label));
}

/* The value of an overview column for a cell, NAN without: a metric's median, then load and quality. */
enum { COLUMN_LOAD = OVERVIEW, COLUMN_QUALITY, COLUMNS };

static const char *column_key(size_t column)
{
    return column == COLUMN_LOAD      ? "loadMs"
           : column == COLUMN_QUALITY ? "qualityScore"
                                      : metric_name(overview[column]);
}

static double column_value(const struct run_view *view, size_t cell, size_t column)
{
    const struct bench_summary *summary = &view->summaries->cells[cell];
    if (column == COLUMN_LOAD)
        return summary->load_ms;
    if (column == COLUMN_QUALITY)
        return view->run->cells[cell].quality ? view->run->cells[cell].score : NAN;
    const struct sample *sample = &summary->metrics[overview[column]];
    return sample->n ? sample->median : NAN;
}

static bool is_column_used(const struct run_view *view, size_t column)
{
    for (size_t i = 0; i < view->run->cell_count; i++)
        if (!isnan(column_value(view, i, column)))
            return true;
    return false;
}

static void put_board_link(const struct run_view *view, const struct bench_cell *cell)
{
    BUFFER_SCOPE struct buffer address = {0};
    run_row_address(&address, view, cell);
    if (!address.size) {
        buffer_text(view->out, "<td></td>");
        return;
    }
    html_put(view->out,
             "<td data-of=\"Board\"><a href=\"{}\" aria-label=\"Row of the board: {}, {} with {}\">"
             "row</a></td>",
             html_raw(&address), html_string(cell->workload_id), html_string(cell->model_name),
             html_string(cell->runtime_id));
}

static void put_overview_row(const struct run_view *view, size_t i, const bool *used)
{
    const struct bench_cell *cell = &view->run->cells[i];
    html_put(view->out,
             "<tr><th scope=\"row\"><a href=\"#cell-{}\"><bdi>{}</bdi> <small><bdi>{}</bdi> with "
             "<bdi>{}</bdi></small></a></th><td data-of=\"Status\">",
             html_number((double)i + 1), html_string(cell->workload_id),
             html_string(cell->model_name), html_string(cell->runtime_id));
    put_status(view->out, cell);
    put_marks(view, cell, &view->summaries->cells[i]);
    buffer_text(view->out, "</td>");
    for (size_t column = 0; column < COLUMNS; column++) {
        double value = column_value(view, i, column);
        if (!used[column])
            continue;
        term_cell(view->out, term(column_key(column)), value);
    }
    if (view->on_board)
        put_board_link(view, cell);
    buffer_text(view->out, "</tr>");
}

static void put_heading(const struct run_view *view, const char *key)
{
    buffer_text(view->out, "<th scope=\"col\" class=\"number\">");
    term_link(view->out, key, view->protocol);
    html_put(view->out, " <span class=\"soft\">{}</span></th>", html_text(term(key)->unit));
}

/* Cells of one model on one runtime are its workloads: the only ones that a mean may go over. */
static bool same_subject(const struct bench_cell *a, const struct bench_cell *b)
{
    return !js_compare(a->runtime_id, b->runtime_id) &&
           !js_compare(a->bench_model_id, b->bench_model_id);
}

/* The geometric mean of METRIC's medians over the workloads of cell FIRST's model and runtime; *COUNT of them. */
static double geometric_mean(const struct run_view *view, size_t first, enum metric metric,
                             size_t *count)
{
    double logarithms = 0;
    *count = 0;
    for (size_t i = first; i < view->run->cell_count; i++) {
        const struct sample *sample = &view->summaries->cells[i].metrics[metric];
        if (view->run->cells[i].status != CELL_OK || !sample->n || !(sample->median > 0) ||
            !isfinite(sample->median) ||
            !same_subject(&view->run->cells[first], &view->run->cells[i]))
            continue;
        logarithms += log(sample->median);
        ++*count;
    }
    return exp(logarithms / (double)*count);
}

static bool is_first_of_subject(const struct run_view *view, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_subject(&view->run->cells[j], &view->run->cells[i]))
            return false;
    return true;
}

static void put_geometric_means(const struct run_view *view)
{
    size_t rows = 0;
    for (size_t i = 0; i < view->run->cell_count && rows < GROUPS_MOST; i++) {
        if (!is_first_of_subject(view, i))
            continue;
        for (size_t j = 0; j < OVERVIEW; j++) {
            size_t count;
            double mean = geometric_mean(view, i, overview[j], &count);
            if (count < 2)
                continue;
            if (!rows++) {
                buffer_text(view->out, "<h3>");
                term_link(view->out, "geomean", view->protocol);
                buffer_text(view->out, " over workloads</h3><ul>");
            }
            html_put(view->out, "<li>{} on {}: {} <b>{}</b> {} over {} workloads</li>",
                     html_string(view->run->cells[i].model_name),
                     html_string(view->run->cells[i].runtime_id),
                     html_text(term(metric_name(overview[j]))->label),
                     term_value(term(metric_name(overview[j])), mean),
                     html_text(term(metric_name(overview[j]))->unit), html_number((double)count));
        }
    }
    if (rows)
        buffer_text(view->out, "</ul>");
}

void run_overview(const struct run_view *view)
{
    buffer_text(
        view->out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All cells\"><table "
        "class=\"cards\"><thead><tr><th scope=\"col\">Cell</th><th scope=\"col\">Status</th>");
    bool used[COLUMNS];
    for (size_t column = 0; column < COLUMNS; column++) {
        used[column] = is_column_used(view, column);
        if (used[column])
            put_heading(view, column_key(column));
    }
    if (view->on_board)
        buffer_text(view->out, "<th scope=\"col\">Board</th>");
    buffer_text(view->out, "</tr></thead><tbody>");
    for (size_t i = 0; i < view->run->cell_count; i++)
        put_overview_row(view, i, used);
    buffer_text(view->out, "</tbody></table></div>");
    put_geometric_means(view);
}

static void put_statistics(const struct run_view *view, const struct bench_summary *summary)
{
    static const char *const columns[] = {"n",   "median", "mean", "sd",
                                          "iqr", "range",  "ci95", "cv"};
    bool any = false;
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        any = any || summary->metrics[metric].n;
    if (!any)
        return;
    buffer_text(view->out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                           "aria-label=\"Statistics\"><table><thead><tr>"
                           "<th scope=\"col\">Figure</th>");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        put_heading(view, columns[i]);
    buffer_text(view->out, "</tr></thead><tbody>");
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        const struct sample *sample = &summary->metrics[metric];
        if (!sample->n)
            continue;
        const struct term *meaning = term(metric_name((enum metric)metric));
        buffer_text(view->out, "<tr><th scope=\"row\">");
        term_link(view->out, meaning->key, view->protocol);
        html_put(
            view->out,
            " <span class=\"soft\">{}</span></th><td class=\"number\">{}</td><td "
            "class=\"number\"><b>{}</b></td>"
            "<td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
            "<td class=\"number\">{} \xE2\x80\x93 {}</td><td class=\"number\">\xC2\xB1 {}</td>"
            "<td class=\"number\">{} %</td></tr>",
            html_text(meaning->unit), html_number((double)sample->n),
            term_value(meaning, sample->median), term_value(meaning, sample->mean),
            term_value(meaning, sample->sd), term_value(meaning, sample->iqr),
            term_value(meaning, sample->min), term_value(meaning, sample->max),
            term_value(meaning, sample->ci95), html_rounded(sample->cv * 100, 1));
    }
    buffer_text(view->out, "</tbody></table></div>");
}

static void put_pictures(const struct run_view *view, const struct bench_cell *cell,
                         const struct bench_summary *summary)
{
    buffer_text(view->out, "<div class=\"pictures\">");
    if (!cell->llm)
        picture_durations(view->out, cell);
    for (size_t i = 0; cell->llm && i < cell->iteration_count && i < PICTURES_MOST; i++)
        picture_stream(view->out, cell, i, summary->incremental);
    buffer_text(view->out, "</div>");
    if (cell->llm)
        run_more(view->out, beyond(cell->iteration_count, PICTURES_MOST), "iterations");
}

/* What each iteration says beside its times: finish reason, gates, usage, the text. */
static void put_iterations(const struct run_view *view, const struct bench_cell *cell)
{
    static const char *const drawn[] = {"startT", "endT", "chunks", "text", NULL};
    buffer_text(view->out, "<details><summary>Iterations: what they said</summary>");
    for (size_t i = 0; i < cell->iteration_count && i < PICTURES_MOST; i++) {
        html_put(view->out, "<h4>Iteration {}</h4>", html_number((double)i + 1));
        run_facts(view->out, &cell->iterations_value->items[i], drawn);
        if (cell->iterations[i].text)
            html_put(view->out, "<pre dir=\"auto\">{}</pre>",
                     html_slice(text_of(cell->iterations[i].text), TEXT_SHOWN));
    }
    run_more(view->out, beyond(cell->iteration_count, PICTURES_MOST), "iterations");
    buffer_text(view->out, "</details>");
}

static void put_discarded(struct buffer *out, const struct js_value *raw)
{
    static const char *const drawn[] = {"chunks", NULL};
    const struct js_value *discarded = js_get(raw, "discardedIterations");
    if (!discarded || discarded->type != JS_ARRAY || !discarded->size)
        return;
    html_put(out, "<h4>Discarded iterations: {}</h4>", html_number(discarded->size));
    for (uint32_t i = 0; i < discarded->size && i < PICTURES_MOST; i++) {
        const struct js_value *chunks = js_get(&discarded->items[i], "chunks");
        run_facts(out, &discarded->items[i], drawn);
        if (chunks && chunks->type == JS_ARRAY)
            html_put(out, "<p class=\"soft\">{} chunks in the file.</p>",
                     html_number(chunks->size));
    }
    run_more(out, beyond(discarded->size, PICTURES_MOST), "discarded iterations");
}

/* Whether the only attempt ended in what the cell ended in: then it is said once. */
static bool is_same_error(const struct js_value *a, const struct js_value *b)
{
    static const char *const members[] = {"name", "message", "cause", "causeName", "causeStack"};
    if (!a || !b || a->size != b->size)
        return false;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct text first = text_of(js_get(a, members[i])), second = text_of(js_get(b, members[i]));
        if (first.size != second.size ||
            (first.size && memcmp(first.data, second.data, first.size)))
            return false;
    }
    return true;
}

static void put_attempts(struct buffer *out, const struct js_value *raw)
{
    const struct js_value *attempts = js_get(raw, "attempts"), *error = js_get(raw, "error");
    if (!attempts || !attempts->size)
        return;
    html_put(out, "<h4>Failed attempts: {}</h4>", html_number(attempts->size));
    for (uint32_t i = 0; i < attempts->size && i < PICTURES_MOST; i++) {
        const struct js_value *at = js_get(&attempts->items[i], "at");
        bool said =
            attempts->size == 1 && is_same_error(error, js_get(&attempts->items[i], "error"));
        if (at)
            html_put(out, "<p class=\"soft\">At {} s of the page's clock{}</p>",
                     html_rounded(at->number / 1000, 1),
                     html_markup(said ? ", with the error above." : ""));
        if (!said)
            run_error(out, js_get(&attempts->items[i], "error"));
    }
    run_more(out, beyond(attempts->size, PICTURES_MOST), "attempts");
}

static void put_reasons(struct buffer *out, const struct js_value *raw)
{
    const struct js_value *reasons = js_get(raw, "invalidReasons"), *error = js_get(raw, "error");
    if (reasons && reasons->size) {
        uint32_t i = 0;
        buffer_text(out, "<ul class=\"failure\">");
        for (; i < reasons->size && i < OUTPUTS_SHOWN && !run_is_full(out); i++)
            html_put(out, "<li>{}</li>", html_slice(text_of(&reasons->items[i]), HTML_TEXT_MOST));
        buffer_text(out, "</ul>");
        run_more(out, reasons->size - i, "reasons");
    }
    if (error)
        run_error(out, error);
}

/* What every quality cell has, by the names that people know it by. */
static void put_score(const struct run_view *view, const struct bench_cell *cell)
{
    static const struct {
        const char *key, *term;
    } known[] = {{"score", "qualityScore"}, {"parseRate", "qualityParseRate"}};
    const struct js_value *task = js_get(cell->quality, "taskId"), *n = js_get(cell->quality, "n");
    buffer_text(view->out, "<dl class=\"facts\">");
    if (task)
        html_put(view->out, "<dt>Task</dt><dd>{}</dd>", html_string(task));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct js_value *value = js_get(cell->quality, known[i].key);
        const struct term *figure = term(known[i].term);
        if (value && value->type == JS_NUMBER)
            html_put(view->out, "<dt>{}</dt><dd>{}</dd>", html_text(figure->label),
                     html_number(value->number));
    }
    if (n && n->type == JS_NUMBER)
        html_put(view->out, "<dt>Questions</dt><dd>{}</dd>", html_number(n->number));
    buffer_text(view->out, "</dl>");
}

static void put_quality(const struct run_view *view, const struct bench_cell *cell)
{
    static const char *const listed[] = {"details", "outputs",   "taskId", "score",
                                         "n",       "parseRate", NULL};
    if (!cell->quality)
        return;
    buffer_text(view->out, "<h4>");
    term_link(view->out, "qualityScore", view->protocol);
    buffer_text(view->out, "</h4>");
    put_score(view, cell);
    run_facts(view->out, cell->quality, listed);
    if (!cell->outputs || !cell->outputs->size)
        return;
    buffer_text(view->out, "<details><summary>Stored outputs</summary><ol>");
    uint32_t i = 0;
    for (; i < cell->outputs->size && i < OUTPUTS_SHOWN && !run_is_full(view->out); i++) {
        html_put(view->out, "<li><q>{}</q>", html_slice(text_of(&cell->outputs->items[i]), 500));
        if (cell->details && i < cell->details->size)
            html_put(view->out, " <span class=\"soft\">{}</span>",
                     html_number(cell->details->items[i].number));
        buffer_text(view->out, "</li>");
    }
    buffer_text(view->out, "</ol>");
    run_more(view->out, cell->outputs->size - i, "outputs");
    buffer_text(view->out, "</details>");
}

/* Model, load, memory, runtime configuration and whatever else the cell carries. */
static void put_configuration(struct buffer *out, const struct js_value *raw)
{
    static const char *const shown[] = {
        "cellId",  "runtimeId", "workloadId", "iterations", "discardedIterations",
        "quality", "status",    "attempts",   "error",      "invalidReasons",
        NULL};
    buffer_text(out, "<details><summary>Model, load, memory, runtime configuration</summary>");
    run_facts(out, raw, shown);
    buffer_text(out, "</details>");
}

static void put_cell(const struct run_view *view, size_t i)
{
    const struct bench_cell *cell = &view->run->cells[i];
    const struct bench_summary *summary = &view->summaries->cells[i];
    const struct js_value *raw = raw_cell(view, i);
    html_put(view->out,
             "<section class=\"cell\" id=\"cell-{}\"><h3><bdi>{}</bdi> \xC2\xB7 <bdi>{}</bdi> "
             "\xC2\xB7 <bdi>{}</bdi> ",
             html_number((double)i + 1), html_string(cell->runtime_id),
             html_string(cell->model_name), html_string(cell->workload_id));
    put_status(view->out, cell);
    put_marks(view, cell, summary);
    html_put(view->out, "</h3><p class=\"soft\">{} on {}, version {}</p>",
             html_string(cell->cell_id), html_string(cell->resolved_backend),
             html_string(cell->runtime_version));
    put_reasons(view->out, raw);
    bool brief = run_is_full(view->out);
    if (cell->iteration_count && !brief)
        put_pictures(view, cell, summary);
    put_statistics(view, summary);
    if (cell->iteration_count && !brief)
        run_derive(view, i);
    put_quality(view, cell);
    if (!brief) {
        if (cell->iteration_count)
            put_iterations(view, cell);
        put_discarded(view->out, raw);
        put_attempts(view->out, raw);
        put_configuration(view->out, raw);
    } else {
        buffer_text(view->out,
                    "<p class=\"soft\">The page is long: pictures and details of this cell are in "
                    "the file.</p>");
    }
    buffer_text(view->out, "</section>");
}

void run_cells(const struct run_view *view)
{
    size_t i = 0;
    for (; i < view->run->cell_count && view->out->size < 2 * RUN_PAGE_MOST; i++)
        put_cell(view, i);
    run_more(view->out, view->run->cell_count - i, "cells");
}
