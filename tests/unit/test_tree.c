#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "github/repository/loose.h"
#include "github/repository/tree.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"
#include "tests/support/unsynced.h"

enum { ROUNDS = 300, EDITS_MAX = 40 };

static const struct repository_author author = {"benchledger", "benchledger@example.org"};
static struct repository *repository;
static struct store_error error;

static void begin(void)
{
    scratch_begin();
    ck_assert(repository_prepare(scratch_path("data"), &author, NULL, &repository, &error));
    unsynced(true);
}

static void end(void)
{
    repository_close(repository);
    scratch_end();
}

static git_oid blob_of(const char *text)
{
    git_oid id;
    ck_assert_msg(
        loose_write(repository, GIT_OBJECT_BLOB, text, strlen(text), LOOSE_DEFLATED, &id, &error),
        "%s", error.message);
    return id;
}

static git_oid update_by_libgit2(const git_oid *root, const struct tree_edit *edits, size_t count)
{
    git_tree_update updates[EDITS_MAX];
    git_tree *baseline = NULL;
    git_oid tree;
    for (size_t i = 0; i < count; i++) {
        updates[i] = (git_tree_update){.action = edits[i].remove ? GIT_TREE_UPDATE_REMOVE
                                                                 : GIT_TREE_UPDATE_UPSERT,
                                       .id = edits[i].blob,
                                       .filemode = GIT_FILEMODE_BLOB,
                                       .path = edits[i].path};
    }
    ck_assert_int_eq(git_tree_lookup(&baseline, repository->git, root), 0);
    ck_assert_int_eq(git_tree_create_updated(&tree, repository->git, baseline, count, updates), 0);
    git_tree_free(baseline);
    return tree;
}

/* Names whose order differs between files and folders, at several depths. */
static void random_path(char *path, size_t room)
{
    static const char *const folders[] = {"a", "ab", "a-b", "a_b", "b", "B"};
    static const char *const names[] = {"x", "x-y", "x.y", "x0", "xx", "z.json", "a.f", "a-.f"};
    size_t used = 0;
    for (int depth = rand() % 3; depth > 0; depth--)
        used += (size_t)snprintf(path + used, room - used, "%s/", folders[rand() % 6]);
    snprintf(path + used, room - used, "%s%d", names[rand() % 8], rand() % 9);
}

static bool named_before(const struct tree_edit *edits, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(edits[i].path, path))
            return true;
    return false;
}

START_TEST(tree__agrees_with_libgit2_on_random_edits)
{
    static char paths[EDITS_MAX][64];
    struct tree_edit edits[EDITS_MAX];
    git_oid tip, root;
    ck_assert(repository_tip(repository, &tip, &error));
    ck_assert(repository_root(repository, &tip, &root, &error));
    srand(7);
    for (int round = 0; round < ROUNDS; round++) {
        size_t wanted = (size_t)(1 + rand() % EDITS_MAX), count = 0;
        for (size_t i = 0; i < wanted; i++) {
            random_path(paths[count], sizeof paths[count]);
            if (named_before(edits, count, paths[count]))
                continue;
            git_oid present;
            bool there =
                tree_find(repository, &root, paths[count], &present, &error) == REPOSITORY_FOUND;
            char text[16];
            snprintf(text, sizeof text, "%d", rand() % 50);
            edits[count] = (struct tree_edit){
                .path = paths[count], .blob = blob_of(text), .remove = there && rand() % 3 == 0};
            count++;
        }
        git_oid tree;
        ck_assert_msg(tree_update(repository, &root, edits, count, &tree, &error), "%s",
                      error.message);
        git_oid wanted_tree = update_by_libgit2(&root, edits, count);
        ck_assert_msg(git_oid_equal(&tree, &wanted_tree), "round %d", round);
        root = tree;
        if (round % 50 == 49) { /* without what is in memory */
            repository_close(repository);
            ck_assert(repository_open(scratch_path("data"), &repository, &error));
        }
    }
}
END_TEST

