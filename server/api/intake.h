/* The way of one submission (spec 04, "POST /api/bench/submit"), a straight line of steps:
 *
 *   body -> parse -> nonce -> digest -> validate -> publish -> claim -> bait -> budget -> commit -> answer
 *
 * The first step that fails answers. Validate is the same line without nonce and store. */
#ifndef BENCHLEDGER_SERVER_API_INTAKE_H
#define BENCHLEDGER_SERVER_API_INTAKE_H

#include "server/http/request.h"

/* The steps from the body on. May leave the request suspended (STAGE_WAITING), and then neither
 * touches it afterwards nor may the caller; outcome.h has its answer. */
void intake_submit(struct request *request, struct answer *answer);
void intake_validate(struct request *request, struct answer *answer);

#endif
