/* CPU time of one commit in a small and in a large dataset, the bytes that it adds to objects/ (all
 * loose: nothing packs them but `git gc`), and the time that start-up takes.
 *
 * usage: bench_commit [RUNS]   (default 20000, compared with 100)
 *
 * The generator spreads createdAt over eleven months and acceptances over the days since
 * 2026-01-01. Both datasets are measured past the summary limit and from the same fill of the last
 * segment on: from its first entry until it is full. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "github/change/dataset.h"
#include "github/repository/commit.h"
#include "github/repository/lock.h"
#include "tests/support/scratch.h"
#include "tests/support/unsynced.h"
#include "validator/arena.h"

enum { SMALL = 100, LARGE = 20000, ENTRY = 9000, BATCH = 2000, DAYS = 330, A_DAY = 60 };
enum { SUMMARY_LIMIT = 100000, MEASURED = 105 };

static const double first_day = 1767225600e3; /* 2026-01-01 */

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void need(bool fine, const struct store_error *error)
{
    if (fine)
        return;
    fprintf(stderr, "bench_commit: %s\n", error->message);
    exit(EXIT_FAILURE);
}

/* Only the CPU time of the commit counts, not that of making up a run. */
struct dataset_under_test {
    struct dataset dataset;
    unsigned runs;
    double at; /* of the next acceptance */
    struct lock lock;
};

static struct pending *make_pending(struct dataset_under_test *test)
{
    struct scratch_run run;
    scratch_run_make(&run, test->runs, ENTRY, test->runs % 10 == 9);
    test->runs++;
    scratch_time(test->at, run.at);
    struct pending *pending = pending_new(&run.change, NULL, NULL);
    scratch_run_free(&run);
    return pending;
}

static void free_batch(struct pending *batch)
{
    while (batch) {
        struct pending *next = batch->next;
        pending_finish(batch);
        batch = next;
    }
}

static void commit_runs(struct dataset_under_test *test, unsigned count, double spacing)
{
    struct store_error error;
    struct pending *batch = NULL, **end = &batch;
    for (unsigned i = 0; i < count; i++) {
        *end = make_pending(test);
        end = &(*end)->next;
        test->at += spacing;
    }
    need(dataset_commit(&test->dataset, batch, &error), &error);
    free_batch(batch);
}

static void generate(struct dataset_under_test *test, unsigned runs)
{
    double spacing = DAYS * 86400e3 / runs;
    for (unsigned made = 0; made < runs; made += BATCH)
        commit_runs(test, runs - made < BATCH ? runs - made : BATCH, spacing);
    /* up to the first entry of a fresh segment */
    size_t segments = index_segments(test->dataset.index);
    while (index_segments(test->dataset.index) == segments)
        commit_runs(test, 1, 0);
}

static void open_dataset(struct dataset_under_test *test, const char *path)
{
    struct store_error error;
    test->dataset = (struct dataset){
        .author = {"benchledger", "benchledger@example.org"},
        .catalogue = catalogue_new(),
        .summary_limit = SUMMARY_LIMIT,
    };
    need(repository_prepare(path, &test->dataset.author, "CC0-1.0", &test->dataset.repository,
                            &error),
         &error);
    test->lock = (struct lock){-1};
    need(lock_take(path, LOCK_COMMIT, NULL, NULL, &test->lock, &error), &error);
    need(dataset_open(&test->dataset, &error), &error);
}

static void close_dataset(struct dataset_under_test *test)
{
    dataset_close(&test->dataset);
    lock_drop(&test->lock);
    repository_close(test->dataset.repository);
    catalogue_free(test->dataset.catalogue);
}

/* Of all commits so far, in seconds. */
struct spent {
    double cpu, user; /* user: a share of cpu, the rest is the kernel's: files made and synced */
    double bytes;     /* that objects/ has grown by */
};

static double object_bytes;
static int add_size(const char *path, const struct stat *status, int kind, struct FTW *ftw)
{
    (void)path, (void)ftw;
    if (kind == FTW_F)
        object_bytes += (double)status->st_size;
    return 0;
}

/* What `git gc` would have to pack: all of it is loose. */
static double measure_objects(const char *path)
{
    struct arena arena ARENA_SCOPE = {0};
    object_bytes = 0;
    nftw(arena_format(&arena, "%s/objects", path), add_size, 16, FTW_PHYS);
    return object_bytes;
}

static double user_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

static void measure_one(struct dataset_under_test *test, struct spent *spent)
{
    struct store_error error;
    struct pending *pending = make_pending(test);
    test->at += 86400e3 / A_DAY;
    double start = seconds(CLOCK_THREAD_CPUTIME_ID), user = user_seconds();
    need(dataset_commit(&test->dataset, pending, &error), &error);
    spent->cpu += seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    spent->user += user_seconds() - user;
    free_batch(pending);
}

static void prepare(struct dataset_under_test *test, const char *path, unsigned runs)
{
    double start = seconds(CLOCK_MONOTONIC);
    test->at = first_day;
    open_dataset(test, path);
    unsynced(true);
    generate(test, runs);
    unsynced(false);
    close_dataset(test);
    double made = seconds(CLOCK_MONOTONIC) - start;
    start = seconds(CLOCK_MONOTONIC);
    open_dataset(test, path);
    printf("%6u runs in %4zu segments: start-up %6.2f s (made in %.1f s)\n", runs,
           index_segments(test->dataset.index), seconds(CLOCK_MONOTONIC) - start, made);
    fflush(stdout);
}

static void report(unsigned runs, const struct spent *spent)
{
    printf("%6u runs: %6.2f ms CPU per commit, of which %5.2f ms in user space; %4.0f KB in "
           "objects/\n",
           runs, spent->cpu / MEASURED * 1e3, spent->user / MEASURED * 1e3,
           spent->bytes / MEASURED / 1e3);
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : LARGE;
    struct dataset_under_test small = {0}, large = {0};
    struct spent few = {0}, many = {0};
    scratch_begin();
    prepare(&small, scratch_path("small"), SMALL);
    prepare(&large, scratch_path("large"), runs ? runs : LARGE);
    few.bytes = -measure_objects(small.dataset.repository->path);
    many.bytes = -measure_objects(large.dataset.repository->path);
    for (int i = 0; i < MEASURED; i++) { /* in turn, so that the machine's moods meet both */
        measure_one(&small, &few);
        measure_one(&large, &many);
    }
    few.bytes += measure_objects(small.dataset.repository->path);
    many.bytes += measure_objects(large.dataset.repository->path);
    report(SMALL, &few);
    report(runs ? runs : LARGE, &many);
    printf("ratio %.3f (goal: below 1.3), in user space %.3f\n", many.cpu / few.cpu,
           many.user / few.user);
    close_dataset(&small);
    close_dataset(&large);
    scratch_end();
    return many.cpu / few.cpu < 1.3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
