/* Reading a dataset's index and ledger from wherever they lie (spec 03, "Index" and "Ledger"). */
#ifndef BENCHLEDGER_GITHUB_CHANGE_LOAD_H
#define BENCHLEDGER_GITHUB_CHANGE_LOAD_H

#include "aggregate/index.h"
#include "github/change/ledger.h"
#include "github/repository/source.h"

/* What is read, and who hears of it. */
struct index_loading {
    size_t summary_limit;
    const struct index *known;    /* a settled index that may be how this one began; NULL: none */
    void (*whole)(void *context); /* it is not: all entries follow; may be NULL */
    index_tell tell; /* hears of each entry, or of those that KNOWN does not hold; may be NULL */
    void *context;
    bool
        alone; /* nobody else reads a repository now: segments are verified by the manifest's SHA-256 only */
};
/* Loads the index that SOURCE holds; *INDEX is NULL afterwards when it holds none at all. False
 * when it cannot be read whole. */
bool load_index(const struct source *source, const struct index_loading *loading,
                struct index **index, struct store_error *error);
/* Tells the last COUNT entries of SOURCE's index. */
bool load_last_entries(const struct source *source, size_t count, index_tell tell, void *context,
                       struct store_error *error);

/* Reads all day files of SOURCE's ledger, in order, into LEDGER, begun. *FOUND: there are any; may be NULL. */
bool load_ledger(const struct source *source, struct ledger *ledger, ledger_tell tell,
                 void *context, bool *found, struct store_error *error);

#endif
