#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "github/repository/commit.h"
#include "github/repository/lock.h"
#include "github/repository/loose.h"
#include "github/repository/repository.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const struct repository_author author = {"benchledger", "benchledger@example.org"};
static struct repository *repository;
static struct store_error error;

static void begin(void)
{
    scratch_begin();
}

static void end(void)
{
    repository_close(repository);
    repository = NULL;
    scratch_end();
}

static bool prepare(const char *name)
{
    repository_close(repository);
    repository = NULL;
    return repository_prepare(scratch_path(name), &author, "CC0-1.0", &repository, &error);
}

static enum repository_result commit_file(const git_oid *parent, const char *path, const char *text,
                                          git_oid *commit)
{
    struct repository_file file = {.path = path, .bytes = text, .size = text ? strlen(text) : 0};
    return repository_commit(repository, parent, &file, 1, &author, "a message\n", commit, &error);
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

START_TEST(repository__is_made_with_folders_above_it)
{
    git_oid tip, again;
    struct stat status;
    ck_assert_msg(prepare("a/b/data"), "%s", error.message);
    ck_assert_str_eq(repository->branch, "refs/heads/main");
    ck_assert(repository_tip(repository, &tip, &error));
    for (unsigned i = 0; i < 256; i++) {
        char name[32];
        snprintf(name, sizeof name, "a/b/data/objects/%02x", i & 255u);
        ck_assert_int_eq(stat(scratch_path(name), &status), 0);
    }
    ck_assert(prepare("a/b/data"));
    ck_assert(repository_tip(repository, &again, &error));
    ck_assert(git_oid_equal(&tip, &again));
}
END_TEST

START_TEST(repository__does_not_spread_over_other_folders)
{
    ck_assert_int_eq(mkdir(scratch_path("data"), 0755), 0);
    ck_assert(prepare("data")); /* empty */
    ck_assert_int_eq(mkdir(scratch_path("other"), 0755), 0);
    scratch_write(scratch_path("other/letter.txt"), "x", 1);
    ck_assert(!prepare("other"));
    ck_assert_int_ne(access(scratch_path("other/HEAD"), F_OK), 0);
    ck_assert_int_eq(scratch_shell(NULL, "git init -q %s", scratch_path("tree")), 0);
    ck_assert(!prepare("tree"));
    ck_assert_ptr_nonnull(strstr(error.message, "work tree"));
}
END_TEST

START_TEST(repository__is_finished_when_its_maker_was_killed)
{
    ck_assert_int_eq(mkdir(scratch_path("data"), 0755), 0);
    ck_assert_int_eq(mkdir(scratch_path("data/refs"), 0755), 0);
    scratch_write(scratch_path("data/" LOCK_COMMIT), "", 0);
    ck_assert_msg(prepare("data"), "%s", error.message);
}
END_TEST

START_TEST(repository__turns_an_empty_one_to_main_and_keeps_other_branches)
{
    git_oid tip;
    ck_assert_int_eq(scratch_shell(NULL, "git init -q --bare -b trunk %s", scratch_path("data")),
                     0);
    ck_assert_msg(prepare("data"), "%s", error.message);
    ck_assert_str_eq(repository->branch, "refs/heads/main");
    ck_assert_int_eq(
        scratch_shell(NULL,
                      "cd %s && git branch -m main trunk && git symbolic-ref HEAD refs/heads/trunk",
                      scratch_path("data")),
        0);
    ck_assert(prepare("data"));
    ck_assert_str_eq(repository->branch, "refs/heads/trunk");
    ck_assert_int_eq(
        scratch_shell(NULL, "cd %s && git symbolic-ref HEAD refs/heads/none", scratch_path("data")),
        0);
    ck_assert(!prepare("data"));
    ck_assert(repository_open(scratch_path("data"), &repository, &error));
    ck_assert(!repository_tip(repository, &tip, &error));
}
END_TEST

START_TEST(repository__commits_on_the_tip_only)
{
    git_oid first, second, third;
    ck_assert(prepare("data"));
    ck_assert(repository_tip(repository, &first, &error));
    ck_assert_int_eq(commit_file(&first, "runs/2026/01/a.json", "one", &second),
                     REPOSITORY_COMMITTED);
    ck_assert_int_eq(commit_file(&first, "runs/2026/01/b.json", "two", &third), REPOSITORY_MOVED);
    ck_assert_int_eq(commit_file(&second, "runs/2026/01/b.json", "two", &third),
                     REPOSITORY_COMMITTED);
    ck_assert_int_eq(commit_file(&third, "runs/2026/01/a.json", NULL, &first),
                     REPOSITORY_COMMITTED);
    struct buffer bytes BUFFER_SCOPE = {0};
    git_oid blob;
    ck_assert_int_eq(
        repository_content(repository, &third, "runs/2026/01/a.json", &blob, &bytes, &error),
        REPOSITORY_FOUND);
    ck_assert_str_eq(buffer_string(&bytes), "one");
    ck_assert_int_eq(repository_find(repository, &first, "runs/2026/01/a.json", &blob, &error),
                     REPOSITORY_ABSENT);
    ck_assert_int_eq(repository_find(repository, &first, "runs/2026", &blob, &error),
                     REPOSITORY_ABSENT);
    ck_assert_int_eq(repository_folder(repository, &first, "runs/2026", &blob, &error),
                     REPOSITORY_FOUND);
    ck_assert_int_eq(scratch_shell(NULL, "git -C %s fsck --strict", scratch_path("data")), 0);
}
END_TEST

/* Counts, for libgit2 does not ask whether a file is on the disk. */
static unsigned synced_files, synced_systems;
__attribute__((visibility("default"))) int fsync(int fd)
{
    synced_files++;
    return (int)syscall(SYS_fsync, fd);
}
__attribute__((visibility("default"))) int syncfs(int fd)
{
    synced_systems++;
    return (int)syscall(SYS_syncfs, fd);
}

static git_oid write_object(const char *text, enum loose_packing packing)
{
    git_oid id;
    ck_assert_msg(
        loose_write(repository, GIT_OBJECT_BLOB, text, strlen(text), packing, &id, &error), "%s",
        error.message);
    return id;
}

START_TEST(loose__takes_over_only_the_very_object)
{
    static const char text[] = "what an object holds, what an object holds, what an object holds";
    char name[64], hex[GIT_OID_HEXSZ + 1];
    struct buffer sound BUFFER_SCOPE = {0};
    ck_assert(prepare("data"));
    git_oid id = write_object(text, LOOSE_DEFLATED);
    git_oid_tostr(hex, sizeof hex, &id);
    snprintf(name, sizeof name, "data/objects/%.2s/%s", hex, hex + 2);
    scratch_read(scratch_path(name), &sound);
    /* empty, cut, longer, another object: replaced */
    for (size_t size = 0; size <= sound.size + 1; size++) {
        if (size == sound.size)
            continue;
        char damaged[256];
        ck_assert_uint_lt(sound.size, sizeof damaged);
        memcpy(damaged, buffer_string(&sound), sound.size);
        if (size > sound.size)
            damaged[sound.size / 2] ^= 1;
        unlink(scratch_path(name));
        scratch_write(scratch_path(name), damaged, size < sound.size ? size : sound.size);
        write_object(text, LOOSE_DEFLATED);
        struct buffer now BUFFER_SCOPE = {0};
        scratch_read(scratch_path(name), &now);
        ck_assert_uint_eq(now.size, sound.size);
        ck_assert_mem_eq(now.data, sound.data, now.size);
    }
    /* packed otherwise, but the same: kept, and synced like its folder */
    unlink(scratch_path(name));
    write_object(text, LOOSE_STORED);
    struct stat before, after;
    ck_assert_int_eq(stat(scratch_path(name), &before), 0);
    synced_files = 0;
    write_object(text, LOOSE_DEFLATED);
    ck_assert_uint_eq(synced_files, 2);
    ck_assert_int_eq(stat(scratch_path(name), &after), 0);
    ck_assert_uint_eq(after.st_ino, before.st_ino);
    ck_assert_int_eq(scratch_shell(NULL, "git -C %s fsck --strict --full", scratch_path("data")),
                     0);
}
END_TEST

START_TEST(repository__is_on_the_disk_before_it_is_used)
{
    synced_systems = 0; /* tests may share a process */
    ck_assert(prepare("data"));
    ck_assert_uint_eq(synced_systems, 1);
    /* its maker may have been killed before that, or did not care */
    ck_assert(prepare("data"));
    ck_assert_uint_eq(synced_systems, 2);
}
END_TEST

static void *drop_lock(void *path)
{
    struct timespec pause = {.tv_nsec = 300000000};
    nanosleep(&pause, NULL);
    unlink(path);
    return NULL;
}

START_TEST(repository__waits_for_a_git_that_holds_its_lock)
{
    static char path[SCRATCH_PATH * 2];
    pthread_t thread;
    git_oid tip;
    ck_assert(prepare("data"));
    ck_assert(repository_tip(repository, &tip, &error));
    strcpy(path, scratch_path("data/refs/heads/main.lock"));
    scratch_write(path, "", 0);
    double start = now_ms();
    pthread_create(&thread, NULL, drop_lock, path);
    ck_assert_int_eq(commit_file(&tip, "a", "one", &tip), REPOSITORY_COMMITTED);
    ck_assert(now_ms() - start > 250);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(lock__removes_old_git_locks_at_once_and_waits_for_young_ones)
{
    ck_assert(prepare("data"));
    scratch_write(scratch_path("data/HEAD.lock"), "", 0);
    scratch_shell(NULL, "touch -d '1 hour ago' %s", scratch_path("data/HEAD.lock"));
    double start = now_ms();
    ck_assert(lock_clear_stale(scratch_path("data"), 1000, &error));
    ck_assert(now_ms() - start < 500);
    ck_assert_int_ne(access(scratch_path("data/HEAD.lock"), F_OK), 0);
    ck_assert_int_eq(access(scratch_path("data/" LOCK_COMMIT), F_OK), 0);
    scratch_write(scratch_path("data/refs/heads/main.lock"), "", 0);
    start = now_ms();
    ck_assert(lock_clear_stale(scratch_path("data"), 400, &error));
    ck_assert(now_ms() - start > 300);
    ck_assert_int_ne(access(scratch_path("data/refs/heads/main.lock"), F_OK), 0);
}
END_TEST

START_TEST(lock__leaves_alone_what_a_living_gc_may_hold)
{
    static const char *const names[] = {"data/packed-refs.lock", "data/config.lock"};
    ck_assert(prepare("data"));
    for (size_t i = 0; i < 2; i++)
        scratch_write(scratch_path(names[i]), "", 0);
    double start = now_ms();
    ck_assert(prepare("data"));
    ck_assert(now_ms() - start < 900); /* nobody waits for them */
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(access(scratch_path(names[i]), F_OK), 0);
        scratch_shell(NULL, "touch -d '11 seconds ago' %s", scratch_path(names[i]));
    }
    ck_assert(prepare("data"));
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_ne(access(scratch_path(names[i]), F_OK), 0);
}
END_TEST

START_TEST(lock__is_held_by_one_and_dies_with_it)
{
    struct lock first = {-1}, second = {-1};
    const char *folder = scratch_path(".");
    ck_assert(lock_take(folder, LOCK_SERVE, NULL, NULL, &first, &error));
    ck_assert(!lock_take(folder, LOCK_SERVE, NULL, NULL, &second, &error));
    lock_drop(&first);
    ck_assert(lock_take(folder, LOCK_SERVE, NULL, NULL, &second, &error));
    lock_drop(&second);
    lock_drop(&second);
}
END_TEST

START_TEST(repository__probes_the_disk)
{
    ck_assert(prepare("data"));
    ck_assert(repository_probe(repository, &error));
    ck_assert_int_ne(access(scratch_path("data/benchledger.probe"), F_OK), 0);
    ck_assert_int_eq(rename(scratch_path("data"), scratch_path("gone")), 0);
    ck_assert(!repository_probe(repository, &error));
}
END_TEST

START_TEST(repository__does_not_begin_over_a_history_without_a_name)
{
    git_oid tip, commit;
    ck_assert(prepare("data"));
    ck_assert(repository_tip(repository, &tip, &error));
    ck_assert_int_eq(commit_file(&tip, "runs/a", "text", &commit), REPOSITORY_COMMITTED);
    ck_assert_int_eq(scratch_shell(NULL, "rm -rf %s/refs/heads/*", scratch_path("data")), 0);
    ck_assert(!prepare("data"));
    ck_assert_msg(strstr(error.message, "holds objects and no branch") != NULL, "%s",
                  error.message);
    char hex[GIT_OID_HEXSZ + 1];
    git_oid_tostr(hex, sizeof hex, &commit);
    ck_assert_int_eq(scratch_shell(NULL, "git --git-dir %s update-ref refs/heads/main %s",
                                   scratch_path("data"), hex),
                     0);
    ck_assert_msg(prepare("data"), "%s", error.message);
}
END_TEST

/* As a first start leaves them that is killed while libgit2 writes the configuration. */
START_TEST(repository__is_made_after_a_first_start_that_was_killed)
{
    ck_assert_int_eq(scratch_shell(NULL, "mkdir -p %s/refs %s/objects && touch %s/" LOCK_COMMIT,
                                   scratch_path("data"), scratch_path("data"),
                                   scratch_path("data")),
                     0);
    ck_assert_int_eq(scratch_shell(NULL, "touch %s/config.lock %s/HEAD.lock", scratch_path("data"),
                                   scratch_path("data")),
                     0);
    ck_assert_msg(prepare("data"), "%s", error.message);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        repository__is_made_with_folders_above_it,
        repository__does_not_spread_over_other_folders,
        repository__is_finished_when_its_maker_was_killed,
        repository__does_not_begin_over_a_history_without_a_name,
        repository__is_made_after_a_first_start_that_was_killed,
        repository__turns_an_empty_one_to_main_and_keeps_other_branches,
        repository__commits_on_the_tip_only,
        loose__takes_over_only_the_very_object,
        repository__is_on_the_disk_before_it_is_used,
        repository__waits_for_a_git_that_holds_its_lock,
        lock__removes_old_git_locks_at_once_and_waits_for_young_ones,
        lock__leaves_alone_what_a_living_gc_may_hold,
        lock__is_held_by_one_and_dies_with_it,
        repository__probes_the_disk,
    };
    return suite_of("repository", begin, end, tests, sizeof tests / sizeof *tests);
}
