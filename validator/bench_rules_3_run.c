#include <math.h>
#include <stdlib.h>

#include "validator/bench_rules_3.h"
#include "validator/calendar.h"
#include "validator/identifier.h"

enum { SHOWN_UNITS = 64 };
#define HOUR_MS 3600000.0

/* Times between which the page was hidden. */
struct span {
    double from, to;
};
struct spans {
    struct span *items; /* in order, apart from one another */
    size_t count;
};

struct turn {
    double t;
    uint32_t place; /* among the events: a coarse timer gives several one time */
    bool hidden;
};

static int by_time(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;
    if (a->t != b->t)
        return a->t < b->t ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static struct spans read_hidden(struct arena *arena, const struct js_value *events)
{
    struct turn *turns = arena_clear_take(arena, events->size, sizeof *turns);
    size_t count = 0;
    for (uint32_t i = 0; i < events->size; i++) {
        const struct js_value *t = js_get(&events->items[i], "t"),
                              *type = js_get(&events->items[i], "type");
        bool hidden = js_equals(type, "visibility-hidden");
        if (t && (hidden || js_equals(type, "visibility-visible")))
            turns[count++] = (struct turn){t->number, i, hidden};
    }
    qsort(turns, count, sizeof *turns, by_time);
    struct spans spans = {arena_clear_take(arena, count, sizeof *spans.items), 0};
    bool hidden = false;
    for (size_t i = 0; i < count; i++) {
        if (turns[i].hidden && !hidden)
            spans.items[spans.count++] = (struct span){turns[i].t, INFINITY};
        if (!turns[i].hidden && hidden)
            spans.items[spans.count - 1].to = turns[i].t;
        hidden = turns[i].hidden;
    }
    return spans;
}

/* The first span that ends after START, when it begins before END. */
static const struct span *find_span(const struct spans *spans, double start, double end)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (spans->items[middle].to > start)
            high = middle;
        else
            low = middle + 1;
    }
    return low < spans->count && spans->items[low].from < end ? &spans->items[low] : NULL;
}

static void flag_hidden(const struct subject *subject, const struct spans *spans,
                        const struct bench_cell *cell)
{
    struct flag_writer evidence;
    for (size_t i = 0; i < cell->iteration_count; i++) {
        const struct bench_iteration *iteration = &cell->iterations[i];
        const struct span *span = find_span(spans, iteration->start, iteration->end);
        if (!span)
            continue;
        flag_begin(&evidence);
        rule_put(&evidence, "iteration", (double)i);
        rule_put(&evidence, "hiddenFrom", span->from);
        rule_put(&evidence, "hiddenTo", span->to);
        rule_raise(subject, subject->rule->severity, cell, &evidence);
        return;
    }
}

void hidden_page(const struct subject *subject)
{
    const struct bench_run *run = subject->run;
    const struct spans spans = read_hidden(subject->flags->arena, run->events);
    for (size_t i = 0; spans.count && i < run->cell_count; i++)
        if (run->cells[i].status == CELL_OK)
            flag_hidden(subject, &spans, &run->cells[i]);
}

