#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/index.h"
#include "tests/support/suite.h"
#include "validator/sha256.h"

enum { NO_LIMIT = 1 << 30, FILES = 32 };

/* What a dataset would hold: the files that an index gave. */
static struct stored {
    char path[INDEX_PATH_MAX];
    struct buffer bytes;
} stored[FILES];
static struct index *subject;
static struct index_problem problem;

static void forget_files(void)
{
    for (size_t i = 0; i < FILES; i++) {
        buffer_free(&stored[i].bytes);
        stored[i].path[0] = '\0';
    }
}

static struct buffer *file_of(const char *path)
{
    for (size_t i = 0; i < FILES; i++)
        if (!strcmp(stored[i].path, path))
            return &stored[i].bytes;
    return NULL;
}

static size_t store_changes(void)
{
    size_t count = 0;
    const struct index_file *files = index_changed(subject, &count);
    for (size_t i = 0; i < count; i++) {
        struct buffer *file = file_of(files[i].path);
        for (size_t free_slot = 0; !file; free_slot++) {
            ck_assert_uint_lt(free_slot, FILES);
            if (*stored[free_slot].path)
                continue;
            strcpy(stored[free_slot].path, files[i].path);
            file = &stored[free_slot].bytes;
        }
        file->size = 0;
        buffer_add(file, files[i].bytes, files[i].size);
    }
    index_settle(subject);
    return count;
}

static void begin(void)
{
    subject = index_new(NO_LIMIT);
}

static void end(void)
{
    index_free(subject);
    subject = NULL;
    forget_files();
}

static void append_text(const char *entry)
{
    ck_assert(index_append(subject, entry, strlen(entry), &problem));
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
    ck_assert(index_append(subject, entry.data, entry.size, &problem));
}

static void assert_manifest(const char *holds)
{
    const char *manifest = buffer_string(file_of(INDEX_MANIFEST_PATH));
    ck_assert_msg(strstr(manifest, holds) != NULL, "%s in %s", holds, manifest);
}

static bool load(size_t limit, index_tell tell, void *context)
{
    struct buffer *manifest = file_of(INDEX_MANIFEST_PATH), *summary = file_of(INDEX_SUMMARY_PATH);
    index_free(subject);
    subject = index_new(limit);
    if (!index_load_manifest(subject, manifest->data, manifest->size, &problem))
        return false;
    for (size_t i = 0; i < index_segments(subject); i++) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i, path);
        struct buffer *segment = file_of(path);
        if (!index_load_segment(subject, i, segment->data, segment->size, tell, context, &problem))
            return false;
    }
    return index_load_end(subject, summary ? summary->data : NULL, summary ? summary->size : 0,
                          &problem);
}

static void assert_file(const char *path, const char *text)
{
    struct buffer *file = file_of(path);
    ck_assert_ptr_nonnull(file);
    ck_assert_str_eq(buffer_string(file), text);
}

START_TEST(index__writes_segment_summary_and_manifest)
{
    append_text("{\"runId\":\"a\",\"flagged\":true}");
    append_text("{\"runId\":\"b\",\"flagged\":false}");
    ck_assert_uint_eq(store_changes(), 3);
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
    ck_assert_uint_eq(store_changes(), 0);
}
END_TEST

START_TEST(index__closes_a_segment_only_past_the_limit)
{
    for (size_t over = 0; over < 2; over++) {
        index_free(subject);
        subject = index_new(0);
        append_sized(1, 500000, false);
        store_changes();
        append_sized(2, INDEX_SEGMENT_BYTES - 500000 - 3 + over, false); /* [ , ] */
        store_changes();
        ck_assert_uint_eq(index_segments(subject), 1 + over);
        if (!over)
            ck_assert_uint_eq(file_of("index/segments/00001.json")->size, INDEX_SEGMENT_BYTES);
        append_sized(3, 100, false);
        ck_assert_uint_eq(store_changes(), 2); /* the last segment and the manifest */
        ck_assert_uint_eq(index_segments(subject), 2);
        forget_files();
    }
}
END_TEST

