/* State of an index; private to its sources. */
#ifndef BENCHLEDGER_AGGREGATE_INDEX_STATE_H
#define BENCHLEDGER_AGGREGATE_INDEX_STATE_H

#include "aggregate/index.h"
#include "validator/sha256.h"

struct segment {
    size_t entries, bytes;
    char sha256[SHA256_HEX + 1];
};

/* What an undo goes back to. */
struct state {
    size_t segments, entries, flagged;
    struct segment last; /* when there is a segment */
    size_t last_open;    /* bytes of open[0] */
    size_t open_count;
    size_t summary_size, summary_entries;
    bool summary_complete;
};

struct edited_segment {
    size_t number;
    struct buffer bytes; /* without the final bracket; empty: no entries */
};

/* The trailing segments whose bytes are in memory: the last one, and before it those that were
 * closed since the index was settled. They lack their final bracket. Summary likewise. */
struct index {
    size_t summary_limit;
    struct segment *segments;
    size_t segment_count, segment_room;
    struct buffer *open; /* of the segments from segment_count - open_count on */
    size_t open_count, open_room;
    size_t entries, flagged;
    struct buffer summary; /* empty once it is past its limit */
    size_t summary_entries;
    bool summary_complete;
    bool unsaved; /* nothing of it is in the dataset yet */
    bool changed; /* since it was settled */
    /* What decisions changed since then, and what it was before (NULL: none did). */
    struct index *saved;
    struct edited_segment *edited; /* of the segments that are not open */
    size_t edited_count;
    bool open_edited, summary_edited;
    bool summary_loaded;         /* for an edit: */
    struct buffer whole_summary; /* of a summary that is not kept in memory */
    struct state settled;
    size_t loaded_entries,
        loaded_flagged; /* what the segments hold, to compare with the manifest */
    const struct buffer
        *continued; /* while it is loaded: what the segment `continued_at` began with */
    size_t continued_at, continued_entries;
    struct index_file *files;
    struct buffer manifest;
};

/* Into index->manifest. */
void index_write_manifest(struct index *index);
/* Says why in PROBLEM, which may be NULL; false. */
bool index_fail(struct index_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
