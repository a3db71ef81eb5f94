/* The machinery of plausibility rules about localmode-bench runs (spec 02), shared by the files that hold them.
 *
 * A rule is a row: where it looks, what it is called, how grave it is, and the function that looks. Rows stand
 * in tables; a rule set is a version and the tables that it is made of, so that a set that adds rules holds
 * the rows of the one before it and not a copy of them. Pure. */
#ifndef BENCHLEDGER_VALIDATOR_BENCH_RULES_H
#define BENCHLEDGER_VALIDATOR_BENCH_RULES_H

#include "validator/bench_run.h"

/* What a rule sees: the run, and for a rule about cells one ok cell with its summary. */
struct rule;
struct subject {
    struct flags *flags;
    const struct rule *rule;
    const struct bench_run *run;
    const struct summaries *summaries;
    const struct bench_cell *cell;
    const struct bench_summary *summary;
};

enum scope { BEFORE_CELLS, LLM_CELLS, ALL_CELLS, QUALITY_CELLS, EMBED_CELLS, AFTER_CELLS };

struct rule {
    const char *code;
    enum severity severity;
    enum scope scope; /* only ok cells are judged */
    void (*look)(const struct subject *subject);
    const char *message;
    const char *when;   /* each {} is one of LIMITS, in order */
    const char *advice; /* to whoever measured */
    double limits[RULE_LIMITS_MAX];
    const char *rejects; /* of a rule that warns: when it rejects instead; NULL: never */
};

struct rule_table {
    const struct rule *rules;
    size_t count;
};
/* Those of set 2, and what set 3 adds to them. */
struct rule_table bench_rules_2(void);
struct rule_table bench_rules_3(void);

/* Adds a flag about CELL (NULL: the whole run) that rests on EVIDENCE, which it closes. SEVERITY is the rule's
 * own, or graver where its row says so. */
void rule_raise(const struct subject *subject, enum severity severity,
                const struct bench_cell *cell, struct flag_writer *evidence);
/* Members of EVIDENCE; of a NULL text: null. */
void rule_put(struct flag_writer *evidence, const char *key, double value);
void rule_put_text(struct flag_writer *evidence, const char *key, const struct js_value *text);
/* A flag of the rule's own severity about its cell, resting on two numbers. */
void rule_flag_numbers(const struct subject *subject, const char *key, double value,
                       const char *other_key, double other);

/* Characters a second that a model of that size reaches at most; NAN is the largest. */
double rule_envelope(double size_bytes);

#endif
