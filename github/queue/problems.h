/* What is wrong with the store at the moment, one text for each kind; for /readyz and the log.
 *
 * Any thread. A kind that gets a new text is logged once, and once more when it is over. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_PROBLEMS_H
#define BENCHLEDGER_GITHUB_QUEUE_PROBLEMS_H

#include "github/store.h"

enum problem {
    PROBLEM_COMMIT,     /* the last commit here failed */
    PROBLEM_NOT_CLONED, /* the remote was never seen */
    PROBLEM_REMOTE,     /* it is away, or refuses us */
    PROBLEM_BRANCH,     /* its branch is missing, or was renamed */
    PROBLEM_HEAD,       /* a warning: its default branch does not exist */
    PROBLEM_CLOSED,     /* its branch takes no push */
    PROBLEM_UNREADABLE, /* what others committed there cannot be read */
    PROBLEM_DISK,       /* the quota is used up */
    PROBLEM_FOREIGN,    /* a warning: somebody else accepts submissions */
    PROBLEM_COUNT
};

struct problems;
struct problems *problems_new(store_tell tell, void *tell_context);
void problems_free(struct problems *problems); /* NULL is fine */

void problems_set(struct problems *problems, enum problem problem, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* PROBLEM_COMMIT, under the word that fits ERROR. */
void problems_commit_failed(struct problems *problems, const struct store_error *error);
void problems_clear(struct problems *problems, enum problem problem);
bool problems_has(struct problems *problems, enum problem problem);
void problems_tell(struct problems *problems, store_problem tell, void *context);

#endif
