/* Keeping a repository small and measured, beside whoever writes it.
 *
 * A thread packs loose objects when there are many, runs `git gc` every so many days, and measures
 * what the repository takes. Objects that nothing names are kept for two weeks, so that no write in
 * progress loses one. Without the git program nothing is packed, and somebody is told. */
#ifndef BENCHLEDGER_GITHUB_TRANSPORT_UPKEEP_H
#define BENCHLEDGER_GITHUB_TRANSPORT_UPKEEP_H

#include "github/store.h"

struct upkeep;
/* HOME: a folder of our own for the git program; made when missing. */
bool upkeep_start(const char *repository, const char *home, int64_t gc_days, store_tell tell,
                  void *tell_context, struct upkeep **upkeep, struct store_error *error);
void upkeep_stop(struct upkeep *upkeep); /* NULL is fine */
/* Bytes of the repository, when last measured. Any thread. */
uint64_t upkeep_bytes(struct upkeep *upkeep);

#endif
