/* The table of protocol families: each is a set of functions, so that a family is added without
 * touching the intake (spec 05: "a protocol is a table of functions"). Pure. */
#ifndef BENCHLEDGER_VALIDATOR_PROTOCOL_H
#define BENCHLEDGER_VALIDATOR_PROTOCOL_H

#include "validator/shape.h"
#include "validator/validate.h"

/* Collects the flags of one run, in order. */
struct flags {
    struct arena *arena;
    const struct answer_key *key; /* or NULL */
    const struct policy *policy;
    int rules; /* the set that is judged by */
    struct flag *first, **last;
    size_t count;
    const char *codes[RULES_MAX]; /* each once */
    size_t code_count;
    bool reject;
};

/* A rule in words, for people. */
enum { RULE_LIMITS_MAX = 8 };
struct rule_text {
    const char *code, *message; /* as in its flags */
    const char *scope;          /* what it looks at */
    const char *when;           /* its condition; each {} is the next of LIMITS */
    const char *advice;         /* to whoever measured */
    const double *limits;       /* RULE_LIMITS_MAX */
    enum severity severity;
    const char *rejects; /* of a rule that warns: when it rejects instead; NULL: never */
};

struct protocol {
    const char *family;            /* the id up to the slash: "localmode-bench" */
    int schema_first, schema_last; /* what archive tools take */
    int schema_submitted;          /* the lowest one a submission may carry */
    /* Shape: the typed view in SHAPE's arena. It is used only when no error was recorded. */
    const struct run *(*read)(struct shape *shape, const struct js_document *document);
    const struct summaries *(*recompute)(struct arena *arena, const struct run *run);
    void (*judge)(struct flags *flags, const struct run *run, const struct summaries *summaries);
    void (*write_summaries)(const struct run *run, const struct summaries *summaries,
                            struct js_writer *writer);
    /* The I-th rule of set RULES, in the order in which they are tried; false behind the last, and of a set
     * that the family has not. */
    bool (*rule)(int rules, size_t i, struct rule_text *text);
};

const struct protocol *protocol_localmode_bench(void);

/* The family of a protocol id FAMILY/N, or NULL. */
const struct protocol *protocol_find(const struct js_value *id);
/* Reads the N of FAMILY/N; false when it is not a number from 1 without leading zeros. */
bool protocol_number(const struct js_value *id, double *number);

/* The rule that raises CODE in set RULES, else in the newest set that has one; false when there is none. */
bool protocol_rule(const struct protocol *family, int rules, const char *code,
                   struct rule_text *text);

/* Adds a flag and returns a writer into its evidence object through EVIDENCE, which flag_end
 * closes. */
struct flag_writer {
    struct buffer buffer;
    struct js_writer writer;
};
void flag_begin(struct flag_writer *evidence);
void flag_end(struct flags *flags, struct flag_writer *evidence, const char *code,
              enum severity severity, const struct js_value *cell_id, const char *message);

#endif
