/* A file on its way to publication, step by step: what submit, dry run and the WebAssembly module ask of it
 * alike (spec 03 and 04). Pure: the time is an argument.
 *
 *   parse -> digest -> judge -> publish -> bait
 *
 * Each step needs those before it. One that returns false leaves `fault` and `message` behind and ends the
 * way. */
#ifndef BENCHLEDGER_AGGREGATE_CANDIDATE_H
#define BENCHLEDGER_AGGREGATE_CANDIDATE_H

#include "aggregate/bait.h"
#include "aggregate/publication.h"

enum candidate_fault {
    CANDIDATE_FINE,
    CANDIDATE_NO_JSON,
    CANDIDATE_DIGEST,
    CANDIDATE_SHAPE,
    CANDIDATE_SECRET, /* the host of the dataset would decline it */
};

struct candidate {
    struct arena arena;
    struct js_document document;
    struct digest_check digest;
    struct verdict verdict;
    struct publication publication;
    struct bait bait;
    enum candidate_fault fault;
    char message[160]; /* what is wrong, when it says more than the usual text */
    struct js_error json;
    struct shape_errors errors;
};

/* TEXT must outlive the candidate, which begins cleared and is freed in any case. */
bool candidate_parse(struct candidate *candidate, const char *text, size_t size);
bool candidate_digest(struct candidate *candidate);
bool candidate_judge(struct candidate *candidate, const struct policy *policy,
                     const struct answer_key *key, double now_ms);
bool candidate_publish(struct candidate *candidate, double now_ms);
bool candidate_bait(struct candidate *candidate);
void candidate_free(struct candidate *candidate);

/* What a refusal holds behind code and message. */
void candidate_write_fault(const struct candidate *candidate, struct js_writer *writer);
/* What a dry run answers behind `ok`. */
void candidate_write_result(const struct candidate *candidate, struct js_writer *writer);

#define CANDIDATE_SCOPE __attribute__((cleanup(candidate_free)))

#endif
