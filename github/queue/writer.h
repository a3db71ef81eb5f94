/* The one thread that writes a dataset: a queue of pending changes, group commits, and a look every
 * second at what others committed (spec 03, "Commits"). */
#ifndef BENCHLEDGER_GITHUB_QUEUE_WRITER_H
#define BENCHLEDGER_GITHUB_QUEUE_WRITER_H

#include "github/change/change.h"
#include "github/change/dataset.h"

struct writer;

/* Starts the thread. DATASET, opened, is the thread's own until writer_stop returns; QUEUE_LIMIT as
 * in store.h. */
bool writer_start(struct dataset *dataset, size_t queue_limit, struct writer **writer,
                  struct store_error *error);
/* Commits what is queued, ends the thread. While another process keeps the commit lock, that is tried
 * for 5 s in all; what is left has then failed. NULL is fine. */
void writer_stop(struct writer *writer);

/* Takes PENDING over. False when the queue is full: PENDING is then still the caller's. Any
 * thread. */
bool writer_queue(struct writer *writer, struct pending *pending);
/* True, and why, while the last commit or look at the tip failed. Any thread. */
bool writer_failed(struct writer *writer, struct store_error *reason);
/* The tip as listeners and readers may know it. Any thread. */
git_oid writer_tip(struct writer *writer);

#endif
