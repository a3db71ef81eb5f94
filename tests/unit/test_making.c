#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "server/api/making.h"
#include "tests/support/suite.h"

enum { THREADS = 16 };

static struct making *making;
static atomic_int made;
static atomic_bool there;

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
}

/* As a request does: looks, makes or waits, looks again. */
static void *want_one(void *key)
{
    if (atomic_load(&there))
        return NULL;
    bool first = making_begin(making, key);
    if (first || !atomic_load(&there)) {
        rest();
        atomic_fetch_add(&made, 1);
        atomic_store(&there, true);
    }
    if (first)
        making_end(making, key);
    return NULL;
}

static void run_threads(void *(*act)(void *), char keys[THREADS][2])
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, act, keys[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

START_TEST(making__one_makes_what_many_want)
{
    char keys[THREADS][2] = {{0}};
    for (int i = 0; i < THREADS; i++)
        keys[i][0] = 'a';
    making = making_new();
    run_threads(want_one, keys);
    ck_assert_int_eq(made, 1);
    making_free(making);
}
END_TEST

static void *want_own(void *key)
{
    ck_assert(making_begin(making, key));
    rest();
    making_end(making, key);
    ck_assert(making_begin(making, key)); /* as often as it is not there */
    making_end(making, key);
    return NULL;
}

START_TEST(making__different_things_do_not_wait_for_each_other)
{
    char keys[THREADS][2] = {{0}};
    for (int i = 0; i < THREADS; i++)
        keys[i][0] = (char)('a' + i);
    making = making_new();
    run_threads(want_own, keys);
    making_free(making);
}
END_TEST

static void *fail_to_make(void *key)
{
    bool first = making_begin(making, key);
    rest();
    atomic_fetch_add(&made, 1); /* nothing is there: everybody tries for himself, and none hangs */
    if (first)
        making_end(making, key);
    return NULL;
}

START_TEST(making__a_failure_holds_nobody)
{
    char keys[THREADS][2] = {{0}};
    for (int i = 0; i < THREADS; i++)
        keys[i][0] = 'a';
    making = making_new();
    made = 0;
    run_threads(fail_to_make, keys);
    ck_assert_int_eq(made, THREADS);
    making_free(making);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {making__one_makes_what_many_want,
                                  making__different_things_do_not_wait_for_each_other,
                                  making__a_failure_holds_nobody};
    return suite_of("making", NULL, NULL, tests, sizeof tests / sizeof *tests);
}
