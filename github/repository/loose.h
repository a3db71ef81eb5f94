/* Writing a loose git object (one file under objects/).
 *
 * libgit2 writes them too; this does it at half the price, which is what a commit consists of: one
 * plain SHA-1 instead of two that search for collision attacks, and objects that are mostly hashes
 * are stored without an attempt to compress them. A run file that collides with another would have
 * to do so as printed JSON, git's own tools refuse such objects, and the ledger holds its SHA-256
 * besides. */
#ifndef BENCHLEDGER_GITHUB_REPOSITORY_LOOSE_H
#define BENCHLEDGER_GITHUB_REPOSITORY_LOOSE_H

#include <git2.h>
#include <stdbool.h>
#include <stddef.h>

#include "github/error.h"
#include "github/repository/repository.h"

enum loose_packing { LOOSE_STORED = 0, LOOSE_DEFLATED = 1 }; /* zlib levels */

/* Writes the object and fsyncs it and its folder. A file that lies there under its name is taken
 * over, fsynced, too, when it holds the very object, and replaced when it does not: somebody else's
 * git may not have synced it before the power went. The caller holds the commit lock. */
bool loose_write(struct repository *repository, git_object_t type, const char *data, size_t size,
                 enum loose_packing packing, git_oid *id, struct store_error *error);

/* The id that it has, or would have. */
bool loose_id(git_object_t type, const char *data, size_t size, git_oid *id);

#endif
