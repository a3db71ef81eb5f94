#include <string.h>

#include "github/repository/repository.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const struct repository_author author = {"benchledger", "benchledger@example.org"};
static struct repository *repository;
static struct store_error error;
static git_oid tip;

/* A repository with its first commit, which holds README.md as a loose object. */
static void begin(void)
{
    scratch_begin();
    ck_assert_msg(repository_prepare(scratch_path("data"), &author, "CC0-1.0", &repository, &error),
                  "%s", error.message);
    ck_assert(repository_tip(repository, &tip, &error));
}

static void end(void)
{
    repository_close(repository);
    scratch_end();
}

/* Opened anew, so that nothing is remembered. */
static enum repository_found read_readme(struct buffer *out)
{
    repository_close(repository);
    repository = NULL;
    if (!repository_open(scratch_path("data"), &repository, &error))
        return REPOSITORY_FAULT;
    return repository_content(repository, &tip, "README.md", NULL, out, &error);
}

/* The loose object of a revision is cut to PERCENT of its size. */
static void cut(const char *revision, int percent)
{
    ck_assert_int_eq(scratch_shell(NULL,
                                   "cd %s && id=$(git rev-parse %s) && "
                                   "file=objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-) && "
                                   "size=$(stat -c %%s $file) && chmod u+w $file && "
                                   "truncate -s $((size * %d / 100)) $file",
                                   scratch_path("data"), revision, percent),
                     0);
}

START_TEST(guard__reads_what_is_whole)
{
    BUFFER_SCOPE struct buffer text = {0};
    BUFFER_SCOPE struct buffer wanted = {0};
    ck_assert_msg(read_readme(&text) == REPOSITORY_FOUND, "%s", error.message);
    scratch_shell(&wanted, "git --git-dir %s cat-file blob HEAD:README.md", scratch_path("data"));
    ck_assert_str_eq(buffer_string(&text), buffer_string(&wanted));
}
END_TEST

/* libgit2 alone never comes back from these. */
static const int percents[] = {0, 10, 50, 90, 99};

START_TEST(guard__tells_a_blob_that_was_cut_off)
{
    BUFFER_SCOPE struct buffer text = {0};
    cut("HEAD:README.md", percents[_i]);
    ck_assert_int_eq(read_readme(&text), REPOSITORY_FAULT);
    ck_assert_msg(strstr(error.message, "damaged") != NULL, "%s", error.message);
}
END_TEST

START_TEST(guard__tells_a_tree_or_commit_that_was_cut_off)
{
    BUFFER_SCOPE struct buffer text = {0};
    cut(_i ? "HEAD" : "HEAD^{tree}", 50);
    ck_assert_int_eq(read_readme(&text), REPOSITORY_FAULT);
    ck_assert_msg(strstr(error.message, "damaged") != NULL, "%s", error.message);
}
END_TEST

START_TEST(guard__leaves_packed_objects_to_the_library)
{
    BUFFER_SCOPE struct buffer text = {0};
    ck_assert_int_eq(scratch_shell(NULL, "git --git-dir %s repack -adq", scratch_path("data")), 0);
    ck_assert_int_eq(
        scratch_shell(NULL, "find %s/objects/?? -type f | grep -q .", scratch_path("data")), 1);
    ck_assert_msg(read_readme(&text) == REPOSITORY_FOUND, "%s", error.message);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("guard");
    TCase *tests = tcase_create("guard");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 20);
    tcase_add_test(tests, guard__reads_what_is_whole);
    tcase_add_loop_test(tests, guard__tells_a_blob_that_was_cut_off, 0,
                        sizeof percents / sizeof *percents);
    tcase_add_loop_test(tests, guard__tells_a_tree_or_commit_that_was_cut_off, 0, 2);
    tcase_add_test(tests, guard__leaves_packed_objects_to_the_library);
    suite_add_tcase(suite, tests);
    return suite;
}
