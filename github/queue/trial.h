/* Which of the queued runs are pushed next, when the remote's host may decline some of them. Pure.
 *
 * Usually all. A push that is declined is halved until a run that was pushed alone is declined: it is
 * doubted, and set aside as a suspect; declined alone once more, it is condemned. Nothing is parked
 * on that alone, since a branch may refuse whatever is pushed: what is condemned is parked once the
 * branch has taken anything since the last sentence, be it an empty commit, and forgiven when the
 * branch turns out to be closed. Suspects (by their text, their address, named in what the host
 * said, or doubted) are pushed one by one, and after all others but for every few pushes, so that they
 * hold up nobody and are not held up for ever. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_TRIAL_H
#define BENCHLEDGER_GITHUB_QUEUE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

/* The queue as the trial sees it; together they are all of it. */
struct trial_counts {
    size_t plain, suspects, condemned;
};

enum aim_kind {
    AIM_NOTHING, /* park what is condemned first */
    AIM_ALL,     /* the queue as it is */
    AIM_PLAIN,   /* the first COUNT that are neither suspect nor condemned */
    AIM_SUSPECT, /* the first suspect alone */
    AIM_EMPTY,   /* no run at all: does the branch take anything? */
};
struct aim {
    enum aim_kind kind;
    size_t count; /* runs */
};

struct trial {
    size_t bad;    /* so many of the first plain ones hold one that is declined; 0: not known */
    bool active;   /* something was declined, and not all has ended since */
    bool closed;   /* the branch takes nothing */
    int sentences; /* doubts and condemnations since it last took something */
    int plain_turns, closed_tries;
};

/* Nothing is queued any more: what was learned is over. */
void trial_end(struct trial *trial);
struct aim trial_aim(const struct trial *trial, struct trial_counts counts);
void trial_taken(struct trial *trial, struct aim aim);

enum trial_sentence {
    TRIAL_GO_ON,
    TRIAL_DOUBT,   /* the one run that was pushed */
    TRIAL_CONDEMN, /* likewise */
    TRIAL_FORGIVE, /* the branch is closed: nobody is doubted or condemned any more */
};
/* NAMED of the runs were named by the host and have been made suspects, when more than one was
 * pushed. DOUBTED: the one that was pushed had been declined alone before. */
enum trial_sentence trial_declined(struct trial *trial, struct aim aim, size_t named, bool doubted);
/* The host says itself that it is the branch. */
void trial_close(struct trial *trial);

#endif
