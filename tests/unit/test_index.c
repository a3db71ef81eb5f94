#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/stored.h"
#include "tests/support/suite.h"
#include "validator/sha256.h"

static void append_text(const char *entry)
{
    ck_assert(index_append(stored_index, entry, strlen(entry), &stored_problem));
}

/* An entry of exactly SIZE bytes. */
static void append_sized(unsigned n, size_t size, bool flagged)
{
    struct buffer entry BUFFER_SCOPE = {0};
    buffer_format(&entry, "{\"runId\":\"run-%u\",\"flagged\":%s,\"fill\":\"", n,
                  flagged ? "true" : "false");
    ck_assert_uint_lt(entry.size + 2, size);
    while (entry.size + 2 < size)
        buffer_byte(&entry, 'x');
    buffer_text(&entry, "\"}");
    ck_assert(index_append(stored_index, entry.data, entry.size, &stored_problem));
}

static void assert_file(const char *path, const char *text)
{
    struct buffer *file = stored_file(path);
    ck_assert_ptr_nonnull(file);
    ck_assert_str_eq(buffer_string(file), text);
}

START_TEST(index__writes_segment_summary_and_manifest)
{
    append_text("{\"runId\":\"a\",\"flagged\":true}");
    append_text("{\"runId\":\"b\",\"flagged\":false}");
    ck_assert_uint_eq(stored_changes(), 3);
    static const char array[] =
        "[{\"runId\":\"a\",\"flagged\":true},{\"runId\":\"b\",\"flagged\":false}]";
    assert_file("index/segments/00001.json", array);
    assert_file(INDEX_SUMMARY_PATH, array);
    char hash[SHA256_HEX + 1];
    struct buffer manifest BUFFER_SCOPE = {0};
    sha256_hex(array, strlen(array), hash);
    buffer_format(
        &manifest,
        "{\"version\":1,\"segments\":[{\"path\":\"index/segments/00001.json\",\"entries\":2,"
        "\"bytes\":%zu,\"sha256\":\"%s\"}],\"entries\":2,\"flagged\":1,"
        "\"summaryComplete\":true,\"summaryEntries\":2}",
        strlen(array), hash);
    assert_file(INDEX_MANIFEST_PATH, buffer_string(&manifest));
    ck_assert_uint_eq(stored_changes(), 0);
}
END_TEST

START_TEST(index__closes_a_segment_only_past_the_limit)
{
    for (size_t over = 0; over < 2; over++) {
        index_free(stored_index);
        stored_index = index_new(0);
        append_sized(1, 500000, false);
        stored_changes();
        append_sized(2, INDEX_SEGMENT_BYTES - 500000 - 3 + over, false); /* [ , ] */
        stored_changes();
        ck_assert_uint_eq(index_segments(stored_index), 1 + over);
        if (!over)
            ck_assert_uint_eq(stored_file("index/segments/00001.json")->size, INDEX_SEGMENT_BYTES);
        append_sized(3, 100, false);
        ck_assert_uint_eq(stored_changes(), 2); /* the last segment and the manifest */
        ck_assert_uint_eq(index_segments(stored_index), 2);
        stored_forget();
    }
}
END_TEST

START_TEST(index__writes_every_segment_that_a_batch_touched)
{
    append_sized(1, 300000, false);
    stored_changes();
    for (unsigned n = 2; n < 9; n++)
        append_sized(n, 300000, n == 3);
    ck_assert_uint_eq(index_segments(stored_index), 3);
    ck_assert_uint_eq(stored_changes(), 5);
    ck_assert(stored_load(NO_LIMIT, NULL, NULL));
    stored_manifest_holds("\"entries\":8,\"flagged\"");
    ck_assert_uint_eq(index_flagged(stored_index), 1);
}
END_TEST

START_TEST(index__undoes_what_was_not_written)
{
    struct buffer manifest BUFFER_SCOPE = {0};
    append_sized(1, 400000, false);
    stored_changes();
    buffer_add(&manifest, stored_file(INDEX_MANIFEST_PATH)->data,
               stored_file(INDEX_MANIFEST_PATH)->size);
    size_t count;
    for (unsigned n = 2; n < 8; n++)
        append_sized(n, 400000, true);
    index_changed(stored_index, &count);
    ck_assert_uint_gt(count, 3);
    index_undo(stored_index);
    index_changed(stored_index, &count);
    ck_assert_uint_eq(count, 0);
    append_sized(9, 400000, false);
    index_undo(stored_index);
    append_sized(2, 1000, false);
    stored_changes();
    ck_assert(stored_load(NO_LIMIT, NULL, NULL));
    stored_manifest_holds("\"entries\":2,\"flagged\"");
    ck_assert_uint_eq(index_flagged(stored_index), 0);
}
END_TEST

