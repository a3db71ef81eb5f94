/* The public board as the service shows it: fed by the store, snapshots cached until the index
 * changes.
 *
 * Snapshots may be asked for on any thread; the listener runs on the store's writer thread. A
 * cached one costs a look under a short lock and no copy. Making one never holds the writer up. */
#ifndef BENCHLEDGER_SERVER_API_BOARDVIEW_H
#define BENCHLEDGER_SERVER_API_BOARDVIEW_H

#include <stdbool.h>

#include "aggregate/board.h"
#include "github/store.h"
#include "server/api/content.h"

struct boardview;

/* PROTOCOLS: the shown ones, NULL-terminated. REPO: owner/name or NULL; outlives the view. */
struct boardview *boardview_new(char *const *protocols, const char *repo);
void boardview_free(struct boardview *view);
struct store_listener boardview_listener(struct boardview *view);

/* The snapshot (or leaderboard.csv) under FILTER, NULL: all. A reference for the caller.
 * `generatedAt` is the time of the last change, so that unchanged boards keep their ETag. */
struct content *boardview_get(struct boardview *view, const struct board_filter *filter, bool csv);

#endif
