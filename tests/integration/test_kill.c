/* kill -9 in the middle of a stream of commits: what was acknowledged is there, nothing is torn,
 * and no nonce is good for a second run. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { KILLS = 30, THREADS = 4, ENTRY = 3000, PER_THREAD = 100000, RUNS_MAX = 60000 };

static unsigned acknowledged[RUNS_MAX];
static size_t acknowledged_count;

struct stream {
    struct store *store;
    unsigned first;
    int pipe;
};

static void *submit_stream(void *context)
{
    const struct stream *stream = context;
    for (unsigned n = stream->first; n < stream->first + PER_THREAD; n++) {
        struct change_result result = scratch_submit(stream->store, n, ENTRY);
        if (result.outcome != CHANGE_COMMITTED)
            _exit(EXIT_FAILURE);
        if (write(stream->pipe, &n, sizeof n) != (ssize_t)sizeof n) /* atomic: below PIPE_BUF */
            _exit(EXIT_FAILURE);
    }
    return NULL;
}

/* Until it is killed. */
static void serve(unsigned round, int pipe)
{
    struct store_options options = scratch_options(scratch_path("data"));
    struct store_error error;
    struct store *store = NULL;
    options.summary_limit = 500000; /* passed on the way */
    if (!store_open(&options, &store, &error)) {
        fprintf(stderr, "round %u: %s\n", round, error.message);
        _exit(EXIT_FAILURE);
    }
    struct stream streams[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        streams[i] = (struct stream){store, (round * THREADS + i) * PER_THREAD, pipe};
        pthread_create(&threads[i], NULL, submit_stream, &streams[i]);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    _exit(EXIT_SUCCESS);
}

static void sleep_us(long us)
{
    struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    nanosleep(&pause, NULL);
}

static bool take_one(int fd)
{
    unsigned n;
    if (read(fd, &n, sizeof n) != (ssize_t)sizeof n)
        return false;
    ck_assert_uint_lt(acknowledged_count, RUNS_MAX);
    acknowledged[acknowledged_count++] = n;
    return true;
}

/* One process, killed at a random moment after its first acknowledgement, or, every fourth, while
 * it starts or makes the repository. */
static void kill_one(unsigned round)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        close(ends[0]);
        serve(round, ends[1]);
    }
    close(ends[1]);
    ck_assert_msg(take_one(ends[0]), "round %u: the process ended without an acknowledgement",
                  round);
    sleep_us(rand() % 150000);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    ck_assert_msg(WIFSIGNALED(status), "round %u: the process ended by itself", round);
    while (take_one(ends[0]))
        continue;
    close(ends[0]);
}

static void leave_git_locks(unsigned round)
{
    static const char *const names[] = {"data/refs/heads/main.lock", "data/HEAD.lock",
                                        "data/packed-refs.lock"};
    if (round % 3 == 2)
        scratch_write(scratch_path(names[round / 3 % 3]), "", 0);
}

static void check_run(struct store *store, unsigned n)
{
    struct scratch_run run, other;
    struct run_state state;
    struct store_blob blob;
    struct store_error error;
    scratch_run_make(&run, n, ENTRY, n % 5 == 4);
    scratch_run_make(&other, 4000000000u, ENTRY, false);
    ck_assert_msg(store_find(store, run.run_id, NULL, &state), "run %u was lost", n);
    ck_assert_str_eq(state.path, run.path);
    ck_assert_uint_gt(state.revision, 0);
    run_state_free(&state);
    ck_assert(store_read(store, run.path, true, &blob, &error));
    ck_assert_uint_eq(blob.size, run.bytes.size);
    ck_assert_mem_eq(blob.data, run.bytes.data, blob.size);
    store_blob_free(&blob);
    ck_assert_int_eq(store_claim(store, other.run_id, other.path, other.digest, run.nonce, &state),
                     CLAIM_NONCE_USED);
    scratch_run_free(&run);
    scratch_run_free(&other);
}

START_TEST(store__keeps_every_acknowledged_run_when_killed)
{
    struct store_error error;
    struct store *store = NULL;
    struct scratch_counts counts;
    srand((unsigned)getpid());
    for (unsigned round = 0; round < KILLS; round++) {
        kill_one(round);
        leave_git_locks(round);
    }
    struct store_options options = scratch_options(scratch_path("data"));
    ck_assert_msg(store_open(&options, &store, &error), "%s", error.message);
    scratch_check(scratch_path("data"), &counts);
    ck_assert_uint_ge(counts.entries, acknowledged_count);
    ck_assert_uint_eq(counts.entries, counts.files);
    ck_assert_uint_eq(counts.entries, counts.lines);
    for (size_t i = 0; i < acknowledged_count; i++)
        check_run(store, acknowledged[i]);
    printf("%d kills, %zu runs acknowledged, %zu committed\n", KILLS, acknowledged_count,
           counts.entries);
    store_close(store);
}
END_TEST

static void begin(void)
{
    scratch_begin();
}

static void end(void)
{
    scratch_end();
}

Suite *test_suite(void)
{
    Suite *suite = suite_create("kill");
    TCase *cases = tcase_create("kill");
    tcase_add_checked_fixture(cases, begin, end);
    tcase_set_timeout(cases, 110);
    tcase_add_test(cases, store__keeps_every_acknowledged_run_when_killed);
    suite_add_tcase(suite, cases);
    return suite;
}
