#include <stdio.h>
#include <string.h>

#include "tests/support/stored.h"
#include "tests/support/suite.h"

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
    index_save(stored_index);
    for (size_t i = index_segments(stored_index); edit == INDEX_MISSING && i > 0; i--) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i - 1, path);
        const struct buffer *file =
            index_holds_segment(stored_index, i - 1) ? NULL : stored_file(path);
        edit =
            index_edit_segment(stored_index, i - 1, file ? file->data : NULL, file ? file->size : 0,
                               id, after ? entry.data : NULL, entry.size, &stored_problem);
    }
    if (edit != INDEX_EDITED)
        return false;
    const struct buffer *summary =
        index_holds_summary(stored_index) ? NULL : stored_file(INDEX_SUMMARY_PATH);
    ck_assert_int_ne(index_edit_summary(stored_index, summary ? summary->data : NULL,
                                        summary ? summary->size : 0, id, after ? entry.data : NULL,
                                        entry.size, &stored_problem),
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
    const struct buffer *summary = stored_file(INDEX_SUMMARY_PATH);
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
    stored_manifest_holds(count);
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
    ck_assert_msg(stored_load(limit, compare_with_model, NULL), "%s", stored_problem.message);
    while (model_told < model_count && !model[model_told].there)
        model_told++;
    ck_assert_uint_eq(model_told, model_count);
    ck_assert_uint_eq(index_entries(stored_index), there);
    ck_assert_uint_eq(index_flagged(stored_index), flagged);
}

static const size_t summary_limits[] = {NO_LIMIT, 1500000, 0};

START_TEST(index__edits_runs_in_place_as_a_model_says)
{
    unsigned state = (unsigned)_i * 7 + 1;
    size_t limit = summary_limits[(size_t)_i % (sizeof summary_limits / sizeof *summary_limits)];
    index_free(stored_index);
    stored_index = index_new(limit);
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
                ck_assert(index_append(stored_index, entry.data, entry.size, &stored_problem));
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
            stored_changes();
        } else {
            size_t count;
            index_undo(stored_index);
            memcpy(model, before, sizeof model);
            model_count = count_before;
            if (model_count)
                ck_assert_ptr_null(index_changed(stored_index, &count));
        }
        if (stored_file(INDEX_MANIFEST_PATH) && draw(&state, 3) == 0)
            check_model(limit);
    }
    stored_changes();
    check_model(limit);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("index_edit");
    TCase *loops = tcase_create("models");
    tcase_add_checked_fixture(loops, stored_begin, stored_end);
    tcase_add_loop_test(loops, index__edits_runs_in_place_as_a_model_says, 0, 12);
    tcase_set_timeout(loops, 120);
    suite_add_tcase(suite, loops);
    return suite;
}