struct told {
    size_t count, flagged;
    struct buffer json;
};
static void take_entry(void *context, const struct index_entry *entry)
{
    struct told *told = context;
    told->count++;
    told->flagged += entry->flagged;
    buffer_add(&told->json, entry->json, entry->size);
    buffer_byte(&told->json, '\n');
}

START_TEST(index__goes_on_after_loading_as_if_it_had_not_stopped)
{
    for (unsigned n = 0; n < 30; n++) {
        append_sized(n, 90000, n % 4 == 0);
        stored_changes();
        struct told told = {0};
        ck_assert_msg(stored_load(NO_LIMIT, take_entry, &told), "%s", stored_problem.message);
        ck_assert_uint_eq(told.count, n + 1);
        buffer_free(&told.json);
    }
    ck_assert_uint_eq(index_segments(stored_index), 3);
    struct buffer *first = stored_file("index/segments/00001.json");
    ck_assert_uint_eq(first->size, 11 * 90000 + 12);
    stored_manifest_holds("\"summaryComplete\":true,");
}
END_TEST

START_TEST(index__stops_rewriting_the_summary_past_its_limit)
{
    index_free(stored_index);
    stored_index = index_new(1000);
    append_sized(1, 500, false);
    append_sized(2, 497, false); /* [ , ] makes 1000 */
    ck_assert_uint_eq(stored_changes(), 3);
    ck_assert_uint_eq(stored_file(INDEX_SUMMARY_PATH)->size, 1000);
    append_sized(3, 60, false);
    ck_assert_uint_eq(stored_changes(), 2);
    ck_assert_ptr_nonnull(strstr(buffer_string(stored_file(INDEX_MANIFEST_PATH)),
                                 "\"entries\":3,\"flagged\":0,\"summaryComplete\":false,"
                                 "\"summaryEntries\":2}"));
    ck_assert(stored_load(1000, NULL, NULL));
    append_sized(4, 60, false);
    ck_assert_uint_eq(stored_changes(), 2);
    stored_manifest_holds("\"summaryComplete\":false,\"summaryEntries\":2}");
    /* a limit that was raised does not make an old summary whole */
    ck_assert(stored_load(NO_LIMIT, NULL, NULL));
    append_sized(5, 60, false);
    ck_assert_uint_eq(stored_changes(), 2);
}
END_TEST

START_TEST(index__keeps_a_whole_summary_when_the_limit_was_lowered)
{
    append_sized(1, 500, false);
    stored_changes();
    ck_assert(stored_load(100, NULL, NULL));
    append_sized(2, 50, false);
    ck_assert_uint_eq(stored_changes(), 2);
    stored_manifest_holds("\"summaryComplete\":false,\"summaryEntries\":1}");
}
END_TEST

START_TEST(index__gives_an_older_archive_its_segments)
{
    static const char old[] = "\n[ {\"runId\": \"a\", \"flagged\": true}, {\"runId\":\"b\"}]\n";
    for (size_t limit = 10; limit <= 1000; limit += 990) {
        struct told told = {0};
        index_free(stored_index);
        stored_index = index_new(limit);
        ck_assert(
            index_load_archive(stored_index, old, strlen(old), take_entry, &told, &stored_problem));
        ck_assert_uint_eq(told.count, 2);
        ck_assert_uint_eq(told.flagged, 1);
        buffer_free(&told.json);
        append_text("{\"runId\":\"c\"}");
        index_undo(stored_index);
        append_text("{\"runId\":\"d\"}");
        ck_assert_uint_eq(stored_changes(), limit > 10 ? 3 : 2);
        assert_file("index/segments/00001.json",
                    "[{\"runId\":\"a\",\"flagged\":true},{\"runId\":\"b\"},{\"runId\":\"d\"}]");
        stored_manifest_holds(limit > 10 ? "\"summaryComplete\":true,\"summaryEntries\":3}"
                                         : "\"summaryComplete\":false,\"summaryEntries\":2}");
        stored_forget();
    }
}
END_TEST

