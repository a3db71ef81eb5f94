/* The validator's front door: from a parsed run file to a verdict (spec 02).
 *
 * shape (refuse) -> recompute -> plausibility flags. A pure function of the file, the policy and
 * the answer key: no clock, no network, no files. Everything it returns lives in the caller's
 * arena. */
#ifndef BENCHLEDGER_VALIDATOR_VALIDATE_H
#define BENCHLEDGER_VALIDATOR_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "validator/answers.h"
#include "validator/js.h"

enum {
    SHAPE_ERRORS_MAX = 50,
    FLAGS_MAX = 5000,  /* recorded; beyond them only the first of each code */
    RULES_MAX = 64,    /* rows of a rule table */
    RULES_VERSION = 2, /* the set that is judged by when nothing else is said */
    RULES_NEWEST = 3,  /* a draft */
};

struct shape_error {
    const char *path; /* RFC 6901 pointer; holds what the client sent, NUL too: escape it */
    const char *message;
    size_t path_size;
};
struct shape_errors {
    struct shape_error items[SHAPE_ERRORS_MAX];
    size_t count;
};

enum severity { SEVERITY_WARN, SEVERITY_REJECT };
struct flag {
    const char *code; /* of the rule table */
    enum severity severity;
    const struct js_value *cell_id; /* NULL for a finding about the whole run */
    const char *message;
    const char *evidence; /* JSON object */
    size_t evidence_size;
    struct flag *next;
};

struct model_catalogue;

/* Which protocols and schemas are taken, and what they are judged by. */
struct policy {
    const char *const
        *protocols; /* NULL-terminated list; NULL: every archived protocol and schema */
    int rules;      /* a set that is known; 0: RULES_VERSION */
    const struct model_catalogue *catalogue; /* NULL: none, and what asks it is silent */
    double
        accepted_ms; /* when the run was accepted, ms since 1970; 0: not known, and what asks is silent */
};
/* Whether there is a rule set VERSION. */
bool rules_known(int version);

struct protocol; /* the family's table of functions, protocol.h */
struct run;      /* the family's typed view, begins with struct run_identity */
struct summaries;

/* What every family has. Strings are those of the document. */
struct run_identity {
    const struct js_value *protocol, *run_id, *created_at, *suite;
    double schema_version;
    int year, month;   /* UTC year and month of createdAt */
    double created_ms; /* createdAt in ms since 1970 */
};

struct verdict {
    const struct js_document *document;
    const struct protocol *family;
    const struct run_identity *identity;
    const struct run *run;
    const struct summaries *summaries;
    const struct flag *flags; /* in the order of spec 02 */
    bool flagged;             /* any reject flag: the run is quarantined */
    bool answers_parsed;      /* false without an answer key: quality answers were not re-parsed */
    int rules_version;
};

/* False and ERRORS when the file is not a run file. KEY may be NULL. */
bool validate(struct arena *arena, const struct js_document *document, const struct policy *policy,
              const struct answer_key *key, struct verdict *verdict, struct shape_errors *errors);

/* JSON arrays for answers and reports. */
void verdict_write_flags(const struct verdict *verdict, struct js_writer *writer);
/* Each code once, in order: what the ledger keeps. */
void verdict_write_codes(const struct verdict *verdict, struct js_writer *writer);
void verdict_write_summaries(const struct verdict *verdict, struct js_writer *writer);
void shape_errors_write(const struct shape_errors *errors, struct js_writer *writer);
const char *severity_name(enum severity severity);

#endif