/* The place of a runtime in the protocol's order, from 1; 0: it has none. */
static size_t runtime_place(const struct js_value *id)
{
    static const char *const order[] = {"transformers-wasm", "transformers-webgpu",
                                        "chrome-ai",         "webllm",
                                        "mediapipe",         "litert",
                                        "wllama-webgpu",     "wllama"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (js_equals(id, order[i]))
            return i + 1;
    return 0;
}

void runtime_order(const struct subject *subject)
{
    const struct bench_cell *last = NULL;
    size_t last_place = 0;
    for (size_t i = 0; i < subject->run->cell_count; i++) {
        const struct bench_cell *cell = &subject->run->cells[i];
        size_t place = runtime_place(cell->runtime_id);
        if (place && place < last_place) {
            struct flag_writer evidence;
            flag_begin(&evidence);
            rule_put_text(&evidence, "before", last->runtime_id);
            rule_put_text(&evidence, "after", cell->runtime_id);
            rule_raise(subject, subject->rule->severity, cell, &evidence);
            return;
        }
        if (place) {
            last = cell;
            last_place = place;
        }
    }
}

/* A cell by the first cells that have its runtime, its model and its workload. */
struct triple {
    size_t runtime, model, workload;
};

static int by_triple(const void *left, const void *right)
{
    const struct triple *a = left, *b = right;
    if (a->runtime != b->runtime)
        return a->runtime < b->runtime ? -1 : 1;
    if (a->model != b->model)
        return a->model < b->model ? -1 : 1;
    return a->workload < b->workload ? -1 : a->workload > b->workload;
}

static struct triple name_cell(const struct bench_run *run, size_t i)
{
    const struct bench_cell *cell = &run->cells[i];
    struct triple found = {0};
    while (js_compare(run->cells[found.runtime].runtime_id, cell->runtime_id))
        found.runtime++;
    while (js_compare(run->cells[found.model].bench_model_id, cell->bench_model_id))
        found.model++;
    while (js_compare(run->cells[found.workload].workload_id, cell->workload_id))
        found.workload++;
    return found;
}

static void flag_missing(const struct subject *subject, size_t missing, struct triple first)
{
    const struct bench_cell *cells = subject->run->cells;
    struct flag_writer evidence;
    flag_begin(&evidence);
    rule_put(&evidence, "missing", (double)missing);
    rule_put_text(&evidence, "runtimeId", cells[first.runtime].runtime_id);
    rule_put_text(&evidence, "benchModelId", cells[first.model].bench_model_id);
    rule_put_text(&evidence, "workloadId", cells[first.workload].workload_id);
    rule_raise(subject, subject->rule->severity, NULL, &evidence);
}

/* Whether another runtime's cell before the J-th asks for the same. */
static bool is_repeated(const struct triple *wanted, size_t j)
{
    for (size_t i = 0; i < j; i++)
        if (wanted[i].model == wanted[j].model && wanted[i].workload == wanted[j].workload)
            return true;
    return false;
}

void suite_incomplete(const struct subject *subject)
{
    const struct bench_run *run = subject->run;
    struct arena *arena = subject->flags->arena;
    size_t count = run->cell_count, missing = 0;
    if (js_equals(run->identity.suite, "custom"))
        return;
    struct triple *have = arena_clear_take(arena, count, sizeof *have), first = {0};
    struct triple *wanted = arena_clear_take(arena, count, sizeof *wanted);
    for (size_t i = 0; i < count; i++)
        wanted[i] = have[i] = name_cell(run, i);
    qsort(have, count, sizeof *have, by_triple);
    for (size_t i = 0; i < count; i++) {
        if (i && have[i].runtime == have[i - 1].runtime && have[i].model == have[i - 1].model)
            continue; /* this pair was looked at */
        for (size_t j = 0; j < count; j++) {
            const struct triple cell = {have[i].runtime, have[i].model, wanted[j].workload};
            if (wanted[j].model != cell.model || is_repeated(wanted, j) ||
                bsearch(&cell, have, count, sizeof *have, by_triple))
                continue;
            first = missing++ ? first : cell;
        }
    }
    if (missing)
        flag_missing(subject, missing, first);
}

void created_far(const struct subject *subject)
{
    const struct run_identity *identity = &subject->run->identity;
    double accepted = subject->flags->policy->accepted_ms,
           hours = (accepted - identity->created_ms) / HOUR_MS;
    char text[CALENDAR_SIZE];
    if (!(accepted > 0) || (hours <= CREATED_DAYS_BEFORE * 24 && hours >= -CREATED_HOURS_AFTER))
        return;
    struct flag_writer evidence;
    calendar_print(accepted, text);
    flag_begin(&evidence);
    rule_put_text(&evidence, "createdAt", identity->created_at);
    js_write_key(&evidence.writer, "acceptedAt");
    js_write_text(&evidence.writer, text);
    rule_put(&evidence, "hours", hours);
    rule_raise(subject, subject->rule->severity, NULL, &evidence);
}

/* What runners on record write into the environment and its objects (spec 01, "Fields that the service reads",
 * and what else their files hold). An object that is not here may hold anything. */
static const struct {
    const char *object; /* "": the environment itself */
    const char *names;  /* between spaces */
} known_fields[] = {
    {"", " apis browser capturedAt device display flags gpu gpuModel hardware languages locale "
         "network os"
         " pageOrigin power pressure screen storage timerResolutionUs userAgent userReportedDevice"
         " userReportedHardware visibilityState webgl webglRenderer "},
    {"browser", " brands engine name pdfViewerEnabled source vendor version webdriver "},
    {"device", " displayMode formFactors hoverNone maxTouchPoints mobile pointerCoarse type "},
    {"display",
     " availHeight availWidth colorDepth dpr hdr height isExtended orientation prefersColorScheme"
     " prefersReducedMotion viewportHeight viewportWidth wideGamut width "},
    {"flags", " crossOriginIsolated secureContext sharedArrayBuffer wasm wasmSimd "},
    {"gpu", " architecture available description device features isFallbackAdapter limits"
            " preferredCanvasFormat subgroupMaxSize subgroupMinSize vendor wgslLanguageFeatures "},
    {"hardware", " cores coresClamped deviceMemoryCapped deviceMemoryGB jsHeapSizeLimitBytes"
                 " jsHeapUsedBytes "},
    {"locale", " calendar locale timeZone timeZoneOffsetMinutes "},
    {"network", " downlinkMbps effectiveType online rttMs saveData supported type "},
    {"os", " architecture bitness model navigatorPlatform platform version wow64 "},
    {"power", " batterySupported charging chargingTimeSec dischargingTimeSec level "},
    {"pressure", " supported "},
    {"screen", " dpr height width "},
    {"storage", " quotaBytes usageBytes usageDetails "},
    {"userReportedHardware", " chassis gpu otherAppsRunning ramGB "},
    {"webgl",
     " contextKind extensionCount maxFragmentUniformVectors maxRenderbufferSize maxTextureSize"
     " maxVertexUniformVectors renderer shadingLanguageVersion softwareRenderer vendor version "},
};

static bool is_known(const char *names, const struct js_value *key)
{
    for (const char *at = names; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        size_t size = strcspn(at, " ");
        if (size && size == key->size && !memcmp(at, key->text, size))
            return true;
    }
    return false;
}

void environment_unknown(const struct subject *subject)
{
    const struct js_value *environment = subject->run->environment, *first = NULL;
    const char *where = "";
    size_t unknown = 0;
    for (size_t i = 0; i < sizeof known_fields / sizeof *known_fields; i++) {
        const char *object = known_fields[i].object;
        const struct js_value *value = *object ? js_get(environment, object) : environment;
        for (uint32_t j = 0; value && value->type == JS_OBJECT && j < value->size; j++) {
            const struct js_value *key = &value->members[j].key;
            if (is_known(known_fields[i].names, key))
                continue;
            where = unknown++ ? where : object;
            first = first ? first : key;
        }
    }
    if (!unknown)
        return;
    struct flag_writer evidence;
    struct text shown = text_cut(subject->flags->arena, text_of(first), SHOWN_UNITS);
    flag_begin(&evidence);
    rule_put(&evidence, "unknown", (double)unknown);
    js_write_key(&evidence.writer, "object");
    js_write_text(&evidence.writer, *where ? where : "environment");
    js_write_key(&evidence.writer, "field");
    js_write_string(&evidence.writer, shown.data, shown.size);
    rule_raise(subject, subject->rule->severity, NULL, &evidence);
}

void identifier_like(const struct subject *subject)
{
    const struct bench_run *run = subject->run;
    const struct {
        const char *field;
        const struct js_value *text;
    } texts[] = {{"userReportedDevice", run->reported_device},
                 {"userReportedHardware.gpu", run->reported_gpu},
                 {"os.model", run->os_model},
                 {"gpuModel", run->gpu_model},
                 {"webglRenderer", run->webgl_renderer},
                 {"gpu.device", run->gpu_device},
                 {"gpu.description", run->gpu_description}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *kind = identifier_find(text_of(texts[i].text));
        if (!kind)
            continue;
        struct flag_writer evidence; /* never the text: it may be somebody's */
        flag_begin(&evidence);
        js_write_key(&evidence.writer, "field");
        js_write_text(&evidence.writer, texts[i].field);
        js_write_key(&evidence.writer, "kind");
        js_write_text(&evidence.writer, kind);
        rule_raise(subject, subject->rule->severity, NULL, &evidence);
        return;
    }
}
