/* Making a dataset's index from its run files: the engine of `benchledger index` (spec 03,
 * "Rebuild").
 *
 * The dataset is a bare repository (the result is committed; only that is done under the commit
 * lock, and all is read again when the tip moved meanwhile), a work tree or a plain folder (files are
 * replaced atomically, the manifest last, under the lock that import takes). Files are read on all cores. */
#ifndef BENCHLEDGER_GITHUB_REBUILD_REBUILD_H
#define BENCHLEDGER_GITHUB_REBUILD_REBUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "github/error.h"
#include "github/repository/repository.h"
#include "github/store.h"
#include "validator/buffer.h"

/* Makes the index entry (JSON with runId, createdAt, flagged, path) of the run file at PATH and
 * adds it to ENTRY. FLAGGED comes from the folder. False and WHY when it is not a run file. Called by several
 * threads at a time. */
typedef bool (*rebuild_entry)(void *context, const char *path, const char *bytes, size_t size,
                              bool flagged, struct buffer *entry, struct store_error *why);
/* A file that cannot be indexed, or a run that the result would drop (PATH is then its run id). */
typedef void (*rebuild_complain)(void *context, const char *path, const char *message);

/* DONE of COUNT files were read, the last of SIZE bytes. False stops, before anything was written. */
typedef bool (*rebuild_step)(void *context, size_t done, size_t count, size_t size);

/* An entry of the result, in its order. */
typedef void (*rebuild_tell)(void *context, const char *entry, size_t size);
/* The bytes of index/leaderboard.json, once all entries have been told. */
typedef void (*rebuild_leaderboard)(void *context, struct buffer *out);

struct rebuild_options {
    const char *dataset;
    bool dry_run;      /* everything but the writing */
    bool locked;       /* lock_take_folder was done by the caller, who keeps it */
    bool allow_shrink; /* drop runs whose files are gone; replace an unreadable index */
    struct repository_author author; /* of the commit in a bare repository */
    rebuild_entry entry;
    rebuild_complain complain; /* may be NULL */
    /* All entries follow, again where the tip moved. False: *ERROR says why not. May be NULL. */
    bool (*reset)(void *context, struct store_error *error);
    rebuild_tell tell;               /* may be NULL */
    rebuild_leaderboard leaderboard; /* may be NULL: the file is left as it is */
    rebuild_step step;               /* may be NULL */
    void *context;                   /* of all of these */
};

enum rebuild_outcome {
    REBUILD_DONE,
    REBUILD_REFUSED, /* expected: files that cannot be indexed, runs that would be dropped; nothing
                        written */
    REBUILD_FAILED,  /* *ERROR says why */
};
struct rebuild_result {
    size_t runs, flagged, segments;
    size_t without_ledger;       /* of the runs: those without an accept line, which come first */
    size_t unindexable;          /* files */
    size_t dropped;              /* runs of the present index without a file */
    bool ledger;                 /* the dataset has one */
    bool unreadable;             /* the present index is, so that it may hold runs without a file */
    bool changed;                /* the result differs from the present index, */
    bool leaderboard_changed;    /* or its leaderboard, which may lag, from the present one */
    char commit[COMMIT_HEX + 1]; /* empty: none was made */
};
/* *ERROR also says why it was refused. */
enum rebuild_outcome rebuild(const struct rebuild_options *options, struct rebuild_result *result,
                             struct store_error *error);

#endif
