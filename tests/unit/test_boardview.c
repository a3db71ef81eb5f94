#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/api/boardview.h"
#include "server/api/shelf.h"
#include "tests/support/suite.h"
#include "validator/buffer.h"

/* More browsers than views are cached: every look makes its snapshot. */
enum { RUNS = 12000, BROWSERS = 100, LOOKS = 41 };

static char protocol[] = "localmode-bench/5";
static char *const protocols[] = {protocol, NULL};

static void tell_run(const struct store_listener *listener, int number)
{
    BUFFER_SCOPE struct buffer entry = {0};
    buffer_format(
        &entry,
        "{\"runId\":\"run-%08d\",\"protocol\":\"localmode-bench/5\",\"path\":\"runs/2026/01/"
        "run-%08d.json\",\"flagged\":false,\"createdAt\":\"2026-01-15T12:00:00.000Z\","
        "\"browser\":\"b%d\",\"deviceClass\":\"linux/nvidia\",\"deviceSubclass\":"
        "\"linux/%d\",\"cells\":[",
        number, number, number % BROWSERS, number % 50);
    for (int i = 0; i < 8; i++)
        buffer_format(&entry,
                      "%s{\"runtimeId\":\"webllm\",\"benchModelId\":\"m%d\",\"workloadId\":\"w\","
                      "\"status\":\"ok\",\"decodeTps\":%d}",
                      i ? "," : "", i, number + 1);
    buffer_text(&entry, "]}");
    listener->entry(listener->context, buffer_string(&entry), entry.size);
    listener->settled(listener->context);
}

static int count_runs(struct boardview *view, const char *browser)
{
    const struct board_asked asked = {.query.equal[BY_BROWSER] = browser};
    struct content *content = boardview_get(view, BOARD_JSON, &asked);
    size_t size;
    const char *text = content_data(content, &size);
    BUFFER_SCOPE struct buffer copy = {0};
    buffer_add(&copy, text, size);
    const char *found = strstr(buffer_string(&copy), "\"runs\":");
    int runs = found ? (int)strtol(found + strlen("\"runs\":"), NULL, 10) : -1;
    content_unref(content);
    return runs;
}

START_TEST(boardview__shows_what_has_settled)
{
    struct boardview *view = boardview_new(protocols, PROVISIONAL_BY_SUBMISSIONS, NULL);
    struct store_listener listener = boardview_listener(view);
    ck_assert_int_eq(count_runs(view, NULL), 0);
    tell_run(&listener, 1);
    ck_assert_int_eq(count_runs(view, NULL), 1);
    listener.reset(listener.context);
    ck_assert_int_eq(count_runs(view, NULL), 1); /* a new board is shown when it is whole */
    tell_run(&listener, 2);
    tell_run(&listener, 3);
    ck_assert_int_eq(count_runs(view, NULL), 2);
    boardview_free(view);
}
END_TEST

static bool page_says(struct boardview *view, const struct board_asked *asked, const char *words)
{
    struct content *content = boardview_get(view, BOARD_PAGE, asked);
    size_t size;
    const char *text = content_data(content, &size);
    bool says = memmem(text, size, words, strlen(words)) != NULL;
    content_unref(content);
    return says;
}

START_TEST(boardview__keeps_forms_and_queries_apart)
{
    struct boardview *view = boardview_new(protocols, PROVISIONAL_BY_SUBMISSIONS, NULL);
    struct store_listener listener = boardview_listener(view);
    for (int i = 0; i < 3; i++)
        tell_run(&listener, i);
    struct board_asked all = {.figure = FIGURE_COUNT}, words = all, sorted = all;
    words.query.words = "b1";
    sorted.query.sort = "-benchModelId";
    struct content *page = boardview_get(view, BOARD_PAGE, &all);
    const struct board_asked *const others[] = {&words, &sorted};
    for (size_t i = 0; i < 2; i++) {
        struct content *other = boardview_get(view, BOARD_PAGE, others[i]);
        ck_assert_str_ne(content_tag(page), content_tag(other));
        content_unref(other);
    }
    struct content *again = boardview_get(view, BOARD_PAGE, &all);
    ck_assert_ptr_eq(page, again);
    ck_assert(page_says(view, &all, "24 rows from 3 runs"));
    ck_assert(page_says(view, &words, "8 rows from 1 run"));
    tell_run(&listener, 3);
    ck_assert(page_says(view, &all, "32 rows from 4 runs"));
    ck_assert_ptr_null(boardview_get(view, BOARD_ROW, &all)); /* more than one */
    content_unref(page);
    content_unref(again);
    boardview_free(view);
}
END_TEST

static struct boardview_figures figures_of(struct boardview *view)
{
    struct boardview_figures figures;
    boardview_figures(view, &figures);
    return figures;
}

