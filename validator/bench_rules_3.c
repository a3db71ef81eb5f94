/* Plausibility rules that set 3, a draft, adds to those of set 2: those about cells, and the table. Their
 * numbers stand here and in bench_rules_3.h. */
#include <math.h>

#include "validator/bench_rules_3.h"
#include "validator/model_catalogue.h"
#include "validator/text.h"

#define ITERATIONS_LEAST 3.0

/* trace-regular. A steady stream read through a timer of step q has gaps that differ by one step at most: their
 * standard deviation is up to q/2 and says nothing of the device. So a stream of GAPS_LEAST gaps with mean m is
 * impossibly regular when q is at most m / GRID_SHARE and the deviation at most max(q * STEP_SHARE, m *
 * REGULAR_SHARE). The steadiest stream on record varies by 5.6 %. */
#define GAPS_LEAST 32.0
#define GRID_SHARE 20.0
#define STEP_SHARE 0.51
#define REGULAR_SHARE 0.002

#define REPEATED_UNITS_LEAST 64.0
#define REPEATED_BYTES_MOST 32

#define PARSE_RATE_SLACK 1e-9

static void few_iterations(const struct subject *subject)
{
    double iterations = (double)subject->cell->iteration_count;
    if (iterations > 0 && iterations < ITERATIONS_LEAST)
        rule_flag_numbers(subject, "iterations", iterations, "least", ITERATIONS_LEAST);
}

/* Mean and standard deviation of the gaps between an iteration's chunks, in two passes. */
static double gap_deviation(const struct bench_iteration *iteration, double *mean)
{
    const struct bench_chunk *chunks = iteration->chunks;
    double gaps = (double)iteration->chunk_count - 1, sum = 0;
    *mean = (chunks[iteration->chunk_count - 1].t - chunks[0].t) / gaps;
    for (size_t i = 1; i < iteration->chunk_count; i++) {
        double off = chunks[i].t - chunks[i - 1].t - *mean;
        sum += off * off;
    }
    return sqrt(sum / gaps);
}

static void trace_regular(const struct subject *subject)
{
    double step = subject->run->timer_us > 0 ? subject->run->timer_us / 1000 : 0, mean;
    for (size_t i = 0; i < subject->cell->iteration_count; i++) {
        const struct bench_iteration *iteration = &subject->cell->iterations[i];
        if ((double)iteration->chunk_count <= GAPS_LEAST)
            continue;
        double sd = gap_deviation(iteration, &mean);
        if (!(mean > 0) || step * GRID_SHARE > mean ||
            !(sd <= fmax(step * STEP_SHARE, mean * REGULAR_SHARE)))
            continue;
        struct flag_writer evidence;
        flag_begin(&evidence);
        rule_put(&evidence, "iteration", (double)i);
        rule_put(&evidence, "gaps", (double)iteration->chunk_count - 1);
        rule_put(&evidence, "meanMs", mean);
        rule_put(&evidence, "sdMs", sd);
        rule_raise(subject, subject->rule->severity, subject->cell, &evidence);
        return;
    }
}

/* How many bytes, repeated, make the whole text; 0: no REPEATED_BYTES_MOST or fewer do. */
static size_t find_period(struct text text)
{
    for (size_t period = 1; period <= REPEATED_BYTES_MOST && 2 * period <= text.size; period++)
        if (!memcmp(text.data, text.data + period, text.size - period))
            return period;
    return 0;
}

static void text_repeated(const struct subject *subject)
{
    for (size_t i = 0; i < subject->cell->iteration_count; i++) {
        const struct js_value *text = subject->cell->iterations[i].text;
        size_t period =
            (double)js_units(text) >= REPEATED_UNITS_LEAST ? find_period(text_of(text)) : 0;
        if (!period)
            continue;
        rule_flag_numbers(subject, "iteration", (double)i, "repeats",
                          floor((double)text->size / (double)period));
        return;
    }
}

static void gated_cell(const struct subject *subject)
{
    for (size_t i = 0; i < subject->cell->iteration_count; i++) {
        const struct js_value *gates = subject->cell->iterations[i].gates;
        if (!gates || !gates->size)
            continue;
        struct flag_writer evidence;
        struct text gate = text_cut(subject->flags->arena, text_of(&gates->items[0]), 64);
        flag_begin(&evidence);
        rule_put(&evidence, "iteration", (double)i);
        js_write_key(&evidence.writer, "gate");
        js_write_string(&evidence.writer, gate.data, gate.size);
        rule_raise(subject, subject->rule->severity, subject->cell, &evidence);
        return;
    }
}

/* Only with an answer key that has every item: which outputs hold an answer is else not known. */
static void parse_rate_mismatch(const struct subject *subject)
{
    const struct bench_cell *cell = subject->cell;
    const struct answer_key *key = subject->flags->key;
    uint32_t outputs = cell->outputs->size;
    double parsed = 0;
    if (!key || !outputs || outputs > key->count || isnan(cell->parse_rate))
        return;
    for (uint32_t i = 0; i < outputs; i++)
        parsed += answer_parse(subject->flags->arena, &cell->outputs->items[i], &key->items[i]) !=
                  ANSWER_NONE;
    if (fabs(parsed / outputs - cell->parse_rate) > PARSE_RATE_SLACK)
        rule_flag_numbers(subject, "parseRate", parsed / outputs, "claimed", cell->parse_rate);
}

