/* What a store makes of commits that it did not make. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "github/store.h"
#include "tests/support/scratch.h"
#include "tests/support/served.h"
#include "tests/support/suite.h"

enum { ENTRY = 400 };

static struct store_error error;

/* A maintainer's commit by git itself. */
static void foreign_commit(const char *commands)
{
    int status = scratch_shell(
        NULL,
        "export GIT_AUTHOR_NAME=m GIT_AUTHOR_EMAIL=m@example.org GIT_COMMITTER_NAME=m "
        "GIT_COMMITTER_EMAIL=m@example.org; cd %s && rm -rf work && git clone -q data work && cd "
        "work && "
        "(%s) && git add -A && git commit -qm maintainer && git push -q origin HEAD:main",
        scratch_path("."), commands);
    ck_assert_int_eq(status, 0);
}

START_TEST(store__rejoins_after_foreign_commit)
{
    scratch_submit(store, 1, ENTRY);
    foreign_commit("echo hello > NOTES.md");
    ck_assert_int_eq(scratch_submit(store, 2, ENTRY).outcome, CHANGE_COMMITTED);
    served_check(2);
    struct store_blob blob;
    ck_assert(store_read(store, "NOTES.md", true, &blob, &error));
    store_blob_free(&blob);
}
END_TEST

START_TEST(store__ends_as_duplicate_what_another_writer_published)
{
    /* Somebody else publishes run 2: the history of a second dataset, pushed into ours. */
    scratch_submit(store, 1, ENTRY);
    ck_assert_int_eq(
        scratch_shell(NULL, "cp -r %s %s", scratch_path("data"), scratch_path("other")), 0);
    struct store *mine = store, *other = NULL;
    struct store_options options = scratch_options(scratch_path("other"));
    ck_assert(store_open(&options, &other, &error));
    store = other;
    ck_assert_int_eq(scratch_submit(store, 2, ENTRY).outcome, CHANGE_COMMITTED);
    store_close(other);
    store = mine;

    struct scratch_run run;
    struct run_state state;
    scratch_run_make(&run, 2, ENTRY, false);
    ck_assert_int_eq(store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state),
                     CLAIM_GRANTED);
    store_release(store, run.run_id);
    ck_assert_int_eq(scratch_shell(NULL, "git -C %s push -q %s main:main", scratch_path("other"),
                                   scratch_path("data")),
                     0);
    struct change_result result = scratch_submit(store, 2, ENTRY);
    ck_assert_int_eq(result.outcome, CHANGE_DUPLICATE);
    ck_assert(store_find(store, run.run_id, NULL, &state));
    ck_assert_int_eq(state.status, RUN_PUBLISHED);
    run_state_free(&state);
    served_check(2);
    scratch_run_free(&run);
}
END_TEST

struct heard {
    size_t entries, resets, settled;
};
static void hear_reset(void *context)
{
    struct heard *heard = context;
    heard->resets++;
    heard->entries = 0;
}
static void hear_entry(void *context, const char *entry, size_t size)
{
    struct heard *heard = context;
    ck_assert(size > 2 && entry[0] == '{' && entry[size - 1] == '}');
    heard->entries++;
}
static void hear_settled(void *context)
{
    ((struct heard *)context)->settled++;
}

START_TEST(store__tells_the_listener_when_others_change_the_index)
{
    static struct heard heard;
    heard = (struct heard){0};
    for (unsigned i = 0; i < 3; i++)
        scratch_submit(store, i, ENTRY);
    store_close(store);
    struct store_options options = scratch_options(scratch_path("data"));
    options.listener = (struct store_listener){
        .context = &heard, .reset = hear_reset, .entry = hear_entry, .settled = hear_settled};
    served_open(options);
    ck_assert_uint_eq(heard.entries, 3);
    ck_assert_uint_eq(heard.settled, 1);
    scratch_submit(store, 3, ENTRY);
    ck_assert_uint_eq(heard.entries, 4);
    ck_assert_uint_eq(heard.resets, 1);
    /* only the summary is left, with two entries: an older writer was here */
    foreign_commit(
        "rm -r index/segments index/manifest.json && "
        "node -e 'f=\"index/summary.json\";a=JSON.parse(require(\"fs\").readFileSync(f));"
        "require(\"fs\").writeFileSync(f,JSON.stringify(a.slice(0,2)))'");
    scratch_submit(store, 4, ENTRY);
    ck_assert_uint_eq(heard.resets, 2);
    ck_assert_uint_eq(heard.entries, 3);
}
END_TEST

