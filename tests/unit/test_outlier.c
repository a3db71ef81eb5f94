#include <math.h>

#include "aggregate/outlier.h"
#include "tests/support/suite.h"

static struct outliers outliers;
static struct outlier_found found[16];
static size_t found_count;

static void set_up(void)
{
    outliers = (struct outliers){0};
    found_count = 0;
}

static void tear_down(void)
{
    outlier_free(&outliers);
}

/* The figure of cell 3 of RUN, in a group that GROUP names. */
static void add(uint32_t run, unsigned char group, enum metric metric, double value)
{
    struct outlier_figure figure = {.group = {group}, .value = value, .cell = 3, .metric = metric};
    outlier_add(&outliers, run, &(struct outlier_figures){&figure, 1});
}

static void note(void *context, const struct outlier_found *item)
{
    (void)context;
    ck_assert_uint_lt(found_count, sizeof found / sizeof *found);
    found[found_count++] = *item;
}

static const double usual[] = {95, 97, 99, 100, 101, 103, 105};
enum { USUAL = sizeof usual / sizeof *usual };

static void find_with(enum metric metric, double last)
{
    tear_down();
    for (uint32_t i = 0; i < USUAL; i++)
        add(i, 1, metric, usual[i]);
    add(USUAL, 1, metric, last);
    found_count = 0;
    outlier_find(&outliers, note, NULL);
}

/* With Node: x = [95,97,99,100,101,103,105,150].map(Math.log), m = their median (type 7, of 8), MAD = median of
 * |x - m|, z = 0.6745 * (x - m) / MAD. */
START_TEST(outlier__is_a_figure_far_from_those_of_its_group)
{
    find_with(METRIC_DECODE_CHARS, 150);
    ck_assert_uint_eq(found_count, 1);
    ck_assert_uint_eq(found[0].run, USUAL);
    ck_assert_uint_eq(found[0].cell, 3);
    ck_assert_uint_eq(found[0].runs, 8);
    ck_assert(found[0].value == 150);
    ck_assert(fabs(found[0].median - 100.49875621120898) < 1e-9);
    ck_assert(fabs(found[0].z - 9.001646924675176) < 1e-9);
    find_with(METRIC_DECODE_CHARS, 110);
    ck_assert_uint_eq(found_count, 0);
    find_with(METRIC_DECODE_CHARS, 60);
    ck_assert_uint_eq(found_count, 1);
    ck_assert(found[0].z < -6);
}
END_TEST

START_TEST(outlier__of_a_latency_is_above_0_when_it_is_short)
{
    find_with(METRIC_SINGLE_LATENCY, 150);
    ck_assert_uint_eq(found_count, 1);
    ck_assert(fabs(found[0].z + 9.001646924675176) < 1e-9);
    ck_assert(fabs(found[0].median - 100.49875621120898) < 1e-9);
}
END_TEST

START_TEST(outlier__needs_eight_runs_of_its_own_group)
{
    for (uint32_t i = 0; i < USUAL; i++)
        add(i, 1, METRIC_OVERALL, usual[i]);
    add(0, 1, METRIC_OVERALL, 1000); /* a second cell of run 0 */
    for (uint32_t i = 0; i < USUAL; i++)
        add(i, 2, METRIC_OVERALL, 1000 + usual[i]);
    outlier_find(&outliers, note, NULL);
    ck_assert_uint_eq(found_count, 0);
    add(USUAL, 1, METRIC_OVERALL, 100);
    outlier_find(&outliers, note, NULL);
    ck_assert_uint_eq(found_count, 1);
    ck_assert_uint_eq(found[0].run, 0);
}
END_TEST

START_TEST(outlier__among_equal_figures_is_what_is_more_than_nine_percent_off)
{
    for (uint32_t i = 0; i < 8; i++)
        add(i, 1, METRIC_BATCH_TEXTS, 100);
    add(8, 1, METRIC_BATCH_TEXTS, 109);
    outlier_find(&outliers, note, NULL);
    ck_assert_uint_eq(found_count, 0);
    add(9, 1, METRIC_BATCH_TEXTS, 110);
    outlier_find(&outliers, note, NULL);
    ck_assert_uint_eq(found_count, 1);
    ck_assert_uint_eq(found[0].run, 9);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        outlier__is_a_figure_far_from_those_of_its_group,
        outlier__of_a_latency_is_above_0_when_it_is_short,
        outlier__needs_eight_runs_of_its_own_group,
        outlier__among_equal_figures_is_what_is_more_than_nine_percent_off,
    };
    return suite_of("outlier", set_up, tear_down, tests, sizeof tests / sizeof *tests);
}
