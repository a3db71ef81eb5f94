/* State of a board; private to the board's sources. */
#ifndef BENCHLEDGER_AGGREGATE_BOARD_STATE_H
#define BENCHLEDGER_AGGREGATE_BOARD_STATE_H

#include "aggregate/board.h"
#include "aggregate/board_rows.h"

enum { RECENT_SUBMISSIONS = 25 };

struct board {
    struct arena arena; /* names, entries, heads */
    struct name **names;
    size_t name_count, name_buckets;
    const struct name **protocols; /* shown ones, newest first; NULL-terminated */
    struct entry **entries;        /* unflagged ones of shown protocols, in order of acceptance */
    size_t count, room;
    size_t all;     /* entries of any kind */
    uint64_t added; /* since the board was made: the place of the next one */
    struct rows rows;
    /* The newest by createdAt, the later accepted one first among equals: kept, so that a snapshot after a
     * commit does not look at all entries. */
    struct entry *recent[RECENT_SUBMISSIONS];
    size_t recent_count;
    bool recent_unknown; /* an entry was taken out: to be looked for again */
};

/* Puts ENTRY, which was accepted before (EARLIER) or after those in RECENT, among them when it is as new. */
void board_note_recent(struct entry *recent[RECENT_SUBMISSIONS], size_t *count, struct entry *entry,
                       bool earlier);

/* Reads N of a protocol id FAMILY/N, 0 when it has none. */
double board_protocol_number(const struct js_value *id);
/* The name of TEXT, NULL when nothing on the board is called that. */
const struct name *board_find_name(const struct board *board, const char *text);
const struct name *board_find_text(const struct board *board, struct text text);
/* Whether PROTOCOL is one of the shown ones. */
bool board_shows(const struct board *board, struct text protocol);

#endif
