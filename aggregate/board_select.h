/* What a query leaves of a board; private to the board's sources. */
#ifndef BENCHLEDGER_AGGREGATE_BOARD_SELECT_H
#define BENCHLEDGER_AGGREGATE_BOARD_SELECT_H

#include "aggregate/board_state.h"

/* Entries in order of acceptance, rows in the order asked for. */
struct selection {
    struct entry **entries;
    size_t entry_count;
    struct row **rows;
    size_t row_count;
    struct rows own; /* grouped anew, where a query tells contributions of one row apart */
    bool owns_entries, owns_rows;
};

/* QUERY may be NULL. The selection is good until the board changes. */
struct selection board_select(struct board *board, const struct board_query *query);
void selection_free(struct selection *selection);
#define SELECTION_SCOPE __attribute__((cleanup(selection_free)))

/* The newest of SELECTION, which was made of BOARD. */
size_t selection_recent(struct board *board, const struct selection *selection,
                        struct entry *recent[RECENT_SUBMISSIONS]);

/* Tells cells by a query. */
struct matcher {
    const struct name *equal[BOARD_DIMENSIONS]; /* NULL: any */
    struct arena arena;
    struct text words[BOARD_WORDS_MOST];
    size_t word_count;
    unsigned char *found; /* by number of a name: which words stand in it, once looked at */
};
void matcher_open(struct matcher *matcher, const struct board *board,
                  const struct board_query *query);
void matcher_close(struct matcher *matcher);
#define MATCHER_SCOPE __attribute__((cleanup(matcher_close)))

/* The name of a contribution in a dimension; CELL may be NULL for those of the entry. */
const struct name *dimension_of(enum board_dimension dimension, const struct entry *entry,
                                const struct cell *cell);
/* The dimensions in which a contribution is not what is asked for, a bit each. */
unsigned matcher_misses(const struct matcher *matcher, const struct entry *entry,
                        const struct cell *cell);
/* Whether every word stands in a name of the contribution. */
bool matcher_has_words(struct matcher *matcher, const struct entry *entry, const struct cell *cell);

#endif
