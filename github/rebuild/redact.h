/* Taking a run out of a dataset for good: the engine of `benchledger redact`. Its file and its index entry go,
 * a ledger line says that and why; what history holds is for whoever may rewrite it. */
#ifndef BENCHLEDGER_GITHUB_REBUILD_REDACT_H
#define BENCHLEDGER_GITHUB_REBUILD_REDACT_H

#include "github/repository/repository.h"
#include "github/store.h"

struct redaction {
    const char *dataset;              /* a bare repository that is no mirror of a remote */
    const char *run_id, *reason, *by; /* REASON one line of ours; BY may be NULL */
    const char *at;                   /* ISO with ms and Z */
    struct repository_author author;
};

/* REDACT_REFUSED: no such run, or it was redacted before; *ERROR says so. */
enum redact_outcome { REDACT_DONE, REDACT_REFUSED, REDACT_FAILED };
/* One commit, under the commit lock: a service may run meanwhile, and follows. PATH is where the file
 * was. */
enum redact_outcome redact(const struct redaction *redaction, char path[RUN_PATH_MAX + 1],
                           char commit[COMMIT_HEX + 1], struct store_error *error);

#endif