START_TEST(index__writes_every_segment_that_a_batch_touched)
{
    append_sized(1, 300000, false);
    store_changes();
    for (unsigned n = 2; n < 9; n++)
        append_sized(n, 300000, n == 3);
    ck_assert_uint_eq(index_segments(subject), 3);
    ck_assert_uint_eq(store_changes(), 5);
    ck_assert(load(NO_LIMIT, NULL, NULL));
    assert_manifest("\"entries\":8,\"flagged\"");
    ck_assert_uint_eq(index_flagged(subject), 1);
}
END_TEST

START_TEST(index__undoes_what_was_not_written)
{
    struct buffer manifest BUFFER_SCOPE = {0};
    append_sized(1, 400000, false);
    store_changes();
    buffer_add(&manifest, file_of(INDEX_MANIFEST_PATH)->data, file_of(INDEX_MANIFEST_PATH)->size);
    size_t count;
    for (unsigned n = 2; n < 8; n++)
        append_sized(n, 400000, true);
    index_changed(subject, &count);
    ck_assert_uint_gt(count, 3);
    index_undo(subject);
    index_changed(subject, &count);
    ck_assert_uint_eq(count, 0);
    append_sized(9, 400000, false);
    index_undo(subject);
    append_sized(2, 1000, false);
    store_changes();
    ck_assert(load(NO_LIMIT, NULL, NULL));
    assert_manifest("\"entries\":2,\"flagged\"");
    ck_assert_uint_eq(index_flagged(subject), 0);
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
        store_changes();
        struct told told = {0};
        ck_assert_msg(load(NO_LIMIT, take_entry, &told), "%s", problem.message);
        ck_assert_uint_eq(told.count, n + 1);
        buffer_free(&told.json);
    }
    ck_assert_uint_eq(index_segments(subject), 3);
    struct buffer *first = file_of("index/segments/00001.json");
    ck_assert_uint_eq(first->size, 11 * 90000 + 12);
    assert_manifest("\"summaryComplete\":true,");
}
END_TEST

START_TEST(index__stops_rewriting_the_summary_past_its_limit)
{
    index_free(subject);
    subject = index_new(1000);
    append_sized(1, 500, false);
    append_sized(2, 497, false); /* [ , ] makes 1000 */
    ck_assert_uint_eq(store_changes(), 3);
    ck_assert_uint_eq(file_of(INDEX_SUMMARY_PATH)->size, 1000);
    append_sized(3, 60, false);
    ck_assert_uint_eq(store_changes(), 2);
    ck_assert_ptr_nonnull(strstr(buffer_string(file_of(INDEX_MANIFEST_PATH)),
                                 "\"entries\":3,\"flagged\":0,\"summaryComplete\":false,"
                                 "\"summaryEntries\":2}"));
    ck_assert(load(1000, NULL, NULL));
    append_sized(4, 60, false);
    ck_assert_uint_eq(store_changes(), 2);
    assert_manifest("\"summaryComplete\":false,\"summaryEntries\":2}");
    /* a limit that was raised does not make an old summary whole */
    ck_assert(load(NO_LIMIT, NULL, NULL));
    append_sized(5, 60, false);
    ck_assert_uint_eq(store_changes(), 2);
}
END_TEST

START_TEST(index__keeps_a_whole_summary_when_the_limit_was_lowered)
{
    append_sized(1, 500, false);
    store_changes();
    ck_assert(load(100, NULL, NULL));
    append_sized(2, 50, false);
    ck_assert_uint_eq(store_changes(), 2);
    assert_manifest("\"summaryComplete\":false,\"summaryEntries\":1}");
}
END_TEST