START_TEST(index__refuses_what_is_not_whole)
{
    static const struct damage {
        const char *path, *find, *put;
    } damages[] = {
        {INDEX_MANIFEST_PATH, "\"version\":1", "\"version\":2"},
        {INDEX_MANIFEST_PATH, "\"entries\":2,\"flagged\"", "\"entries\":3,\"flagged\""},
        {INDEX_MANIFEST_PATH, "\"flagged\":1", "\"flagged\":0"},
        {INDEX_MANIFEST_PATH, "\"summaryEntries\":2", "\"summaryEntries\":1"},
        {INDEX_MANIFEST_PATH, "00001", "00002"},
        {INDEX_MANIFEST_PATH, "\"bytes\":", "\"bytez\":"},
        {INDEX_MANIFEST_PATH, "\"entries\":2,\"bytes\"", "\"entries\":-,\"bytes\""},
        {"index/segments/00001.json", "\"a\"", "\"b\""},
        {"index/segments/00001.json", "]", " "},
        {INDEX_SUMMARY_PATH, "\"a\"", "\"z\""},
        {INDEX_SUMMARY_PATH, "]", "}"},
    };
    append_text("{\"runId\":\"a\",\"flagged\":true}");
    append_text("{\"runId\":\"b\",\"flagged\":false}");
    stored_changes();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct buffer *file = stored_file(damages[i].path);
        char *place = strstr((char *)(uintptr_t)buffer_string(file), damages[i].find);
        ck_assert_ptr_nonnull(place);
        char kept[64];
        size_t size = strlen(damages[i].find);
        memcpy(kept, place, size);
        memcpy(place, damages[i].put, size);
        ck_assert_msg(!stored_load(NO_LIMIT, NULL, NULL), "%zu", i);
        memcpy(place, kept, size);
        ck_assert(stored_load(NO_LIMIT, NULL, NULL));
    }
    ck_assert(!index_load_archive(stored_index, "[{}]", 4, NULL, NULL, &stored_problem));
    ck_assert(!index_load_archive(stored_index, "{}", 2, NULL, NULL, &stored_problem));
    ck_assert(!index_append(stored_index, "{\"runId\":1}", 11, &stored_problem));
}
END_TEST

START_TEST(index__writes_an_empty_index)
{
    ck_assert_uint_eq(stored_changes(), 2);
    assert_file(INDEX_SUMMARY_PATH, "[]");
    ck_assert(stored_load(NO_LIMIT, NULL, NULL));
    append_text("{\"runId\":\"a\"}");
    ck_assert_uint_eq(stored_changes(), 3);
    assert_file(INDEX_SUMMARY_PATH, "[{\"runId\":\"a\"}]");
}
END_TEST

static void count_told(void *context, const struct index_entry *entry)
{
    (void)entry;
    ++*(size_t *)context;
}

/* Loads what is stored as the continuation of KNOWN; false when it is none. *TOLD counts entries. */
static bool load_after(const struct index *known, size_t limit, struct index **loaded, size_t *told)
{
    struct buffer *manifest = stored_file(INDEX_MANIFEST_PATH),
                  *summary = stored_file(INDEX_SUMMARY_PATH);
    size_t first = 0;
    *told = 0;
    *loaded = index_new(limit);
    ck_assert(index_load_manifest(*loaded, manifest->data, manifest->size, &stored_problem));
    if (!index_continue(*loaded, known, &first))
        return false;
    for (size_t i = first; i < index_segments(*loaded); i++) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i, path);
        struct buffer *segment = stored_file(path);
        ck_assert_msg(index_load_segment(*loaded, i, segment->data, segment->size, count_told, told,
                                         &stored_problem),
                      "%s", stored_problem.message);
    }
    ck_assert_msg(index_load_end(*loaded, summary ? summary->data : NULL,
                                 summary ? summary->size : 0, &stored_problem),
                  "%s", stored_problem.message);
    return true;
}

