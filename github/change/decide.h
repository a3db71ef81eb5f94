/* A decision about a run, applied to a tip: where its file goes, what becomes of its entry (spec 03,
 * "Index"). */
#ifndef BENCHLEDGER_GITHUB_CHANGE_DECIDE_H
#define BENCHLEDGER_GITHUB_CHANGE_DECIDE_H

#include "github/change/dataset.h"

/* Appends the decision ITEM to ledger and index, and fills its move; its result says committed or
 * stale. False: the tip cannot be read. */
bool decide_append(struct dataset *dataset, struct pending *item, struct store_error *error);

#endif
