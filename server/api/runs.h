/* GET /api/bench/runs/ID: what became of a submission.
 *
 * A judgement is the flags of a run and the version of the rules that gave them, as JSON that follows
 * the key "flags": `[...],"rulesVersion":2`. Those of runs in flight are kept by handover.h, those of
 * committed files by blob id on a shelf: reading them anew would validate up to 4 MiB a request. */
#ifndef BENCHLEDGER_SERVER_API_RUNS_H
#define BENCHLEDGER_SERVER_API_RUNS_H

#include "github/store.h"
#include "validator/buffer.h"
#include "validator/validate.h"

struct answer;
struct js_writer;
struct request;
struct service;

void runs_status(struct request *request, struct answer *answer);
/* The members that describe a run of the dataset, within an object that is open. */
void runs_write(const struct request *request, const struct run_state *state,
                struct js_writer *writer);
/* Whether runs_write finds the judgement of that run's file kept; else it makes it. */
bool runs_is_judged(const struct request *request, const struct run_state *state);
/* Judges the file of run STATE again, whatever its protocol's version, by the rule set that its line in the
 * ledger names, or the configured one without such a line. What it finds lives in ARENA and points into
 * BLOB. False when it is no run file. */
bool runs_judge(struct arena *arena, const struct service *service, const struct run_state *state,
                const struct store_blob *blob, struct js_document *document,
                struct verdict *verdict);
const char *runs_status_name(enum run_status status);
void runs_judgement(const struct verdict *verdict, struct buffer *out);

#endif
