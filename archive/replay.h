/* Judging a dataset by another rule set: which verdicts would flip, what the set finds else, and what only the
 * whole archive shows (spec 02; aggregate/reuse.h, aggregate/outlier.h).
 *
 * Reads only, in one pass over runs/ and quarantine/; withdrawn runs are left out. Files are judged on all cores,
 * everything is told on the caller's thread. */
#ifndef BENCHLEDGER_ARCHIVE_REPLAY_H
#define BENCHLEDGER_ARCHIVE_REPLAY_H

#include "aggregate/outlier.h"
#include "aggregate/reuse.h"
#include "github/repository/source.h"

enum { REPLAY_ARCHIVE_RULES = 3 }; /* the first set with rules about the archive */

/* A run whose verdict would be another one. What it was is what the ledger's line says that accepted it, and
 * without such a line what its folder says. A maintainer's decision is no verdict: it changes LIES alone. */
struct replay_flip {
    const char *path;
    bool lies_in_quarantine;
    bool was_quarantined;          /* the other way round now */
    int rules_before;              /* 0: not known */
    const char *codes_before;      /* of the flags then, JSON; NULL: not known */
    const struct verdict *verdict; /* by the set that is tried */
};

/* An iteration of a run, cells by their ids. */
struct replay_stream {
    const char *path, *cell_id;
    size_t iteration;
};
/* LATER repeats EARLIER, which was accepted before it, with times SCALE times as long. */
struct replay_reuse {
    struct replay_stream earlier, later;
    double scale;
    size_t chunks;
};
struct replay_outlier {
    const char *path, *cell_id;
    const struct outlier_found *found;
};

/* Called first for flips and what cannot be judged, in the order of paths, then for streams, then for outliers,
 * in the order of acceptance. */
struct replay_tell {
    void *context;
    void (*flip)(void *context, const struct replay_flip *flip);
    void (*unjudged)(void *context, const char *path, const char *problem);
    void (*reuse)(void *context, const struct replay_reuse *reuse);
    void (*outlier)(void *context, const struct replay_outlier *outlier);
    /* DONE of COUNT files were judged, the last of SIZE bytes. False stops. */
    bool (*step)(void *context, size_t done, size_t count, size_t size);
};

struct replay_options {
    struct source source;
    struct policy policy; /* rules and catalogue; the times of acceptance are the ledger's */
    const struct answer_key *key; /* NULL: none */
    struct replay_tell tell;
};

/* A code of the set that was raised. */
struct replay_code {
    const char *code;
    bool rejects; /* in one of them at least */
    size_t flags, runs;
    size_t known_runs; /* of them whose line in the ledger has the code, too */
    size_t last;       /* file that raised it */
};

struct replay_counts {
    size_t files, unjudged;
    size_t to_quarantine, to_board; /* flips */
    size_t reused, outliers;
    struct replay_code codes[RULES_MAX]; /* in the order in which they came up */
    size_t code_count;
};

/* False when the dataset cannot be read, or STEP said so. */
bool replay(const struct replay_options *options, struct replay_counts *counts,
            struct store_error *error);

#endif
