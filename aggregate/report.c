#include "aggregate/report.h"

#include <stdio.h>

void report_json_problem(const struct js_error *error, char problem[REPORT_PROBLEM_MAX])
{
    snprintf(problem, REPORT_PROBLEM_MAX, "is not JSON: %s (line %zu, column %zu)", error->message,
             error->line, error->column);
}

struct policy report_policy(bool any_protocol)
{
    static const char *const submitted[] = {"localmode-bench/5", NULL};
    return (struct policy){.protocols = any_protocol ? NULL : submitted};
}

struct report report_unreadable(const char *name, const char *problem)
{
    return (struct report){.name = name,
                           .problem = problem,
                           .end = REPORT_UNREADABLE,
                           .digest.status = DIGEST_MISSING};
}

void report_judge(struct report *report, const char *name, struct arena *arena,
                  const struct js_document *document, const struct policy *policy,
                  const struct answer_key *key)
{
    *report = (struct report){.name = name,
                              .rules = policy->rules ? policy->rules : RULES_VERSION,
                              .digest.status = DIGEST_MISSING};
    if (document->root.type == JS_OBJECT)
        report->digest = digest_verify(document);
    report->shaped = validate(arena, document, policy, key, &report->verdict, &report->errors);
    bool digest = report->digest.status == DIGEST_OK || report->digest.status == DIGEST_LEGACY;
    report->end = !report->shaped || !digest ? REPORT_REFUSED
                  : report->verdict.flagged  ? REPORT_QUARANTINE
                                             : REPORT_PUBLISHABLE;
}

static void write_empty(struct js_writer *writer)
{
    js_write_begin(writer, '[');
    js_write_end(writer, ']');
}

static void write_findings(const struct report *report, struct js_writer *writer)
{
    js_write_key(writer, "digest");
    js_write_text(writer, digest_status_name(report->digest.status));
    js_write_key(writer, "shapeErrors");
    shape_errors_write(&report->errors, writer);
    js_write_key(writer, "flags");
    if (report->shaped)
        verdict_write_flags(&report->verdict, writer);
    else
        write_empty(writer);
    js_write_key(writer, "summaries");
    if (report->shaped)
        verdict_write_summaries(&report->verdict, writer);
    else
        write_empty(writer);
    js_write_key(writer, "rulesVersion");
    js_write_number(writer, report->rules);
    if (report->shaped && !report->verdict.answers_parsed) {
        js_write_key(writer, "answersParsed");
        js_write_bool(writer, false);
    }
}

void report_write(const struct report *report, struct buffer *out)
{
    struct js_writer writer = {.out = out};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "file");
    js_write_text(&writer, report->name);
    js_write_key(&writer, "ok");
    js_write_bool(&writer, report->end == REPORT_PUBLISHABLE);
    if (report->problem) {
        js_write_key(&writer, "error");
        js_write_text(&writer, report->problem);
    } else {
        write_findings(report, &writer);
    }
    js_write_end(&writer, '}');
    buffer_byte(out, '\n');
}
