/* The public board (spec 03, "Board rows"): entries in, rows out.
 *
 * State is incremental: an entry touches the rows of its own cells, and only those are computed
 * again at the next snapshot. Pure; not thread-safe, the owner guards it. */
#ifndef BENCHLEDGER_AGGREGATE_BOARD_H
#define BENCHLEDGER_AGGREGATE_BOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "validator/buffer.h"

struct board;

/* What entries and cells can be told apart by; named as in a query. */
enum board_dimension {
    BY_PROTOCOL,
    BY_CLASS,
    BY_DEVICE,
    BY_RUNTIME,
    BY_MODEL,
    BY_WORKLOAD,
    BY_BROWSER,
    BOARD_DIMENSIONS
};
const char *board_dimension_name(enum board_dimension dimension);

/* What is asked of a board. It selects entries and cells before they are grouped, so that runs, recent
 * submissions and every figure follow it. Zero-initialised (or NULL): all of it, in board order. */
struct board_query {
    const char *equal[BOARD_DIMENSIONS]; /* NULL, or the value to be equal to */
    /* Words parted by white space, case ignored; each must stand in a name of the cell: device class or
     * subclass, runtime, model (id or name), workload, browser, backend. BOARD_WORDS_MOST count. */
    const char *words;
    const char *sort; /* key of a column, '-' in front for descending; see board_can_sort */
};
enum { BOARD_WORDS_MOST = 7 };
/* Whether SORT is NULL or names a column that rows can be ordered by: any that holds one value. Rows without
 * the value come last in both directions, equal ones in board order; a rate that needs an incremental stream is
 * no value of a row whose stream was a burst. */
bool board_can_sort(const char *sort);

/* What makes a row provisional: fewer than three runs, or, by devices, also runs of fewer than three devices. */
enum board_provisional { PROVISIONAL_BY_SUBMISSIONS, PROVISIONAL_BY_DEVICES };

/* PROTOCOLS: the shown ones, NULL-terminated, copied. */
struct board *board_new(const char *const *protocols);
void board_free(struct board *board);
/* Before the first entry; a new board counts submissions. */
void board_count_provisional(struct board *board, enum board_provisional by);
/* Adds one index entry. False when it is not one; the board is then unchanged. Flagged entries and
 * those of other protocols are counted and not shown. */
bool board_add(struct board *board, const char *entry, size_t size);
/* Takes an entry out again, by its run id as published. */
bool board_remove(struct board *board, const char *run_id);
/* Puts ENTRY in the place of the one with its run id, so that the board is as if it had been added
 * instead. False when it is no entry, or that run is not there; the board is then unchanged. */
bool board_replace(struct board *board, const char *entry, size_t size);
size_t board_entries(const struct board *board);

/* The JSON object of GET /api/bench/leaderboard. QUERY and REPO may be NULL; GENERATED_AT is
 * ISO. */
void board_write_snapshot(struct board *board, const struct board_query *query, const char *repo,
                          const char *generated_at, struct buffer *out);
/* The JSON array of rows alone, and leaderboard.csv. */
void board_write_rows(struct board *board, const struct board_query *query, struct buffer *out);
void board_write_csv(struct board *board, const struct board_query *query, struct buffer *out);
/* The bytes of index/leaderboard.json: the whole board in its usual order, made of nothing but the entries that
 * were added, so that whoever adds the same ones writes the same bytes. `entries` is how many of them, the first
 * of the index; `protocols` the shown ones; `provisionalBy` submissions or devices. */
void board_write_leaderboard(struct board *board, struct buffer *out);

#endif
