/* Checking a whole dataset against itself (spec 04, "Command line"): every digest, verdict, path and scrub, the
 * ledger's chain, and whether ledger, segments, manifest, summary, files and commits agree.
 *
 * Reads only. Nothing is believed: lines, manifest and segments are read by code of its own, beside that which
 * wrote them. Run files and segments are looked at on all cores, everything else on the caller's thread. */
#ifndef BENCHLEDGER_ARCHIVE_AUDIT_H
#define BENCHLEDGER_ARCHIVE_AUDIT_H

#include "archive/findings.h"
#include "github/repository/source.h"
#include "validator/validate.h"

struct audit_options {
    struct source source;
    const char *history; /* the git folder whose commits are looked at; NULL: none */
    bool work_tree;      /* SOURCE is the work tree of HISTORY */
    const struct answer_key
        *key; /* NULL: answers are not parsed again, and those verdicts are notes */
    const struct model_catalogue *catalogue; /* of names, for rule sets that ask it */
    /* DONE of COUNT run files were looked at, the last of SIZE bytes. False stops. May be NULL. */
    bool (*step)(void *context, size_t done, size_t count, size_t size);
    /* The same of commits. */
    bool (*step_back)(void *context, size_t done, size_t count);
    void *context;
};

struct audit_counts {
    size_t files, entries, segments, lines, commits;
};

/* False when the dataset cannot be read at all, or STEP said so; FINDINGS holds what was found until then. */
bool audit(const struct audit_options *options, struct findings *findings,
           struct audit_counts *counts, struct store_error *error);

#endif
