/* Submissions that wait for their commit, suspended, without a thread (spec 04).
 *
 * Each has two owners: its request and the store's pending change. Whoever is last frees it, so a
 * result that comes after the request gave up is dropped safely. A suspended connection is resumed
 * exactly once: by its result, by its deadline or by the end of the service. */
#ifndef BENCHLEDGER_SERVER_HTTP_WAITROOM_H
#define BENCHLEDGER_SERVER_HTTP_WAITROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "github/store.h"
#include "validator/buffer.h"

struct waitroom;
struct waiting;

/* Both are called with the room's lock held; RESUME from any thread, SUSPEND by waiting_new. */
struct waitroom *waitroom_new(void (*suspend)(void *connection), void (*resume)(void *connection));
void waitroom_free(struct waitroom *room);

/* Suspends CONNECTION until DEADLINE_MS at the latest; it counts two owners. NULL when the room is
 * closed: the connection is then not suspended. */
struct waiting *waiting_new(struct waitroom *room, void *connection, int64_t deadline_ms);
/* The store's callback: CONTEXT is the waiting. The end gives up the store's share; that the run is
 * queued is kept for whoever is resumed before the end comes, and resumes at once when the store is
 * known to be away. */
void waiting_done(void *context, const struct change_result *result);
/* After the resume: the last result that came in time, or NULL. */
const struct change_result *waiting_result(const struct waiting *waiting);
/* Gives up the request's share. NULL is fine. */
void waiting_leave(struct waiting *waiting);

/* Resumes whoever is past his deadline; all, when NOW_MS is INT64_MAX. */
void waitroom_expire(struct waitroom *room, int64_t now_ms);
/* Resumes all and takes nobody any more: from now on no connection of the room is suspended. */
void waitroom_close(struct waitroom *room);

#endif
