#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "github/repository/lock.h"
#include "github/store.h"
#include "tests/support/scratch.h"
#include "tests/support/served.h"
#include "tests/support/suite.h"

enum { ENTRY = 400 };

static struct store_error error;

START_TEST(store__makes_a_repository_on_first_use)
{
    struct buffer said BUFFER_SCOPE = {0};
    ck_assert(!store_unready(store, &error));
    ck_assert_int_eq(scratch_shell(&said,
                                   "git -C %s symbolic-ref HEAD; git -C %s show main:README.md",
                                   scratch_path("data"), scratch_path("data")),
                     0);
    ck_assert_ptr_nonnull(strstr(buffer_string(&said), "refs/heads/main"));
    ck_assert_ptr_nonnull(strstr(said.data, "CC0-1.0"));
    ck_assert_ptr_nonnull(strstr(said.data, "Dataset format version: 1"));
}
END_TEST

START_TEST(store__commits_a_run_with_ledger_and_index)
{
    struct change_result result = scratch_submit(store, 1, ENTRY);
    ck_assert_msg(result.outcome == CHANGE_COMMITTED, "%s", result.error.message);
    ck_assert_uint_eq(result.seq, 1);
    struct buffer said BUFFER_SCOPE = {0};
    ck_assert_int_eq(scratch_shell(&said, "git -C %s log -1 --format=%%H%%n%%s --name-only main",
                                   scratch_path("data")),
                     0);
    const char *text = buffer_string(&said);
    ck_assert(!strncmp(text, result.commit, COMMIT_HEX));
    ck_assert_ptr_nonnull(
        strstr(text, "bench: add run Run-00000001-5e2a-4c1d-9b7f-aa55bb66cc77\n"));
    ck_assert_ptr_nonnull(strstr(text, "runs/2026/02/Run-00000001"));
    ck_assert_ptr_nonnull(strstr(text, "ledger/"));
    ck_assert_ptr_nonnull(strstr(text, "index/manifest.json"));
    ck_assert_ptr_nonnull(strstr(text, "index/segments/00001.json"));
    ck_assert_ptr_nonnull(strstr(text, "index/summary.json"));
    served_check(1);
}
END_TEST

START_TEST(store__reads_files_of_the_tip)
{
    struct scratch_run run;
    struct store_blob blob;
    scratch_run_make(&run, 3, ENTRY, false);
    scratch_submit(store, 3, ENTRY);
    ck_assert(store_read(store, run.path, true, &blob, &error));
    ck_assert_uint_eq(blob.size, run.bytes.size);
    ck_assert_mem_eq(blob.data, run.bytes.data, blob.size);
    char id[BLOB_HEX + 1];
    strcpy(id, blob.id);
    store_blob_free(&blob);
    ck_assert(store_read(store, run.path, false, &blob, &error));
    ck_assert_str_eq(blob.id, id);
    ck_assert_ptr_null(blob.data);
    ck_assert(!store_read(store, "runs/2026/13/none.json", true, &blob, &error));
    ck_assert_str_eq(error.message, "");
    ck_assert(!store_read(store, "runs", true, &blob, &error));
    scratch_run_free(&run);
}
END_TEST

struct worker {
    unsigned first, count;
    size_t committed;
};

static void *submit_many(void *context)
{
    struct worker *worker = context;
    for (unsigned i = 0; i < worker->count; i++)
        worker->committed +=
            scratch_submit(store, worker->first + i, ENTRY).outcome == CHANGE_COMMITTED;
    return NULL;
}

START_TEST(store__lands_200_parallel_runs_each_in_one_commit)
{
    enum { THREADS = 200 };
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.first = i, .count = 1};
        pthread_create(&threads[i], NULL, submit_many, &workers[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(workers[i].committed, 1);
    }
    served_check(THREADS);
    struct buffer said BUFFER_SCOPE = {0};
    scratch_shell(&said,
                  "git -C %s log --format= --name-only --diff-filter=A main | grep -E "
                  "'^(runs|quarantine)/' | sort | uniq -c | awk '{print $1}' | sort | uniq -c",
                  scratch_path("data"));
    int runs = 0, times = 0;
    ck_assert_int_eq(sscanf(buffer_string(&said), "%d %d", &runs, &times), 2);
    ck_assert_int_eq(runs, THREADS);
    ck_assert_int_eq(times, 1);
}
END_TEST