START_TEST(index__gives_an_older_archive_its_segments)
{
    static const char old[] = "\n[ {\"runId\": \"a\", \"flagged\": true}, {\"runId\":\"b\"}]\n";
    for (size_t limit = 10; limit <= 1000; limit += 990) {
        struct told told = {0};
        index_free(subject);
        subject = index_new(limit);
        ck_assert(index_load_archive(subject, old, strlen(old), take_entry, &told, &problem));
        ck_assert_uint_eq(told.count, 2);
        ck_assert_uint_eq(told.flagged, 1);
        buffer_free(&told.json);
        append_text("{\"runId\":\"c\"}");
        index_undo(subject);
        append_text("{\"runId\":\"d\"}");
        ck_assert_uint_eq(store_changes(), limit > 10 ? 3 : 2);
        assert_file("index/segments/00001.json",
                    "[{\"runId\":\"a\",\"flagged\":true},{\"runId\":\"b\"},{\"runId\":\"d\"}]");
        assert_manifest(limit > 10 ? "\"summaryComplete\":true,\"summaryEntries\":3}"
                                   : "\"summaryComplete\":false,\"summaryEntries\":2}");
        forget_files();
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
    store_changes();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct buffer *file = file_of(damages[i].path);
        char *place = strstr((char *)(uintptr_t)buffer_string(file), damages[i].find);
        ck_assert_ptr_nonnull(place);
        char kept[64];
        size_t size = strlen(damages[i].find);
        memcpy(kept, place, size);
        memcpy(place, damages[i].put, size);
        ck_assert_msg(!load(NO_LIMIT, NULL, NULL), "%zu", i);
        memcpy(place, kept, size);
        ck_assert(load(NO_LIMIT, NULL, NULL));
    }
    ck_assert(!index_load_archive(subject, "[{}]", 4, NULL, NULL, &problem));
    ck_assert(!index_load_archive(subject, "{}", 2, NULL, NULL, &problem));
    ck_assert(!index_append(subject, "{\"runId\":1}", 11, &problem));
}
END_TEST

START_TEST(index__writes_an_empty_index)
{
    ck_assert_uint_eq(store_changes(), 2);
    assert_file(INDEX_SUMMARY_PATH, "[]");
    ck_assert(load(NO_LIMIT, NULL, NULL));
    append_text("{\"runId\":\"a\"}");
    ck_assert_uint_eq(store_changes(), 3);
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
    struct buffer *manifest = file_of(INDEX_MANIFEST_PATH), *summary = file_of(INDEX_SUMMARY_PATH);
    size_t first = 0;
    *told = 0;
    *loaded = index_new(limit);
    ck_assert(index_load_manifest(*loaded, manifest->data, manifest->size, &problem));
    if (!index_continue(*loaded, known, &first))
        return false;
    for (size_t i = first; i < index_segments(*loaded); i++) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i, path);
        struct buffer *segment = file_of(path);
        ck_assert_msg(index_load_segment(*loaded, i, segment->data, segment->size, count_told, told,
                                         &problem),
                      "%s", problem.message);
    }
    ck_assert_msg(index_load_end(*loaded, summary ? summary->data : NULL,
                                 summary ? summary->size : 0, &problem),
                  "%s", problem.message);
    return true;
}

