#include <string.h>

#include "server/http/waitroom.h"
#include "tests/support/suite.h"

static int suspended, resumed;

static void count_suspended(void *connection)
{
    (void)connection;
    suspended++;
}

static void count(void *connection)
{
    (void)connection;
    resumed++;
}

START_TEST(waitroom__a_result_resumes_once)
{
    struct waitroom *room = waitroom_new(count_suspended, count);
    struct change_result result = {.outcome = CHANGE_COMMITTED, .commit = "abc"};
    resumed = 0;
    struct waiting *waiting = waiting_new(room, &resumed, 100);
    waiting_done(waiting, &result);
    waitroom_expire(room, INT64_MAX);
    ck_assert_int_eq(resumed, 1);
    ck_assert_str_eq(waiting_result(waiting)->commit, "abc");
    waiting_leave(waiting);
    waitroom_free(room);
}
END_TEST

START_TEST(waitroom__a_late_result_is_dropped)
{
    struct waitroom *room = waitroom_new(count_suspended, count);
    struct change_result result = {.outcome = CHANGE_COMMITTED};
    resumed = 0;
    struct waiting *first = waiting_new(room, &resumed, 100);
    struct waiting *second = waiting_new(room, &resumed, 200);
    waitroom_expire(room, 99);
    ck_assert_int_eq(resumed, 0);
    waitroom_expire(room, 100);
    ck_assert_int_eq(resumed, 1);
    ck_assert_ptr_null(waiting_result(first));
    waiting_done(first, &result);
    ck_assert_ptr_null(waiting_result(first));
    waiting_leave(first); /* the last owner frees */
    waitroom_expire(room, INT64_MAX);
    ck_assert_int_eq(resumed, 2);
    waiting_leave(second);
    waiting_done(second, &result); /* after its request is long gone */
    waitroom_free(room);
}
END_TEST

START_TEST(waitroom__a_closed_room_suspends_nobody)
{
    struct waitroom *room = waitroom_new(count_suspended, count);
    struct change_result result = {.outcome = CHANGE_FAILED};
    suspended = resumed = 0;
    struct waiting *last = waiting_new(room, &resumed, 100);
    ck_assert_int_eq(suspended, 1);
    waitroom_close(room);
    ck_assert_int_eq(resumed, 1);
    ck_assert_ptr_null(waiting_new(room, &resumed, 100));
    ck_assert_int_eq(suspended, 1);
    waiting_leave(last);
    waiting_done(last, &result);
    waitroom_free(room);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("waitroom");
    TCase *cases = tcase_create("waitroom");
    tcase_add_test(cases, waitroom__a_result_resumes_once);
    tcase_add_test(cases, waitroom__a_late_result_is_dropped);
    tcase_add_test(cases, waitroom__a_closed_room_suspends_nobody);
    suite_add_tcase(suite, cases);
    return suite;
}
