#include <stdio.h>
#include <string.h>

#include "server/limits/ratelimit.h"
#include "tests/support/suite.h"

static const int64_t MINUTE = 60000, HOUR = 3600000, START = 1234567;

static struct address of(const char *text)
{
    struct address address;
    ck_assert(address_parse(text, strlen(text), &address));
    return address;
}

static struct ratelimit *limit_of(int64_t submit, int64_t validate)
{
    const int64_t limits[RATE_CLASSES] = {[RATE_SUBMIT] = submit, [RATE_VALIDATE] = validate};
    return ratelimit_new(1024, limits);
}

static bool take(struct ratelimit *limit, const char *client, int64_t now)
{
    struct address address = of(client);
    int64_t retry = 0;
    bool granted = ratelimit_take(limit, RATE_SUBMIT, &address, now, &retry);
    ck_assert(granted || (retry > 0 && retry <= 3660));
    return granted;
}

START_TEST(ratelimit__never_more_than_the_limit_in_any_hour)
{
    struct ratelimit *limit = limit_of(20, 60);
    int64_t granted[600];
    size_t count = 0;
    for (int64_t now = START; now < START + 4 * HOUR; now += 30 * 1000 + 7)
        if (take(limit, "192.0.2.1", now))
            granted[count++] = now;
    for (size_t i = 0; i + 20 < count; i++)
        ck_assert_int_gt(granted[i + 20] - granted[i], HOUR);
    ck_assert_uint_ge(count, 60); /* and the budget does come back */
    ratelimit_free(limit);
}
END_TEST

START_TEST(ratelimit__retry_after_is_when_it_succeeds)
{
    struct ratelimit *limit = limit_of(2, 60);
    struct address client = of("192.0.2.1");
    int64_t retry = 0;
    ck_assert(take(limit, "192.0.2.1", START));
    ck_assert(take(limit, "192.0.2.1", START + 10 * MINUTE));
    ck_assert(!ratelimit_take(limit, RATE_SUBMIT, &client, START + 20 * MINUTE, &retry));
    ck_assert_int_le(retry, 2460);
    ck_assert(!take(limit, "192.0.2.1", START + 20 * MINUTE + (retry - 1) * 1000));
    ck_assert(take(limit, "192.0.2.1", START + 20 * MINUTE + retry * 1000));
    ratelimit_free(limit);
}
END_TEST

START_TEST(ratelimit__refusals_do_not_count)
{
    struct ratelimit *limit = limit_of(1, 60);
    ck_assert(take(limit, "192.0.2.1", START));
    for (int i = 1; i < 60; i++)
        ck_assert(!take(limit, "192.0.2.1", START + i * MINUTE));
    ck_assert(take(limit, "192.0.2.1", START + 61 * MINUTE));
    ratelimit_free(limit);
}
END_TEST

START_TEST(ratelimit__ipv6_counts_per_64_and_eightfold_per_48)
{
    struct ratelimit *limit = limit_of(2, 60);
    char text[64];
    ck_assert(take(limit, "2001:db8:0:1::1", START));
    ck_assert(take(limit, "2001:db8:0:1::2", START));
    ck_assert(!take(limit, "2001:db8:0:1:ffff::3", START));
    for (int i = 2; i <= 8; i++)
        for (int twice = 0; twice < 2; twice++) {
            snprintf(text, sizeof text, "2001:db8:0:%d::1", i);
            ck_assert(take(limit, text, START));
        }
    ck_assert(!take(limit, "2001:db8:0:99::1", START));
    ck_assert(take(limit, "2001:db8:1:99::1", START));
    ratelimit_free(limit);
}
END_TEST

START_TEST(ratelimit__classes_and_addresses_are_apart)
{
    struct ratelimit *limit = limit_of(1, 1);
    struct address client = of("192.0.2.1");
    int64_t retry;
    ck_assert(take(limit, "192.0.2.1", START));
    ck_assert(ratelimit_take(limit, RATE_VALIDATE, &client, START, &retry));
    ck_assert(take(limit, "192.0.2.2", START));
    ck_assert(!take(limit, "192.0.2.1", START));
    ratelimit_free(limit);
}
END_TEST

START_TEST(ratelimit__a_full_table_keeps_working)
{
    struct ratelimit *limit = limit_of(1, 1);
    char text[64];
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "10.%d.%d.%d", i >> 16, (i >> 8) & 255, i & 255);
        ck_assert(take(limit, text, START + i));
    }
    ck_assert(!take(limit, text, START + 20000));
    ratelimit_free(limit);
}
END_TEST

START_TEST(ratelimit__one_turn_at_a_time)
{
    struct ratelimit *limit = limit_of(1, 1);
    struct address client = of("192.0.2.1"), other = of("192.0.2.2");
    ck_assert(ratelimit_enter(limit, RATE_VALIDATE, &client));
    ck_assert(!ratelimit_enter(limit, RATE_VALIDATE, &client));
    ck_assert(ratelimit_enter(limit, RATE_VALIDATE, &other));
    ratelimit_leave(limit, RATE_VALIDATE, &client);
    ck_assert(ratelimit_enter(limit, RATE_VALIDATE, &client));
    ratelimit_free(limit);
}
END_TEST

START_TEST(ratelimit__zero_is_off)
{
    struct ratelimit *limit = limit_of(0, 0);
    for (int i = 0; i < 1000; i++)
        ck_assert(take(limit, "192.0.2.1", START));
    ratelimit_free(limit);
}
END_TEST

