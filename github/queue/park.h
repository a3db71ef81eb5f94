/* Runs that end outside the dataset: declined by the remote's host, or in conflict with a run that
 * was published first. Each is kept for the maintainer under a reference of its own in the mirror,
 * which is never pushed.
 *
 * `refs/parked/declined/DIGEST` and `refs/parked/conflict/DIGEST` (the submitted digest) point to a
 * commit that holds the run file at its path, and `event.json`, its ledger line without a place in
 * the chain. Look-ups may come from any thread, the rest from the writer's. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_PARK_H
#define BENCHLEDGER_GITHUB_QUEUE_PARK_H

#include "github/change/change.h"
#include "github/repository/repository.h"

struct park;

/* Reads what REPOSITORY has parked. */
bool park_open(struct repository *repository, struct park **park, struct store_error *error);
void park_close(struct park *park); /* NULL is fine */

/* Keeps the run of PENDING, which is stored, as STATUS (RUN_DECLINED or RUN_CONFLICT). */
bool park_keep(struct park *park, struct repository *repository,
               const struct repository_author *author, const struct pending *pending,
               enum run_status status, struct store_error *error);
/* DIGEST NULL: any of that run id, the last one parked first. STATE may be NULL; BLOB, the run file,
 * too. */
bool park_find(struct park *park, const char *run_id, const char *digest, struct run_state *state,
               git_oid *blob);
size_t park_count(struct park *park);

#endif
