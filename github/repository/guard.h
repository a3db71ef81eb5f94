/* Reading loose objects without trusting them.
 *
 * libgit2 1.5 inflates a loose object that was cut off (a power cut on a disk that lied about fsync) without
 * end, and whoever asked for it never comes back. The guard is asked first: it reads a loose object whole or
 * says that it is damaged; packed ones are left to libgit2. */
#ifndef BENCHLEDGER_GITHUB_REPOSITORY_GUARD_H
#define BENCHLEDGER_GITHUB_REPOSITORY_GUARD_H

#include <git2.h>
#include <stdbool.h>

#include "github/error.h"

/* Puts the guard in front of the object stores of GIT, whose git directory is PATH. */
bool guard_install(git_repository *git, const char *path, struct store_error *error);

#endif
