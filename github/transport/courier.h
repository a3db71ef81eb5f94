/* One errand at a time, on a thread of its own: so that whoever decides what is pushed never waits
 * for the network. */
#ifndef BENCHLEDGER_GITHUB_TRANSPORT_COURIER_H
#define BENCHLEDGER_GITHUB_TRANSPORT_COURIER_H

#include "github/transport/remote.h"

enum errand_kind { ERRAND_LOOK, ERRAND_FETCH, ERRAND_PUSH };

struct errand {
    enum errand_kind kind;
    char branch[REPOSITORY_BRANCH_MAX];
    git_oid expected, commit; /* of a push */
};

struct courier;
/* BACK is called from the courier's thread when it has returned. */
bool courier_start(const struct store_remote *options, const char *home, const char *mirror,
                   void (*back)(void *context), void *context, struct courier **courier,
                   struct store_error *error);
/* Calls him back from where he is; what he carried may have arrived. NULL is fine. */
void courier_stop(struct courier *courier);

/* Sends him. He must be here. */
void courier_send(struct courier *courier, const struct errand *errand);
bool courier_is_away(struct courier *courier);
/* True once for each errand, when he has returned. Free ANSWER. */
bool courier_receive(struct courier *courier, struct errand *errand, struct remote_answer *answer);

#endif