/* What LOADED writes with one more entry is what SUBJECT does. */
static void assert_goes_on_alike(struct index *loaded)
{
    static const char entry[] = "{\"runId\":\"one-more\",\"flagged\":true}";
    struct index *kept = subject;
    ck_assert(index_append(kept, entry, strlen(entry), &problem));
    ck_assert(index_append(loaded, entry, strlen(entry), &problem));
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
    index_free(subject);
    subject = index_new(growth->limit);
    for (unsigned i = 0; i < growth->known; i++)
        append_sized(i, growth->size, i % 2);
    store_changes();
    struct index *known = index_copy(subject);
    for (unsigned i = 0; i < growth->more; i++)
        append_sized(100 + i, growth->size, i % 2);
    if (growth->more)
        store_changes();
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
    store_changes();
    struct index *known = index_copy(subject);
    index_free(subject); /* one entry less, then another in its place */
    subject = index_new(NO_LIMIT);
    append_text("{\"runId\":\"a\"}");
    store_changes();
    ck_assert(!load_after(known, NO_LIMIT, &loaded, &told));
    index_free(loaded);
    append_text("{\"runId\":\"c\"}");
    append_text("{\"runId\":\"d\"}");
    store_changes();
    struct buffer *manifest = file_of(INDEX_MANIFEST_PATH);
    struct buffer *segment = file_of("index/segments/00001.json");
    size_t first = 0;
    loaded = index_new(NO_LIMIT);
    ck_assert(index_load_manifest(loaded, manifest->data, manifest->size, &problem));
    ck_assert(!index_continue(loaded, known, &first) ||
              !index_load_segment(loaded, 0, segment->data, segment->size, NULL, NULL, &problem));
    index_free(loaded);
    index_free(known);
}
END_TEST

/* What an index should hold: runs in order, each with a size, flagged or not, there or withdrawn. */
enum { MODEL_RUNS = 60, MODEL_STEPS = 60 };
static struct modelled {
    bool there, flagged;
    size_t size;
} model[MODEL_RUNS];
static size_t model_count, model_told;

static void entry_of(size_t run, const struct modelled *about, struct buffer *entry)
{
    buffer_format(
        entry, "{\"runId\":\"run-%zu\",\"flagged\":%s,\"note\":\"{\\\"runId\\\":]\\\\\",\"x\":[{}",
        run, about->flagged ? "true" : "false");
    /* A client may call a package "runId", and give it the id of another run. */
    for (size_t other = 0; other < MODEL_RUNS; other += 7)
        buffer_format(entry, ",{\"runId\":\"run-%zu\"},{\"runId\":\"run-%zu\",\"flagged\":true}",
                      other, (run + 1) % MODEL_RUNS);
    buffer_text(entry, "],\"fill\":\"");
    while (entry->size + 2 < about->size)
        buffer_byte(entry, 'x');
    buffer_text(entry, "\"}");
}

static void compare_with_model(void *context, const struct index_entry *entry)
{
    struct buffer wanted BUFFER_SCOPE = {0};
    (void)context;
    while (model_told < model_count && !model[model_told].there)
        model_told++;
    ck_assert_uint_lt(model_told, model_count);
    entry_of(model_told, &model[model_told], &wanted);
    ck_assert_mem_eq(entry->json, wanted.data,
                     wanted.size < entry->size ? wanted.size : entry->size);
    ck_assert_uint_eq(entry->size, wanted.size);
    model_told++;
}

/* As the owner of an index does: looks through the segments, the bytes of the closed ones at hand. */
static bool edit_run(size_t run, const struct modelled *after)
{
    struct buffer entry BUFFER_SCOPE = {0};
    char id[24];
    enum index_edit edit = INDEX_MISSING;
    snprintf(id, sizeof id, "run-%zu", run);
    if (after)
        entry_of(run, after, &entry);
    index_save(subject);
    for (size_t i = index_segments(subject); edit == INDEX_MISSING && i > 0; i--) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i - 1, path);
        const struct buffer *file = index_holds_segment(subject, i - 1) ? NULL : file_of(path);
        edit = index_edit_segment(subject, i - 1, file ? file->data : NULL, file ? file->size : 0,
                                  id, after ? entry.data : NULL, entry.size, &problem);
    }
    if (edit != INDEX_EDITED)
        return false;
    const struct buffer *summary =
        index_holds_summary(subject) ? NULL : file_of(INDEX_SUMMARY_PATH);
    ck_assert_int_ne(index_edit_summary(subject, summary ? summary->data : NULL,
                                        summary ? summary->size : 0, id, after ? entry.data : NULL,
                                        entry.size, &problem),
                     INDEX_BROKEN);
    return true;
}

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* Whatever of the entries the summary still holds is as it is now, and the manifest counts them. */
static void check_summary(void)
{
    const struct buffer *summary = file_of(INDEX_SUMMARY_PATH);
    size_t held = 0, start, end;
    for (size_t i = 0; summary && i < MODEL_RUNS; i++) {
        struct buffer wanted BUFFER_SCOPE = {0};
        char id[24];
        snprintf(id, sizeof id, "run-%zu", i);
        if (!index_find_entry(summary->data, summary->size, id, &start, &end))
            continue;
        ck_assert(i < model_count && model[i].there);
        entry_of(i, &model[i], &wanted);
        ck_assert_uint_eq(end - start, wanted.size);
        ck_assert_mem_eq(summary->data + start, wanted.data, wanted.size);
        held++;
    }
    char count[40];
    snprintf(count, sizeof count, "\"summaryEntries\":%zu}", held);
    assert_manifest(count);
}

