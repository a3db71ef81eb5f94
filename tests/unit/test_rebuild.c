#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "github/rebuild/rebuild.h"
#include "github/store.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { ENTRY = 500 };

static struct store_error error;
static struct rebuild_result result;
static size_t complaints;
static _Atomic(struct store *) meanwhile; /* commits a run while the first file is being read */

static bool
    ordered; /* the folder of the segments was synced when they had their names and the manifest not */

/* Stands before libc's. */
__attribute__((visibility("default"))) int fsync(int fd)
{
    char link[32], path[4096] = "", manifest[sizeof path + 32], segment[sizeof path + 32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    bool segments = readlink(link, path, sizeof path - 1) > 0 && strstr(path, "/index/segments");
    snprintf(manifest, sizeof manifest, "%s/../manifest.json", path);
    snprintf(segment, sizeof segment, "%s/00001.json", path);
    if (segments && !access(segment, F_OK) && access(manifest, F_OK))
        ordered = true;
    return (int)syscall(SYS_fsync, fd);
}

/* Run files of the scratch kind name their number; anything else cannot be indexed. */
static bool make_entry(void *context, const char *path, const char *bytes, size_t size,
                       bool flagged, struct buffer *entry, struct store_error *why)
{
    (void)context, (void)path;
    unsigned n = 0;
    struct store *store = atomic_exchange(&meanwhile, NULL);
    if (store) {
        ck_assert_int_eq(scratch_submit(store, 70, ENTRY).outcome, CHANGE_COMMITTED);
    }
    if (size < 20 || sscanf(bytes, "{\"runId\":\"Run-%8u", &n) != 1)
        return error_set(why, "it is not a run file");
    struct scratch_run run;
    scratch_run_make(&run, n, ENTRY, flagged);
    buffer_add(entry, run.entry.data, run.entry.size);
    scratch_run_free(&run);
    return true;
}

static void complain(void *context, const char *path, const char *message)
{
    (void)context;
    ck_assert(*path && *message);
    complaints++;
}

static struct rebuild_options options_of(const char *path)
{
    return (struct rebuild_options){.dataset = path,
                                    .author = {"benchledger", "benchledger@example.org"},
                                    .entry = make_entry,
                                    .complain = complain};
}

/* A bare repository with COUNT runs, and a work tree of it. */
static void make_dataset(unsigned count, size_t summary_limit)
{
    struct store *store = NULL;
    struct store_options options = scratch_options(scratch_path("data"));
    options.summary_limit = summary_limit;
    ck_assert_msg(store_open(&options, &store, &error), "%s", error.message);
    for (unsigned i = count; i-- > 0;)
        ck_assert_int_eq(scratch_submit(store, i, ENTRY).outcome, CHANGE_COMMITTED);
    store_close(store);
    ck_assert_int_eq(
        scratch_shell(NULL, "git clone -q %s %s", scratch_path("data"), scratch_path("tree")), 0);
}

static void begin(void)
{
    scratch_begin();
    complaints = 0;
}

static void end(void)
{
    scratch_end();
}

static enum rebuild_outcome run(const char *name)
{
    struct rebuild_options options = options_of(scratch_path(name));
    return rebuild(&options, &result, &error);
}

static int shell_in(const char *name, const char *command)
{
    return scratch_shell(NULL, "cd %s && (%s) 2>&1", scratch_path(name), command);
}

START_TEST(rebuild__changes_nothing_in_a_sound_dataset)
{
    make_dataset(12, 20000000);
    ck_assert_msg(run("data") == REBUILD_DONE, "%s", error.message);
    ck_assert(!result.changed && result.ledger);
    ck_assert_str_eq(result.commit, "");
    ck_assert_uint_eq(result.runs, 12);
    ck_assert_uint_eq(result.flagged, 2);
    ck_assert_uint_eq(result.without_ledger, 0);
    ck_assert_int_eq(run("tree"), REBUILD_DONE);
    ck_assert(!result.changed);
}
END_TEST

START_TEST(rebuild__makes_the_same_index_from_nothing)
{
    make_dataset(12, 20000000);
    ck_assert_int_eq(shell_in("tree", "rm -r index"), 0);
    ck_assert_msg(run("tree") == REBUILD_DONE, "%s", error.message);
    ck_assert(result.changed);
    ck_assert_int_eq(shell_in("tree", "test -z \"$(git status --porcelain)\""), 0);
    ck_assert_int_eq(shell_in("tree", "rm -rf .git index"), 0); /* a plain folder */
    ck_assert_int_eq(run("tree"), REBUILD_DONE);
    ck_assert_int_eq(
        shell_in("tree",
                 "git -C ../data show main:index/manifest.json | cmp - index/manifest.json"),
        0);
}
END_TEST

START_TEST(rebuild__has_the_segments_on_the_disk_before_the_manifest)
{
    make_dataset(2, 20000000);
    ck_assert_int_eq(shell_in("tree", "rm -r index"), 0);
    ordered = false; /* tests may share a process */
    ck_assert_msg(run("tree") == REBUILD_DONE, "%s", error.message);
    ck_assert(ordered);
}
END_TEST

START_TEST(rebuild__commits_a_whole_summary_past_its_limit)
{
    struct scratch_counts counts;
    make_dataset(12, 2000);
    struct rebuild_options options = options_of(scratch_path("data"));
    options.dry_run = true;
    ck_assert_int_eq(rebuild(&options, &result, &error), REBUILD_DONE);
    ck_assert(result.changed);
    ck_assert_str_eq(result.commit, "");
    ck_assert_int_eq(run("data"), REBUILD_DONE);
    ck_assert_uint_eq(strlen(result.commit), COMMIT_HEX);
    scratch_check(scratch_path("data"), &counts);
    ck_assert_uint_eq(counts.entries, 12);
    ck_assert_int_eq(shell_in("data", "git show main:index/manifest.json | grep -q "
                                      "'\"summaryComplete\":true,\"summaryEntries\":12'"),
                     0);
    /* and the store goes on from there */
    struct store *store = NULL;
    struct store_options serve = scratch_options(scratch_path("data"));
    serve.summary_limit = 2000;
    ck_assert_msg(store_open(&serve, &store, &error), "%s", error.message);
    ck_assert_int_eq(scratch_submit(store, 50, ENTRY).outcome, CHANGE_COMMITTED);
    store_close(store);
    scratch_check(scratch_path("data"), &counts);
    ck_assert_uint_eq(counts.entries, 13);
}
END_TEST

START_TEST(rebuild__lets_a_service_commit_while_it_reads)
{
    struct store *store = NULL;
    struct store_options options = scratch_options(scratch_path("data"));
    struct scratch_counts counts;
    make_dataset(10, 2000);
    options.summary_limit = 2000;
    ck_assert_msg(store_open(&options, &store, &error), "%s", error.message);
    meanwhile = store;
    ck_assert_msg(run("data") == REBUILD_DONE, "%s", error.message);
    ck_assert_ptr_null(meanwhile);
    ck_assert_uint_eq(result.runs, 11);
    ck_assert_uint_eq(strlen(result.commit), COMMIT_HEX);
    ck_assert_int_eq(scratch_submit(store, 71, ENTRY).outcome, CHANGE_COMMITTED);
    store_close(store);
    scratch_check(scratch_path("data"), &counts);
    ck_assert_uint_eq(counts.entries, 12);
    ck_assert_uint_eq(counts.files, 12);
}
END_TEST

START_TEST(rebuild__puts_runs_without_a_ledger_line_first)
{
    make_dataset(3, 20000000);
    ck_assert_int_eq(shell_in("tree",
                              "f=$(ls runs/2026/01/*); "
                              "for n in 7 6; do sed \"s/Run-00000000/Run-0000000$n/\" $f > "
                              "runs/2026/01/Run-0000000$n-5e2a-4c1d-9b7f-aa55bb66cc77.json; done"),
                     0);
    ck_assert_msg(run("tree") == REBUILD_DONE, "%s", error.message);
    ck_assert_uint_eq(result.runs, 5);
    ck_assert_uint_eq(result.without_ledger, 2);
    struct buffer said BUFFER_SCOPE = {0};
    scratch_shell(&said, "grep -o '\"runId\":\"Run-0000000.' %s | grep -o '.$' | tr -d '\\n'",
                  scratch_path("tree/index/segments/00001.json"));
    ck_assert_str_eq(buffer_string(&said), "67210");
}
END_TEST

START_TEST(rebuild__refuses_to_lose_runs)
{
    make_dataset(4, 20000000);
    ck_assert_int_eq(shell_in("tree", "rm runs/2026/01/*"), 0);
    ck_assert_int_eq(run("tree"), REBUILD_REFUSED);
    ck_assert_uint_eq(result.dropped, 1);
    ck_assert_uint_eq(complaints, 1);
    ck_assert_int_eq(shell_in("tree", "git diff --quiet -- index"), 0);
    struct rebuild_options options = options_of(scratch_path("tree"));
    options.allow_shrink = true;
    ck_assert_int_eq(rebuild(&options, &result, &error), REBUILD_DONE);
    ck_assert_uint_eq(result.runs, 3);
}
END_TEST

START_TEST(rebuild__refuses_to_lose_runs_of_segments_that_the_manifest_does_not_list)
{
    make_dataset(4, 20000000);
    ck_assert_int_eq(
        shell_in("tree", "rm runs/2026/01/*; printf '{\"version\":1,\"segments\":[],\"entries\":0,"
                         "\"flagged\":0,\"summaryComplete\":true,\"summaryEntries\":0}' "
                         "> index/manifest.json"),
        0);
    ck_assert_int_eq(run("tree"), REBUILD_REFUSED);
    ck_assert_uint_eq(result.dropped, 1);
    ck_assert_int_eq(shell_in("tree", "rm -r index/segments"), 0);
    ck_assert_int_eq(run("tree"), REBUILD_REFUSED);
    ck_assert_uint_eq(result.dropped, 1);
}
END_TEST

START_TEST(rebuild__refuses_files_that_cannot_be_indexed)
{
    make_dataset(2, 20000000);
    struct rebuild_options options = options_of(scratch_path("tree"));
    options.allow_shrink = true;
    ck_assert_int_eq(shell_in("tree", "echo '{}' > runs/2026/01/bad.json"), 0);
    ck_assert_int_eq(rebuild(&options, &result, &error), REBUILD_REFUSED);
    ck_assert_uint_eq(result.unindexable, 1);
    ck_assert_int_eq(shell_in("tree",
                              "rm runs/2026/01/bad.json; mkdir -p quarantine/2026/02; "
                              "sed 's/Run-/rUN-/' runs/2026/01/Run* > quarantine/2026/02/x.json; "
                              "sed -i 's/rUN-/Run-/' quarantine/2026/02/x.json"),
                     0);
    ck_assert_int_eq(rebuild(&options, &result, &error), REBUILD_REFUSED);
    ck_assert_int_eq(shell_in("tree", "git diff --quiet -- index"), 0);
}
END_TEST

START_TEST(rebuild__replaces_an_unreadable_index_when_told)
{
    make_dataset(2, 20000000);
    ck_assert_int_eq(
        shell_in("tree", "echo x > index/summary.json; echo '[]' > index/segments/00002.json"), 0);
    ck_assert_int_eq(run("tree"), REBUILD_REFUSED);
    ck_assert(result.unreadable);
    struct rebuild_options options = options_of(scratch_path("tree"));
    options.allow_shrink = true;
    ck_assert_int_eq(rebuild(&options, &result, &error), REBUILD_DONE);
    ck_assert_int_eq(shell_in("tree", "test -z \"$(git status --porcelain)\""), 0);
}
END_TEST

START_TEST(rebuild__says_what_is_not_a_dataset)
{
    ck_assert_int_eq(run("."), REBUILD_FAILED);
    ck_assert_int_eq(run("none"), REBUILD_FAILED);
    make_dataset(2, 20000000);
    ck_assert_int_eq(shell_in("tree", "sed -i 's/\"rules\":2/\"rules\":3/' ledger/*"), 0);
    ck_assert_int_eq(run("tree"), REBUILD_FAILED);
    ck_assert_ptr_nonnull(strstr(error.message, "ledger/"));
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        rebuild__changes_nothing_in_a_sound_dataset,
        rebuild__makes_the_same_index_from_nothing,
        rebuild__has_the_segments_on_the_disk_before_the_manifest,
        rebuild__commits_a_whole_summary_past_its_limit,
        rebuild__lets_a_service_commit_while_it_reads,
        rebuild__puts_runs_without_a_ledger_line_first,
        rebuild__refuses_to_lose_runs,
        rebuild__refuses_to_lose_runs_of_segments_that_the_manifest_does_not_list,
        rebuild__refuses_files_that_cannot_be_indexed,
        rebuild__replaces_an_unreadable_index_when_told,
        rebuild__says_what_is_not_a_dataset,
    };
    return suite_of("rebuild", begin, end, tests, sizeof tests / sizeof *tests);
}
