#include <math.h>
#include <stdio.h>

#include "aggregate/board_view.h"
#include "tests/support/suite.h"

static const char *const shown[] = {"localmode-bench/5", NULL};
static struct board *board;
static struct arena arena;
static struct board_view view;
static struct buffer out;

/* One cell on DEVICE: runtime, model, decode rate (NAN: none), how the stream came. */
static void add_run(const char *id, const char *device, const char *browser, const char *runtime,
                    const char *model, double rate, int incremental)
{
    BUFFER_SCOPE struct buffer entry = {0};
    buffer_format(
        &entry,
        "{\"runId\":\"%s\",\"createdAt\":\"2026-01-0%zuT00:00:00Z\",\"protocol\":"
        "\"localmode-bench/5\",\"deviceClass\":\"linux/%s\",\"deviceSubclass\":\"%s\","
        "\"browser\":\"%s\",\"browserVersion\":\"1.2\",\"os\":\"Linux\",\"flagged\":false,"
        "\"cells\":[{\"runtimeId\":\"%s\",\"benchModelId\":\"%s\",\"modelName\":\"Big "
        "M\xC3\x96"
        "DEL\",\"workloadId\":\"w\",\"resolvedBackend\":\"webgpu\",",
        id, strlen(id) % 9 + 1, device, device, browser, runtime, model);
    if (!isnan(rate))
        buffer_format(&entry, "\"decodeCharsPerSec\":%.17g,", rate);
    buffer_format(&entry, "\"overallCharsPerSec\":1,\"streamIncremental\":%s}]}",
                  incremental ? "true" : "false");
    ck_assert(board_add(board, buffer_string(&entry), entry.size));
}

static void set_up(void)
{
    board = board_new(shown);
    arena = (struct arena){0};
    out = (struct buffer){0};
    add_run("a", "d1", "Chrome", "r1", "m1", 10, 1);
    add_run("bb", "d1", "Firefox", "r1", "m1", 40, 1);
    add_run("ccc", "d1", "Chrome", "r1", "m1", 20.126, 1);
    add_run("dddd", "d1", "Chrome", "r2", "m1", NAN, 0);
    add_run("eeeee", "d2", "Firefox", "r1", "m2", 5, 1);
    add_run("ffffff", "d2", "Safari", "r1", "m1", 7, 1);
}

static void tear_down(void)
{
    board_free(board);
    arena_free(&arena);
    buffer_free(&out);
}

/* The rows that are left as "device runtime model", a line each. */
static const char *rows(const struct board_query *query)
{
    board_view_make(board, query, &arena, &view);
    out.size = 0;
    for (size_t i = 0; i < view.count; i++) {
        const struct text *keys = view.rows[i].keys;
        buffer_format(&out, "%s%.*s %.*s %.*s", i ? "|" : "", (int)keys[BY_DEVICE].size,
                      keys[BY_DEVICE].data, (int)keys[BY_RUNTIME].size, keys[BY_RUNTIME].data,
                      (int)keys[BY_MODEL].size, keys[BY_MODEL].data);
    }
    return buffer_string(&out);
}

START_TEST(view__gives_the_median_and_range_of_each_figure)
{
    ck_assert_str_eq(rows(NULL), "d1 r1 m1|d1 r2 m1|d2 r1 m1|d2 r1 m2");
    const struct view_figure *decode = &view.rows[0].figures[FIGURE_DECODE];
    ck_assert_uint_eq(decode->n, 3);
    ck_assert_double_eq(decode->median, 20.126);
    ck_assert_double_eq(decode->min, 10);
    ck_assert_double_eq_tol(decode->q25, 15.063, 1e-9);
    ck_assert_double_eq_tol(decode->q75, 30.063, 1e-9);
    ck_assert_double_eq(decode->max, 40);
    ck_assert_uint_eq(view.rows[1].figures[FIGURE_DECODE].n, 0);
    ck_assert(view.rows[1].burst && !view.rows[0].burst);
    ck_assert(view.rows[1].provisional && !view.rows[0].provisional);
    ck_assert_uint_eq(view.rows[0].browser_count, 2);
    ck_assert_uint_eq(view.runs, 6);
    ck_assert_uint_eq(view.all_rows, 4);
    ck_assert_uint_eq(view.recent_count, 6);
    ck_assert_int_eq(memcmp(view.recent[0].id.data, "ffffff", 6), 0);
}
END_TEST

