/* The daily task: a thread that refreshes what commits leave behind (github/change/refresh.h), in a commit of its own.
 *
 * It is another writer of the dataset: of a local one it commits under the commit lock, as `benchledger index` does;
 * what is on its way to a remote it hands to the sync. The first time is a minute after the start, or one period.
 * Where another instance has done it since the last time, this one leaves it to that until the next time. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_DAILY_H
#define BENCHLEDGER_GITHUB_QUEUE_DAILY_H

#include "github/queue/writer.h"

struct daily;

/* OPTIONS, STORE->listener too, and WRITER must outlive it. PATH: of the repository. *DAILY is NULL when it is turned
 * off (refresh_every_s 0, a remote that is only read). */
bool daily_start(const char *path, const struct repository_author *author,
                 const struct store_options *options, struct writer *writer, struct daily **daily,
                 struct store_error *error);
/* Waits for what it is doing. NULL is fine. */
void daily_stop(struct daily *daily);

#endif
