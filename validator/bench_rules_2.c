/* Plausibility rules of set 2 (spec 02). Their numbers stand here. */
#include <math.h>

#include "validator/bench_rules.h"
#include "validator/text.h"

#define MFLOPS_LOW 1.0
#define MFLOPS_HIGH 100000.0
#define TEXT_UNITS_LEAST 16.0
#define TTFT_MS_LEAST 1.0
#define TIMER_RESOLUTION_US_LEAST 4.0
#define TIMER_GRID_SLACK 0.01
#define TIMER_GRID_CHUNKS_LEAST 20
#define SCORE_SLACK 1e-9
#define EMBED_TEXTS_PER_SEC_MOST 2000.0
#define EMBED_LATENCY_MS_LEAST 0.05
#define CLIENT_SLACK 0.01

/* Characters a second by the model's size. */
#define SMALL_BYTES 500e6
#define SMALL_CHARS 4000.0
#define MIDDLE_BYTES 1000e6
#define MIDDLE_CHARS 2500.0
#define LARGE_BYTES 2000e6
#define LARGE_CHARS 1500.0
#define LARGEST_CHARS 1000.0

static const struct {
    double bytes_up_to, chars_per_sec;
} envelopes[] = {{SMALL_BYTES, SMALL_CHARS},
                 {MIDDLE_BYTES, MIDDLE_CHARS},
                 {LARGE_BYTES, LARGE_CHARS},
                 {INFINITY, LARGEST_CHARS}};

static void fingerprint_missing(const struct subject *subject)
{
    struct flag_writer evidence;
    if (subject->run->fingerprint)
        return;
    flag_begin(&evidence);
    rule_raise(subject, subject->rule->severity, NULL, &evidence);
}

static void fingerprint_implausible(const struct subject *subject)
{
    const struct bench_run *run = subject->run;
    if (!run->fingerprint ||
        (run->mflops > MFLOPS_LOW && run->mflops <= MFLOPS_HIGH && !isnan(run->checksum)))
        return;
    rule_flag_numbers(subject, "mflops", run->mflops, "checksum", run->checksum);
}

static void env_cross_field(const struct subject *subject)
{
    const struct bench_run *run = subject->run;
    struct flag_writer evidence;
    if (!text_is(text_of(run->gpu_vendor), "apple") ||
        !text_contains(text_of(run->platform), "windows"))
        return;
    flag_begin(&evidence);
    rule_put_text(&evidence, "gpuVendor", run->gpu_vendor);
    rule_put_text(&evidence, "platform", run->platform);
    rule_raise(subject, subject->rule->severity, NULL, &evidence);
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_word_warp(struct text text)
{
    for (size_t at = 0; at + 4 <= text.size; at++) {
        bool starts = at == 0 || !is_word_byte(text.data[at - 1]);
        bool ends = at + 4 == text.size || !is_word_byte(text.data[at + 4]);
        if (starts && ends && text_is((struct text){text.data + at, 4}, "warp"))
            return true;
    }
    return false;
}

static const char *software_renderer_name(struct text names)
{
    static const char *const anywhere[] = {
        "swiftshader", "llvmpipe", "softpipe", "microsoft basic render",
        "parallels",   "vmware",   "virtio",   "virtualbox"};
    for (size_t i = 0; i < sizeof anywhere / sizeof *anywhere; i++)
        if (text_contains(names, anywhere[i]))
            return anywhere[i];
    return has_word_warp(names) ? "warp" : NULL;
}

static bool measured_on_gpu(const struct bench_run *run)
{
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct bench_cell *cell = &run->cells[i];
        if (cell->status == CELL_OK && cell->resolved_backend &&
            (js_equals(cell->resolved_backend, "gpu") ||
             memmem(cell->resolved_backend->text, cell->resolved_backend->size, "webgpu", 6)))
            return true;
    }
    return false;
}