static const struct {
    const char *words, *rows;
} searches[] = {
    {"firefox", "d1 r1 m1|d2 r1 m2"},
    {"  FIREFOX\td2 ", "d2 r1 m2"},
    {"m\xC3\xB6"
     "del r2",
     "d1 r2 m1"}, /* lower case of any script */
    {"big webgpu linux/d2", "d2 r1 m1|d2 r1 m2"},
    {"", "d1 r1 m1|d1 r2 m1|d2 r1 m1|d2 r1 m2"},
    {"\xE2\x80\x83", "d1 r1 m1|d1 r2 m1|d2 r1 m1|d2 r1 m2"}, /* white space of JavaScript */
    {"chrome firefox", ""},                                  /* no cell has both */
    {"1.2", ""},                                             /* no name of a cell */
};

START_TEST(view__searches_names_of_cells)
{
    ck_assert_str_eq(rows(&(struct board_query){.words = searches[_i].words}), searches[_i].rows);
}
END_TEST

START_TEST(view__searching_leaves_the_cells_that_match)
{
    rows(&(struct board_query){.words = "firefox d1"});
    ck_assert_uint_eq(view.runs, 1);
    ck_assert_double_eq(view.rows[0].figures[FIGURE_DECODE].median, 40);
    ck_assert_uint_eq(view.rows[0].runs, 1);
}
END_TEST

static const struct {
    const char *sort, *rows;
} orders[] = {
    {"decodeCharsPerSec", "d2 r1 m2|d2 r1 m1|d1 r1 m1|d1 r2 m1"},
    {"-decodeCharsPerSec", "d1 r1 m1|d2 r1 m1|d2 r1 m2|d1 r2 m1"},
    {"overallCharsPerSec", "d1 r1 m1|d1 r2 m1|d2 r1 m1|d2 r1 m2"}, /* all equal */
    {"-overallCharsPerSec", "d1 r1 m1|d1 r2 m1|d2 r1 m1|d2 r1 m2"},
    {"-benchModelId", "d2 r1 m2|d1 r1 m1|d1 r2 m1|d2 r1 m1"},
    {"-submissions", "d1 r1 m1|d1 r2 m1|d2 r1 m1|d2 r1 m2"},
    {"streamIncremental", "d1 r2 m1|d1 r1 m1|d2 r1 m1|d2 r1 m2"},
};

START_TEST(view__orders_rows_by_a_column)
{
    ck_assert(board_can_sort(orders[_i].sort));
    ck_assert_str_eq(rows(&(struct board_query){.sort = orders[_i].sort}), orders[_i].rows);
    ck_assert_str_eq(rows(NULL),
                     "d1 r1 m1|d1 r2 m1|d2 r1 m1|d2 r1 m2"); /* the board keeps its own */
}
END_TEST

START_TEST(view__a_burst_has_no_rate_to_be_ordered_by)
{
    add_run("mixed", "d1", "Chrome", "r2", "m1", 1000, 1);
    ck_assert_str_eq(rows(&(struct board_query){.sort = "-decodeCharsPerSec"}),
                     "d1 r1 m1|d2 r1 m1|d2 r1 m2|d1 r2 m1");
    ck_assert_double_eq(view.rows[3].figures[FIGURE_DECODE].median, 1000);
}
END_TEST