START_TEST(store__refuses_known_runs_and_used_nonces)
{
    struct scratch_run run, other;
    struct run_state state;
    scratch_run_make(&run, 1, ENTRY, false);
    scratch_run_make(&other, 2, ENTRY, false);
    scratch_submit(store, 1, ENTRY);
    for (int restart = 0; restart < 2; restart++) {
        /* another run with the nonce; the same run with another nonce, also in other letter case */
        ck_assert_int_eq(
            store_claim(store, other.run_id, other.path, other.digest, run.nonce, &state),
            CLAIM_NONCE_USED);
        ck_assert_int_eq(store_claim(store, run.run_id, run.path, other.digest, run.nonce, &state),
                         CLAIM_NONCE_USED);
        ck_assert_int_eq(store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state),
                         CLAIM_DUPLICATE);
        ck_assert_str_eq(state.submitted_digest, run.digest);
        ck_assert_int_eq(state.status, RUN_PUBLISHED);
        ck_assert_str_eq(state.flags, "[]");
        ck_assert_uint_eq(strlen(state.commit), COMMIT_HEX);
        run_state_free(&state);
        ck_assert_int_eq(store_claim(store, "rUN-00000001-5e2A-4c1d-9b7f-aa55bb66cc77",
                                     "runs/2026/09/x.json", other.digest, other.nonce, &state),
                         CLAIM_DUPLICATE);
        ck_assert_str_eq(state.path, run.path);
        run_state_free(&state);
        served_reopen();
    }
    scratch_run_free(&run);
    scratch_run_free(&other);
}
END_TEST

START_TEST(store__gives_back_what_was_released)
{
    struct scratch_run run;
    struct run_state state;
    scratch_run_make(&run, 1, ENTRY, false);
    ck_assert_int_eq(store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state),
                     CLAIM_GRANTED);
    ck_assert(store_find(store, run.run_id, NULL, &state));
    ck_assert_int_eq(state.status, RUN_QUEUED);
    run_state_free(&state);
    store_release(store, run.run_id);
    ck_assert(!store_find(store, run.run_id, NULL, &state));
    ck_assert_int_eq(scratch_submit(store, 1, ENTRY).outcome, CHANGE_COMMITTED);
    scratch_run_free(&run);
}
END_TEST

START_TEST(store__finds_commit_and_revision_after_restart)
{
    char commits[40][COMMIT_HEX + 1];
    struct run_state state;
    struct scratch_run run;
    for (unsigned i = 0; i < 40; i++) {
        struct change_result result = scratch_submit(store, i, ENTRY);
        strcpy(commits[i], result.commit);
    }
    served_reopen();
    scratch_submit(store, 100, ENTRY);
    for (unsigned i = 40; i-- > 0;) {
        scratch_run_make(&run, i, ENTRY, i % 5 == 4);
        ck_assert(store_find(store, run.run_id, NULL, &state));
        ck_assert_str_eq(state.commit, commits[i]);
        ck_assert_uint_eq(state.revision, i + 1);
        ck_assert_int_eq(state.status, i % 5 == 4 ? RUN_QUARANTINED : RUN_PUBLISHED);
        run_state_free(&state);
        scratch_run_free(&run);
    }
}
END_TEST

START_TEST(store__excludes_a_second_server)
{
    struct store_options options = scratch_options(scratch_path("data"));
    struct store *second = NULL;
    ck_assert(!store_open(&options, &second, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "only one may serve"));
}
END_TEST

START_TEST(store__clears_stale_git_locks_at_start)
{
    static const char *const names[] = {"data/refs/heads/main.lock", "data/HEAD.lock",
                                        "data/packed-refs.lock", "data/config.lock"};
    enum { NAMES = sizeof names / sizeof *names };
    scratch_submit(store, 1, ENTRY);
    for (int old = 0; old < 2; old++) {
        store_close(store);
        for (size_t i = 0; i < NAMES; i++) {
            scratch_write(scratch_path(names[i]), "", 0);
            if (old)
                scratch_shell(NULL, "touch -d '11 seconds ago' %s", scratch_path(names[i]));
        }
        served_open(scratch_options(scratch_path("data")));
        ck_assert_int_eq(scratch_submit(store, 2 + (unsigned)old, ENTRY).outcome, CHANGE_COMMITTED);
        for (size_t i = 0; i < NAMES; i++)
            ck_assert_int_eq(access(scratch_path(names[i]), F_OK) == 0, !old && i >= 2);
    }
    served_check(3);
}
END_TEST

