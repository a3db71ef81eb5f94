/* What a branch is ahead of the remote, read from its commits as changes that can be applied again:
 * the repository is the queue, there is no second one. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_BACKLOG_H
#define BENCHLEDGER_GITHUB_QUEUE_BACKLOG_H

#include "github/change/change.h"
#include "github/change/dataset.h"

/* The submissions and decisions that TIP's ledger has and LANDED's has not, in their order. Their files stay where
 * they are (stored). False when they cannot be read. Free LIST with backlog_free, or take items out
 * of it. */
bool backlog_read(const struct dataset *landed, const git_oid *tip, struct pending **list,
                  struct store_error *error);
void backlog_free(struct pending *list); /* NULL is fine */

#endif
