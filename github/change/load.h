/* Reading a dataset's index from wherever it lies (spec 03, "Index"). */
#ifndef BENCHLEDGER_GITHUB_CHANGE_LOAD_H
#define BENCHLEDGER_GITHUB_CHANGE_LOAD_H

#include "aggregate/index.h"
#include "github/repository/source.h"

/* Loads the index that SOURCE holds; *INDEX is NULL afterwards when it holds none at all. False
 * when it cannot be read whole. TELL (may be NULL) hears of each entry meanwhile. */
bool load_index(const struct source *source, size_t summary_limit, index_tell tell, void *context,
                struct index **index, struct store_error *error);

#endif