START_TEST(store__survives_git_gc)
{
    for (unsigned i = 0; i < 20; i++)
        scratch_submit(store, i, ENTRY);
    ck_assert_int_eq(scratch_shell(NULL, "git -C %s gc -q", scratch_path("data")), 0);
    struct scratch_run run;
    struct store_blob blob;
    for (unsigned i = 20; i < 40; i++) {
        ck_assert_int_eq(scratch_submit(store, i, ENTRY).outcome, CHANGE_COMMITTED);
        scratch_run_make(&run, i - 20, ENTRY, (i - 20) % 5 == 4);
        ck_assert(store_read(store, run.path, true, &blob, &error));
        store_blob_free(&blob);
        scratch_run_free(&run);
    }
    served_check(40);
}
END_TEST

START_TEST(store__commits_what_is_queued_before_it_closes)
{
    struct scratch_run runs[20];
    struct run_state state;
    for (unsigned i = 0; i < 20; i++) {
        scratch_run_make(&runs[i], i, ENTRY, false);
        store_claim(store, runs[i].run_id, runs[i].path, runs[i].digest, runs[i].nonce, &state);
        store_commit(store, &runs[i].change, NULL, NULL);
        scratch_run_free(&runs[i]);
    }
    served_reopen();
    served_check(20);
}
END_TEST

static void take_outcome(void *context, const struct change_result *result)
{
    *(enum change_outcome *)context = result->outcome;
}

START_TEST(store__refuses_when_the_queue_is_full)
{
    struct store_options options = scratch_options(scratch_path("data"));
    options.queue_limit = 0;
    store_close(store);
    served_open(options);
    struct scratch_run run;
    struct run_state state;
    enum change_outcome outcome = CHANGE_COMMITTED;
    scratch_run_make(&run, 1, ENTRY, false);
    ck_assert_int_eq(store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state),
                     CLAIM_GRANTED);
    store_commit(store, &run.change, take_outcome, &outcome);
    ck_assert_int_eq(outcome, CHANGE_QUEUE_FULL);
    ck_assert(!store_find(store, run.run_id, NULL, &state));
    scratch_run_free(&run);
}
END_TEST

struct joiner {
    unsigned called;
    struct change_result result;
};

static void hear_end(void *context, const struct change_result *result)
{
    struct joiner *joiner = context;
    joiner->called++;
    joiner->result = *result;
}

START_TEST(store__tells_those_who_joined_what_the_first_is_told)
{
    static struct joiner first, joined[JOIN_MAX];
    struct scratch_run run;
    struct run_state state;
    scratch_run_make(&run, 1, ENTRY, true);
    ck_assert(!store_join(store, run.run_id, hear_end, &joined[0]));
    store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state);
    /* held up by another process, so that it stays in flight */
    int lock = open(scratch_path("data/" LOCK_COMMIT), O_RDWR);
    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
    for (unsigned i = 0; i < JOIN_MAX; i++) {
        if (i == JOIN_MAX / 2)
            store_commit(store, &run.change, hear_end, &first);
        ck_assert(store_join(store, i % 2 ? run.run_id : "rUN-00000001-5e2A-4c1d-9b7f-aa55bb66cc77",
                             hear_end, &joined[i]));
    }
    ck_assert(!store_join(store, run.run_id, hear_end, &first));
    ck_assert_int_eq(store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state),
                     CLAIM_DUPLICATE);
    ck_assert_int_eq(state.status, RUN_QUEUED);
    ck_assert_str_eq(state.submitted_digest, run.digest);
    ck_assert_str_eq(state.digest, run.digest);
    ck_assert_str_eq(state.at, run.at);
    ck_assert_str_eq(state.flags, run.change.flags);
    ck_assert_int_eq(state.rules, run.change.rules);
    run_state_free(&state);
    ck_assert_uint_eq(first.called, 0);
    close(lock);
    served_reopen(); /* ends the writer */
    ck_assert_uint_eq(first.called, 1);
    ck_assert_int_eq(first.result.outcome, CHANGE_COMMITTED);
    for (unsigned i = 0; i < JOIN_MAX; i++) {
        ck_assert_uint_eq(joined[i].called, 1);
        ck_assert_mem_eq(&joined[i].result, &first.result, sizeof first.result);
    }
    ck_assert_str_eq(first.result.submitted_digest, run.digest);
    ck_assert(!store_join(store, run.run_id, hear_end, &first));
    served_check(1);
    scratch_run_free(&run);
}
END_TEST

