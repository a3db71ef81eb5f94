/* The remote kind of the store: keeps a mirror in step with its remote (spec 03, "Commits"; 04).
 *
 * The writer's thread owns it. What is committed here is queued; the courier carries it to the remote
 * as compare and swap; when the remote has moved, what is queued is applied again on what it has now.
 * Two datasets: the landed one is what the remote has, and what board, index and files show; the head
 * is that and the queue, and takes the commits. Only the queue's order, never the clock, decides what
 * comes first. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_SYNC_H
#define BENCHLEDGER_GITHUB_QUEUE_SYNC_H

#include "github/change/dataset.h"
#include "github/change/refresh.h"
#include "github/queue/park.h"
#include "github/queue/problems.h"
#include "github/store.h"

struct sync;

struct sync_options {
    const struct store_options *store;
    const struct dataset
        *dataset; /* what both datasets have in common; its repository the mirror */
    struct problems *problems;
    /* Called from another thread when sync_step has something to do. */
    void (*back)(void *context);
    /* As in mirror.h; for the first time within sync_start, when the remote was seen before. */
    void (*landed)(void *context, const git_oid *tip);
    void *context;
};
/* When the remote was seen before, reads what it had then and what is queued; otherwise that happens
 * later, and until then sync_is_open is false. */
bool sync_start(const struct sync_options *options, struct sync **sync, struct store_error *error);
/* Whoever still waits hears that his run is queued. NULL is fine. */
void sync_stop(struct sync *sync);

/* Takes in what the courier brought, sends him again. Returns when it wants to be called next, on
 * sync_now's clock. */
int64_t sync_step(struct sync *sync);
int64_t sync_now(void);
/* Takes commits: NULL while there is none to take them, and why. */
struct dataset *sync_head(struct sync *sync, struct store_error *error);
/* The changes of BATCH have been committed on the head, or are duplicates; frees them. */
void sync_take(struct sync *sync, struct pending *batch);

/* Any thread: */
/* REFRESH, made of what the remote has, is to be pushed when nothing else is on its way; once. */
void sync_refresh(struct sync *sync, const struct refresh *refresh);
bool sync_is_open(const struct sync *sync);
size_t sync_queued(const struct sync *sync);
void sync_figures(const struct sync *sync, struct store_figures *figures);
/* Runs that ended outside the dataset. */
struct park *sync_park(struct sync *sync);
/* The tip of the branch here: queued runs are in it. */
git_oid sync_tip(struct sync *sync);

#endif
