/* A dataset as the commands are given it: a plain folder, a work tree or a bare repository. */
#ifndef BENCHLEDGER_SERVER_COMMANDS_DATASET_H
#define BENCHLEDGER_SERVER_COMMANDS_DATASET_H

#include "github/repository/source.h"

/* Where the files of DATASET come from. *REPOSITORY stays NULL with a folder; the caller closes it
 * after the source, in either case. */
bool dataset_source(const char *dataset, struct repository **repository, struct source *source,
                    struct store_error *error);

#endif