START_TEST(store__tells_those_who_joined_what_came_to_nothing)
{
    struct joiner released = {0}, refused = {0}, first = {0};
    struct store_options options = scratch_options(scratch_path("data"));
    struct scratch_run run;
    struct run_state state;
    options.queue_limit = 0;
    store_close(store);
    served_open(options);
    scratch_run_make(&run, 1, ENTRY, false);
    store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state);
    ck_assert(store_join(store, run.run_id, hear_end, &released));
    store_release(store, run.run_id);
    ck_assert_uint_eq(released.called, 1);
    ck_assert_int_eq(released.result.outcome, CHANGE_FAILED);
    ck_assert_ptr_nonnull(strstr(released.result.error.message, run.run_id));
    store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state);
    ck_assert(store_join(store, run.run_id, hear_end, &refused));
    store_commit(store, &run.change, hear_end, &first);
    ck_assert_uint_eq(first.called, 1);
    ck_assert_uint_eq(refused.called, 1);
    ck_assert_int_eq(refused.result.outcome, CHANGE_QUEUE_FULL);
    scratch_run_free(&run);
}
END_TEST

START_TEST(store__stops_though_another_process_holds_the_lock)
{
    static struct joiner ends[3];
    struct scratch_run run;
    struct run_state state;
    int lock = open(scratch_path("data/" LOCK_COMMIT), O_RDWR);
    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
    for (unsigned i = 0; i < 3; i++) {
        scratch_run_make(&run, i, ENTRY, false);
        store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state);
        store_commit(store, &run.change, hear_end, &ends[i]);
        scratch_run_free(&run);
        usleep(20000); /* so that the first one is being committed alone */
    }
    time_t start = time(NULL);
    store_close(store);
    store = NULL;
    ck_assert_int_lt(time(NULL) - start, 8);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(ends[i].called, 1);
        ck_assert_int_eq(ends[i].result.outcome, CHANGE_FAILED);
        ck_assert_ptr_nonnull(strstr(ends[i].result.error.message, LOCK_COMMIT));
    }
    close(lock);
}
END_TEST

START_TEST(store__fails_and_recovers_with_its_disk)
{
    scratch_submit(store, 1, ENTRY);
    /* Not permissions: tests may run as root. A file where the object folders were. */
    ck_assert_int_eq(rename(scratch_path("data/objects"), scratch_path("data/gone")), 0);
    scratch_write(scratch_path("data/objects"), "", 0);
    ck_assert_int_eq(scratch_submit(store, 2, ENTRY).outcome, CHANGE_FAILED);
    ck_assert(store_unready(store, &error));
    unlink(scratch_path("data/objects"));
    ck_assert_int_eq(rename(scratch_path("data/gone"), scratch_path("data/objects")), 0);
    ck_assert_int_eq(scratch_submit(store, 2, ENTRY).outcome, CHANGE_COMMITTED);
    ck_assert(!store_unready(store, &error));
    served_check(2);
}
END_TEST

START_TEST(store__keeps_neighbours_of_a_change_that_cannot_be_committed)
{
    struct scratch_run runs[3];
    enum change_outcome outcomes[3] = {CHANGE_QUEUE_FULL, CHANGE_QUEUE_FULL, CHANGE_QUEUE_FULL};
    struct run_state state;
    for (unsigned i = 0; i < 3; i++) {
        scratch_run_make(&runs[i], i, ENTRY, false);
        if (i == 1)
            runs[i].change.entry_size -= 1;
        store_claim(store, runs[i].run_id, runs[i].path, runs[i].digest, runs[i].nonce, &state);
    }
    for (unsigned i = 0; i < 3; i++)
        store_commit(store, &runs[i].change, take_outcome, &outcomes[i]);
    served_reopen();
    ck_assert_int_eq(outcomes[0], CHANGE_COMMITTED);
    ck_assert_int_eq(outcomes[1], CHANGE_FAILED);
    ck_assert_int_eq(outcomes[2], CHANGE_COMMITTED);
    served_check(2);
    for (unsigned i = 0; i < 3; i++)
        scratch_run_free(&runs[i]);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        store__makes_a_repository_on_first_use,
        store__commits_a_run_with_ledger_and_index,
        store__reads_files_of_the_tip,
        store__lands_200_parallel_runs_each_in_one_commit,
        store__refuses_known_runs_and_used_nonces,
        store__gives_back_what_was_released,
        store__finds_commit_and_revision_after_restart,
        store__excludes_a_second_server,
        store__clears_stale_git_locks_at_start,
        store__survives_git_gc,
        store__commits_what_is_queued_before_it_closes,
        store__refuses_when_the_queue_is_full,
        store__tells_those_who_joined_what_the_first_is_told,
        store__tells_those_who_joined_what_came_to_nothing,
        store__stops_though_another_process_holds_the_lock,
        store__fails_and_recovers_with_its_disk,
        store__keeps_neighbours_of_a_change_that_cannot_be_committed,
    };
    return suite_of("store", served_begin, served_end, tests, sizeof tests / sizeof *tests);
}
