/* The maintainers that the running service knows: a file of names, roles and hashes of tokens (list.h),
 * read again when it changes. The tokens themselves are nowhere.
 *
 * Any thread, but for close. A file that is malformed, unreadable or gone when it is read again changes
 * nothing: the log says so, and the list in force stays in force. To lock everybody out, empty it. */
#ifndef BENCHLEDGER_SERVER_MAINTAINERS_MAINTAINERS_H
#define BENCHLEDGER_SERVER_MAINTAINERS_MAINTAINERS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/maintainers/list.h"

struct maintainers;

struct maintainer {
    char name[MAINTAINER_NAME + 1];
    enum maintainer_role role;
};

/* For the log only; who asks hears the same of all of them. */
enum maintainer_refusal {
    MAINTAINER_UNKNOWN, /* no token, none of ours, or nobody is a maintainer */
    MAINTAINER_EXPIRED
};

enum { MAINTAINER_TOKEN_MOST = 256 }; /* longer texts are no tokens */

/* PATH is copied; "" is a service without maintainers. NULL and PROBLEM, one line that does not repeat the
 * file's content: it is missing, unreadable, no file or malformed. */
struct maintainers *maintainers_open(const char *path, char problem[MAINTAINERS_PROBLEM]);
void maintainers_close(struct maintainers *maintainers);

/* Looks whether the file is another one now, at most once a second, and reads it if so. NOW_MS is of the
 * monotonic clock. May be called several times a second, with NULL, too. */
void maintainers_refresh(struct maintainers *maintainers, int64_t now_ms);
/* Reads it whether it has changed or not, and logs what came of it: somebody asked for it. */
void maintainers_reread(struct maintainers *maintainers);

/* Whose TOKEN it is at NOW_S, seconds since 1970. Takes the same time for every token of a length, known
 * or not: it is hashed, and the hash compared with that of every line. Of several lines with one hash the
 * first that has not expired counts. False: *OUT is as it was and *WHY (may be NULL) says why. TOKEN may
 * be NULL, and so may MAINTAINERS. */
bool maintainers_find(struct maintainers *maintainers, const char *token, int64_t now_s,
                      struct maintainer *out, enum maintainer_refusal *why);

#endif
