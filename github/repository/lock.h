/* Lock files of a dataset repository.
 *
 * Two advisory locks (flock, so a killed process never leaves one behind) lie beside git's own
 * files: the commit lock is held while one commit is made, by `serve`, `index` and whatever else of
 * ours writes; the serve lock is held for life and only excludes a second `serve`. A git process or
 * we ourselves, killed at the wrong moment, leave git's lock files (refs/heads/main.lock, ...)
 * behind, which block every later commit: they are cleared under the commit lock. */
#ifndef BENCHLEDGER_GITHUB_REPOSITORY_LOCK_H
#define BENCHLEDGER_GITHUB_REPOSITORY_LOCK_H

#include <stdbool.h>

#include "github/error.h"

#define LOCK_COMMIT "benchledger.lock"
#define LOCK_SERVE "benchledger.serve.lock"

/* How old git's lock files must be before they count as left behind. Git holds one of a reference
 * or of HEAD for the time of writing 41 bytes; should one that is alive be removed all the same (a
 * hook runs), its git fails loudly and the reference stays sound. At start we are sure sooner than
 * while we serve. All others (packed-refs.lock, config.lock) guard files that are rewritten whole:
 * two writers at once lose references, so they are left alone until LOCK_STALE_OTHER_MS, and not
 * waited for, since no commit needs them. */
enum { LOCK_STALE_START_MS = 1000, LOCK_STALE_RUNNING_MS = 10000, LOCK_STALE_OTHER_MS = 10000 };

/* How long a commit lock is waited for: whoever holds it makes one commit. */
enum { LOCK_WAIT_MS = 30000 };

struct lock {
    int fd; /* -1: not held */
};

/* Takes FOLDER/NAME, creating the file. WAIT is asked again and again, with the time waited so far,
 * whether to wait on while another process has it; NULL: fails at once. */
typedef bool (*lock_wait)(void *context, double waited_ms);
bool lock_take(const char *folder, const char *name, lock_wait wait, void *context,
               struct lock *lock, struct store_error *error);
/* Waits LOCK_WAIT_MS; needs no context. */
bool lock_wait_long(void *context, double waited_ms);
/* Takes the dataset FOLDER itself, a work tree or plain folder, and leaves no file there; fails at once. For whoever
 * writes there or goes on from what is read there: `import` and `index`. */
bool lock_take_folder(const char *folder, struct lock *lock, struct store_error *error);
/* Lets go; fine when not held. The file stays: removing it would race with the next taker. */
void lock_drop(struct lock *lock);

#define LOCK_SCOPE __attribute__((cleanup(lock_drop)))

/* Removes git's lock files in the repository FOLDER: those of references and HEAD once they are
 * AGE_MS old, waiting for younger ones to go away or to reach that age; of the others those that are
 * LOCK_STALE_OTHER_MS old. The caller holds the commit lock. */
bool lock_clear_stale(const char *folder, int age_ms, struct store_error *error);

#endif
