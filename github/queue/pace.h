/* When the next push may start: the window in which submissions gather, the budget of pushes, the
 * pause after a failure. Pure; times are milliseconds of a clock that does not jump.
 *
 * An idle store pushes at once. After a push the next one waits for those who submit again when
 * they have their answers: a fraction of the usual push, ended by quiet. A push that lasts long is
 * waited for anyway, so the window costs little and saves whole pushes. Of the budget of a minute the
 * first half is spent freely, the other is spread over what is left of the minute: it never runs dry. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_PACE_H
#define BENCHLEDGER_GITHUB_QUEUE_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { PACE_BUDGET_MOST = 6000, PACE_MINUTE_MS = 60000, PACE_BACKOFF_MOST_MS = 10000 };

/* What the next push does without. */
enum pace_hurry {
    PACE_CALM,
    PACE_PROMPT, /* gathering: it has been waited for already */
    PACE_HURRIED /* and spreading: others wait for what it tells */
};

struct pace {
    int64_t budget;                   /* pushes in any minute; 0: any number */
    int64_t starts[PACE_BUDGET_MOST]; /* of the last pushes, a ring */
    int64_t pushes;                   /* all that were started */
    int64_t push_ms;                  /* the usual length of one; 0: none yet */
    int64_t ended_ms;                 /* of the last one */
    int64_t first_ms, last_ms; /* when what waits began to, and when it last grew; 0: nothing */
    int64_t retry_ms;          /* not before, after a failure */
    enum pace_hurry hurry;
    int failures; /* one after the other */
};

void pace_begin(struct pace *pace, int64_t budget);
/* More is waiting to be pushed. */
void pace_grew(struct pace *pace, int64_t now_ms);
/* When the next push may start, at the earliest NOW_MS; INT64_MAX: nothing waits. */
int64_t pace_next(const struct pace *pace, int64_t now_ms);
/* A push starts with all that waits. */
void pace_started(struct pace *pace, int64_t now_ms);
/* It has ended, and MORE waits already. */
void pace_ended(struct pace *pace, int64_t now_ms, bool more);
/* Something was brought forward at the remote: failures are over. */
void pace_recovered(struct pace *pace);
/* Something failed at the remote: the next try waits, longer each time, with RANDOM (0 to 1) of
 * jitter. */
void pace_failed(struct pace *pace, int64_t now_ms, double random);

#endif
