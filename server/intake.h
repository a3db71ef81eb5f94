/* The way of one submission (spec 04, "POST /api/bench/submit"), a straight line of steps:
 *
 *   body -> parse -> nonce -> digest -> validate -> publish -> claim -> budget -> commit -> answer
 *
 * The first step that fails answers. Validate is the same line without nonce and store. */
#ifndef BENCHLEDGER_SERVER_INTAKE_H
#define BENCHLEDGER_SERVER_INTAKE_H

#include "server/request.h"

/* The steps from the body on. May leave the request suspended (STAGE_WAITING), and then neither
 * touches it afterwards nor may the caller. */
void intake_submit(struct request *request, struct answer *answer);
void intake_validate(struct request *request, struct answer *answer);
/* After the resume of a suspended submission. */
void intake_finish(struct request *request, struct answer *answer);

/* What a waiting submission keeps for its answer; the run itself is the store's by then. */
struct outcome;
void outcome_free(struct outcome *outcome); /* NULL is fine */

#endif