static void software_renderer(const struct subject *subject)
{
    const struct bench_run *run = subject->run;
    const struct js_value *const parts[] = {run->gpu_vendor, run->gpu_architecture, run->gpu_device,
                                            run->gpu_description, run->webgl_renderer};
    BUFFER_SCOPE struct buffer names = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct text part = text_of(parts[i]);
        if (part.size && names.size)
            buffer_byte(&names, ' ');
        buffer_add(&names, part.data, part.size);
    }
    const char *found = software_renderer_name((struct text){names.data, names.size});
    if (!found)
        return;
    struct flag_writer evidence;
    bool on_gpu = measured_on_gpu(run);
    flag_begin(&evidence);
    js_write_key(&evidence.writer, "renderer");
    js_write_text(&evidence.writer, found);
    js_write_key(&evidence.writer, "measuredOnGpu");
    js_write_bool(&evidence.writer, on_gpu);
    rule_raise(subject, on_gpu ? SEVERITY_REJECT : SEVERITY_WARN, NULL, &evidence);
}

static void compare_median(const struct subject *subject, const struct client_summary *client,
                           enum metric metric)
{
    size_t cell = (size_t)(client->cell - subject->run->cells);
    const struct sample *sample = &subject->summaries->cells[cell].metrics[metric];
    double c = client->medians[metric], s = sample->median;
    if (!sample->n || s == 0 || !(fabs(c - s) / fabs(s) > CLIENT_SLACK))
        return; /* an absent median is NAN, which is no disagreement */
    struct flag_writer evidence;
    flag_begin(&evidence);
    js_write_key(&evidence.writer, "metric");
    js_write_text(&evidence.writer, metric_name(metric));
    rule_put(&evidence, "client", c);
    rule_put(&evidence, "server", s);
    rule_raise(subject, subject->rule->severity, client->cell, &evidence);
}

static void client_summary_disagrees(const struct subject *subject)
{
    for (size_t i = 0; i < subject->run->client_count; i++) {
        const struct client_summary *client = &subject->run->clients[i];
        for (int metric = 0; client->cell && metric < METRIC_COUNT; metric++)
            if (metric_is_compared((enum metric)metric))
                compare_median(subject, client, (enum metric)metric);
    }
}

static void load_time_reversed(const struct subject *subject)
{
    const struct bench_cell *cell = subject->cell;
    if (cell->load && cell->load_end < cell->load_start)
        rule_flag_numbers(subject, "startT", cell->load_start, "endT", cell->load_end);
}

/* The first iteration whose trace cannot be true, and why; monotony is tested before the text. */
struct trace_fault {
    size_t iteration;     /* the number of iterations when there is none */
    bool in_time;         /* else in the text */
    double before, after; /* times out of order, or characters of text and chunks */
};

static bool is_out_of_order(const struct bench_iteration *iteration, struct trace_fault *fault)
{
    double before = iteration->start;
    for (size_t i = 0; i <= iteration->chunk_count; i++) {
        double after = i < iteration->chunk_count ? iteration->chunks[i].t : iteration->end;
        if (after < before) {
            fault->before = before;
            fault->after = after;
            return true;
        }
        before = after;
    }
    return false;
}

static struct trace_fault find_fault(const struct bench_cell *cell)
{
    struct trace_fault fault = {0};
    for (; fault.iteration < cell->iteration_count; fault.iteration++) {
        const struct bench_iteration *iteration = &cell->iterations[fault.iteration];
        fault.in_time = is_out_of_order(iteration, &fault);
        if (fault.in_time)
            break;
        double sum = 0;
        for (size_t i = 0; i < iteration->chunk_count; i++)
            sum += iteration->chunks[i].c;
        fault.before = (double)js_units(iteration->text);
        fault.after = sum;
        if (fault.before != fault.after)
            break;
    }
    return fault;
}

static void flag_fault(const struct subject *subject, bool in_time, const char *before,
                       const char *after)
{
    struct trace_fault fault = find_fault(subject->cell);
    if (fault.iteration == subject->cell->iteration_count || fault.in_time != in_time)
        return;
    struct flag_writer evidence;
    flag_begin(&evidence);
    rule_put(&evidence, "iteration", (double)fault.iteration);
    rule_put(&evidence, before, fault.before);
    rule_put(&evidence, after, fault.after);
    rule_raise(subject, subject->rule->severity, subject->cell, &evidence);
}

static void trace_not_monotonic(const struct subject *subject)
{
    flag_fault(subject, true, "before", "after");
}

static void text_chunk_mismatch(const struct subject *subject)
{
    flag_fault(subject, false, "textUnits", "chunkUnits");
}

