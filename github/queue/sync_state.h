/* What the sync keeps, for the two sources that share it: sync.c decides where the courier goes,
 * news.c what it means that he is back. The writer's thread only, but for what says otherwise. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_SYNC_STATE_H
#define BENCHLEDGER_GITHUB_QUEUE_SYNC_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "github/queue/mirror.h"
#include "github/queue/pace.h"
#include "github/queue/sync.h"
#include "github/transport/courier.h"

/* Runs in one push. */
enum { SYNC_PUSH_RUNS = 1000 };

struct sync {
    struct mirror mirror;
    struct problems *problems;
    struct courier *courier;
    struct pace pace;
    struct trial trial;
    size_t runs_most;      /* in one push: what has not arrived in time is tried in parts */
    struct aim aim;        /* of the push that is on its way */
    int64_t failing_since; /* 0: it is not */
    int64_t look_ms;       /* when to look at the remote next */
    bool fetch;            /* it is not where we thought: fetch next */
    bool look_first;       /* a fetch failed: its branch may be gone, which only a look can tell */
    int64_t landed_ms;     /* when the remote was last seen to move */
    int64_t poll_ms;
    bool read_only, shared;
    char turn[REPOSITORY_BRANCH_MAX]; /* a branch that may be ours under a new name; "": none */
    uint64_t foreign;                 /* of the landed dataset, when last looked at */
    store_tell tell;
    void *tell_context;
    void (*back)(void *context);
    void *back_context;
    bool refreshing;       /* the push that is on its way carries no runs but a refresh */
    pthread_mutex_t mutex; /* guards head_tip and refresh */
    git_oid head_tip;
    struct refresh refresh; /* empty: none */
    atomic_bool open;
    atomic_size_t queued;
    atomic_ullong pushes, failed_pushes;
    atomic_llong push_ms;
};

/* The next try waits, longer each time; whoever waits for a run is let go when that lasts. */
void sync_fail(struct sync *sync);
/* The remote answers. */
void sync_recover(struct sync *sync);
void sync_say(const struct sync *sync, enum store_level level, const char *message);
/* Takes in what the courier brought. */
void news_take(struct sync *sync, const struct errand *errand, struct remote_answer *answer);

#endif
