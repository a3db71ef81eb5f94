#include "github/queue/pace.h"

enum {
    WINDOW_PART = 4,   /* of the usual push: the longest window */
    QUIET_PART = 12,   /* and the silence that ends it */
    WINDOW_MOST = 500, /* ms */
    IDLE_PUSHES = 2,   /* so many pushes long nothing has been pushed: idle */
    FIRST_PAUSE_MS = 200,
    DOUBLINGS_MOST = 6
};

void pace_begin(struct pace *pace, int64_t budget)
{
    *pace = (struct pace){.budget = budget < PACE_BUDGET_MOST ? budget : PACE_BUDGET_MOST};
    pace->ended_ms = INT64_MIN / 2;
}

void pace_grew(struct pace *pace, int64_t now_ms)
{
    if (!pace->first_ms)
        pace->first_ms = now_ms;
    pace->last_ms = now_ms;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When those who submit have gathered. */
static int64_t gathered(const struct pace *pace)
{
    if (pace->hurry != PACE_CALM || pace->first_ms - pace->ended_ms > IDLE_PUSHES * pace->push_ms)
        return pace->first_ms;
    int64_t window = least(pace->push_ms / WINDOW_PART, WINDOW_MOST);
    int64_t quiet = least(pace->push_ms / QUIET_PART, WINDOW_MOST / 4);
    return least(most(pace->first_ms, pace->ended_ms) + window,
                 most(pace->last_ms, pace->ended_ms) + quiet);
}

/* Pushes that were started less than a minute ago. */
static int64_t count_recent(const struct pace *pace, int64_t now_ms)
{
    int64_t count = 0;
    while (count < pace->budget && count < pace->pushes &&
           pace->starts[(pace->pushes - 1 - count) % PACE_BUDGET_MOST] > now_ms - PACE_MINUTE_MS)
        count++;
    return count;
}

/* When the budget allows it. */
static int64_t affordable(const struct pace *pace, int64_t now_ms)
{
    if (!pace->budget || !pace->pushes)
        return now_ms;
    int64_t recent = count_recent(pace, now_ms);
    int64_t last = pace->starts[(pace->pushes - 1) % PACE_BUDGET_MOST];
    if (recent >= pace->budget) /* the oldest of them must be a minute old */
        return pace->starts[(pace->pushes - pace->budget) % PACE_BUDGET_MOST] + PACE_MINUTE_MS;
    if (recent <= pace->budget / 2 || pace->hurry == PACE_HURRIED)
        return now_ms;
    /* What is left is spread evenly over the time until the oldest of them is a minute old. */
    int64_t oldest = pace->starts[(pace->pushes - recent) % PACE_BUDGET_MOST];
    return last + (oldest + PACE_MINUTE_MS - last) / (pace->budget - recent + 1);
}

int64_t pace_next(const struct pace *pace, int64_t now_ms)
{
    if (!pace->first_ms)
        return INT64_MAX;
    int64_t next = most(gathered(pace), affordable(pace, now_ms));
    return most(now_ms, most(next, pace->retry_ms));
}

void pace_started(struct pace *pace, int64_t now_ms)
{
    pace->starts[pace->pushes++ % PACE_BUDGET_MOST] = now_ms;
    pace->first_ms = pace->last_ms = 0;
}

void pace_ended(struct pace *pace, int64_t now_ms, bool more)
{
    int64_t took = now_ms - pace->starts[(pace->pushes - 1) % PACE_BUDGET_MOST];
    pace->push_ms = pace->push_ms ? (3 * pace->push_ms + took) / 4 : took;
    pace->ended_ms = now_ms;
    if (more)
        pace_grew(pace, now_ms);
}

void pace_recovered(struct pace *pace)
{
    pace->failures = 0;
    pace->retry_ms = 0;
}

void pace_failed(struct pace *pace, int64_t now_ms, double random)
{
    int doublings = pace->failures < DOUBLINGS_MOST ? pace->failures : DOUBLINGS_MOST;
    int64_t pause = least((int64_t)FIRST_PAUSE_MS << doublings, PACE_BACKOFF_MOST_MS);
    pace->failures++;
    pace->ended_ms = now_ms;
    pace->retry_ms = now_ms + pause / 2 + (int64_t)((double)(pause / 2) * random);
    pace_grew(pace, now_ms);
}