static void degenerate_generation(const struct subject *subject)
{
    for (size_t i = 0; i < subject->cell->iteration_count; i++) {
        double units = (double)js_units(subject->cell->iterations[i].text);
        if (units < TEXT_UNITS_LEAST) {
            rule_flag_numbers(subject, "iteration", (double)i, "textUnits", units);
            return;
        }
    }
}

double rule_envelope(double size_bytes)
{
    size_t at = 0, last = sizeof envelopes / sizeof *envelopes - 1;
    while (at < last && !(size_bytes <= envelopes[at].bytes_up_to))
        at++; /* an absent size is NAN and ends in the largest class */
    return envelopes[at].chars_per_sec;
}

static bool exceeds(const struct sample *sample, double limit)
{
    return sample->n && sample->median > limit;
}

static void rate_envelope(const struct subject *subject, enum metric metric)
{
    const struct sample *sample = &subject->summary->metrics[metric];
    double limit = rule_envelope(subject->cell->size_bytes);
    if (exceeds(sample, limit))
        rule_flag_numbers(subject, metric_name(metric), sample->median, "limit", limit);
}

static void decode_rate_envelope(const struct subject *subject)
{
    rate_envelope(subject, METRIC_DECODE_CHARS);
}

static void overall_rate_envelope(const struct subject *subject)
{
    rate_envelope(subject, METRIC_OVERALL);
}

static void ttft_implausible(const struct subject *subject)
{
    const struct sample *ttft = &subject->summary->metrics[METRIC_TTFT];
    if (ttft->n && ttft->median < TTFT_MS_LEAST)
        rule_flag_numbers(subject, "ttftMs", ttft->median, "limit", TTFT_MS_LEAST);
}

/* Adding and taking away 1.5 * 2^52 rounds without a call; large values are rare. */
static double nearest_integer(double value)
{
    static const double LARGE = 6755399441055744.0;
    return fabs(value) < 2251799813685248.0 ? (value + LARGE) - LARGE : floor(value + 0.5);
}

static void timer_grid(const struct subject *subject)
{
    double resolution = subject->run->timer_us, grid = resolution / 1000;
    size_t chunks = 0, off = 0;
    if (!(resolution >= TIMER_RESOLUTION_US_LEAST))
        return;
    for (size_t i = 0; i < subject->cell->iteration_count; i++) {
        const struct bench_iteration *iteration = &subject->cell->iterations[i];
        chunks += iteration->chunk_count;
        for (size_t j = 0; j < iteration->chunk_count; j++) {
            double steps = iteration->chunks[j].t / grid;
            off += fabs(steps - nearest_integer(steps)) > TIMER_GRID_SLACK;
        }
    }
    if (chunks >= TIMER_GRID_CHUNKS_LEAST && 2 * off > chunks)
        rule_flag_numbers(subject, "chunks", (double)chunks, "offGrid", (double)off);
}

static bool outputs_disagree(const struct bench_cell *cell)
{
    return (double)cell->outputs->size != cell->quality_n || !cell->details ||
           cell->details->size != cell->outputs->size;
}

static void quality_outputs_mismatch(const struct subject *subject)
{
    const struct bench_cell *cell = subject->cell;
    if (!outputs_disagree(cell))
        return;
    struct flag_writer evidence;
    flag_begin(&evidence);
    rule_put(&evidence, "n", cell->quality_n);
    rule_put(&evidence, "outputs", cell->outputs->size);
    rule_put(&evidence, "details", cell->details ? (double)cell->details->size : NAN);
    rule_raise(subject, subject->rule->severity, cell, &evidence);
}

/* Hits that the outputs give, and how many details say otherwise. Without a key the details are
 * believed. */
static double count_hits(const struct subject *subject, double *differing)
{
    const struct bench_cell *cell = subject->cell;
    const struct answer_key *key = subject->flags->key;
    double hits = 0;
    *differing = 0;
    for (uint32_t i = 0; i < cell->outputs->size; i++) {
        double detail = cell->details->items[i].number, hit;
        if (!key) {
            hits += detail;
            continue;
        }
        if (i >= key->count)
            continue;
        hit = answer_parse(subject->flags->arena, &cell->outputs->items[i], &key->items[i]) ==
              key->items[i].answer;
        hits += hit;
        *differing += hit != detail;
    }
    return hits;
}