static bool is_task(const struct bench_cell *cell, const char *begins)
{
    size_t size = strlen(begins);
    return cell->task_id && cell->task_id->size >= size &&
           !memcmp(cell->task_id->text, begins, size);
}

static void spearman_range(const struct subject *subject)
{
    const struct bench_cell *cell = subject->cell;
    if (is_task(cell, "stsb") && !(cell->score >= -1 && cell->score <= 1))
        rule_flag_numbers(subject, "score", cell->score, "most", 1);
}

static void flag_value(const struct subject *subject, const char *field, double value)
{
    struct flag_writer evidence;
    flag_begin(&evidence);
    js_write_key(&evidence.writer, "field");
    js_write_text(&evidence.writer, field);
    rule_put(&evidence, "value", value); /* one that is not finite: null */
    rule_raise(subject, subject->rule->severity, subject->cell, &evidence);
}

static bool is_count(double value, double least)
{
    return value >= least && floor(value) == value;
}

/* Absent numbers are NAN and are not looked at. */
static void value_out_of_range(const struct subject *subject)
{
    const struct bench_cell *cell = subject->cell;
    const struct {
        const char *field;
        double value;
        bool fine;
    } values[] = {
        {"quality.n", cell->quality_n, is_count(cell->quality_n, 0)},
        {"quality.score", is_task(cell, "tinymmlu") ? cell->score : NAN,
         cell->score >= 0 && cell->score <= 1},
        {"quality.parseRate", cell->parse_rate, cell->parse_rate >= 0 && cell->parse_rate <= 1},
        {"model.sizeBytes", cell->size_bytes, is_count(cell->size_bytes, 1)},
        {"load", cell->load ? cell->load_end - cell->load_start : NAN,
         isfinite(cell->load_end - cell->load_start)},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!isnan(values[i].value) && !values[i].fine) {
            flag_value(subject, values[i].field, values[i].value);
            return;
        }
    for (size_t i = 0; i < cell->iteration_count; i++) {
        const struct bench_iteration *iteration = &cell->iterations[i];
        double span = iteration->end - iteration->start;
        bool counted = cell->llm || is_count(iteration->count, 1);
        if (counted && isfinite(span) && (span >= 0 || cell->llm))
            continue;
        flag_value(subject, counted ? "iterations.endT" : "iterations.count",
                   counted ? span : iteration->count);
        return;
    }
}

/* The first field of a cell whose name the catalogue does not have; NULL: it has them all. */
static const char *unknown_field(const struct model_catalogue *catalogue,
                                 const struct bench_cell *cell, const struct js_value **name)
{
    const struct text shown = text_of(cell->model_name);
    const struct catalogue_model *model =
        model_catalogue_find(catalogue, text_of(cell->bench_model_id));
    const struct {
        const char *field;
        const struct js_value *name;
        bool known;
    } names[] = {
        {"runtimeId", cell->runtime_id,
         model_catalogue_has_runtime(catalogue, text_of(cell->runtime_id))},
        {"workloadId", cell->workload_id,
         model_catalogue_has_workload(catalogue, text_of(cell->workload_id))},
        {"benchModelId", cell->bench_model_id, model != NULL},
        {"displayName", cell->model_name,
         model && shown.size >= model->name.size &&
             !memcmp(shown.data, model->name.data, model->name.size)},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!names[i].known) {
            *name = names[i].name;
            return names[i].field;
        }
    return NULL;
}

static void unknown_name(const struct subject *subject)
{
    const struct model_catalogue *catalogue = subject->flags->policy->catalogue;
    const struct js_value *name;
    const char *field = catalogue ? unknown_field(catalogue, subject->cell, &name) : NULL;
    if (!field)
        return;
    struct flag_writer evidence;
    flag_begin(&evidence);
    js_write_key(&evidence.writer, "field");
    js_write_text(&evidence.writer, field);
    rule_put_text(&evidence, "name", name);
    rule_raise(subject, subject->rule->severity, subject->cell, &evidence);
}

static void size_looser_envelope(const struct subject *subject)
{
    const struct model_catalogue *catalogue = subject->flags->policy->catalogue;
    const struct catalogue_model *model =
        catalogue ? model_catalogue_find(catalogue, text_of(subject->cell->bench_model_id)) : NULL;
    double size = subject->cell->size_bytes;
    if (model && size < model->smallest_bytes &&
        rule_envelope(size) > rule_envelope(model->smallest_bytes))
        rule_flag_numbers(subject, "sizeBytes", size, "smallest", model->smallest_bytes);
}

