/* A dataset as the commands are given it: a plain folder, a work tree or a bare repository. */
#ifndef BENCHLEDGER_SERVER_COMMANDS_DATASET_H
#define BENCHLEDGER_SERVER_COMMANDS_DATASET_H

#include "aggregate/board.h"
#include "github/repository/source.h"
#include "validator/arena.h"

#define DATASET_HELP "DATASET is a plain folder with runs/, a work tree or a bare repository."
/* What boards show unless told otherwise. */
#define DATASET_PROTOCOLS "localmode-bench/5,localmode-bench/4"

/* Where the files of DATASET come from. *REPOSITORY stays NULL with a folder; the caller closes it
 * after the source, in either case. */
bool dataset_source(const char *dataset, struct repository **repository, struct source *source,
                    struct store_error *error);

/* Adds the entries of the index that SOURCE holds to BOARD. *FOUND: there is one. */
bool dataset_index(const struct source *source, struct board *board, bool *found,
                   struct store_error *error);
/* `index DATASET`, which no signal stops any more, for a caller that has locked it: its exit code. */
int dataset_rebuild(const char *dataset);
/* The items of a LIST parted by commas or blanks, as in the configuration, NULL-terminated in ARENA. */
const char *const *dataset_protocols(struct arena *arena, const char *list);

#endif
