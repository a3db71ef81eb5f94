/* Lock files of a dataset repository.
 *
 * Two advisory locks (flock, so a killed process never leaves one behind) lie beside git's own
 * files: the commit lock is held while one commit is made, by `serve`, `index` and whatever else of
 * ours writes; the serve lock is held for life and only excludes a second `serve`. A git process or
 * we ourselves, killed at the wrong moment, leave git's lock files (refs/heads/main.lock, ...)
 * behind, which block every later commit: they are cleared under the commit lock. */
#ifndef BENCHLEDGER_GITHUB_LOCK_H
#define BENCHLEDGER_GITHUB_LOCK_H

#include <stdbool.h>

#include "github/error.h"

#define LOCK_COMMIT "benchledger.lock"
#define LOCK_SERVE "benchledger.serve.lock"

/* How old git's lock files must be before they count as left behind: git holds them for
 * milliseconds. A living store meets a lock of somebody who may be slow (a hook runs); at start we
 * are sure sooner. */
enum { LOCK_STALE_START_MS = 1000, LOCK_STALE_RUNNING_MS = 10000 };

struct lock {
    int fd; /* -1: not held */
};

/* Takes FOLDER/NAME, creating the file. Without WAIT fails at once when another process has it. */
bool lock_take(const char *folder, const char *name, bool wait, struct lock *lock,
               struct store_error *error);
/* Lets go; fine when not held. The file stays: removing it would race with the next taker. */
void lock_drop(struct lock *lock);

#define LOCK_SCOPE __attribute__((cleanup(lock_drop)))

/* Removes git's lock files in the repository FOLDER once they are AGE_MS old; waits for younger
 * ones to go away or to reach that age. The caller holds the commit lock. */
bool lock_clear_stale(const char *folder, int age_ms, struct store_error *error);

#endif
