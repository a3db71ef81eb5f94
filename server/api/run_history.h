/* From what the store knows of a run to what the pages tell of its past. */
#ifndef BENCHLEDGER_SERVER_API_RUN_HISTORY_H
#define BENCHLEDGER_SERVER_API_RUN_HISTORY_H

#include "github/store.h"
#include "pages/history.h"
#include "validator/arena.h"

/* Later events than these are told, earlier ones are in the ledger. */
enum { RUN_HISTORY_MOST = 200 };

/* PROTOCOL is the run's, empty when it is not known. What *OUT points to lives in ARENA and STATE. */
void run_history_read(struct arena *arena, const struct run_state *state, struct text protocol,
                      struct history *out);

#endif
