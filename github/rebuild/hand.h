/* A bare repository that a command changes by itself, while a service may commit to it, too: what `redact` and
 * `import` stand on. One thread. */
#ifndef BENCHLEDGER_GITHUB_REBUILD_HAND_H
#define BENCHLEDGER_GITHUB_REBUILD_HAND_H

#include "github/change/dataset.h"

struct hand {
    struct repository *repository;
    struct dataset dataset;
};

/* Reads ledger and index of the repository at PATH, which is no mirror of a remote: what a mirror is ahead by is
 * pushed and nothing else. hand_close in any case; HAND begins cleared. */
bool hand_open(struct hand *hand, const char *path, const struct repository_author *author,
               size_t summary_limit, struct store_error *error);
/* dataset_commit under the commit lock. */
bool hand_commit(struct hand *hand, struct pending *batch, struct store_error *error);
void hand_close(struct hand *hand);

#define HAND_SCOPE __attribute__((cleanup(hand_close)))

#endif
