#include "validator/validate.h"

#include <math.h>

#include "validator/protocol.h"

static bool is_listed(const struct js_value *id, const char *const *list)
{
    for (; *list; list++)
        if (js_equals(id, *list))
            return true;
    return false;
}

/* Protocol and schema against the policy; the family whose shape applies to the rest. */
static const struct protocol *
check_protocol(struct shape *shape, const struct js_document *document, const struct policy *policy)
{
    const struct js_value *id = js_get(&document->root, "protocol"),
                          *schema = js_get(&document->root, "schemaVersion");
    const struct protocol *family = protocol_find(id);
    bool archive = !policy->protocols;
    double number;
    if (id && id->type == JS_STRING &&
        (!family || !protocol_number(id, &number) ||
         (!archive && !is_listed(id, policy->protocols))))
        shape_error(shape, "protocol", "is not a protocol that is accepted here");
    if (!family)
        family = protocol_localmode_bench();
    double first = archive ? family->schema_first : family->schema_submitted;
    if (schema && schema->type == JS_NUMBER &&
        !shape_integer(schema->number, first, family->schema_last))
        shape_error(shape, "schemaVersion", "is not a schema version that is accepted here");
    return family;
}

bool validate(struct arena *arena, const struct js_document *document, const struct policy *policy,
              const struct answer_key *key, struct verdict *verdict, struct shape_errors *errors)
{
    struct shape shape = {.arena = arena, .errors = errors};
    errors->count = 0;
    if (!shape_is(&shape, &document->root, JS_OBJECT))
        return false;
    const struct protocol *family = check_protocol(&shape, document, policy);
    const struct run *run = family->read(&shape, document);
    if (errors->count)
        return false;
    const struct summaries *summaries = family->recompute(arena, run);
    struct flags flags = {.arena = arena,
                          .key = key,
                          .policy = policy,
                          .rules = policy->rules ? policy->rules : RULES_VERSION,
                          .last = &flags.first};
    family->judge(&flags, run, summaries);
    *verdict = (struct verdict){.document = document,
                                .family = family,
                                .identity = (const struct run_identity *)run,
                                .run = run,
                                .summaries = summaries,
                                .flags = flags.first,
                                .flagged = flags.reject,
                                .answers_parsed = key != NULL,
                                .rules_version = flags.rules};
    return true;
}

const char *severity_name(enum severity severity)
{
    return severity == SEVERITY_REJECT ? "reject" : "warn";
}

static void write_text(struct js_writer *writer, const char *key, const char *text)
{
    js_write_key(writer, key);
    js_write_text(writer, text);
}

void verdict_write_flags(const struct verdict *verdict, struct js_writer *writer)
{
    js_write_begin(writer, '[');
    for (const struct flag *flag = verdict->flags; flag; flag = flag->next) {
        js_write_begin(writer, '{');
        write_text(writer, "code", flag->code);
        write_text(writer, "severity", severity_name(flag->severity));
        if (flag->cell_id) {
            js_write_key(writer, "cellId");
            js_write_value(writer, flag->cell_id);
        }
        write_text(writer, "message", flag->message);
        js_write_key(writer, "evidence");
        js_write_raw(writer, flag->evidence, flag->evidence_size);
        js_write_end(writer, '}');
    }
    js_write_end(writer, ']');
}

void verdict_write_codes(const struct verdict *verdict, struct js_writer *writer)
{
    js_write_begin(writer, '[');
    for (const struct flag *flag = verdict->flags; flag; flag = flag->next) {
        const struct flag *earlier = verdict->flags;
        while (earlier != flag && strcmp(earlier->code, flag->code) != 0)
            earlier = earlier->next;
        if (earlier == flag)
            js_write_text(writer, flag->code);
    }
    js_write_end(writer, ']');
}

void verdict_write_summaries(const struct verdict *verdict, struct js_writer *writer)
{
    verdict->family->write_summaries(verdict->run, verdict->summaries, writer);
}

void shape_errors_write(const struct shape_errors *errors, struct js_writer *writer)
{
    js_write_begin(writer, '[');
    for (size_t i = 0; i < errors->count; i++) {
        js_write_begin(writer, '{');
        js_write_key(writer, "path");
        js_write_string(writer, errors->items[i].path, errors->items[i].path_size);
        write_text(writer, "message", errors->items[i].message);
        js_write_end(writer, '}');
    }
    js_write_end(writer, ']');
}
