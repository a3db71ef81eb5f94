#include <math.h>
#include <stdlib.h>

#include "aggregate/reuse.h"
#include "tests/support/suite.h"

enum { CHUNKS = 128, STREAMS = 60, INNOCENTS = 20000 };

static struct reuse reuse;
static struct reuse_found found[REUSE_KEPT * STREAMS];
static size_t found_count;
static uint64_t state;

static void set_up(void)
{
    reuse = (struct reuse){0};
    found_count = 0;
    state = 1;
}

static void tear_down(void)
{
    reuse_free(&reuse);
}

/* From 0 to 1, numbers that have nothing to do with those of the module. */
static double draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(draw() + 1e-300)) * cos(6.283185307179586 * draw());
}

/* Gaps of MEAN ms that vary by SHARE, read through a timer of step GRID ms (0: as they are). */
static void make(struct bench_chunk *chunks, double mean, double share, double grid)
{
    double t = 5000 + 1000 * draw();
    for (int i = 0; i < CHUNKS; i++) {
        t += mean * exp(share * normal());
        chunks[i] = (struct bench_chunk){grid > 0 ? floor(t / grid) * grid : t, 4};
    }
}

static void add(uint32_t run, uint32_t cell, uint32_t iteration, const struct bench_chunk *chunks,
                size_t count)
{
    struct reuse_feature kept[REUSE_KEPT];
    struct reuse_features features = {kept, reuse_of_stream(chunks, count, kept)};
    for (size_t i = 0; i < features.count; i++)
        kept[i].place = (struct reuse_place){0, cell, iteration};
    reuse_add(&reuse, run, &features);
}

static void note(void *context, const struct reuse_found *item)
{
    (void)context;
    ck_assert_uint_lt(found_count, sizeof found / sizeof *found);
    found[found_count++] = *item;
}

static void find(void)
{
    found_count = 0;
    reuse_find(&reuse, note, NULL);
}

/* STREAMS originals in runs of their own, and of each a copy made by CHANGE in another run. */
static void plant(double share, double grid,
                  size_t (*change)(struct bench_chunk *chunks, size_t count))
{
    struct bench_chunk chunks[CHUNKS];
    for (uint32_t i = 0; i < STREAMS; i++) {
        make(chunks, 30, share, grid);
        add(i, 1, 2, chunks, CHUNKS);
        add(STREAMS + i, 3, 0, chunks, change(chunks, CHUNKS));
    }
    find();
}

static size_t shift(struct bench_chunk *chunks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        chunks[i].t += 123456.789;
    return count;
}

static size_t scale(struct bench_chunk *chunks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        chunks[i].t *= 0.731;
    return count;
}

static size_t scale_from_start(struct bench_chunk *chunks, size_t count)
{
    double start = chunks[0].t;
    for (size_t i = 0; i < count; i++)
        chunks[i].t = 700000 + (chunks[i].t - start) * 3.7;
    return count;
}

static size_t scale_and_read_again(struct bench_chunk *chunks, size_t count)
{
    scale(chunks, count);
    for (size_t i = 0; i < count; i++)
        chunks[i].t = floor(chunks[i].t / 0.005 + 0.5) * 0.005;
    return count;
}

static size_t cut(struct bench_chunk *chunks, size_t count)
{
    memmove(chunks, chunks + 5, (count - 5) * sizeof *chunks);
    return count - 8;
}

static void expect_all(double factor)
{
    ck_assert_uint_eq(found_count, STREAMS);
    for (uint32_t i = 0; i < STREAMS; i++) {
        const struct reuse_found *item = &found[i];
        ck_assert_uint_eq(item->earlier.run, i);
        ck_assert_uint_eq(item->earlier.cell, 1);
        ck_assert_uint_eq(item->earlier.iteration, 2);
        ck_assert_uint_eq(item->later.run, STREAMS + i);
        ck_assert_uint_eq(item->later.cell, 3);
        ck_assert_uint_eq(item->later.iteration, 0);
        ck_assert_uint_eq(item->chunks, CHUNKS);
        ck_assert(fabs(item->scale / factor - 1) < 1e-4);
    }
}

START_TEST(reuse__finds_every_copy_that_was_shifted_or_multiplied)
{
    static const struct {
        size_t (*change)(struct bench_chunk *chunks, size_t count);
        double factor;
    } changes[] = {{shift, 1}, {scale, 0.731}, {scale_from_start, 3.7}};
    static const double shares[] = {0.03, 0.06, 0.3, 1}, grids[] = {0, 0.005, 0.02};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        for (size_t j = 0; j < sizeof shares / sizeof *shares; j++)
            for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
                tear_down();
                plant(shares[j], grids[k], changes[i].change);
                expect_all(changes[i].factor);
            }
}
END_TEST

START_TEST(reuse__finds_copies_read_through_a_timer_of_100_us_or_1_ms)
{
    plant(0.2, 0.1, scale);
    expect_all(0.731);
    tear_down();
    plant(0.4, 1, shift);
    expect_all(1);
    tear_down();
    plant(0.05, 1, scale_from_start); /* gaps of 28 to 32 ms */
    expect_all(3.7);
    tear_down();
    plant(0.3, 10, scale);
    expect_all(0.731);
}
END_TEST

/* Rounding again can turn round two gaps that are almost equal, so that single iterations are missed, of a run
 * hardly all of them. */
