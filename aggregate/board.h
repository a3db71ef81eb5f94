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

/* Every field NULL or one value to be equal to. */
struct board_filter {
    const char *protocol, *device_class, *device_subclass, *runtime_id, *bench_model_id,
        *workload_id, *browser;
};

/* PROTOCOLS: the shown ones, NULL-terminated, copied. */
struct board *board_new(const char *const *protocols);
void board_free(struct board *board);
/* Adds one index entry. False when it is not one; the board is then unchanged. Flagged entries and
 * those of other protocols are counted and not shown. */
bool board_add(struct board *board, const char *entry, size_t size);
/* Takes an entry out again, by its run id as published. */
bool board_remove(struct board *board, const char *run_id);
size_t board_entries(const struct board *board);

/* The JSON object of GET /api/bench/leaderboard. FILTER and REPO may be NULL; GENERATED_AT is
 * ISO. */
void board_write_snapshot(struct board *board, const struct board_filter *filter, const char *repo,
                          const char *generated_at, struct buffer *out);
/* The JSON array of rows alone, and leaderboard.csv. */
void board_write_rows(struct board *board, const struct board_filter *filter, struct buffer *out);
void board_write_csv(struct board *board, const struct board_filter *filter, struct buffer *out);

#endif
