#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "github/rebuild/walk.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { FILES = 300 };

static struct store_error error;
static struct walk_list list;
static struct source source;
static atomic_int looking, most, looked;
static size_t taken, stop_at;

static void begin(void)
{
    scratch_begin();
    ck_assert_int_eq(scratch_shell(NULL, "mkdir -p %s", scratch_path("data/runs/2026/01")), 0);
    for (int i = 0; i < FILES; i++) {
        char name[64], text[64];
        snprintf(name, sizeof name, "data/runs/2026/01/file-%04d.%s", i, i % 3 ? "json" : "txt");
        int size = snprintf(text, sizeof text, "content of %d", i);
        scratch_write(scratch_path(name), text, (size_t)size);
    }
    source = source_folder(scratch_path("data"));
    atomic_store(&looking, 0);
    atomic_store(&most, 0);
    atomic_store(&looked, 0);
    taken = 0;
    stop_at = SIZE_MAX;
}

static void end(void)
{
    walk_list_free(&list);
    scratch_end();
}

/* Files that come early take longest, so that workers finish out of order. */
static void look(void *context, struct walk_file *file)
{
    (void)context;
    int now = atomic_fetch_add(&looking, 1) + 1, before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
        ;
    usleep(file->number % 5 == 0 ? 2000 : 0);
    if (file->bytes)
        file->result = arena_copy(&file->arena, file->bytes, file->size);
    atomic_fetch_add(&looked, 1);
    atomic_fetch_sub(&looking, 1);
}

static bool take(void *context, struct walk_file *file, struct store_error *why)
{
    char path[64], text[64];
    int number = (int)(file->number / 2 * 3 + file->number % 2 + 1);
    (void)context;
    ck_assert_uint_eq(file->number, taken);
    snprintf(path, sizeof path, "runs/2026/01/file-%04d.json", number);
    snprintf(text, sizeof text, "content of %d", number);
    ck_assert_str_eq(file->path, path);
    ck_assert_str_eq(file->result, text);
    ck_assert_uint_eq(file->size, strlen(text));
    return taken++ < stop_at || error_set(why, "that is enough");
}

static const struct walk walk = {.source = &source, .list = &list, .look = look, .take = take};

START_TEST(walk__every_file_is_taken_once_in_order)
{
    ck_assert(walk_list_add(&list, &source, "runs", ".json", &error));
    ck_assert(walk_list_add(&list, &source, "nothing", ".json", &error));
    ck_assert_uint_eq(list.count, FILES * 2 / 3);
    ck_assert_msg(walk_run(&walk, &error), "%s", error.message);
    ck_assert_uint_eq(taken, list.count);
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
        ck_assert_int_gt(atomic_load(&most), 1);
}
END_TEST

START_TEST(walk__a_walk_that_is_ended_leaves_nothing_behind)
{
    stop_at = 20;
    ck_assert(walk_list_add(&list, &source, "runs", ".json", &error));
    ck_assert(!walk_run(&walk, &error));
    ck_assert_str_eq(error.message, "that is enough");
    ck_assert_uint_eq(taken, 21);
    ck_assert_int_lt(atomic_load(&looked), FILES * 2 / 3);
}
END_TEST

static bool take_gone(void *context, struct walk_file *file, struct store_error *why)
{
    (void)context, (void)why;
    taken += !file->bytes && *file->problem.message;
    return true;
}

START_TEST(walk__a_file_that_went_is_told_and_the_others_follow)
{
    struct walk other = walk;
    other.take = take_gone;
    ck_assert(walk_list_add(&list, &source, "runs", ".json", &error));
    ck_assert_int_eq(unlink(scratch_path("data/runs/2026/01/file-0100.json")), 0);
    ck_assert(walk_run(&other, &error));
    ck_assert_uint_eq(taken, 1);
    ck_assert_int_eq(atomic_load(&looked), FILES * 2 / 3);
}
END_TEST

START_TEST(walk__a_repository_is_read_by_its_blobs)
{
    struct repository *repository = NULL;
    git_oid tip;
    ck_assert_int_eq(
        scratch_shell(NULL,
                      "cd %s && git init -q . && git add -A && git -c user.name=t -c "
                      "user.email=t@example.org commit -qm x && git clone -q --bare . ../bare",
                      scratch_path("data")),
        0);
    ck_assert(repository_open(scratch_path("bare"), &repository, &error));
    ck_assert(repository_tip(repository, &tip, &error));
    source = source_commit(repository, &tip);
    ck_assert(walk_list_add(&list, &source, "runs", ".json", &error));
    ck_assert(walk_run(&walk, &error));
    ck_assert_uint_eq(taken, FILES * 2 / 3);
    repository_close(repository);
}
END_TEST

START_TEST(walk__an_empty_list_is_walked_at_once)
{
    ck_assert(walk_run(&walk, &error));
    ck_assert_uint_eq(taken, 0);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        walk__every_file_is_taken_once_in_order,
        walk__a_walk_that_is_ended_leaves_nothing_behind,
        walk__a_file_that_went_is_told_and_the_others_follow,
        walk__a_repository_is_read_by_its_blobs,
        walk__an_empty_list_is_walked_at_once,
    };
    return suite_of("walk", begin, end, tests, sizeof tests / sizeof *tests);
}
