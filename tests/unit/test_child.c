#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "github/transport/child.h"
#include "tests/support/suite.h"

static const char *const environment[] = {"PATH=/usr/bin:/bin", "ONLY=this", NULL};

static struct child_result run_shell(const char *script, int64_t timeout_ms,
                                     const atomic_bool *stop, size_t most)
{
    const char *arguments[] = {"sh", "-c", script, NULL};
    struct child child = {arguments, environment, timeout_ms, stop, most};
    struct child_result result;
    struct store_error error;
    ck_assert_msg(child_run(&child, &result, &error), "%s", error.message);
    return result;
}

START_TEST(child__gives_status_and_both_streams)
{
    struct child_result result CHILD_RESULT_SCOPE =
        run_shell("echo out; echo err >&2; exit 3", 10000, NULL, 4096);
    ck_assert_int_eq(result.end, CHILD_EXITED);
    ck_assert_int_eq(result.status, 3);
    ck_assert_str_eq(buffer_string(&result.out), "out\n");
    ck_assert_str_eq(buffer_string(&result.err), "err\n");
}
END_TEST

START_TEST(child__sees_the_environment_given_and_no_other)
{
    setenv("SECRET_OF_OURS", "x", 1);
    struct child_result result CHILD_RESULT_SCOPE = run_shell(
        "echo \"$ONLY-$SECRET_OF_OURS-\"; read x || echo nothing to read", 10000, NULL, 4096);
    ck_assert_str_eq(buffer_string(&result.out), "this--\nnothing to read\n");
}
END_TEST

START_TEST(child__is_killed_with_its_helpers_when_late)
{
    struct child_result result CHILD_RESULT_SCOPE = run_shell(
        "sleep 1000 & echo $!; trap '' TERM; while :; do sleep 1000; done", 300, NULL, 4096);
    ck_assert_int_eq(result.end, CHILD_LATE);
    pid_t helper = (pid_t)strtol(buffer_string(&result.out), NULL, 10);
    ck_assert_int_gt(helper, 1);
    for (int i = 0; i < 100 && kill(helper, 0) == 0; i++)
        usleep(20000); /* until init has reaped it */
    ck_assert_int_ne(kill(helper, 0), 0);
}
END_TEST

START_TEST(child__helpers_end_with_their_leader)
{
    struct child_result result CHILD_RESULT_SCOPE =
        run_shell("sleep 1000 & echo $!", 10000, NULL, 4096);
    ck_assert_int_eq(result.end, CHILD_EXITED);
    pid_t helper = (pid_t)strtol(buffer_string(&result.out), NULL, 10);
    for (int i = 0; i < 100 && kill(helper, 0) == 0; i++)
        usleep(20000);
    ck_assert_int_ne(kill(helper, 0), 0);
}
END_TEST

START_TEST(child__is_stopped_when_asked)
{
    atomic_bool stop = true;
    struct child_result result CHILD_RESULT_SCOPE = run_shell("sleep 1000", 600000, &stop, 4096);
    ck_assert_int_eq(result.end, CHILD_STOPPED);
}
END_TEST

START_TEST(child__more_output_than_is_kept_is_read_all_the_same)
{
    struct child_result result CHILD_RESULT_SCOPE =
        run_shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2", 20000, NULL, 1000);
    ck_assert_int_eq(result.end, CHILD_EXITED);
    ck_assert_int_eq(result.status, 0);
    ck_assert_uint_eq(result.out.size, 1000);
    ck_assert_uint_eq(result.err.size, 1000);
}
END_TEST

START_TEST(child__a_program_that_is_not_there_is_a_fault)
{
    const char *arguments[] = {"no-such-program-anywhere", NULL};
    struct child child = {arguments, environment, 1000, NULL, 1000};
    struct child_result result;
    struct store_error error;
    ck_assert(!child_run(&child, &result, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "no-such-program-anywhere"));
}
END_TEST

START_TEST(child__does_not_inherit_blocked_signals)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    struct child_result result CHILD_RESULT_SCOPE =
        run_shell("kill -TERM $$; exit 0", 10000, NULL, 100);
    ck_assert_int_eq(result.end, CHILD_KILLED);
    ck_assert_int_eq(result.status, SIGTERM);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {child__gives_status_and_both_streams,
                                  child__sees_the_environment_given_and_no_other,
                                  child__is_killed_with_its_helpers_when_late,
                                  child__helpers_end_with_their_leader,
                                  child__is_stopped_when_asked,
                                  child__more_output_than_is_kept_is_read_all_the_same,
                                  child__a_program_that_is_not_there_is_a_fault,
                                  child__does_not_inherit_blocked_signals};
    return suite_of("child", NULL, NULL, tests, sizeof tests / sizeof *tests);
}