START_TEST(tree__refuses_what_is_no_folder_of_a_dataset)
{
    static const char *const paths[][2] = {{"runs/a.json/b.json"},
                                           {"runs"},
                                           {"runs/a.json", "runs/a.json"},
                                           {"runs//b"},
                                           {".git/config"},
                                           {"a/../b"},
                                           {"/a"},
                                           {"a/b", "a/b/c"}};
    git_oid blob = blob_of("x"), tree, other;
    struct tree_edit first = {.path = "runs/a.json", .blob = blob};
    ck_assert(tree_update(repository, NULL, &first, 1, &tree, &error));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct tree_edit edits[2] = {{.path = paths[i][0], .blob = blob},
                                     {.path = paths[i][1], .blob = blob}};
        ck_assert_msg(!tree_update(repository, &tree, edits, paths[i][1] ? 2 : 1, &other, &error),
                      "%zu", i);
    }
    ck_assert_int_eq(tree_find(repository, &tree, "runs/a.json", &other, &error), REPOSITORY_FOUND);
    ck_assert(git_oid_equal(&other, &blob));
    ck_assert_int_eq(tree_find(repository, &tree, "runs", &other, &error), REPOSITORY_FOUND);
    ck_assert_int_eq(tree_find(repository, &tree, "runs/b.json", &other, &error),
                     REPOSITORY_ABSENT);
    ck_assert_int_eq(tree_find(repository, &tree, "runs/a.json/b", &other, &error),
                     REPOSITORY_ABSENT);
}
END_TEST

START_TEST(tree__drops_folders_that_became_empty)
{
    git_oid blob = blob_of("x"), tree, id;
    struct tree_edit edits[] = {{.path = "a/b/c", .blob = blob}, {.path = "d", .blob = blob}};
    ck_assert(tree_update(repository, NULL, edits, 2, &tree, &error));
    struct tree_edit removal[] = {{.path = "a/b/c", .remove = true}, {.path = "e", .remove = true}};
    ck_assert(tree_update(repository, &tree, removal, 2, &tree, &error));
    ck_assert_int_eq(tree_find(repository, &tree, "a", &id, &error), REPOSITORY_ABSENT);
    ck_assert_int_eq(tree_find(repository, &tree, "d", &id, &error), REPOSITORY_FOUND);
}
END_TEST

START_TEST(loose__writes_what_git_reads)
{
    static const size_t sizes[] = {0, 1, 100, 65535, 65536, 1000000, 5000000};
    struct buffer data BUFFER_SCOPE = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        while (data.size < sizes[i])
            buffer_byte(&data, (char)(rand() >> 7));
        for (int packing = 0; packing < 2; packing++) {
            git_oid id, wanted;
            git_blob *blob = NULL;
            const char *bytes = buffer_string(&data);
            ck_assert(loose_write(repository, GIT_OBJECT_BLOB, bytes, sizes[i],
                                  packing ? LOOSE_DEFLATED : LOOSE_STORED, &id, &error));
            git_odb_hash(&wanted, bytes, sizes[i], GIT_OBJECT_BLOB);
            ck_assert(git_oid_equal(&id, &wanted));
            ck_assert_int_eq(git_blob_lookup(&blob, repository->git, &id), 0);
            ck_assert_uint_eq((size_t)git_blob_rawsize(blob), sizes[i]);
            ck_assert(!sizes[i] || !memcmp(git_blob_rawcontent(blob), bytes, sizes[i]));
            git_blob_free(blob);
            data.size = sizes[i];
            buffer_byte(&data, 'x'); /* another object for the other packing */
        }
    }
    ck_assert_int_eq(
        scratch_shell(NULL, "git -C %s fsck --strict --no-dangling", scratch_path("data")), 0);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        tree__agrees_with_libgit2_on_random_edits,
        tree__refuses_what_is_no_folder_of_a_dataset,
        tree__drops_folders_that_became_empty,
        loose__writes_what_git_reads,
    };
    return suite_of("tree", begin, end, tests, sizeof tests / sizeof *tests);
}