static void check_model(size_t limit)
{
    check_summary();
    size_t there = 0, flagged = 0;
    for (size_t i = 0; i < model_count; i++) {
        there += model[i].there;
        flagged += model[i].there && model[i].flagged;
    }
    model_told = 0;
    ck_assert_msg(load(limit, compare_with_model, NULL), "%s", problem.message);
    while (model_told < model_count && !model[model_told].there)
        model_told++;
    ck_assert_uint_eq(model_told, model_count);
    ck_assert_uint_eq(index_entries(subject), there);
    ck_assert_uint_eq(index_flagged(subject), flagged);
}

static const size_t summary_limits[] = {NO_LIMIT, 1500000, 0};

START_TEST(index__edits_runs_in_place_as_a_model_says)
{
    unsigned state = (unsigned)_i * 7 + 1;
    size_t limit = summary_limits[(size_t)_i % (sizeof summary_limits / sizeof *summary_limits)];
    index_free(subject);
    subject = index_new(limit);
    model_count = 0;
    for (int step = 0; step < MODEL_STEPS; step++) {
        struct modelled before[MODEL_RUNS];
        size_t count_before = model_count;
        memcpy(before, model, sizeof model);
        for (unsigned batch = 1 + draw(&state, 4); batch; batch--) {
            struct buffer entry BUFFER_SCOPE = {0};
            if (model_count < MODEL_RUNS && draw(&state, 2)) {
                struct modelled *fresh = &model[model_count];
                *fresh = (struct modelled){true, draw(&state, 2), 100 + draw(&state, 400000)};
                entry_of(model_count++, fresh, &entry);
                ck_assert(index_append(subject, entry.data, entry.size, &problem));
                continue;
            }
            if (!model_count)
                continue;
            unsigned run = draw(&state, (unsigned)model_count);
            bool withdraws = draw(&state, 4) == 0;
            struct modelled after = {!withdraws, draw(&state, 2), 100 + draw(&state, 400000)};
            ck_assert_int_eq(edit_run(run, withdraws ? NULL : &after), model[run].there);
            if (model[run].there)
                model[run] = after;
        }
        if (draw(&state, 3)) {
            store_changes();
        } else {
            size_t count;
            index_undo(subject);
            memcpy(model, before, sizeof model);
            model_count = count_before;
            if (model_count)
                ck_assert_ptr_null(index_changed(subject, &count));
        }
        if (file_of(INDEX_MANIFEST_PATH) && draw(&state, 3) == 0)
            check_model(limit);
    }
    store_changes();
    check_model(limit);
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
    Suite *suite = suite_of("index", begin, end, tests, sizeof tests / sizeof *tests);
    TCase *loops = tcase_create("growths");
    tcase_add_checked_fixture(loops, begin, end);
    tcase_add_loop_test(loops, index__goes_on_from_a_known_one_as_from_the_whole, 0,
                        sizeof growths / sizeof *growths);
    tcase_add_loop_test(loops, index__edits_runs_in_place_as_a_model_says, 0, 12);
    tcase_set_timeout(loops, 120);
    suite_add_tcase(suite, loops);
    return suite;
}
