/* Finding the commit that accepted a run, after a restart.
 *
 * The ledger only grows, so along the first parents of the tip its last seq only rises: the commit
 * that added a line is found by binary search. The list of commits is walked only as far back as
 * asked and kept. Any thread may call; the questions wait for each other, nothing else does. */
#ifndef BENCHLEDGER_GITHUB_CHANGE_HISTORY_H
#define BENCHLEDGER_GITHUB_CHANGE_HISTORY_H

#include <git2.h>
#include <stdbool.h>
#include <stdint.h>

#include "github/error.h"

struct history;

/* Opens a repository handle of its own. */
bool history_open(const char *path, struct history **history, struct store_error *error);
void history_close(struct history *history); /* NULL is fine */

/* The first commit up to TIP whose ledger holds the line SEQ. False when there is none. */
bool history_find(struct history *history, const git_oid *tip, uint64_t seq, git_oid *commit,
                  struct store_error *error);

#endif
