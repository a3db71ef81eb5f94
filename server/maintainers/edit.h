/* Changing a maintainers' file in place: `benchledger token`. Whoever reads it, and whoever changes it at
 * the same time, sees the file before or after, whole.
 *
 * The folder's flock is held from begin to end, for which it must be on a local file system. A file that is
 * malformed is not touched. One thread. */
#ifndef BENCHLEDGER_SERVER_MAINTAINERS_EDIT_H
#define BENCHLEDGER_SERVER_MAINTAINERS_EDIT_H

#include "server/maintainers/list.h"
#include "validator/buffer.h"

enum { EDIT_PATH = 4096, EDIT_PROBLEM = 160 };

struct maintainers_edit {
    int folder;                  /* open and locked */
    char folder_path[EDIT_PATH]; /* of the file that a link points to, not of the link */
    char name[256];              /* of the file in it */
    bool exists;
    struct buffer text; /* to be changed by the caller */
    struct maintainer_list list;
    char problem[EDIT_PROBLEM];
};

/* Locks, within ten seconds, and reads. A file that does not exist is empty. False and PROBLEM. edit_end in
 * either case. */
bool edit_begin(struct maintainers_edit *edit, const char *path);
/* Puts TEXT, when it is a good file, in the place of the file: durable when it returns, with the mode and
 * owner that it had, or mode 0600. False and PROBLEM: the file is as it was, unless only its folder could not
 * be made durable. */
bool edit_save(struct maintainers_edit *edit);
void edit_end(struct maintainers_edit *edit);

/* Reads PATH without locking it. False and PROBLEM. edit_end in either case. */
bool edit_look(struct maintainers_edit *edit, const char *path);

#endif
