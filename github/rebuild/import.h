/* Putting runs into a dataset without a service: the engine of `benchledger import`. Each gets its file, its
 * `accept` line with who did it, and its entry, as a submission would.
 *
 * Into a bare repository by commits of many runs, while a service may commit, too. Into a work tree or a plain
 * folder by files; the index is then to be made anew by whoever called. Beside a run's file stands
 * an empty `RUN.json.import.new` until its line is written. One thread. */
#ifndef BENCHLEDGER_GITHUB_REBUILD_IMPORT_H
#define BENCHLEDGER_GITHUB_REBUILD_IMPORT_H

#include "github/repository/repository.h"
#include "github/store.h"

enum import_end {
    IMPORT_ADDED,
    IMPORT_KNOWN,     /* the dataset has this very run */
    IMPORT_DUPLICATE, /* it has another one with this id */
};
/* COMMIT is empty unless it was added to a repository. PATH is where the run lies. */
typedef void (*import_tell)(void *context, const char *run_id, enum import_end end,
                            const char *path, const char *commit);

struct import_options {
    const char *dataset;
    struct repository_author author; /* of the commits */
    size_t summary_limit;
    const char *const
        *archives; /* earlier repositories, NULL-terminated: their runs are known, too */
    import_tell tell;
    void *context;
};

struct import;
/* False: the dataset cannot be read or written, somebody else imports into the folder or makes its index, a
 * folder of it is a link, or its archives.json names
 * other archives. import_close in any case. */
bool import_open(const struct import_options *options, struct import **import,
                 struct store_error *error);
/* Takes a copy of CHANGE, whose AT and BY are set. Runs wait until there are many. False: what waited could not
 * be written, and none of it was told. */
bool import_add(struct import *import, const struct change *change, struct store_error *error);
/* Writes what waits. */
bool import_flush(struct import *import, struct store_error *error);
/* Whether the index is to be made anew, before import_close: in a folder always, as an earlier import may have been
 * stopped before that. */
bool import_needs_index(const struct import *import);
void import_close(struct import *import); /* NULL is fine */

#endif
