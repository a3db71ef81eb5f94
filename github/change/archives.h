/* Earlier repositories of a dataset that was split, read beside the one that takes runs (README, "Split a dataset").
 *
 * Each is a local bare repository that nobody writes any more: it is read as it is when the service starts, and never
 * written. What they hold comes first, in their order: their entries are told before those of the dataset, their runs and
 * the nonces that were spent there are known. Nothing is decided about them here. Any thread may call, unless it says
 * otherwise. */
#ifndef BENCHLEDGER_GITHUB_CHANGE_ARCHIVES_H
#define BENCHLEDGER_GITHUB_CHANGE_ARCHIVES_H

#include <git2.h>
#include <stdbool.h>

#include "github/repository/source.h"
#include "github/store.h"

struct archives;

enum { ARCHIVES_MOST = 16 };
#define ARCHIVES_PATH "archives.json"

/* PATHS: NULL-terminated; none: *ARCHIVES is NULL, which is fine for all that follows. Reads their ledgers. */
bool archives_open(const char *const *paths, const struct store_options *options,
                   struct archives **archives, struct store_error *error);
void archives_close(struct archives *archives);

/* False when the dataset has an archives.json that names others, or not in this order: ARCHIVES may be NULL,
 * and then it may name none. */
bool archives_check(const struct archives *archives, const struct source *source,
                    struct store_error *error);
/* A listener for the dataset that tells INNER, too, and after each reset what the archives hold. Tells it at once,
 * while there are no other threads. False: an index cannot be read. */
bool archives_listen(struct archives *archives, const struct store_listener *inner,
                     struct store_listener *listener, struct store_error *error);

/* As store_find; STATE->archive says which. */
bool archives_find(struct archives *archives, const char *run_id, const char *digest,
                   struct run_state *state);
/* Whether one of them has spent the nonce on another run. */
bool archives_spent(struct archives *archives, const char *nonce_sha256, const char *run_id);
/* The run file at PATH in any of them: its blob, and its bytes in OUT unless that is NULL. */
enum repository_found archives_read(struct archives *archives, const char *path, git_oid *blob,
                                    struct buffer *out, struct store_error *error);

#endif