START_TEST(reuse__finds_copies_that_were_rounded_again_or_whose_ends_are_missing)
{
    static const double shares[] = {0.03, 0.06, 0.3};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        tear_down();
        plant(shares[i], 0.005, scale_and_read_again);
        ck_assert_uint_ge(found_count, STREAMS * 9 / 10);
        tear_down();
        plant(shares[i], 0.005, cut);
        ck_assert_uint_ge(found_count, STREAMS * 9 / 10);
    }
}
END_TEST

START_TEST(reuse__has_no_alarm_on_streams_of_one_device)
{
    struct bench_chunk chunks[CHUNKS];
    static const double shares[] = {0.01, 0.03, 0.06, 0.3}, grids[] = {0, 0.005, 0.1, 1, 10, 16};
    for (uint32_t i = 0; i < INNOCENTS; i++) {
        make(chunks, 30, shares[i % 4], grids[i / 4 % 6]);
        add(i, 0, 0, chunks, CHUNKS);
    }
    ck_assert_uint_gt(reuse.count, INNOCENTS);
    find();
    ck_assert_uint_eq(found_count, 0);
}
END_TEST

START_TEST(reuse__has_no_alarm_on_streams_that_anybody_may_have)
{
    struct bench_chunk chunks[CHUNKS];
    for (uint32_t run = 0; run < 2; run++) {
        make(chunks, 11, 0.01, 1000.0 / 60); /* a coarse timer, two beats */
        add(run, 0, 0, chunks, CHUNKS);
        double t = 100 * run;
        for (int i = 0; i < CHUNKS; i++) /* equal gaps */
            chunks[i].t = t + 14 * i;
        add(run, 1, 0, chunks, CHUNKS);
        for (int i = 0; i < CHUNKS; i++) /* slows down evenly */
            chunks[i].t = t += 14 + 0.01 * i;
        add(run, 2, 0, chunks, CHUNKS);
        for (int i = 0; i < CHUNKS; i++) /* the same through a timer of 0.1 ms */
            chunks[i].t = floor((t += 14 + 0.01 * i) * 10) / 10;
        add(run, 4, 0, chunks, CHUNKS);
        for (int i = 0; i < CHUNKS; i++) /* beats of three lengths */
            chunks[i].t = floor((t += 25.3 + 2 * (i % 3)) / 16) * 16;
        add(run, 5, 0, chunks, CHUNKS);
        for (int i = 0; i < CHUNKS; i++) /* every tenth is longer */
            chunks[i].t = t += i % 10 ? 12 : 17;
        add(run, 6, 0, chunks, CHUNKS);
        for (int i = 0; i < CHUNKS; i++) /* all at once */
            chunks[i].t = t;
        add(run, 7, 0, chunks, CHUNKS);
    }
    find();
    ck_assert_uint_eq(found_count, 0);
}
END_TEST

static size_t distort(struct bench_chunk *chunks, size_t count)
{
    double before = chunks[0].t, t = before;
    for (size_t i = 1; i < count; i++) {
        double gap = chunks[i].t - before;
        before = chunks[i].t;
        chunks[i].t = t += gap * gap / 30;
    }
    return count;
}

START_TEST(reuse__is_not_the_same_order_of_other_lengths)
{
    plant(0.1, 0, distort);
    ck_assert_uint_eq(found_count, 0);
}
END_TEST

START_TEST(reuse__does_not_compare_short_or_reversed_streams)
{
    struct reuse_feature kept[REUSE_KEPT];
    struct bench_chunk chunks[CHUNKS];
    make(chunks, 30, 0.1, 0);
    ck_assert_uint_eq(reuse_of_stream(chunks, 0, kept), 0);
    ck_assert_uint_eq(reuse_of_stream(chunks, REUSE_WINDOW, kept), 0);
    ck_assert_uint_eq(reuse_of_stream(chunks, REUSE_WINDOW + 1, kept), 1); /* one window */
    chunks[7].t = chunks[6].t - 1;
    ck_assert_uint_eq(reuse_of_stream(chunks, CHUNKS, kept), 0);
    chunks[7].t = INFINITY;
    ck_assert_uint_eq(reuse_of_stream(chunks, CHUNKS, kept), 0);
}
END_TEST

START_TEST(reuse__tells_a_stream_of_many_runs_as_that_of_the_first_whatever_the_order)
{
    struct bench_chunk chunks[CHUNKS];
    static const uint32_t orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};
    make(chunks, 30, 0.1, 0.005);
    for (size_t i = 0; i < 3; i++) {
        tear_down();
        for (size_t j = 0; j < 4; j++)
            add(orders[i][j], 0, 0, chunks, CHUNKS);
        add(0, 0, 1, chunks, CHUNKS); /* a run may hold it twice: that is another matter */
        find();
        ck_assert_uint_eq(found_count, 3);
        for (uint32_t j = 0; j < 3; j++) {
            ck_assert_uint_eq(found[j].earlier.run, 0);
            ck_assert_uint_eq(found[j].later.run, j + 1);
        }
    }
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        reuse__finds_every_copy_that_was_shifted_or_multiplied,
        reuse__finds_copies_read_through_a_timer_of_100_us_or_1_ms,
        reuse__finds_copies_that_were_rounded_again_or_whose_ends_are_missing,
        reuse__has_no_alarm_on_streams_of_one_device,
        reuse__has_no_alarm_on_streams_that_anybody_may_have,
        reuse__is_not_the_same_order_of_other_lengths,
        reuse__does_not_compare_short_or_reversed_streams,
        reuse__tells_a_stream_of_many_runs_as_that_of_the_first_whatever_the_order,
    };
    return suite_of("reuse", set_up, tear_down, tests, sizeof tests / sizeof *tests);
}
