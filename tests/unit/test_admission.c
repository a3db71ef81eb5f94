#include <string.h>

#include "server/limits/admission.h"
#include "tests/support/suite.h"

static struct config config;
static struct service service;

static struct request from(const char *client)
{
    struct request request = {.service = &service};
    ck_assert(address_parse(client, strlen(client), &request.client));
    return request;
}

static void begin_with(int64_t most)
{
    const int64_t rates[RATE_CLASSES] = {[RATE_SUBMIT] = 1, [RATE_REVIEW] = most};
    service = (struct service){.config = &config, .rates = ratelimit_new(64, rates)};
}

static void end(void)
{
    ratelimit_free(service.rates);
}

START_TEST(admission__wrong_tokens_are_counted_and_right_ones_cost_nothing)
{
    int64_t retry_s = 0;
    begin_with(10);
    struct request request = from("192.0.2.1"), other = from("192.0.2.2");
    for (int i = 0; i < 100; i++)
        ck_assert(admission_review(&request, &retry_s));
    for (int i = 0; i < 10; i++) {
        ck_assert(admission_review(&request, &retry_s));
        admission_review_failed(&request);
    }
    ck_assert(!admission_review(&request, &retry_s));
    ck_assert_int_gt(retry_s, 3500);
    ck_assert_int_le(retry_s, 3660);
    ck_assert(admission_review(&other, &retry_s));
    /* nor do they make anybody suspect, or cost submissions */
    ck_assert(!admission_suspects(&service, &request.client));
    ck_assert(ratelimit_take(service.rates, RATE_SUBMIT, &request.client, 1, &retry_s));
}
END_TEST

START_TEST(admission__the_limit_of_wrong_tokens_can_be_lifted)
{
    int64_t retry_s = 0;
    begin_with(0);
    struct request request = from("2001:db8::1");
    for (int i = 0; i < 100; i++) {
        ck_assert(admission_review(&request, &retry_s));
        admission_review_failed(&request);
    }
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        admission__wrong_tokens_are_counted_and_right_ones_cost_nothing,
        admission__the_limit_of_wrong_tokens_can_be_lifted,
    };
    return suite_of("admission", NULL, end, tests, sizeof tests / sizeof *tests);
}
