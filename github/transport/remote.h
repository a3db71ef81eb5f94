/* The remote that a mirror is of, by the `git` program in a child process: look, fetch, push.
 *
 * Every call has a deadline and waits for its child; one thread at a time. What git says is parsed
 * here and nowhere else. The token reaches git by environment, never by an argument. */
#ifndef BENCHLEDGER_GITHUB_TRANSPORT_REMOTE_H
#define BENCHLEDGER_GITHUB_TRANSPORT_REMOTE_H

#include <git2.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "github/repository/repository.h"
#include "github/store.h"
#include "validator/buffer.h"

/* Where a fetch puts what it got. */
#define REMOTE_FETCHED "refs/benchledger/fetched"

struct remote;

/* MIRROR is the path of the bare repository. STOP ends calls early; may be NULL. False when
 * its HOME cannot be made. */
bool remote_new(const struct store_remote *options, const char *home, const char *mirror,
                const atomic_bool *stop, struct remote **remote, struct store_error *error);
void remote_free(struct remote *remote); /* NULL is fine */
enum remote_outcome {
    REMOTE_FINE,
    REMOTE_MOVED,    /* push: its branch is not where we thought */
    REMOTE_DECLINED, /* push: its host does not take what was pushed; TEXT may say which file */
    REMOTE_BRANCH,   /* push: its branch takes no push at all (protected) */
    REMOTE_REFUSED,  /* token or permission */
    REMOTE_ABSENT,   /* there is no such repository or branch, or we may not see it */
    REMOTE_AWAY,     /* it cannot be reached, is late, or failed; a push may have been applied */
    REMOTE_STOPPED,
};

struct remote_answer {
    enum remote_outcome outcome;
    char reason[400];   /* of what is not fine: what happened and what to do, one printable line */
    struct buffer text; /* what the host said, raw: only to be searched and logged escaped */
    int64_t took_ms;
    /* of remote_look: */
    bool empty;                       /* no branch at all */
    char head[REPOSITORY_BRANCH_MAX]; /* what HEAD points to, full name; "" when nothing */
    git_oid tip;                      /* of the branch that was asked for; zero: it has none */
};
void remote_answer_free(struct remote_answer *answer);

/* BRANCH "": asks for the tip of what HEAD points to. */
void remote_look(struct remote *remote, const char *branch, struct remote_answer *answer);
/* Brings BRANCH of the remote to REMOTE_FETCHED here. */
void remote_fetch(struct remote *remote, const char *branch, struct remote_answer *answer);
/* Compare and swap: makes BRANCH of the remote COMMIT if it still is EXPECTED (zero: if it is not
 * there). That it is COMMIT already is fine. */
void remote_push(struct remote *remote, const char *branch, const git_oid *expected,
                 const git_oid *commit, struct remote_answer *answer);

#endif