START_TEST(ratelimit__asking_costs_nothing_until_something_is_counted)
{
    struct ratelimit *limit = limit_of(2, 60);
    struct address client = of("192.0.2.1"), other = of("192.0.2.2"), six = of("2001:db8::1");
    int64_t retry = 0;
    for (int i = 0; i < 1000; i++)
        ck_assert(ratelimit_has_room(limit, RATE_SUBMIT, &client, START, &retry));
    ck_assert(take(limit, "192.0.2.1", START));
    ck_assert(ratelimit_has_room(limit, RATE_SUBMIT, &client, START + MINUTE, &retry));
    ck_assert(take(limit, "192.0.2.1", START + MINUTE));
    ck_assert(!ratelimit_has_room(limit, RATE_SUBMIT, &client, START + 2 * MINUTE, &retry));
    ck_assert_int_gt(retry, 3400);
    ck_assert_int_le(retry, 3600);
    ck_assert(
        ratelimit_has_room(limit, RATE_SUBMIT, &client, START + (2 * 60 + retry) * 1000, &retry));
    ck_assert(ratelimit_has_room(limit, RATE_SUBMIT, &other, START + 2 * MINUTE, &retry));
    ck_assert(ratelimit_has_room(limit, RATE_SUBMIT, &six, START + 2 * MINUTE, &retry));
    ck_assert(!ratelimit_suspects(limit, &client, START + 2 * MINUTE));
    ratelimit_free(limit);
}
END_TEST

START_TEST(budget__takes_until_the_limit_and_gives_back)
{
    struct budget *budget = budget_new(100, HOUR);
    int64_t retry = 0;
    ck_assert(budget_take(budget, 60, START, &retry));
    ck_assert(!budget_take(budget, 50, START + MINUTE, &retry));
    ck_assert_int_gt(retry, 0);
    ck_assert(budget_take(budget, 50, START + MINUTE + retry * 1000, &retry));
    ck_assert(!budget_take(budget, 60, START + 2 * HOUR - HOUR / 2, &retry));
    budget_return(budget, 50, START + MINUTE + 60 * MINUTE);
    budget_free(budget);
    budget = budget_new(1, HOUR);
    ck_assert(budget_take(budget, 1, START, &retry));
    budget_return(budget, 1, START);
    ck_assert(budget_take(budget, 1, START, &retry));
    budget_free(budget);
    budget = budget_new(0, HOUR);
    ck_assert(budget_take(budget, INT64_C(1) << 50, START, &retry));
    budget_free(budget);
}
END_TEST

START_TEST(ratelimit__a_charge_counts_as_attempts_and_fills_the_hour_at_most)
{
    struct ratelimit *limit = limit_of(20, 60);
    struct address client = of("192.0.2.1");
    ratelimit_charge(limit, RATE_SUBMIT, &client, 4, START);
    for (int i = 0; i < 16; i++)
        ck_assert(take(limit, "192.0.2.1", START + i));
    ck_assert(!take(limit, "192.0.2.1", START + 20));
    for (int i = 0; i < 100; i++)
        ratelimit_charge(limit, RATE_SUBMIT, &client, 4, START + MINUTE);
    ck_assert(!take(limit, "192.0.2.1", START + 59 * MINUTE));
    ck_assert(take(limit, "192.0.2.1", START + HOUR + 2 * MINUTE));
    ck_assert(take(limit, "192.0.2.2", START));
    ratelimit_free(limit);
}
END_TEST

START_TEST(ratelimit__who_was_charged_is_suspect_for_an_hour)
{
    struct ratelimit *limit = limit_of(0, 0); /* also without limits */
    struct address client = of("2001:db8::1"), near = of("2001:db8::2"),
                   far = of("2001:db8:0:1::1");
    ck_assert(!ratelimit_suspects(limit, &client, START));
    ratelimit_charge(limit, RATE_SUBMIT, &client, 4, START);
    ck_assert(ratelimit_suspects(limit, &client, START + HOUR - 1));
    ck_assert(ratelimit_suspects(limit, &near, START));
    ck_assert(!ratelimit_suspects(limit, &far, START));
    ck_assert(!ratelimit_suspects(limit, &client, START + HOUR));
    ck_assert(take(limit, "2001:db8::1", START));
    ratelimit_free(limit);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("ratelimit");
    TCase *cases = tcase_create("ratelimit");
    tcase_add_test(cases, ratelimit__never_more_than_the_limit_in_any_hour);
    tcase_add_test(cases, ratelimit__retry_after_is_when_it_succeeds);
    tcase_add_test(cases, ratelimit__refusals_do_not_count);
    tcase_add_test(cases, ratelimit__ipv6_counts_per_64_and_eightfold_per_48);
    tcase_add_test(cases, ratelimit__classes_and_addresses_are_apart);
    tcase_add_test(cases, ratelimit__a_full_table_keeps_working);
    tcase_add_test(cases, ratelimit__one_turn_at_a_time);
    tcase_add_test(cases, ratelimit__zero_is_off);
    tcase_add_test(cases, ratelimit__asking_costs_nothing_until_something_is_counted);
    tcase_add_test(cases, budget__takes_until_the_limit_and_gives_back);
    tcase_add_test(cases, ratelimit__a_charge_counts_as_attempts_and_fills_the_hour_at_most);
    tcase_add_test(cases, ratelimit__who_was_charged_is_suspect_for_an_hour);
    suite_add_tcase(suite, cases);
    return suite;
}
