#include "validator/protocol.h"

#include <math.h>

#include "validator/bench_run.h"

const struct protocol *protocol_localmode_bench(void)
{
    static const struct protocol family = {
        .family = "localmode-bench",
        .schema_first = 1,
        .schema_last = 3,
        .schema_submitted = 2,
        .read = bench_read,
        .recompute = bench_recompute,
        .judge = bench_judge,
        .write_summaries = bench_write_summaries,
        .rule = bench_rule,
    };
    return &family;
}

/* A new family is one line here (and its entry in aggregate/entry.c). */
static const struct protocol *(*const families[])(void) = {protocol_localmode_bench};

const struct protocol *protocol_find(const struct js_value *id)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct protocol *family = families[i]();
        size_t size = strlen(family->family);
        if (id && id->type == JS_STRING && id->size > size && id->text[size] == '/' &&
            memcmp(id->text, family->family, size) == 0)
            return family;
    }
    return NULL;
}

bool protocol_number(const struct js_value *id, double *number)
{
    const char *slash = memchr(id->text, '/', id->size), *end = id->text + id->size;
    *number = 0;
    if (!slash || slash + 1 == end || slash[1] == '0' || end - slash > 10)
        return false;
    for (const char *at = slash + 1; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        *number = *number * 10 + (*at - '0');
    }
    return true;
}

bool rules_known(int version)
{
    struct rule_text first;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i]()->rule(version, 0, &first))
            return true;
    return false;
}

static bool find_in_set(const struct protocol *family, int rules, const char *code,
                        struct rule_text *text)
{
    for (size_t i = 0; family->rule(rules, i, text); i++)
        if (!strcmp(text->code, code))
            return true;
    return false;
}

bool protocol_rule(const struct protocol *family, int rules, const char *code,
                   struct rule_text *text)
{
    bool found = find_in_set(family, rules, code, text);
    for (int set = RULES_NEWEST; !found && set > 0; set--)
        found = find_in_set(family, set, code, text);
    return found;
}

void flag_begin(struct flag_writer *evidence)
{
    *evidence = (struct flag_writer){0};
    evidence->writer.out = &evidence->buffer;
    js_write_begin(&evidence->writer, '{');
}

/* Whether CODE stands for the first time. Codes are those of the rule table: equal ones are equal pointers. */
static bool is_new(struct flags *flags, const char *code)
{
    for (size_t i = 0; i < flags->code_count; i++)
        if (flags->codes[i] == code)
            return false;
    if (flags->code_count < RULES_MAX)
        flags->codes[flags->code_count++] = code;
    return true;
}

void flag_end(struct flags *flags, struct flag_writer *evidence, const char *code,
              enum severity severity, const struct js_value *cell_id, const char *message)
{
    js_write_end(&evidence->writer, '}');
    flags->reject = flags->reject || severity == SEVERITY_REJECT;
    if (is_new(flags, code) || flags->count < FLAGS_MAX) {
        struct flag *flag = arena_clear_take(flags->arena, 1, sizeof *flag);
        *flag = (struct flag){
            .code = code,
            .severity = severity,
            .cell_id = cell_id,
            .message = message,
            .evidence = arena_copy(flags->arena, evidence->buffer.data, evidence->buffer.size),
            .evidence_size = evidence->buffer.size};
        *flags->last = flag;
        flags->last = &flag->next;
        flags->count++;
    }
    buffer_free(&evidence->buffer);
}