START_TEST(store__notices_foreign_commits_while_idle)
{
    struct store_blob blob;
    bool found = false;
    foreign_commit("echo hello > NOTES.md");
    for (int i = 0; i < 100 && !found; i++) {
        usleep(50000);
        found = store_read(store, "NOTES.md", false, &blob, &error);
    }
    ck_assert(found);
}
END_TEST

START_TEST(store__never_overwrites_an_unreadable_index)
{
    scratch_submit(store, 1, ENTRY);
    foreign_commit("printf '[{' > index/summary.json");
    struct change_result result = scratch_submit(store, 2, ENTRY);
    ck_assert_int_eq(result.outcome, CHANGE_FAILED);
    ck_assert_ptr_nonnull(strstr(result.error.message, "index/summary.json"));
    ck_assert(store_unready(store, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "index"));
    struct store_blob blob;
    foreign_commit("git checkout -q HEAD~1 -- index");
    for (int i = 0; i < 100 && store_unready(store, &error); i++)
        usleep(50000);
    ck_assert(!store_unready(store, &error));
    ck_assert_int_eq(scratch_submit(store, 2, ENTRY).outcome, CHANGE_COMMITTED);
    ck_assert(store_read(store, "index/summary.json", false, &blob, &error));
    served_check(2);
}
END_TEST

static void turn_to(const char *commit)
{
    ck_assert_int_eq(scratch_shell(NULL, "git -C %s update-ref refs/heads/main %s",
                                   scratch_path("data"), commit),
                     0);
}

static void await_readiness(bool ready)
{
    for (int i = 0; i < 200 && store_unready(store, &error) == ready; i++)
        usleep(20000);
    ck_assert(store_unready(store, &error) != ready);
}

/* A commit in which another writer publishes run N, at the branch `ahead` of our repository. */
static void publish_ahead(unsigned n)
{
    ck_assert_int_eq(scratch_shell(NULL, "rm -rf %s && cp -r %s %s", scratch_path("other"),
                                   scratch_path("data"), scratch_path("other")),
                     0);
    struct store *mine = store, *other = NULL;
    struct store_options options = scratch_options(scratch_path("other"));
    ck_assert_msg(store_open(&options, &other, &error), "%s", error.message);
    store = other;
    ck_assert_int_eq(scratch_submit(store, n, ENTRY).outcome, CHANGE_COMMITTED);
    store_close(other);
    store = mine;
    ck_assert_int_eq(scratch_shell(NULL, "git -C %s push -q -f %s main:ahead",
                                   scratch_path("other"), scratch_path("data")),
                     0);
}

START_TEST(store__takes_nothing_of_a_tip_that_it_cannot_read)
{
    struct run_state state;
    struct scratch_run run;
    scratch_run_make(&run, 2, ENTRY, false);
    scratch_submit(store, 1, ENTRY);
    publish_ahead(2);
    /* a sound ledger line of run 2 beside a broken segment */
    ck_assert_int_eq(
        scratch_shell(NULL,
                      "export GIT_AUTHOR_NAME=m GIT_AUTHOR_EMAIL=m@x GIT_COMMITTER_NAME=m "
                      "GIT_COMMITTER_EMAIL=m@x; cd %s && rm -rf work && git clone -q -b ahead data "
                      "work && cd work && truncate -s -1 index/segments/00001.json && git commit "
                      "-qa --amend -m broken && git push -q -f origin HEAD:main",
                      scratch_path(".")),
        0);
    await_readiness(false);
    ck_assert(!store_find(store, run.run_id, NULL, &state));
    turn_to("main~1");
    await_readiness(true);
    struct change_result result = scratch_submit(store, 2, ENTRY);
    ck_assert_msg(result.outcome == CHANGE_COMMITTED, "%d %s", result.outcome,
                  result.error.message);
    ck_assert_uint_eq(result.seq, 2);
    served_check(2);
    scratch_run_free(&run);
}
END_TEST

