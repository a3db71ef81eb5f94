#include <string.h>

#include "github/queue/pace.h"
#include "tests/support/suite.h"

enum { BUDGET = 60 };

/* A push that takes PUSH_MS, started at NOW; returns when it ended. */
static int64_t push(struct pace *pace, int64_t now, int64_t push_ms, bool more)
{
    pace_started(pace, now);
    pace_ended(pace, now + push_ms, more);
    return now + push_ms;
}

START_TEST(pace__an_idle_store_pushes_at_once)
{
    struct pace pace;
    pace_begin(&pace, BUDGET);
    ck_assert(pace_next(&pace, 1000) == INT64_MAX);
    pace_grew(&pace, 1000);
    ck_assert_int_eq(pace_next(&pace, 1000), 1000);
    int64_t ended = push(&pace, 1000, 1500, false);
    pace_grew(&pace, ended + 60000);
    ck_assert_int_eq(pace_next(&pace, ended + 60000), ended + 60000);
}
END_TEST

START_TEST(pace__after_a_push_those_who_come_again_are_gathered)
{
    struct pace pace;
    pace_begin(&pace, BUDGET);
    pace_grew(&pace, 1000);
    int64_t ended = push(&pace, 1000, 1600, false);
    pace_grew(&pace, ended + 20);
    int64_t quiet = pace_next(&pace, ended + 20);
    ck_assert_int_gt(quiet, ended + 20);
    ck_assert_int_lt(quiet, ended + 400);
    pace_grew(&pace, ended + 100); /* another one: the silence begins anew */
    ck_assert_int_gt(pace_next(&pace, ended + 100), quiet);
    for (int64_t at = ended + 100; at < ended + 3000; at += 50)
        pace_grew(&pace, at); /* for ever: the window ends all the same */
    ck_assert_int_le(pace_next(&pace, ended + 420), ended + 420);
}
END_TEST

START_TEST(pace__what_is_tried_out_is_neither_gathered_nor_spread)
{
    struct pace pace;
    pace_begin(&pace, BUDGET);
    int64_t now = 1000;
    for (int i = 0; i < BUDGET - 5; i++)
        now = push(&pace, now, 100, true);
    ck_assert_int_gt(pace_next(&pace, now), now);
    pace.hurry = PACE_HURRIED;
    ck_assert_int_eq(pace_next(&pace, now), now);
}
END_TEST

START_TEST(pace__no_minute_has_more_pushes_than_the_budget)
{
    struct pace pace;
    int64_t starts[1000];
    size_t count = 0;
    pace_begin(&pace, BUDGET);
    pace.hurry = PACE_HURRIED; /* nothing but the budget itself holds it */
    int64_t now = 1000;
    pace_grew(&pace, now);
    while (now < 10 * PACE_MINUTE_MS && count < 1000) {
        int64_t next = pace_next(&pace, now);
        if (next > now) {
            now = next;
            continue;
        }
        starts[count++] = now;
        now = push(&pace, now, 30, true);
    }
    ck_assert_int_gt(count, 9 * BUDGET);
    for (size_t i = BUDGET; i < count; i++)
        ck_assert_int_ge(starts[i] - starts[i - BUDGET], PACE_MINUTE_MS);
}
END_TEST

START_TEST(pace__under_load_the_budget_is_spread_and_never_runs_dry)
{
    struct pace pace;
    int64_t longest = 0, now = 1000;
    pace_begin(&pace, BUDGET);
    pace_grew(&pace, now);
    while (now < 10 * PACE_MINUTE_MS) {
        int64_t next = pace_next(&pace, now);
        longest = next - now > longest ? next - now : longest;
        now = push(&pace, next, 30, true);
    }
    ck_assert_int_lt(longest, 3000);
    ck_assert_int_gt(pace.pushes, 300);
}
END_TEST

START_TEST(pace__without_a_budget_nothing_is_spread)
{
    struct pace pace;
    pace_begin(&pace, 0);
    int64_t now = 1000;
    for (int i = 0; i < 1000; i++)
        now = push(&pace, now, 10, true);
    ck_assert_int_le(pace_next(&pace, now), now + 10);
}
END_TEST

START_TEST(pace__failures_wait_longer_each_time_and_ten_seconds_at_most)
{
    struct pace pace;
    pace_begin(&pace, BUDGET);
    int64_t last = 0;
    for (int i = 0; i < 20; i++) {
        pace_failed(&pace, 1000, 1.0);
        int64_t pause = pace_next(&pace, 1000) - 1000;
        ck_assert_int_ge(pause, last);
        ck_assert_int_le(pause, PACE_BACKOFF_MOST_MS);
        last = pause;
    }
    ck_assert_int_eq(last, PACE_BACKOFF_MOST_MS);
    pace_failed(&pace, 1000, 0.0); /* the jitter halves it at most */
    ck_assert_int_eq(pace_next(&pace, 1000) - 1000, PACE_BACKOFF_MOST_MS / 2);
    pace_started(&pace, 20000);
    pace_ended(&pace, 21000, true);
    pace_recovered(&pace);
    ck_assert_int_lt(pace_next(&pace, 21000), 22000);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {pace__an_idle_store_pushes_at_once,
                                  pace__after_a_push_those_who_come_again_are_gathered,
                                  pace__what_is_tried_out_is_neither_gathered_nor_spread,
                                  pace__no_minute_has_more_pushes_than_the_budget,
                                  pace__under_load_the_budget_is_spread_and_never_runs_dry,
                                  pace__without_a_budget_nothing_is_spread,
                                  pace__failures_wait_longer_each_time_and_ten_seconds_at_most};
    return suite_of("pace", NULL, NULL, tests, sizeof tests / sizeof *tests);
}