/* clang-format off */
static const struct rule rules[] = {
    {"few-iterations", SEVERITY_WARN, ALL_CELLS, few_iterations,
     "a cell was measured fewer than 3 times",
     "a cell that was timed has fewer than {} iterations",
     "Measure each cell as often as the protocol asks for.", {ITERATIONS_LEAST}, NULL},
    {"trace-regular", SEVERITY_WARN, LLM_CELLS, trace_regular,
     "a stream is more regular than any device",
     "of an iteration with at least {} gaps between its chunks, whose mean is at least {} steps of the timer, the standard "
     "deviation of the gaps is at most {} of a step or {} of their mean",
     "Take the time of each chunk when it arrives, not from a rate.", {GAPS_LEAST, GRID_SHARE, STEP_SHARE, REGULAR_SHARE}, NULL},
    {"text-repeated", SEVERITY_WARN, LLM_CELLS, text_repeated,
     "a generated text is one piece repeated",
     "an iteration's text of at least {} UTF-16 units is nothing but one piece of at most {} bytes, repeated",
     "Look at what the model writes: a broken build or precision repeats one token.",
     {REPEATED_UNITS_LEAST, REPEATED_BYTES_MOST}, NULL},
    {"gated-cell", SEVERITY_WARN, ALL_CELLS, gated_cell,
     "an ok cell has an iteration that the runner itself gated",
     "an iteration's gates are not empty",
     "Mark a cell with a gated iteration invalid, or repeat the iteration.", {0}, NULL},
    {"parse-rate-mismatch", SEVERITY_WARN, QUALITY_CELLS, parse_rate_mismatch,
     "the stored outputs give another parse rate than the run says",
     "the share of outputs in which an answer is found differs from parseRate by more than {}",
     "Compute parseRate from exactly the stored outputs, cut as they are stored.", {PARSE_RATE_SLACK}, NULL},
    {"spearman-range", SEVERITY_WARN, ALL_CELLS, spearman_range,
     "a rank correlation lies outside \xE2\x88\x92" "1 to 1",
     "the score of a task that begins with stsb is below {} or above {}",
     "The score of this task is Spearman's rank correlation: store that.", {-1, 1}, NULL},
    {"value-out-of-range", SEVERITY_WARN, ALL_CELLS, value_out_of_range,
     "a number is none that its field can have",
     "n, sizeBytes or count is negative or no whole number, a share is outside {} to {}, or a span of time is negative or not finite",
     "The runner mixed up a field or a unit.", {0, 1}, NULL},
    {"unknown-name", SEVERITY_REJECT, ALL_CELLS, unknown_name,
     "a runtime, model or workload is none that the catalogue knows",
     "runtimeId, workloadId or benchModelId is not in this service's catalogue, or displayName does not begin with the model's name there",
     "Use the names that the runner gives. Whoever measures something new waits for a maintainer, who adds it.", {0}, NULL},
    {"size-looser-envelope", SEVERITY_REJECT, LLM_CELLS, size_looser_envelope,
     "a size is declared that no build of the model has, and that allows higher rates",
     "sizeBytes is below the smallest size in this service's catalogue, and the rate envelope of that size is a looser one",
     "Declare the size of the build that was loaded.", {0}, NULL},
    {"hidden-page", SEVERITY_WARN, AFTER_CELLS, hidden_page,
     "the page was hidden during an iteration of an ok cell",
     "an iteration of an ok cell overlaps with the time between a visibility-hidden event and the next visibility-visible one",
     "Keep the window in front: browsers slow hidden pages down. Set such iterations aside and repeat them.", {0}, NULL},
    {"runtime-order", SEVERITY_WARN, AFTER_CELLS, runtime_order,
     "the runtimes were not measured in the protocol's order",
     "a cell stands behind one whose runtime comes later in: transformers-wasm, transformers-webgpu, chrome-ai, webllm, "
     "mediapipe, litert, wllama-webgpu, wllama",
     "Let the runner order the cells.", {0}, NULL},
    {"suite-incomplete", SEVERITY_WARN, AFTER_CELLS, suite_incomplete,
     "a named suite does not list all its cells",
     "in a suite other than custom a runtime has a model without a workload that another runtime has with this model, "
     "whatever the cells' status",
     "List cells that were skipped, too, with the reason; or call the suite custom.", {0}, NULL},
    {"created-far-from-acceptance", SEVERITY_WARN, AFTER_CELLS, created_far,
     "the run was made long before it came in, or after it",
     "createdAt is more than {} days before the time of acceptance, or more than {} hours after it",
     "Set the device's clock. Runs that wait are better sent soon.", {CREATED_DAYS_BEFORE, CREATED_HOURS_AFTER}, NULL},
    {"environment-unknown-field", SEVERITY_WARN, AFTER_CELLS, environment_unknown,
     "the environment has a field that no runner writes",
     "a member of environment, or of an object in it, is none that runners on record write",
     "Take it out: the file is public, and nobody has looked at what the field may say of a person.", {0}, NULL},
    {"identifier-like-text", SEVERITY_WARN, AFTER_CELLS, identifier_like,
     "a device's name may identify the device or its owner",
     "a name of the device or its graphics holds what looks like an e-mail address, a UUID, a MAC address, a user's folder, "
     "an owner's name or a serial number",
     "Name the product only.", {0}, NULL},
};
/* clang-format on */

struct rule_table bench_rules_3(void)
{
    return (struct rule_table){rules, sizeof rules / sizeof *rules};
}
