#include "pages/run_parts.h"
#include "pages/terms.h"

/* Iterations that are derived one by one, and values that are listed sorted. */
enum { DERIVED_MOST = 25, SORTED_MOST = 200 };

struct iteration_view {
    struct buffer *out;
    const struct bench_iteration *iteration;
    const struct measurement *measured;
};

static const struct bench_chunk *last_chunk(const struct iteration_view *view)
{
    return &view->iteration->chunks[view->iteration->chunk_count - 1];
}

static void put_ttft(const struct iteration_view *view)
{
    html_put(view->out, "{} \xE2\x88\x92 {}", html_number(view->measured->first->t),
             html_number(view->iteration->start));
}

static void put_decode_chars(const struct iteration_view *view)
{
    html_put(view->out, "({} \xE2\x88\x92 {}) / ({} \xE2\x88\x92 {}) \xC3\x97 1000",
             html_number(view->measured->chars), html_number(view->measured->first->c),
             html_number(last_chunk(view)->t), html_number(view->measured->first->t));
}

static void put_decode_chunks(const struct iteration_view *view)
{
    html_put(view->out, "({} \xE2\x88\x92 1) / ({} \xE2\x88\x92 {}) \xC3\x97 1000",
             html_number((double)view->iteration->chunk_count), html_number(last_chunk(view)->t),
             html_number(view->measured->first->t));
}

static void put_generated(const struct iteration_view *view)
{
    html_put(view->out, "sum over {} chunks", html_number((double)view->iteration->chunk_count));
}

static void put_prefill(const struct iteration_view *view)
{
    html_put(view->out, "{} / {} \xC3\x97 1000", html_number(view->measured->prompt),
             html_number(view->measured->values[METRIC_TTFT]));
}

static void put_duration(const struct iteration_view *view)
{
    html_put(view->out, "{} \xE2\x88\x92 {}", html_number(view->iteration->end),
             html_number(view->iteration->start));
}

static void put_overall(const struct iteration_view *view)
{
    html_put(view->out, "{} / ({} \xE2\x88\x92 {}) \xC3\x97 1000",
             html_number(view->measured->chars), html_number(view->iteration->end),
             html_number(view->iteration->start));
}

static void put_batch(const struct iteration_view *view)
{
    html_put(view->out, "{} / ({} \xE2\x88\x92 {}) \xC3\x97 1000",
             html_number(view->iteration->count), html_number(view->iteration->end),
             html_number(view->iteration->start));
}

/* The formula of each metric (pages/terms.c) with the values of one iteration in it. */
static void (*const with_values[METRIC_COUNT])(const struct iteration_view *view) = {
    [METRIC_TTFT] = put_ttft,
    [METRIC_DECODE_CHARS] = put_decode_chars,
    [METRIC_DECODE_CHUNKS] = put_decode_chunks,
    [METRIC_GENERATED] = put_generated,
    [METRIC_PREFILL] = put_prefill,
    [METRIC_TOTAL] = put_duration,
    [METRIC_OVERALL] = put_overall,
    [METRIC_SINGLE_LATENCY] = put_duration,
    [METRIC_BATCH_TEXTS] = put_batch,
};

/* The values of METRIC, sorted, in the arena; COUNT of them. */
static double *sorted_values(struct arena *arena, const struct bench_cell *cell, bool incremental,
                             enum metric metric, size_t *count)
{
    double *values = arena_clear_take(arena, cell->iteration_count, sizeof *values);
    *count = 0;
    for (size_t i = 0; i < cell->iteration_count; i++) {
        struct measurement measured = bench_measure(cell, i, incremental);
        if (measured.has & 1u << metric)
            values[(*count)++] = measured.values[metric];
    }
    sort_numbers(values, *count);
    return values;
}

static void put_median(const struct run_view *view, const struct bench_cell *cell,
                       const struct bench_summary *summary, enum metric metric)
{
    ARENA_SCOPE struct arena arena = {0};
    size_t count;
    double *values = sorted_values(&arena, cell, summary->incremental, metric, &count);
    buffer_text(view->out, "<p>Sorted: ");
    for (size_t i = 0; i < count && i < SORTED_MOST; i++)
        html_put(view->out, i ? ", {}" : "{}", html_number(values[i]));
    if (count > SORTED_MOST)
        buffer_text(view->out, ", \xE2\x80\xA6");
    html_put(view->out, ". Median: <b>{}</b>", html_number(summary->metrics[metric].median));
    if (count % 2 == 0 && count >= 2)
        html_put(view->out, " = {} + ({} \xE2\x88\x92 {}) \xC3\x97 0.5",
                 html_number(values[count / 2 - 1]), html_number(values[count / 2]),
                 html_number(values[count / 2 - 1]));
    buffer_text(view->out, "</p>");
}

static void put_metric(const struct run_view *view, const struct bench_cell *cell,
                       const struct bench_summary *summary, enum metric metric)
{
    const struct term *meaning = term(metric_name(metric));
    buffer_text(view->out, "<h4>");
    term_link(view->out, meaning->key, view->protocol);
    html_put(view->out, " <span class=\"soft\">{}</span></h4><p>{}</p><ol class=\"derived\">",
             html_text(meaning->unit), html_text(meaning->formula));
    size_t most = cell->iteration_count < DERIVED_MOST ? cell->iteration_count : DERIVED_MOST;
    for (size_t i = 0; i < most; i++) {
        struct measurement measured = bench_measure(cell, i, summary->incremental);
        struct iteration_view part = {view->out, &cell->iterations[i], &measured};
        buffer_text(view->out, "<li>");
        if (measured.has & 1u << metric) {
            with_values[metric](&part);
            html_put(view->out, " = <b>{}</b>", html_number(measured.values[metric]));
        } else {
            buffer_text(view->out, "no value");
        }
        buffer_text(view->out, "</li>");
    }
    buffer_text(view->out, "</ol>");
    run_more(view->out, cell->iteration_count - most, "iterations");
    put_median(view, cell, summary, metric);
}

static void put_stream_verdict(const struct run_view *view, const struct bench_cell *cell)
{
    buffer_text(view->out, "<h4>");
    term_link(view->out, "incremental", view->protocol);
    html_put(view->out, "</h4><p>{}</p><ol class=\"derived\">",
             html_text(term("incremental")->formula));
    for (size_t i = 0; i < cell->iteration_count && i < DERIVED_MOST; i++) {
        const struct bench_iteration *iteration = &cell->iterations[i];
        struct measurement measured = bench_measure(cell, i, false);
        buffer_text(view->out, "<li>");
        if (measured.first && measured.first != measured.last_filled && measured.total > 0)
            html_put(view->out, "({} \xE2\x88\x92 {}) / ({} \xE2\x88\x92 {}) = <b>{}</b>",
                     html_number(measured.last_filled->t), html_number(measured.first->t),
                     html_number(iteration->end), html_number(iteration->start),
                     html_number((measured.last_filled->t - measured.first->t) / measured.total));
        else
            buffer_text(view->out, "fewer than two chunks with text");
        buffer_text(view->out, "</li>");
    }
    buffer_text(view->out, "</ol>");
}

void run_derive(const struct run_view *view, size_t index)
{
    const struct bench_cell *cell = &view->run->cells[index];
    const struct bench_summary *summary = &view->summaries->cells[index];
    buffer_text(view->out, "<details class=\"derive\"><summary>How was this computed?</summary>");
    if (cell->llm)
        put_stream_verdict(view, cell);
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        if (summary->metrics[metric].n)
            put_metric(view, cell, summary, (enum metric)metric);
    buffer_text(view->out, "</details>");
}
