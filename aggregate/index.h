/* The index of a dataset: segments, manifest, summary (spec 03, "Index").
 *
 * Pure: bytes in, bytes out. The owner loads what a tip holds, appends entries (JSON that is
 * already serialised, taken verbatim), writes the files that changed, then settles; what was not
 * written is taken back with index_undo. A decision edits an entry in place. An append touches the
 * last segment only and never parses it again, so that its cost does not grow with the archive. One thread at a time. */
#ifndef BENCHLEDGER_AGGREGATE_INDEX_H
#define BENCHLEDGER_AGGREGATE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "validator/buffer.h"
#include "validator/js.h"

enum { INDEX_SEGMENT_BYTES = 1000000, INDEX_PATH_MAX = 48 };

#define INDEX_MANIFEST_PATH "index/manifest.json"
#define INDEX_SUMMARY_PATH "index/summary.json"
#define INDEX_LEADERBOARD_PATH "index/leaderboard.json" /* board_write_leaderboard */
#define INDEX_SEGMENTS_FOLDER "index/segments"

struct index;

/* An expected failure: what the files hold is not an index. MESSAGE names the file. */
struct index_problem {
    char message[256];
};

/* An entry as it is told while an index is loaded. Values may be NULL. Valid during the call
 * only. */
struct index_entry {
    const char *json;
    size_t size;
    const struct js_value *run_id, *path, *created_at;
    bool flagged;
};
typedef void (*index_tell)(void *context, const struct index_entry *entry);

/* An empty index. SUMMARY_LIMIT: bytes; the summary is rewritten while it is below. */
struct index *index_new(size_t summary_limit);
void index_free(struct index *index); /* NULL is fine */

/* First the manifest, then each of its segments in order, then index_load_end with the summary when
 * index_wants_summary (SUMMARY NULL: there is none). False: it is not a whole index; free it and
 * leave the dataset's alone. TELL may be NULL. */
bool index_load_manifest(struct index *index, const char *bytes, size_t size,
                         struct index_problem *problem);
size_t index_segments(const struct index *index);
/* Of the I-th segment, as the manifest says. */
size_t index_segment_entries(const struct index *index, size_t i);
/* After the manifest: whether INDEX goes on where KNOWN, settled, ends, so that only what came since
 * has to be read and told. INDEX then takes over what KNOWN holds, and *FIRST is the segment from
 * which on index_load_segment is to be called. False: everything follows, as if KNOWN were not
 * there. */
bool index_continue(struct index *index, const struct index *known, size_t *first);
/* A copy of INDEX, settled. */
struct index *index_copy(const struct index *index);
/* `index/segments/NNNNN.json` of the I-th segment, from 0. */
void index_segment_path(size_t i, char path[INDEX_PATH_MAX]);
bool index_load_segment(struct index *index, size_t i, const char *bytes, size_t size,
                        index_tell tell, void *context, struct index_problem *problem);
bool index_wants_summary(const struct index *index);
bool index_load_end(struct index *index, const char *summary, size_t size,
                    struct index_problem *problem);
/* An older dataset: only a summary. All segments are then written with the first commit. */
bool index_load_archive(struct index *index, const char *summary, size_t size, index_tell tell,
                        void *context, struct index_problem *problem);

/* False when ENTRY is not an object with a runId. */
bool index_append(struct index *index, const char *entry, size_t size,
                  struct index_problem *problem);

/* A decision changes the entry of a run where it stands (spec 03, "Index"). INDEX_MISSING: no entry in
 * the bytes that were looked at. */
enum index_edit { INDEX_EDITED, INDEX_MISSING, INDEX_BROKEN };
/* Before the first of a batch, appended entries included: what index_undo goes back to. */
void index_save(struct index *index);
/* Whether the I-th segment's bytes are in memory, and BYTES of the next two may be NULL: they are its
 * present file otherwise. */
bool index_holds_segment(const struct index *index, size_t i);
/* Adds the run's entry, when the I-th segment has it, to OLD. */
bool index_look(const struct index *index, size_t i, const char *bytes, size_t size,
                const char *run_id, struct buffer *old);
/* Puts ENTRY (NULL: nothing) in the place of the run's entry in the I-th segment. */
enum index_edit index_edit_segment(struct index *index, size_t i, const char *bytes, size_t size,
                                   const char *run_id, const char *entry, size_t entry_size,
                                   struct index_problem *problem);
/* Whether the summary's bytes are in memory, and BYTES of index_edit_summary may be NULL. */
bool index_holds_summary(const struct index *index);
/* The same in the summary, also when it is past its limit and lacks the newest entries; after
 * index_edit_segment has found the run. */
enum index_edit index_edit_summary(struct index *index, const char *bytes, size_t size,
                                   const char *run_id, const char *entry, size_t entry_size,
                                   struct index_problem *problem);
/* Finds the entry of a run, as JSON.stringify wrote it, in an array of entries; case of the id
 * counts. */
bool index_find_entry(const char *bytes, size_t size, const char *run_id, size_t *start,
                      size_t *end);

/* The files that changed since the index was loaded or settled: COUNT of them, valid until the
 * index is changed again. */
struct index_file {
    char path[INDEX_PATH_MAX];
    const char *bytes;
    size_t size;
};
const struct index_file *index_changed(struct index *index, size_t *count);
void index_settle(struct index *index); /* they are in the dataset */
void index_undo(struct index *index);   /* they are not: back to the last settled state */

/* A summary that is made anew beside the commits (github/change/refresh.h). All of these need no more than
 * index_load_manifest. */
/* Whether the summary lacks entries. */
bool index_summary_lags(const struct index *index);
/* What all entries take in one array. */
size_t index_bytes(const struct index *index);
/* Whether these are the bytes of the I-th segment. */
bool index_is_segment(const struct index *index, size_t i, const char *bytes, size_t size);
/* Whether INDEX has the entries of BEFORE, unchanged, and at most more behind them. LAST: the segment of INDEX that
 * was the last one of BEFORE. */
bool index_grew(const struct index *index, const struct index *before, const char *last,
                size_t size);
/* The bytes of the manifest once the summary holds the first SUMMARY_ENTRIES, valid until INDEX is changed. */
const char *index_manifest_with(struct index *index, size_t summary_entries, size_t *size);

size_t index_entries(const struct index *index);
size_t index_flagged(const struct index *index);

#endif