START_TEST(boardview__keeps_a_bounded_number_of_views_until_the_board_changes)
{
    struct boardview *view = boardview_new(protocols, PROVISIONAL_BY_SUBMISSIONS, NULL);
    struct store_listener listener = boardview_listener(view);
    char browser[16];
    for (int i = 0; i < 3; i++)
        tell_run(&listener, i);
    for (int i = 0; i < SHELF_PLACES + 50; i++) {
        snprintf(browser, sizeof browser, "b%d", i);
        count_runs(view, browser);
    }
    struct boardview_figures figures = figures_of(view);
    ck_assert_uint_eq(figures.misses, SHELF_PLACES + 50);
    ck_assert_uint_eq(figures.hits, 0);
    ck_assert_uint_eq(figures.contents, SHELF_PLACES);
    size_t full = figures.bytes;
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(count_runs(view, browser), 0);
    figures = figures_of(view);
    ck_assert_uint_eq(figures.misses, SHELF_PLACES + 50);
    ck_assert_uint_eq(figures.hits, 5);
    tell_run(&listener, 3);
    ck_assert_int_eq(count_runs(view, "b3"), 1);
    figures = figures_of(view);
    ck_assert_uint_eq(figures.contents, 1);
    ck_assert_uint_lt(figures.bytes, full / 10);
    boardview_free(view);
}
END_TEST

struct page_reader {
    struct boardview *view;
    atomic_bool stop;
};

static void *make_pages_all_the_time(void *context)
{
    struct page_reader *reader = context;
    for (int i = 0; !atomic_load(&reader->stop); i++) {
        char words[16];
        snprintf(words, sizeof words, "b%d", i % BROWSERS);
        const struct board_asked asked = {.query.words = words, .figure = FIGURE_COUNT};
        content_unref(boardview_get(reader->view, BOARD_PAGE, &asked));
    }
    return NULL;
}

/* Another board takes the place of the one that a page is being made of, again and again. */
START_TEST(boardview__a_page_outlives_the_board_it_is_made_of)
{
    struct page_reader reader = {.view =
                                     boardview_new(protocols, PROVISIONAL_BY_SUBMISSIONS, NULL)};
    struct store_listener listener = boardview_listener(reader.view);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, make_pages_all_the_time, &reader), 0);
    for (int i = 0; i < 2000; i++) {
        if (i % 20 == 0)
            listener.reset(listener.context);
        tell_run(&listener, i);
    }
    atomic_store(&reader.stop, true);
    pthread_join(thread, NULL);
    ck_assert_int_eq(count_runs(reader.view, NULL), 20);
    boardview_free(reader.view);
}
END_TEST

struct reader {
    struct boardview *view;
    atomic_bool stop;
    atomic_int looks;
    int64_t us; /* of all looks */
};

static int64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *read_all_the_time(void *context)
{
    struct reader *reader = context;
    int64_t started = clock_us();
    for (int i = 0; !atomic_load(&reader->stop); i++) {
        char browser[16];
        snprintf(browser, sizeof browser, "b%d", i % BROWSERS);
        count_runs(reader->view, browser);
        atomic_fetch_add(&reader->looks, 1);
    }
    reader->us = clock_us() - started;
    return NULL;
}

static int by_size(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

START_TEST(boardview__a_snapshot_does_not_hold_the_writer_up)
{
    struct reader reader = {.view = boardview_new(protocols, PROVISIONAL_BY_SUBMISSIONS, NULL)};
    struct store_listener listener = boardview_listener(reader.view);
    int64_t waits[LOOKS];
    pthread_t thread;
    for (int i = 0; i < RUNS; i++)
        tell_run(&listener, i);
    ck_assert_int_eq(pthread_create(&thread, NULL, read_all_the_time, &reader), 0);
    for (int i = 0; i < LOOKS; i++) {
        int looks = atomic_load(&reader.looks);
        while (atomic_load(&reader.looks) == looks)
            ; /* a new look begins now */
        int64_t started = clock_us();
        tell_run(&listener, RUNS + i);
        waits[i] = clock_us() - started;
    }
    atomic_store(&reader.stop, true);
    pthread_join(thread, NULL);
    ck_assert_int_eq(count_runs(reader.view, NULL), RUNS + LOOKS);
    qsort(waits, LOOKS, sizeof *waits, by_size);
    int64_t look_us = reader.us / atomic_load(&reader.looks);
    ck_assert_msg(waits[LOOKS / 2] <= look_us / 8, "waits %lld us, a look takes %lld us",
                  (long long)waits[LOOKS / 2], (long long)look_us);
    boardview_free(reader.view);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("boardview");
    TCase *cases = tcase_create("boardview");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, boardview__shows_what_has_settled);
    tcase_add_test(cases, boardview__keeps_a_bounded_number_of_views_until_the_board_changes);
    tcase_add_test(cases, boardview__keeps_forms_and_queries_apart);
    tcase_add_test(cases, boardview__a_page_outlives_the_board_it_is_made_of);
    tcase_add_test(cases, boardview__a_snapshot_does_not_hold_the_writer_up);
    suite_add_tcase(suite, cases);
    return suite;
}
