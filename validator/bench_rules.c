#include "validator/bench_rules.h"

#include <assert.h>

void rule_raise(const struct subject *subject, enum severity severity,
                const struct bench_cell *cell, struct flag_writer *evidence)
{
    assert(severity == subject->rule->severity || subject->rule->rejects); /* the table says so */
    flag_end(subject->flags, evidence, subject->rule->code, severity, cell ? cell->cell_id : NULL,
             subject->rule->message);
}

void rule_put(struct flag_writer *evidence, const char *key, double value)
{
    js_write_key(&evidence->writer, key);
    js_write_number(&evidence->writer, value);
}

void rule_put_text(struct flag_writer *evidence, const char *key, const struct js_value *text)
{
    js_write_key(&evidence->writer, key);
    if (text)
        js_write_value(&evidence->writer, text);
    else
        js_write_null(&evidence->writer);
}

void rule_flag_numbers(const struct subject *subject, const char *key, double value,
                       const char *other_key, double other)
{
    struct flag_writer evidence;
    flag_begin(&evidence);
    rule_put(&evidence, key, value);
    rule_put(&evidence, other_key, other);
    rule_raise(subject, subject->rule->severity, subject->cell, &evidence);
}

/* A set's tables in the order in which they are tried. */
static const struct {
    int version;
    struct rule_table (*tables[2])(void);
} sets[] = {{2, {bench_rules_2}}, {3, {bench_rules_2, bench_rules_3}}};

/* The I-th rule of set VERSION; NULL behind the last, and of a set that there is none of. */
static const struct rule *find_rule(int version, size_t i)
{
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++) {
        if (sets[set].version != version)
            continue;
        for (size_t at = 0; at < 2 && sets[set].tables[at]; at++) {
            const struct rule_table table = sets[set].tables[at]();
            if (i < table.count)
                return &table.rules[i];
            i -= table.count;
        }
    }
    return NULL;
}

bool bench_rule(int rules, size_t i, struct rule_text *text)
{
    static const char *const scopes[] = {
        [BEFORE_CELLS] = "the run",         [LLM_CELLS] = "cells that generate text",
        [ALL_CELLS] = "all cells",          [QUALITY_CELLS] = "cells of the quality task",
        [EMBED_CELLS] = "cells that embed", [AFTER_CELLS] = "the run"};
    const struct rule *rule = find_rule(rules, i);
    if (!rule)
        return false;
    *text = (struct rule_text){.code = rule->code,
                               .severity = rule->severity,
                               .scope = scopes[rule->scope],
                               .message = rule->message,
                               .when = rule->when,
                               .advice = rule->advice,
                               .limits = rule->limits,
                               .rejects = rule->rejects};
    return true;
}

static bool is_in_scope(enum scope scope, const struct bench_cell *cell)
{
    bool quality = !cell->llm && cell->task_id && cell->outputs && cell->task_id->size >= 8 &&
                   memcmp(cell->task_id->text, "tinymmlu", 8) == 0;
    switch (scope) {
    case LLM_CELLS:
        return cell->llm;
    case ALL_CELLS:
        return true;
    case QUALITY_CELLS:
        return quality;
    case EMBED_CELLS:
        return !cell->llm && !quality && cell->iteration_count > 0;
    default:
        return false;
    }
}

static void look_at_run(struct subject subject, enum scope scope)
{
    for (size_t i = 0; (subject.rule = find_rule(subject.flags->rules, i)); i++)
        if (subject.rule->scope == scope)
            subject.rule->look(&subject);
}

static void look_at_cell(struct subject subject, size_t cell)
{
    subject.cell = &subject.run->cells[cell];
    subject.summary = &subject.summaries->cells[cell];
    if (subject.cell->status != CELL_OK)
        return;
    for (size_t i = 0; (subject.rule = find_rule(subject.flags->rules, i)); i++)
        if (is_in_scope(subject.rule->scope, subject.cell))
            subject.rule->look(&subject);
}

void bench_judge(struct flags *flags, const struct run *run, const struct summaries *summaries)
{
    struct subject subject = {.flags = flags, .run = bench_run_of(run), .summaries = summaries};
    look_at_run(subject, BEFORE_CELLS);
    for (size_t i = 0; i < subject.run->cell_count; i++)
        look_at_cell(subject, i);
    look_at_run(subject, AFTER_CELLS);
}