/* What LOADED writes with one more entry is what SUBJECT does. */
static void assert_goes_on_alike(struct index *loaded)
{
    static const char entry[] = "{\"runId\":\"one-more\",\"flagged\":true}";
    struct index *kept = stored_index;
    ck_assert(index_append(kept, entry, strlen(entry), &stored_problem));
    ck_assert(index_append(loaded, entry, strlen(entry), &stored_problem));
    size_t count = 0, other = 0;
    const struct index_file *files = index_changed(kept, &count);
    const struct index_file *others = index_changed(loaded, &other);
    ck_assert_uint_eq(count, other);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(files[i].path, others[i].path);
        ck_assert_uint_eq(files[i].size, others[i].size);
        ck_assert_mem_eq(files[i].bytes, others[i].bytes, files[i].size);
    }
    index_undo(kept);
}

/* How many entries of what size are known, and how many follow. */
static const struct growth {
    unsigned known, more;
    size_t size, limit;
} growths[] = {
    {1, 1, 200, NO_LIMIT},    {3, 0, 200, NO_LIMIT},    {2, 5, 300000, NO_LIMIT},
    {3, 1, 333000, NO_LIMIT}, {4, 4, 400000, NO_LIMIT}, {2, 5, 300000, 500000},
    {1, 1, 999998, NO_LIMIT}, {6, 1, 160000, 1000000},
};

START_TEST(index__goes_on_from_a_known_one_as_from_the_whole)
{
    const struct growth *growth = &growths[_i];
    struct index *loaded = NULL;
    size_t told;
    index_free(stored_index);
    stored_index = index_new(growth->limit);
    for (unsigned i = 0; i < growth->known; i++)
        append_sized(i, growth->size, i % 2);
    stored_changes();
    struct index *known = index_copy(stored_index);
    for (unsigned i = 0; i < growth->more; i++)
        append_sized(100 + i, growth->size, i % 2);
    if (growth->more)
        stored_changes();
    if (load_after(known, growth->limit, &loaded, &told)) {
        ck_assert_uint_eq(told, growth->more);
        assert_goes_on_alike(loaded);
    } else { /* only where the summary was not kept any more */
        ck_assert_uint_lt(growth->limit, NO_LIMIT);
    }
    index_free(loaded);
    index_free(known);
}
END_TEST

START_TEST(index__does_not_go_on_from_another_one)
{
    struct index *loaded = NULL;
    size_t told;
    append_text("{\"runId\":\"a\"}");
    append_text("{\"runId\":\"b\"}");
    stored_changes();
    struct index *known = index_copy(stored_index);
    index_free(stored_index); /* one entry less, then another in its place */
    stored_index = index_new(NO_LIMIT);
    append_text("{\"runId\":\"a\"}");
    stored_changes();
    ck_assert(!load_after(known, NO_LIMIT, &loaded, &told));
    index_free(loaded);
    append_text("{\"runId\":\"c\"}");
    append_text("{\"runId\":\"d\"}");
    stored_changes();
    struct buffer *manifest = stored_file(INDEX_MANIFEST_PATH);
    struct buffer *segment = stored_file("index/segments/00001.json");
    size_t first = 0;
    loaded = index_new(NO_LIMIT);
    ck_assert(index_load_manifest(loaded, manifest->data, manifest->size, &stored_problem));
    ck_assert(
        !index_continue(loaded, known, &first) ||
        !index_load_segment(loaded, 0, segment->data, segment->size, NULL, NULL, &stored_problem));
    index_free(loaded);
    index_free(known);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        index__writes_segment_summary_and_manifest,
        index__closes_a_segment_only_past_the_limit,
        index__writes_every_segment_that_a_batch_touched,
        index__undoes_what_was_not_written,
        index__goes_on_after_loading_as_if_it_had_not_stopped,
        index__stops_rewriting_the_summary_past_its_limit,
        index__keeps_a_whole_summary_when_the_limit_was_lowered,
        index__gives_an_older_archive_its_segments,
        index__refuses_what_is_not_whole,
        index__writes_an_empty_index,
        index__does_not_go_on_from_another_one,
    };
    Suite *suite = suite_of("index", stored_begin, stored_end, tests, sizeof tests / sizeof *tests);
    TCase *loops = tcase_create("growths");
    tcase_add_checked_fixture(loops, stored_begin, stored_end);
    tcase_add_loop_test(loops, index__goes_on_from_a_known_one_as_from_the_whole, 0,
                        sizeof growths / sizeof *growths);
    suite_add_tcase(suite, loops);
    return suite;
}
