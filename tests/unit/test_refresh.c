#include <string.h>

#include "aggregate/index.h"
#include "github/change/refresh.h"
#include "github/rebuild/redact.h"
#include "github/repository/lock.h"
#include "tests/support/scratch.h"
#include "tests/support/served.h"
#include "tests/support/suite.h"

enum { ENTRY = 400, SUMMARY_LIMIT = 1000, SUMMARY_MOST = 1 << 20 };

static const struct repository_author author = {"benchledger", "benchledger@example.org"};
static struct repository *repository;
static struct store_error error;
static struct refresh refresh;
static struct buffer leaderboard;

static void begin(void)
{
    scratch_begin();
    struct store_options options = scratch_options(scratch_path("data"));
    options.summary_limit = SUMMARY_LIMIT;
    served_open(options);
    ck_assert(repository_open(scratch_path("data"), &repository, &error));
    leaderboard.size = 0;
    buffer_text(&leaderboard, "{}");
}

static void end(void)
{
    repository_close(repository);
    served_end();
}

static void submit(unsigned first, unsigned count)
{
    for (unsigned n = first; n < first + count; n++)
        ck_assert_int_eq(scratch_submit(store, n, ENTRY).outcome, CHANGE_COMMITTED);
}

static git_oid tip(void)
{
    git_oid id;
    ck_assert(repository_tip(repository, &id, &error));
    return id;
}

static void make(size_t most)
{
    git_oid from = tip();
    ck_assert_msg(refresh_make(repository, &from, &leaderboard, most, &refresh, &error), "%s",
                  error.message);
}

static enum refresh_outcome commit(void)
{
    struct lock lock LOCK_SCOPE = {-1};
    git_oid parent, made;
    ck_assert(lock_take(repository->path, LOCK_COMMIT, lock_wait_long, NULL, &lock, &error));
    parent = tip();
    return refresh_commit(repository, &parent, &refresh, &author, true, &made, &error);
}

static void check_manifest(const char *text)
{
    BUFFER_SCOPE struct buffer manifest = {0};
    git_oid id = tip();
    ck_assert_int_eq(
        repository_content(repository, &id, INDEX_MANIFEST_PATH, NULL, &manifest, &error),
        REPOSITORY_FOUND);
    ck_assert_msg(strstr(buffer_string(&manifest), text), "%s", manifest.data);
}

/* scratch_check finds the summary to hold what the manifest says. */
START_TEST(refresh__brings_the_summary_up_to_what_it_was_made_of)
{
    submit(0, 6);
    check_manifest("\"entries\":6,\"flagged\":1,\"summaryComplete\":false,\"summaryEntries\":2}");
    make(SUMMARY_MOST);
    submit(6, 2); /* in between */
    ck_assert_int_eq(commit(), REFRESH_DONE);
    check_manifest("\"entries\":8,\"flagged\":1,\"summaryComplete\":false,\"summaryEntries\":6}");
    served_check(8);
    make(SUMMARY_MOST);
    ck_assert_int_eq(commit(), REFRESH_DONE);
    check_manifest("\"summaryComplete\":true,\"summaryEntries\":8}");
    served_check(8);
    make(SUMMARY_MOST);
    ck_assert(refresh_is_empty(&refresh));
    submit(8, 1); /* the store goes on from there */
    check_manifest("\"entries\":9,\"flagged\":1,\"summaryComplete\":false,\"summaryEntries\":8}");
    served_check(9);
}
END_TEST

START_TEST(refresh__is_not_put_on_entries_that_were_changed)
{
    submit(0, 6);
    make(SUMMARY_MOST);
    const struct redaction redaction = {.dataset = scratch_path("data"),
                                        .run_id = "Run-00000003-5e2a-4c1d-9b7f-aa55bb66cc77",
                                        .reason = "test",
                                        .at = "2026-11-30T00:00:00.000Z",
                                        .author = author};
    char path[RUN_PATH_MAX + 1], hex[COMMIT_HEX + 1];
    ck_assert_int_eq(redact(&redaction, path, hex, &error), REDACT_DONE);
    ck_assert_int_eq(commit(), REFRESH_STALE);
}
END_TEST

/* What was made earlier is not put over what was made later. */
START_TEST(refresh__does_not_go_back)
{
    submit(0, 4);
    make(SUMMARY_MOST);
    struct refresh early = refresh;
    submit(4, 4);
    buffer_byte(&leaderboard, ' ');
    make(SUMMARY_MOST);
    ck_assert_int_eq(commit(), REFRESH_DONE);
    refresh = early;
    ck_assert_int_eq(commit(), REFRESH_STALE);
    check_manifest("\"summaryComplete\":true,\"summaryEntries\":8}");
    served_check(8);
}
END_TEST

START_TEST(refresh__leaves_a_summary_alone_that_would_be_too_large)
{
    submit(0, 6);
    make(6 * ENTRY);
    ck_assert(git_oid_is_zero(&refresh.summary));
    ck_assert_int_eq(commit(), REFRESH_DONE);
    check_manifest("\"summaryComplete\":false,\"summaryEntries\":2}");
    git_oid id = tip(), blob;
    ck_assert_int_eq(repository_find(repository, &id, INDEX_LEADERBOARD_PATH, &blob, &error),
                     REPOSITORY_FOUND);
    served_check(6);
}
END_TEST

START_TEST(refresh__has_nothing_to_do_in_a_dataset_without_runs)
{
    make(SUMMARY_MOST);
    ck_assert(refresh_is_empty(&refresh));
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {refresh__brings_the_summary_up_to_what_it_was_made_of,
                                  refresh__is_not_put_on_entries_that_were_changed,
                                  refresh__does_not_go_back,
                                  refresh__leaves_a_summary_alone_that_would_be_too_large,
                                  refresh__has_nothing_to_do_in_a_dataset_without_runs};
    return suite_of("refresh", begin, end, tests, sizeof tests / sizeof *tests);
}
