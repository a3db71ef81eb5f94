/* The mirror of a remote: what the remote has, what is queued on top of it, and how the one becomes
 * the other. Knows no network and no time; the writer's thread only, but for what says otherwise.
 *
 * The branch here is the remote's tip and the queue; refs/benchledger/remote is that tip alone. When
 * the remote moves on, the branch is built again on what it has now; that is noted in
 * refs/benchledger/next, then the branch is moved, then the other reference. A process that is killed
 * in between finds by the note what the branch stands on, or runs queued that the remote has, and drops
 * those when it looks. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_MIRROR_H
#define BENCHLEDGER_GITHUB_QUEUE_MIRROR_H

#include "github/change/dataset.h"
#include "github/queue/park.h"
#include "github/queue/queue.h"

#define MIRROR_REMOTE "refs/benchledger/remote"
/* What the branch is about to stand on, written before it is moved. */
#define MIRROR_NEXT "refs/benchledger/next"

struct mirror_options {
    const struct dataset *dataset; /* what both datasets have in common */
    const char *licence;
    /* Hears of a new tip of the remote before anybody hears that his run is there. */
    void (*landed_moved)(void *context, const git_oid *tip);
    void *context;
    store_tell tell; /* as in queue.h */
    void *tell_context;
};

struct mirror {
    struct repository *repository;
    struct catalogue *catalogue;
    const char *licence;
    struct dataset landed, head;
    struct park *park;
    struct queue queue;
    void (*landed_moved)(void *context, const git_oid *tip);
    void *context;
    bool open;     /* the remote was seen, now or before the last start */
    bool carrying; /* the queue was taken off the branch and is not back on it: that failed */
    struct pending *carried; /* it, then */
    bool outdated;           /* the head does not stand on what the remote has: settle first */
};

/* Reads what an earlier start left; when there is nothing of the remote, the mirror stays closed.
 * Queued runs are claimed in the catalogue. */
bool mirror_start(struct mirror *mirror, const struct mirror_options *options,
                  struct store_error *error);
/* Whoever still waits hears that his run is queued. */
void mirror_stop(struct mirror *mirror);
/* First sight of the remote: its default branch BRANCH is at TIP, which has been fetched; zero: the
 * remote is empty, and gets its first commit with the first run. */
bool mirror_begin(struct mirror *mirror, const char *branch, const git_oid *tip,
                  struct store_error *error);

/* The remote's branch is COMMIT, which is here. Runs that it has end, the rest is queued on top of it.
 * False: try again with mirror_settle. */
bool mirror_advance(struct mirror *mirror, const git_oid *commit, struct store_error *error);
/* Finishes what failed earlier; nothing may be committed on the head before. */
bool mirror_settle(struct mirror *mirror, struct store_error *error);
/* The commit to push so that the remote gets what AIM means and nothing else. */
bool mirror_aim(struct mirror *mirror, struct aim aim, git_oid *commit, struct store_error *error);
/* Parks what is condemned: it ends as declined. */
bool mirror_park(struct mirror *mirror, struct store_error *error);
/* Goes over to another branch of the remote, which continues this one. */
bool mirror_turn(struct mirror *mirror, const char *branch, struct store_error *error);

#endif
