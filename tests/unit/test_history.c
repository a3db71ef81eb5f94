#include <string.h>

#include "github/change/history.h"
#include "github/repository/repository.h"
#include "tests/support/scratch.h"
#include "tests/support/served.h"
#include "tests/support/suite.h"

enum { RUNS = 6, ENTRY = 400 };

/* Stands before libgit2's: the call FAIL_AT, from 1, finds the disk failing. */
static int calls, fail_at;
int git_commit_lookup(git_commit **commit, git_repository *git, const git_oid *id)
{
    *commit = NULL;
    if (++calls == fail_at)
        return GIT_ERROR;
    return git_object_lookup((git_object **)commit, git, id, GIT_OBJECT_COMMIT);
}

START_TEST(history__finds_the_right_commit_or_none)
{
    struct store_error error;
    struct change_result results[RUNS];
    git_oid tip, commit;
    for (unsigned i = 0; i < RUNS; i++)
        results[i] = scratch_submit(store, i, ENTRY);
    git_oid_fromstr(&tip, results[RUNS - 1].commit);
    unsigned failures = 0;
    for (int at = 0; at < 40; at++) {
        struct history *history = NULL;
        ck_assert(history_open(scratch_path("data"), &history, &error));
        for (unsigned seq = 1; seq <= RUNS; seq++) {
            char hex[COMMIT_HEX + 1];
            calls = 0;
            fail_at = seq == 1 ? at : 0;
            bool found = history_find(history, &tip, seq, &commit, &error);
            failures += !found;
            ck_assert(found || fail_at);
            git_oid_tostr(hex, sizeof hex, &commit);
            if (found)
                ck_assert_str_eq(hex, results[seq - 1].commit);
        }
        history_close(history);
    }
    ck_assert_uint_gt(failures, RUNS);
    struct history *history = NULL;
    ck_assert(history_open(scratch_path("data"), &history, &error));
    ck_assert(!history_find(history, &tip, RUNS + 1, &commit, &error));
    history_close(history);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("history");
    TCase *cases = tcase_create("history");
    tcase_add_checked_fixture(cases, served_begin, served_end);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, history__finds_the_right_commit_or_none);
    suite_add_tcase(suite, cases);
    return suite;
}
