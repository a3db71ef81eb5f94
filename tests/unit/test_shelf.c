#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "server/api/content.h"
#include "server/api/shelf.h"
#include "server/clock.h"
#include "tests/support/suite.h"
#include "validator/arena.h"

enum { LARGE = 16 << 20 };

static struct content *make(size_t size, const char *tag)
{
    char *data = memory_grow(NULL, size);
    uint32_t state = 1;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (char)('a' + (state >> 28));
    }
    return content_new(data, size, tag);
}

START_TEST(shelf__drops_what_was_used_least_lately)
{
    struct shelf *shelf = shelf_new(100);
    struct content *contents[] = {make(40, "a"), make(40, "b"), make(40, "c"), make(60, "d")};
    shelf_keep(shelf, "a", contents[0]);
    shelf_keep(shelf, "b", contents[1]);
    content_unref(shelf_find(shelf, "a"));
    shelf_keep(shelf, "c", contents[2]);
    ck_assert_ptr_null(shelf_find(shelf, "b"));
    shelf_keep(shelf, "d", contents[3]); /* more than half: not kept, nothing goes for it */
    ck_assert_ptr_null(shelf_find(shelf, "d"));
    const char *const left[] = {"a", "c"};
    for (int i = 0; i < 2; i++) {
        struct content *found = shelf_find(shelf, left[i]);
        ck_assert_ptr_nonnull(found);
        ck_assert_str_eq(content_tag(found), left[i]);
        content_unref(found);
    }
    for (int i = 0; i < 4; i++)
        content_unref(contents[i]);
    shelf_free(shelf);
}
END_TEST

struct packing {
    struct content *content;
    atomic_bool begun, done;
    int64_t ms;
};

static void *pack(void *context)
{
    struct packing *packing = context;
    size_t size;
    int64_t started = clock_monotonic_ms();
    atomic_store(&packing->begun, true);
    ck_assert_ptr_nonnull(content_gzip(packing->content, &size));
    packing->ms = clock_monotonic_ms() - started;
    atomic_store(&packing->done, true);
    return NULL;
}

START_TEST(shelf__is_read_while_one_of_its_contents_is_packed)
{
    const struct timespec step = {.tv_nsec = 5000000};
    struct shelf *shelf = shelf_new(4 * (size_t)LARGE);
    struct packing packing = {.content = make(LARGE, "large")};
    struct content *small = make(10, "small");
    pthread_t thread;
    int64_t longest_ms = 0;
    shelf_keep(shelf, "packing", packing.content);
    ck_assert_int_eq(pthread_create(&thread, NULL, pack, &packing), 0);
    while (!atomic_load(&packing.begun))
        nanosleep(&step, NULL);
    nanosleep(&step, NULL);
    while (!atomic_load(&packing.done)) {
        int64_t started = clock_monotonic_ms();
        shelf_keep(shelf, "small", small); /* weighs them all */
        int64_t look_ms = clock_monotonic_ms() - started;
        longest_ms = look_ms > longest_ms ? look_ms : longest_ms;
    }
    pthread_join(thread, NULL);
    ck_assert_int_lt(longest_ms, packing.ms / 2);
    size_t size;
    content_gzip(packing.content, &size);
    ck_assert_uint_eq(content_weight(packing.content), LARGE + size);
    content_unref(small);
    content_unref(packing.content);
    shelf_free(shelf);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("shelf");
    TCase *cases = tcase_create("shelf");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, shelf__drops_what_was_used_least_lately);
    tcase_add_test(cases, shelf__is_read_while_one_of_its_contents_is_packed);
    suite_add_tcase(suite, cases);
    return suite;
}