static void quality_details_mismatch(const struct subject *subject)
{
    const struct bench_cell *cell = subject->cell;
    if (outputs_disagree(cell) || cell->quality_n == 0)
        return;
    double differing, hits = count_hits(subject, &differing), score = hits / cell->quality_n;
    if (differing == 0 && fabs(score - cell->score) <= SCORE_SLACK)
        return;
    struct flag_writer evidence;
    flag_begin(&evidence);
    rule_put(&evidence, "differing", differing);
    rule_put(&evidence, "score", score);
    rule_put(&evidence, "claimed", cell->score);
    rule_raise(subject, subject->rule->severity, cell, &evidence);
}

static void embed_rate_envelope(const struct subject *subject)
{
    const struct sample *rate = &subject->summary->metrics[METRIC_BATCH_TEXTS];
    if (exceeds(rate, EMBED_TEXTS_PER_SEC_MOST))
        rule_flag_numbers(subject, "batchTextsPerSec", rate->median, "limit",
                          EMBED_TEXTS_PER_SEC_MOST);
}

static void embed_latency_implausible(const struct subject *subject)
{
    const struct sample *latency = &subject->summary->metrics[METRIC_SINGLE_LATENCY];
    if (latency->n && latency->median < EMBED_LATENCY_MS_LEAST)
        rule_flag_numbers(subject, "singleLatencyMs", latency->median, "limit",
                          EMBED_LATENCY_MS_LEAST);
}

/* What the two envelope rules say. */
#define ENVELOPE_WORDS                                                                             \
    "the model's size: {} chars/s up to {} MB, {} up to {} MB, {} up to {} MB, {} beyond or when " \
    "the size is not given"
#define ENVELOPE_LIMITS                                                                \
    {                                                                                  \
        SMALL_CHARS, SMALL_BYTES / 1e6, MIDDLE_CHARS, MIDDLE_BYTES / 1e6, LARGE_CHARS, \
            LARGE_BYTES / 1e6, LARGEST_CHARS                                           \
    }

