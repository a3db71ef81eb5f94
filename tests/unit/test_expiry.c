#include <string.h>

#include "server/expiry.h"
#include "tests/support/suite.h"

static const int64_t DAY_MS = 86400000;

START_TEST(expiry__is_a_day_that_exists)
{
    static const char *const bad[] = {"",           "2026-02-29",  "2026-13-01",
                                      "2026-1-1",   "2026-01-01 ", "2026-01-01T00:00:00Z",
                                      "01.02.2026", "2026/01/01",  "never",
                                      "2026-00-10"};
    int64_t day = 0;
    ck_assert(expiry_parse("1970-01-02", &day));
    ck_assert_int_eq(day, 1);
    ck_assert(expiry_parse("2028-02-29", &day));
    ck_assert_int_eq(day, 21243);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!expiry_parse(bad[i], &day), "%s", bad[i]);
}
END_TEST

START_TEST(expiry__warns_from_two_weeks_before_on)
{
    static const struct {
        int64_t left;
        const char *words; /* NULL: nothing */
    } rows[] = {{400, NULL},
                {15, NULL},
                {14, "expires in 14 days"},
                {2, "expires in 2 days"},
                {1, "expires in 1 day:"},
                {0, "expires today"},
                {-1, "expired 1 day ago"},
                {-30, "expired 30 days ago"}};
    int64_t day = 0;
    ck_assert(expiry_parse("2026-12-15", &day));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t begin = (day - rows[i].left) * DAY_MS, times[] = {begin, begin + DAY_MS - 1};
        for (int at = 0; at < 2; at++) {
            char text[EXPIRY_TEXT] = "";
            ck_assert_msg(expiry_warn(day, times[at], text) == (rows[i].words != NULL), "%zu", i);
            if (!rows[i].words)
                continue;
            ck_assert_msg(strstr(text, rows[i].words) != NULL, "%s", text);
            ck_assert_int_eq(strncmp(text, "token-expires: ", 15), 0);
        }
    }
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {expiry__is_a_day_that_exists,
                                  expiry__warns_from_two_weeks_before_on};
    return suite_of("expiry", NULL, NULL, tests, sizeof tests / sizeof *tests);
}
