/* What `check --json` says about a file: one line, the same from the command line and from the WebAssembly
 * module. Pure. */
#ifndef BENCHLEDGER_AGGREGATE_REPORT_H
#define BENCHLEDGER_AGGREGATE_REPORT_H

#include "validator/digest.h"
#include "validator/validate.h"

/* From best to worst. */
enum report_end { REPORT_PUBLISHABLE, REPORT_QUARANTINE, REPORT_REFUSED, REPORT_UNREADABLE };
enum { REPORT_PROBLEM_MAX = 256 };

struct report {
    const char *name;    /* of the file */
    const char *problem; /* why it cannot be read; NULL when it can */
    enum report_end end;
    bool shaped; /* the verdict is there, else errors */
    int rules;   /* the set that it was judged by, whatever came of it */
    struct digest_check digest;
    struct shape_errors errors;
    struct verdict verdict;
};

/* Why a text is not JSON, as a problem. */
void report_json_problem(const struct js_error *error, char problem[REPORT_PROBLEM_MAX]);
/* The protocols that a submission may carry, or every archived one. */
struct policy report_policy(bool any_protocol);

/* A file that cannot be read; PROBLEM must outlive the report. */
struct report report_unreadable(const char *name, const char *problem);
/* Judges a file. NAME and DOCUMENT must outlive the report, which lives in ARENA; KEY may be NULL. */
void report_judge(struct report *report, const char *name, struct arena *arena,
                  const struct js_document *document, const struct policy *policy,
                  const struct answer_key *key);
/* The line, with its newline. */
void report_write(const struct report *report, struct buffer *out);

#endif