/* clang-format off */
static const struct rule rules[] = {
    {"fingerprint-missing", SEVERITY_REJECT, BEFORE_CELLS, fingerprint_missing,
     "the run carries no calibration check",
     "fingerprint is absent or null",
     "Let the runner finish its calibration before it measures, and export the run again.", {0}, NULL},
    {"fingerprint-implausible", SEVERITY_REJECT, BEFORE_CELLS, fingerprint_implausible,
     "the calibration check has no checksum or a speed that no browser reaches",
     "mflops is {} or less or above {}, or the checksum is missing",
     "Measure again in a window that stays visible; update the runner if it comes back.", {MFLOPS_LOW, MFLOPS_HIGH}, NULL},
    {"load-time-reversed", SEVERITY_REJECT, ALL_CELLS, load_time_reversed,
     "the model finished loading before it began",
     "load.endT < load.startT",
     "The clock of the page went wrong, or the runner mixed up two times: measure again.", {0}, NULL},
    {"trace-not-monotonic", SEVERITY_REJECT, LLM_CELLS, trace_not_monotonic,
     "times in the stream go backwards",
     "a chunk is before the one that precedes it (the first before startT), or endT is before the last",
     "Take all times of an iteration from one performance.now() of one thread.", {0}, NULL},
    {"text-chunk-mismatch", SEVERITY_REJECT, LLM_CELLS, text_chunk_mismatch,
     "the generated text is not as long as its chunks together",
     "the length of the text in UTF-16 units is not the sum of its chunks' characters",
     "Store the text exactly as it was streamed: not trimmed, not decoded again.", {0}, NULL},
    {"degenerate-generation", SEVERITY_REJECT, LLM_CELLS, degenerate_generation,
     "an iteration generated fewer than 16 characters",
     "an iteration's text is shorter than {} UTF-16 units",
     "The model stopped at once. Mark such a cell invalid, or look at its prompt and stop words.", {TEXT_UNITS_LEAST}, NULL},
    {"decode-rate-envelope", SEVERITY_REJECT, LLM_CELLS, decode_rate_envelope,
     "the decode rate is above what a model of this size reaches",
     "the median decode rate is above the envelope of " ENVELOPE_WORDS,
     "Check that chunks carry the time at which they arrived, and that model.sizeBytes is that of the model. If it "
     "is right, a maintainer can release the run.", ENVELOPE_LIMITS, NULL},
    {"overall-rate-envelope", SEVERITY_REJECT, LLM_CELLS, overall_rate_envelope,
     "the end-to-end rate is above what a model of this size reaches",
     "the median end-to-end rate is above the envelope of " ENVELOPE_WORDS,
     "Check that startT is taken before the request and endT after its end, and that model.sizeBytes is right.",
     ENVELOPE_LIMITS, NULL},
    {"ttft-implausible", SEVERITY_REJECT, LLM_CELLS, ttft_implausible,
     "the first token came in less than a millisecond",
     "the median TTFT is below {} ms",
     "Switch off prompt and answer caches: each iteration has to read its prompt.", {TTFT_MS_LEAST}, NULL},
    {"timer-grid", SEVERITY_WARN, LLM_CELLS, timer_grid,
     "most chunk times do not lie on the grid of the browser's timer",
     "timerResolutionUs is {} or more, and of at least {} chunks more than half are off its grid by more than {} of a step",
     "Nothing, when the browser adds noise to its clock. Else let the runner measure the timer's resolution again.",
     {TIMER_RESOLUTION_US_LEAST, TIMER_GRID_CHUNKS_LEAST, TIMER_GRID_SLACK}, NULL},
    {"quality-outputs-mismatch", SEVERITY_REJECT, QUALITY_CELLS, quality_outputs_mismatch,
     "outputs, details and n of the quality task do not count the same items",
     "the number of outputs is not n, or details are missing or of another number",
     "Store one output and one detail for each question that was asked.", {0}, NULL},
    {"quality-details-mismatch", SEVERITY_REJECT, QUALITY_CELLS, quality_details_mismatch,
     "the stored outputs give other answers than the details or the score say",
     "an output read again gives another hit than its detail, or the share of hits differs from the score by more than {}",
     "Score exactly the stored text, cut as it is stored.", {SCORE_SLACK}, NULL},
    {"embed-rate-envelope", SEVERITY_REJECT, EMBED_CELLS, embed_rate_envelope,
     "more than 2000 texts a second were embedded",
     "the median embedding rate is above {} texts/s",
     "Check that the request was awaited before endT was taken, and that count is what was embedded.",
     {EMBED_TEXTS_PER_SEC_MOST}, NULL},
    {"embed-latency-implausible", SEVERITY_REJECT, EMBED_CELLS, embed_latency_implausible,
     "a text was embedded in less than 0.05 ms",
     "the median embedding latency is below {} ms",
     "Check that the request was awaited before endT was taken, and that nothing was answered from a cache.",
     {EMBED_LATENCY_MS_LEAST}, NULL},
    {"env-cross-field", SEVERITY_REJECT, AFTER_CELLS, env_cross_field,
     "an Apple GPU under Windows",
     "gpu.vendor is apple and os.platform contains windows",
     "Switch off extensions and settings that disguise the browser, and measure again.", {0}, NULL},
    {"software-renderer", SEVERITY_WARN, AFTER_CELLS, software_renderer,
     "the graphics adapter is a software renderer or a virtual machine's",
     "a name of the adapter is that of a software renderer or a virtual machine (swiftshader, llvmpipe, softpipe, warp as a "
     "whole word, microsoft basic render, parallels, vmware, virtio, virtualbox)",
     "Measure on the device itself with its graphics driver, or leave out the GPU runtimes.", {0},
     "an ok cell was measured on the GPU: its resolvedBackend contains webgpu or is gpu"},
    {"client-summary-disagrees", SEVERITY_REJECT, AFTER_CELLS, client_summary_disagrees,
     "a median of the client differs by more than 1 % from the one recomputed from its trace",
     "for TTFT, decode rate, total, end-to-end rate, embedding latency or rate: |client \xE2\x88\x92 recomputed| / |recomputed| > {}",
     "Leave clientSummaries out, or compute them from the trace as the methodology says.", {CLIENT_SLACK}, NULL},
};
/* clang-format on */

struct rule_table bench_rules_2(void)
{
    return (struct rule_table){rules, sizeof rules / sizeof *rules};
}
