/* Set 3's rules that look at the whole run; its others, and the table, are in bench_rules_3.c. Pure. */
#ifndef BENCHLEDGER_VALIDATOR_BENCH_RULES_3_H
#define BENCHLEDGER_VALIDATOR_BENCH_RULES_3_H

#include "validator/bench_rules.h"

/* How long before and after its acceptance a run may have been made. */
#define CREATED_DAYS_BEFORE 14.0
#define CREATED_HOURS_AFTER 24.0

/* An iteration of an ok cell during which the page was hidden: a visibility-hidden event of the run lies
 * before the iteration's end, and no visibility-visible one between it and its start. */
void hidden_page(const struct subject *subject);
/* Runtimes that do not follow one another as the protocol says. Those that it does not name may stand
 * anywhere. */
void runtime_order(const struct subject *subject);
/* A run of a named suite leaves cells out. What a suite holds depends on the runner's version and stands
 * nowhere in the file. What can be said: the runner lists every cell, also the ones that it skipped, so
 * each runtime that has a model has the same workloads with it as any other runtime. */
void suite_incomplete(const struct subject *subject);
void created_far(const struct subject *subject);
/* A member of the environment, or of an object in it, that no runner on record writes. */
void environment_unknown(const struct subject *subject);
void identifier_like(const struct subject *subject);

#endif