START_TEST(view__knows_what_rows_can_be_ordered_by)
{
    static const char *const bad[] = {"", "-", "--ttftMs", "ttft", "browsers", "resolvedBackends"};
    ck_assert(board_can_sort(NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!board_can_sort(bad[i]), "%s", bad[i]);
}
END_TEST

/* The choices of a filter as "value=rows" with blanks between. */
static const char *facet(enum board_dimension dimension)
{
    out.size = 0;
    for (size_t i = 0; i < view.facets[dimension].count; i++) {
        const struct view_choice *choice = &view.facets[dimension].choices[i];
        buffer_format(&out, "%s%.*s=%zu", i ? " " : "", (int)choice->value.size, choice->value.data,
                      choice->rows);
    }
    return buffer_string(&out);
}

START_TEST(view__filters_say_what_each_choice_would_leave)
{
    board_view_make(board, NULL, &arena, &view);
    ck_assert_str_eq(facet(BY_DEVICE), "d1=2 d2=2");
    ck_assert_str_eq(facet(BY_BROWSER), "Chrome=2 Firefox=2 Safari=1");
    ck_assert_str_eq(facet(BY_MODEL), "m1=3 m2=1");
    const struct board_query query = {.equal = {[BY_BROWSER] = "Chrome", [BY_MODEL] = "m1"}};
    ck_assert_str_eq(rows(&query), "d1 r1 m1|d1 r2 m1");
    ck_assert_str_eq(facet(BY_BROWSER), "Chrome=2 Firefox=1 Safari=1"); /* of model m1 */
    ck_assert_str_eq(facet(BY_MODEL), "m1=2");                          /* of Chrome */
    ck_assert_str_eq(facet(BY_RUNTIME), "r1=1 r2=1");
    ck_assert_str_eq(facet(BY_DEVICE), "d1=2");
}
END_TEST

START_TEST(view__a_filter_on_what_nobody_has_leaves_nothing)
{
    for (int i = 0; i < BOARD_DIMENSIONS; i++) {
        struct board_query query = {0};
        query.equal[i] = "nobody";
        ck_assert_str_eq(rows(&query), "");
        ck_assert_uint_eq(view.runs, 0);
        ck_assert_uint_gt(view.facets[i].count, 0); /* what could be chosen instead */
    }
}
END_TEST

START_TEST(view__a_row_has_its_runs_newest_first)
{
    struct board_detail detail;
    struct board_query query = {.equal = {[BY_DEVICE] = "d1", [BY_RUNTIME] = "r1"}};
    ck_assert(board_view_row(board, &query, &arena, &detail));
    ck_assert_uint_eq(detail.count, 3);
    ck_assert_int_eq(memcmp(detail.runs[0].id.data, "ccc", 3), 0);
    ck_assert_double_eq(detail.runs[0].figures[FIGURE_DECODE], 20.126);
    ck_assert(isnan(detail.runs[0].figures[FIGURE_TTFT]));
    ck_assert_int_eq(memcmp(detail.runs[0].browser_version.data, "1.2", 3), 0);
    ck_assert_int_eq(memcmp(detail.runs[2].id.data, "a", 1), 0);
    query.equal[BY_RUNTIME] = NULL;
    ck_assert(!board_view_row(board, &query, &arena, &detail)); /* two rows */
    query.equal[BY_RUNTIME] = "nobody";
    ck_assert(!board_view_row(board, &query, &arena, &detail));
}
END_TEST

START_TEST(view__a_row_of_many_runs_lists_the_newest)
{
    struct board_detail detail;
    const struct board_query query = {.equal[BY_DEVICE] = "d3"};
    for (int i = 0; i < VIEW_RUNS_MOST + 5; i++) {
        char id[16];
        snprintf(id, sizeof id, "run-%05d", i);
        add_run(id, "d3", "Chrome", "r", "m", i, 1);
    }
    ck_assert(board_view_row(board, &query, &arena, &detail));
    ck_assert_uint_eq(detail.count, VIEW_RUNS_MOST);
    ck_assert_uint_eq(detail.all, VIEW_RUNS_MOST + 5);
    ck_assert_double_eq(detail.runs[0].figures[FIGURE_DECODE], VIEW_RUNS_MOST + 4);
    ck_assert_double_eq(detail.row.figures[FIGURE_DECODE].min, 0);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("board_view");
    TCase *tests = tcase_create("board_view");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, view__gives_the_median_and_range_of_each_figure);
    tcase_add_loop_test(tests, view__searches_names_of_cells, 0,
                        sizeof searches / sizeof *searches);
    tcase_add_test(tests, view__searching_leaves_the_cells_that_match);
    tcase_add_loop_test(tests, view__orders_rows_by_a_column, 0, sizeof orders / sizeof *orders);
    tcase_add_test(tests, view__a_burst_has_no_rate_to_be_ordered_by);
    tcase_add_test(tests, view__knows_what_rows_can_be_ordered_by);
    tcase_add_test(tests, view__filters_say_what_each_choice_would_leave);
    tcase_add_test(tests, view__a_filter_on_what_nobody_has_leaves_nothing);
    tcase_add_test(tests, view__a_row_has_its_runs_newest_first);
    tcase_add_test(tests, view__a_row_of_many_runs_lists_the_newest);
    suite_add_tcase(suite, tests);
    return suite;
}