START_TEST(store__follows_a_rewritten_history)
{
    struct run_state state;
    struct scratch_run dropped, kept, flying;
    scratch_run_make(&kept, 1, ENTRY, false);
    scratch_run_make(&dropped, 2, ENTRY, false);
    scratch_run_make(&flying, 5, ENTRY, false);
    scratch_submit(store, 1, ENTRY);
    publish_ahead(3);
    scratch_submit(store, 2, ENTRY);
    ck_assert_int_eq(
        store_claim(store, flying.run_id, flying.path, flying.digest, flying.nonce, &state),
        CLAIM_GRANTED);
    turn_to("ahead");
    struct change_result result = scratch_submit(store, 4, ENTRY);
    ck_assert_msg(result.outcome == CHANGE_COMMITTED, "%s", result.error.message);
    ck_assert_uint_eq(result.seq, 3);
    served_check(3);
    /* run 2 is gone, its nonce stays spent; the claim stands */
    ck_assert(!store_find(store, dropped.run_id, NULL, &state));
    ck_assert_int_eq(
        store_claim(store, dropped.run_id, dropped.path, dropped.digest, dropped.nonce, &state),
        CLAIM_NONCE_USED);
    ck_assert(store_find(store, flying.run_id, NULL, &state));
    ck_assert_int_eq(state.status, RUN_QUEUED);
    run_state_free(&state);
    /* shortened, to the same files in a commit of another name */
    ck_assert_int_eq(
        scratch_shell(NULL,
                      "cd %s && git update-ref refs/heads/main $(git -c user.name=m -c "
                      "user.email=m@x commit-tree -m again -p main~3 main~2^{tree})",
                      scratch_path("data")),
        0);
    ck_assert_int_eq(scratch_submit(store, 6, ENTRY).seq, 2);
    ck_assert(store_find(store, kept.run_id, NULL, &state));
    struct buffer said BUFFER_SCOPE = {0};
    scratch_shell(&said, "git -C %s rev-parse main~1", scratch_path("data"));
    ck_assert(!strncmp(buffer_string(&said), state.commit, COMMIT_HEX));
    run_state_free(&state);
    served_check(2);
    /* the same files once more, but the commit that accepted run 6 is another one */
    ck_assert_int_eq(
        scratch_shell(NULL,
                      "cd %s && git update-ref refs/heads/main $(git -c user.name=m -c "
                      "user.email=m@x commit-tree -m amended -p main~1 main^{tree})",
                      scratch_path("data")),
        0);
    struct scratch_run amended;
    scratch_run_make(&amended, 6, ENTRY, false);
    ck_assert_int_eq(scratch_submit(store, 7, ENTRY).seq, 3);
    ck_assert(store_find(store, amended.run_id, NULL, &state));
    said.size = 0;
    scratch_shell(&said, "git -C %s rev-parse main~1", scratch_path("data"));
    ck_assert(!strncmp(buffer_string(&said), state.commit, COMMIT_HEX));
    run_state_free(&state);
    served_check(3);
    scratch_run_free(&amended);
    scratch_run_free(&kept);
    scratch_run_free(&dropped);
    scratch_run_free(&flying);
}
END_TEST

/* Appends a line with MEMBERS, in JavaScript, to the newest day of the ledger; pushes it. */
static void foreign_line(const char *members)
{
    struct buffer script BUFFER_SCOPE = {0};
    buffer_format(&script,
                  "node -e 'f=\"ledger/\"+fs.readdirSync(\"ledger\").sort().pop();"
                  "l=fs.readFileSync(f,\"utf8\").trim().split(\"\\n\");"
                  "h=crypto.createHash(\"sha256\").update(l.at(-1)).digest(\"hex\");"
                  "fs.appendFileSync(f,JSON.stringify({seq:JSON.parse(l.at(-1)).seq+1,prev:h,%s})"
                  "+\"\\n\")'",
                  members);
    foreign_commit(buffer_string(&script));
}

START_TEST(store__survives_foreign_lines_and_entries)
{
    struct run_state state;
    scratch_submit(store, 1, ENTRY);
    foreign_line("event:\"audit\",runId:\"x\",note:{a:[1]},path:\"..\"");
    ck_assert_int_eq(scratch_submit(store, 2, ENTRY).seq, 3);
    ck_assert(!store_find(store, "x", NULL, &state));
    foreign_line("event:\"accept\",runId:\"x\".repeat(1e6)");
    struct change_result result = scratch_submit(store, 3, ENTRY);
    ck_assert_int_eq(result.outcome, CHANGE_FAILED);
    ck_assert_ptr_nonnull(strstr(result.error.message, "no runId that a run could have"));
    turn_to("main~1");
    await_readiness(true);
    foreign_line("event:\"accept\",runId:\"x\",path:\"README.md\"");
    await_readiness(false);
    ck_assert_ptr_nonnull(strstr(error.message, "a path that no run could have"));
    turn_to("main~1");
    await_readiness(true);
    /* an entry that nobody could ask for */
    foreign_commit("rm -r index/segments index/manifest.json && "
                   "node -e 'f=\"index/summary.json\";a=JSON.parse(fs.readFileSync(f));"
                   "a.push({runId:\"x\".repeat(1e6),path:\"y\".repeat(1e6)});"
                   "a.push({runId:\"z\",path:7,flagged:3,createdAt:[]});"
                   "fs.writeFileSync(f,JSON.stringify(a))'");
    ck_assert_int_eq(scratch_submit(store, 4, ENTRY).outcome, CHANGE_COMMITTED);
    ck_assert(!store_find(store, "x", NULL, &state));
}
END_TEST

