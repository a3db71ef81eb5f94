/* The one thread that writes a dataset: what has arrived becomes a group commit (spec 03, "Commits").
 * It looks every second at what others committed to a local dataset; beside a remote it drives the
 * sync. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_WRITER_H
#define BENCHLEDGER_GITHUB_QUEUE_WRITER_H

#include "github/change/change.h"
#include "github/change/dataset.h"

struct problems;
struct sync;
struct writer;

struct writer_options {
    struct dataset *dataset; /* opened; of a remote store what its datasets have in common */
    const struct store_options *store;
    struct problems *problems;
};
/* Starts the thread, which owns the dataset until writer_stop returns. */
bool writer_start(const struct writer_options *options, struct writer **writer,
                  struct store_error *error);
/* Commits what is queued, ends the thread. While another process keeps the commit lock, that is tried
 * for 5 s in all; what is left has then failed. NULL is fine. */
void writer_stop(struct writer *writer);

/* Takes PENDING over. False when the queue is full: PENDING is then still the caller's. Any
 * thread. */
bool writer_queue(struct writer *writer, struct pending *pending);
/* The remote's side of it; NULL for a local dataset. */
struct sync *writer_sync(struct writer *writer);
/* Commits made since the start. Any thread. */
uint64_t writer_commits(struct writer *writer);
/* The tip as listeners and readers may know it. Any thread. */
git_oid writer_tip(struct writer *writer);

#endif
