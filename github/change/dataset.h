/* What is known of a dataset's tip, and how changes are applied to it (spec 03, "Commits").
 *
 * Beside a remote there are two of them: the landed one follows what the remote has and tells
 * catalogue and listener; the silent one is ahead of it by what is pending, and takes the commits.
 *
 * Holds the end of the ledger and of the index in memory, so that a commit reads nothing that grows
 * with the archive. Only the writer thread uses it. */
#ifndef BENCHLEDGER_GITHUB_CHANGE_DATASET_H
#define BENCHLEDGER_GITHUB_CHANGE_DATASET_H

#include <git2.h>
#include <stdbool.h>

#include "aggregate/index.h"
#include "github/change/catalogue.h"
#include "github/change/change.h"
#include "github/change/ledger.h"
#include "github/repository/repository.h"
#include "github/store.h"

struct dataset {
    /* set by the owner before dataset_open, who keeps what they point to */
    struct repository *repository;
    struct catalogue *catalogue;
    struct repository_author author;
    struct store_listener listener;
    const char *reference; /* that is followed; NULL: the branch. May be missing: a remote without
                              any commit */
    bool silent;           /* catalogue and listener hear nothing of it */
    bool detached;         /* commits move no reference, and none is followed */
    bool alone;            /* as in load.h; while dataset_open runs */
    size_t summary_limit;
    const struct store_file *files; /* that the dataset shall hold */
    size_t file_count;

    git_oid tip, root;               /* the commit and its tree */
    git_oid ledger_tree, index_tree; /* zero: there is none */
    struct ledger ledger;
    char older_days[SHA256_HEX +
                    1]; /* of the ledger's day files but the newest; "": not looked at */
    struct index *index;
    bool stale;         /* what we know may be half of something: all is read anew */
    bool retelling;     /* while a tip is taken in: the catalogue hears of all runs again */
    uint64_t foreign;   /* submissions that somebody else accepted, taken in since the start */
    git_oid unreadable; /* a tip that could not be taken in, when and why */
    double unreadable_ms;
    struct store_error unreadable_reason;
};

/* Reads ledger and index at the tip, fills the catalogue, tells the listener everything. */
bool dataset_open(struct dataset *dataset, struct store_error *error);
void dataset_close(struct dataset *dataset);

/* Takes in what others committed, also when they rewrote history: runs, ledger and index are then
 * those of the new tip. False when that cannot be read: the dataset, the catalogue and the listener
 * then stay at the tip that they knew, which no commit can be built on until this succeeds. */
bool dataset_refresh(struct dataset *dataset, struct store_error *error);

/* The same for COMMIT, wherever references point. */
bool dataset_follow(struct dataset *dataset, const git_oid *commit, struct store_error *error);
/* Makes DATASET, silent, know what LANDED knows: pending changes are applied again on that. */
void dataset_start_at(struct dataset *dataset, const struct dataset *landed);

/* The caller holds the commit lock. One commit with every run of BATCH that the dataset does not hold and
 * every decision that still holds, applied again when the tip moves. True: each result says committed,
 * duplicate or stale, and
 * unless the dataset is silent the catalogue holds what was committed and the listener has settled.
 * False: nothing was written. Claims are the caller's in either case. */
bool dataset_commit(struct dataset *dataset, struct pending *batch, struct store_error *error);

#endif