START_TEST(store__does_not_open_with_a_broken_ledger_or_index)
{
    static const char *const damages[] = {"sed -i 's/\"rules\":2/\"rules\":1/' ledger/*",
                                          "truncate -s -1 ledger/*",
                                          "truncate -s -1 index/segments/00001.json",
                                          "rm index/segments/00001.json",
                                          "rm index/manifest.json",
                                          "echo '{}' > index/manifest.json",
                                          "rm index/summary.json"};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        scratch_submit(store, (unsigned)(2 * i), ENTRY);
        scratch_submit(store, (unsigned)(2 * i + 1), ENTRY);
        store_close(store);
        store = NULL;
        foreign_commit(damages[i]);
        struct store_options options = scratch_options(scratch_path("data"));
        struct store *opened = NULL;
        ck_assert_msg(!store_open(&options, &opened, &error), "%s", damages[i]);
        ck_assert_int_eq(scratch_shell(NULL, "git -C %s update-ref refs/heads/main main~1",
                                       scratch_path("data")),
                         0);
        served_open(options);
    }
}
END_TEST

START_TEST(store__takes_an_older_archive_with_only_a_summary)
{
    foreign_commit("mkdir -p index runs/2025/12 && "
                   "echo '{\"runId\":\"old-run-1\",\"digest\":\"'$(printf a%.0s $(seq 64))'\"}' > "
                   "runs/2025/12/old-run-1.json && "
                   "printf '[ {\"runId\":\"old-run-1\", "
                   "\"path\":\"runs/2025/12/old-run-1.json\",\"cells\":[]}]'"
                   " > index/summary.json");
    served_reopen();
    struct run_state state;
    ck_assert(store_find(store, "OLD-run-1", NULL, &state));
    ck_assert_uint_eq(state.revision, 0);
    ck_assert_str_eq(state.commit, "");
    ck_assert_str_eq(state.submitted_digest, "");
    ck_assert_uint_eq(strspn(state.digest, "a"), 64);
    run_state_free(&state);
    ck_assert_int_eq(scratch_submit(store, 1, ENTRY).outcome, CHANGE_COMMITTED);
    served_check(2);
    struct store_blob blob;
    ck_assert(store_read(store, "index/segments/00001.json", true, &blob, &error));
    ck_assert_ptr_eq(strstr(blob.data, "[{\"runId\":\"old-run-1\",\"path\""), blob.data);
    store_blob_free(&blob);
}
END_TEST

START_TEST(store__does_not_hide_runs_that_no_index_lists)
{
    foreign_commit("mkdir -p runs/2026/02 && echo '{}' > runs/2026/02/other.json");
    store_close(store);
    store = NULL;
    struct store_options options = scratch_options(scratch_path("data"));
    ck_assert(!store_open(&options, &store, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "benchledger index"));
}
END_TEST

START_TEST(store__does_not_overwrite_a_file_that_nobody_lists)
{
    struct buffer said BUFFER_SCOPE = {0};
    struct scratch_run run;
    scratch_run_make(&run, 1, ENTRY, false);
    scratch_submit(store, 2, ENTRY);
    buffer_format(&said, "mkdir -p runs/2026/02 && echo '{}' > %s", run.path);
    foreign_commit(buffer_string(&said));
    ck_assert_int_eq(scratch_submit(store, 1, ENTRY).outcome, CHANGE_DUPLICATE);
    scratch_run_free(&run);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        store__rejoins_after_foreign_commit,
        store__ends_as_duplicate_what_another_writer_published,
        store__tells_the_listener_when_others_change_the_index,
        store__notices_foreign_commits_while_idle,
        store__never_overwrites_an_unreadable_index,
        store__takes_nothing_of_a_tip_that_it_cannot_read,
        store__follows_a_rewritten_history,
        store__survives_foreign_lines_and_entries,
        store__does_not_open_with_a_broken_ledger_or_index,
        store__takes_an_older_archive_with_only_a_summary,
        store__does_not_hide_runs_that_no_index_lists,
        store__does_not_overwrite_a_file_that_nobody_lists,
    };
    return suite_of("follow", served_begin, served_end, tests, sizeof tests / sizeof *tests);
}
