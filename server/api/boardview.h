/* The public board as the service shows it: fed by the store, snapshots cached until the index
 * changes.
 *
 * Snapshots may be asked for on any thread; the listener runs on the store's writer thread. A
 * cached one costs a look under a short lock and no copy. Making one never holds the writer up, and
 * what several threads want at once is made by one of them. */
#ifndef BENCHLEDGER_SERVER_API_BOARDVIEW_H
#define BENCHLEDGER_SERVER_API_BOARDVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregate/neighbours.h"
#include "github/store.h"
#include "pages/board_links.h"
#include "server/api/content.h"

struct boardview;

/* PROTOCOLS: the shown ones, NULL-terminated. REPO: owner/name or NULL; outlives the view. */
struct boardview *boardview_new(char *const *protocols, enum board_provisional provisional,
                                const char *repo);
void boardview_free(struct boardview *view);
struct store_listener boardview_listener(struct boardview *view);

enum board_form {
    BOARD_JSON, /* the snapshot */
    BOARD_CSV,  /* leaderboard.csv */
    BOARD_PAGE,
    BOARD_ROW, /* the page of the one row that is left */
};

/* Another one when the board has changed. */
uint64_t boardview_version(const struct boardview *view);
/* Whether ASKED leaves the whole board, in its usual order. */
bool boardview_is_plain(const struct board_asked *asked);
/* A reference for the caller to what boardview_get has kept, or NULL: it is to be made, which is
 * work. */
struct content *boardview_find(struct boardview *view, enum board_form form,
                               const struct board_asked *asked);
/* What ASKED leaves of the board; data looks at its query only. A reference for the caller; NULL when BOARD_ROW
 * finds no such row. `generatedAt` is the time of the last change, so that unchanged boards keep
 * their ETag. */
struct content *boardview_get(struct boardview *view, enum board_form form,
                              const struct board_asked *asked);

/* Of what boardview_find and boardview_get keep until the board changes: a bounded number of contents (SHELF_PLACES for
 * the whole board in its forms, as many for all else) and 64 MiB each. */
struct boardview_figures {
    uint64_t hits, misses; /* a miss is a content that was made */
    size_t contents, bytes;
};
void boardview_figures(struct boardview *view, struct boardview_figures *figures);

/* As board_neighbours. */
bool boardview_neighbours(struct boardview *view, const char *entry, size_t size,
                          struct arena *arena, struct neighbours *out);

#endif
