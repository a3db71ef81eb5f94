/* The validator as a WebAssembly module: what a page may ask about a run file. It imports nothing.
 *
 * A page writes the file to where `input` tells, calls one of the questions and reads its result before the
 * next call. Sizes are bytes, texts UTF-8, times ms since 1970. A trap ends the instance: `exhausted` then says
 * whether memory ran out. One caller at a time. */
#include "aggregate/candidate.h"
#include "aggregate/report.h"
#include "pages/module/edge.h"
#include "pages/run_page.h"
#include "server/api/errors.h"
#include "server/embedded.h"
#include "validator/scrub.h"

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name), used))
#else
#define EXPORT(name) /* for whoever only reads the code */
#endif

/* The file, what it is called, and the answer to the last question. */
static struct buffer input, name, result;

static char *make_room(struct buffer *buffer, size_t size)
{
    buffer_free(buffer);
    char *data = buffer_reserve(buffer, size + 1);
    data[size] = '\0';
    buffer->size = size;
    return data;
}

/* Where SIZE bytes of a file go; the one before is forgotten. */
EXPORT(input) char *module_input(size_t size)
{
    buffer_free(&result);
    return make_room(&input, size);
}

/* Where SIZE bytes of the file's name go. */
EXPORT(name) char *module_name(size_t size)
{
    return make_room(&name, size);
}

EXPORT(result) const char *module_result(void)
{
    return result.data;
}

EXPORT(result_size) size_t module_result_size(void)
{
    return result.size;
}

EXPORT(exhausted) int module_exhausted(void)
{
    return edge_exhausted();
}

static struct answer_key read_key(struct arena *arena)
{
    struct answer_key key = {0};
    const char *problem = NULL;
    size_t size;
    const char *text = embedded_mmlu_key(&size);
    if (!answer_key_read(arena, text, size, &key, &problem))
        __builtin_trap(); /* compiled in: never */
    return key;
}

/* What `check --json` prints. */
EXPORT(check) void module_check(int any_protocol)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct js_error error;
    struct report *report = arena_take(&arena, sizeof *report);
    char problem[REPORT_PROBLEM_MAX];
    const struct answer_key key = read_key(&arena);
    const struct policy policy = report_policy(any_protocol);
    const char *called = buffer_string(&name);
    result.size = 0;
    if (js_read(&arena, input.data, input.size, &document, &error)) {
        report_judge(report, called, &arena, &document, &policy, &key);
    } else {
        report_json_problem(&error, problem);
        *report = report_unreadable(called, problem);
    }
    report_write(report, &result);
}

/* What POST /api/bench/validate answers at NOW_MS; 1 when the run would be taken. */
EXPORT(dry_run) int module_dry_run(double now_ms)
{
    CANDIDATE_SCOPE struct candidate candidate = {0};
    ARENA_SCOPE struct arena arena = {0};
    const struct answer_key key = read_key(&arena);
    const struct policy policy = report_policy(false);
    result.size = 0;
    bool taken = candidate_parse(&candidate, input.data, input.size) &&
                 candidate_digest(&candidate) &&
                 candidate_judge(&candidate, &policy, &key, now_ms) &&
                 candidate_publish(&candidate, now_ms) && candidate_bait(&candidate);
    struct js_writer writer = {.out = &result};
    if (taken) {
        js_write_begin(&writer, '{');
        js_write_key(&writer, "ok");
        js_write_bool(&writer, true);
        candidate_write_result(&candidate, &writer);
    } else {
        writer = error_open(error_of_fault(candidate.fault),
                            *candidate.message ? candidate.message : NULL, &result);
        candidate_write_fault(&candidate, &writer);
    }
    js_write_end(&writer, '}');
    return taken;
}

/* False when the file is no JSON object, whose members the following ask for. */
static bool open_object(struct arena *arena, struct js_document *document)
{
    struct js_error error;
    result.size = 0;
    return js_read(arena, input.data, input.size, document, &error) &&
           document->root.type == JS_OBJECT;
}

/* The digest in hex; 0: the file is no JSON object. */
EXPORT(digest) int module_digest(void)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    char hex[SHA256_HEX + 1];
    if (!open_object(&arena, &document))
        return 0;
    digest_compute(&document, hex, NULL);
    buffer_text(&result, hex);
    return 1;
}

/* The bytes that are hashed; 0 likewise. */
EXPORT(canonical) int module_canonical(void)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    char hex[SHA256_HEX + 1];
    if (!open_object(&arena, &document))
        return 0;
    digest_compute(&document, hex, &result);
    return 1;
}

/* The bytes that would be published at NOW_MS; 0 likewise. */
EXPORT(scrub) int module_scrub(double now_ms)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct scrubbed scrubbed;
    if (!open_object(&arena, &document))
        return 0;
    scrub(&arena, &document, digest_verify(&document).status, now_ms, &scrubbed);
    js_print(&scrubbed.document, &scrubbed.document.root, &result);
    return 1;
}
/* The run as its page shows it; 0: the file is no run file, of any archived protocol. */
EXPORT(run_page) int module_run_page(void)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct verdict verdict;
    struct shape_errors errors = {0};
    const struct answer_key key = read_key(&arena);
    const struct policy policy = report_policy(true);
    if (!open_object(&arena, &document) ||
        !validate(&arena, &document, &policy, &key, &verdict, &errors))
        return 0;
    run_page_write(&result, &verdict, digest_verify(&document).status, NULL);
    return 1;
}
