#include <stdio.h>
#include <stdlib.h>

#include "aggregate/board.h"
#include "aggregate/device.h"
#include "tests/support/suite.h"

static const char *const shown[] = {"localmode-bench/5", "localmode-bench/4", NULL};
static struct board *board;
static struct buffer out;

static void set_up(void)
{
    board = board_new(shown);
    out = (struct buffer){0};
}

static void tear_down(void)
{
    board_free(board);
    buffer_free(&out);
}

static const struct {
    const char *platform, *vendor, *architecture, *model, *class, *subclass;
    bool available;
} devices[] = {
    {"Android", "qualcomm", "adreno-6xx", "Adreno (TM) 650", "android/qualcomm-adreno-6xx",
     "android/adreno-650", true},
    {"macOS", "apple", "metal-3", "Apple M4", "macos/apple-metal-3", "macos/apple-m4", true},
    {"Chrome OS", NULL, NULL, NULL, "chrome-os/gpu", "chrome-os/gpu", true},
    {"Linux", "", "gen9", NULL, "linux/gen9", "linux/gen9", true},
    {"Linux", "", "", "GTX 1080", "linux/", "linux/gtx-1080", true},
    {"Linux", "intel", "xe-lpg", "Mesa Intel(R) Arc(tm) Graphics (MTL)", "linux/intel-xe-lpg",
     "linux/intel-xe-lpg", true}, /* no digit */
    {"Linux", "intel", "", "Mesa Intel(R) UHD 620", "linux/intel", "linux/intel-uhd-620", true},
    {"Linux", "intel", "", "Mesamax 2", "linux/intel", "linux/mesamax-2", true},
    {"Windows", "nvidia", "ada", "RTX 4090 or Similar", "windows/nvidia-ada", "windows/nvidia-ada",
     true},
    {"Windows", "nvidia", "ada", "RTX 4090", "windows/no-webgpu", "windows/no-webgpu", false},
    {"Win\xC2\xA0 X", "amd", "rdna", "  ", "win-x/amd-rdna", "win-x/amd-rdna", true},
    {"Linux", "amd", "rdna", "\xC3\xA9 \xC2\xB2 9", "linux/amd-rdna", "linux/9", true},
};

static struct js_value value(const char *text)
{
    return js_make_string(text ? text : "", text ? strlen(text) : 0);
}

START_TEST(device__names_follow_the_specification)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_value platform = value(devices[_i].platform), vendor = value(devices[_i].vendor),
                    architecture = value(devices[_i].architecture),
                    model = value(devices[_i].model);
    struct text class = device_class(&arena, text_of(&platform), devices[_i].available,
                                     devices[_i].vendor ? &vendor : NULL,
                                     devices[_i].architecture ? &architecture : NULL);
    struct text subclass = device_subclass(&arena, class, devices[_i].model ? &model : NULL);
    ck_assert_str_eq(arena_copy(&arena, class.data, class.size), devices[_i].class);
    ck_assert_str_eq(arena_copy(&arena, subclass.data, subclass.size), devices[_i].subclass);
}
END_TEST

static void add(const char *entry)
{
    ck_assert_msg(board_add(board, entry, strlen(entry)), "%s", entry);
}

/* An entry with one LLM cell on a device, its decode rate and whether the model was cached. */
static void add_run(const char *id, const char *created, const char *browser, const char *device,
                    double rate, bool cached)
{
    BUFFER_SCOPE struct buffer entry = {0};
    buffer_format(&entry,
                  "{\"runId\":\"%s\",\"createdAt\":\"%s\",\"protocol\":\"localmode-bench/5\","
                  "\"deviceClass\":\"%s\",\"deviceSubclass\":\"%s\",\"browser\":\"%s\","
                  "\"flagged\":false,\"cells\":[{\"cellId\":\"c\",\"runtimeId\":\"webllm\","
                  "\"benchModelId\":\"m\",\"modelName\":\"M of %s\",\"workloadId\":\"w\","
                  "\"resolvedBackend\":\"webgpu\",\"decodeCharsPerSec\":%.17g,\"loadMs\":%.17g,"
                  "\"loadCached\":%s,\"streamIncremental\":true,\"highVariance\":false}]}",
                  id, created, device, device, browser, id, rate, rate * 2,
                  cached ? "true" : "false");
    add(buffer_string(&entry));
}

static const char *rows(const struct board_query *filter)
{
    out.size = 0;
    board_write_rows(board, filter, &out);
    return buffer_string(&out);
}

START_TEST(board__groups_and_takes_medians)
{
    add_run("run-1", "2026-01-01T00:00:00Z", "Firefox", "linux/x", 10, true);
    add_run("run-2", "2026-01-03T00:00:00Z", "Chrome", "linux/x", 20.126, false);
    add_run("run-3", "2026-01-02T00:00:00Z", "Chrome", "linux/x", 40, true);
    ck_assert_str_eq(
        rows(NULL),
        "[{\"protocol\":\"localmode-bench/5\",\"deviceClass\":\"linux/x\","
        "\"deviceSubclass\":\"linux/x\",\"runtimeId\":\"webllm\",\"benchModelId\":\"m\","
        "\"modelName\":\"M of run-1\",\"workloadId\":\"w\",\"submissions\":3,\"devices\":2,"
        "\"decodeCharsPerSec\":20.13,\"loadColdMs\":40.25,\"loadWarmMs\":50,"
        "\"resolvedBackends\":[\"webgpu\"],\"browsers\":[\"Chrome\",\"Firefox\"],"
        "\"highVariance\":false,\"streamIncremental\":true,\"provisional\":false}]");
}
END_TEST

START_TEST(board__is_the_same_however_entries_arrive)
{
    struct board *other = board_new(shown);
    BUFFER_SCOPE struct buffer at_once = {0};
    struct board *mine = board;
    for (int i = 0; i < 60; i++) {
        char id[16];
        snprintf(id, sizeof id, "run-%05d", i);
        for (int pass = 0; pass < 2; pass++) {
            board = pass ? other : mine;
            add_run(id, "2026-01-01T00:00:00Z", i % 3 ? "A" : "B", i % 2 ? "l/x" : "l/y",
                    (double)(i * 7919 % 101), i % 5 == 0);
        }
        board = mine;
        rows(NULL); /* settles after every entry; the other one at the end */
    }
    board_write_rows(other, NULL, &at_once);
    ck_assert_str_eq(rows(NULL), buffer_string(&at_once));
    board_free(other);
}
END_TEST

START_TEST(board__forgets_what_is_removed)
{
    add_run("run-1", "2026-01-01T00:00:00Z", "Firefox", "linux/x", 10, true);
    BUFFER_SCOPE struct buffer before = {0};
    buffer_text(&before, rows(NULL));
    add_run("run-2", "2026-01-01T00:00:00Z", "Chrome", "linux/x", 30, false);
    add_run("run-3", "2026-01-01T00:00:00Z", "Chrome", "linux/z", 30, false);
    ck_assert(board_remove(board, "run-2"));
    ck_assert(board_remove(board, "run-3"));
    ck_assert(!board_remove(board, "run-3"));
    ck_assert_str_eq(rows(NULL), buffer_string(&before));
    ck_assert_uint_eq(board_entries(board), 1);
}
END_TEST

START_TEST(board__is_after_a_release_as_if_the_run_had_never_been_flagged)
{
    static const char flagged[] =
        "{\"runId\":\"run-1\",\"protocol\":\"localmode-bench/5\",\"flagged\":true,\"cells\":[]}";
    struct board *other = board_new(shown), *mine = board;
    BUFFER_SCOPE struct buffer wanted = {0};
    static const char *const ids[] = {"run-0", "run-1", "run-2"};
    for (int pass = 0; pass < 2; pass++) {
        board = pass ? other : mine;
        for (int i = 0; i < 3; i++) {
            if (i == 1 && !pass)
                add(flagged);
            else
                add_run(ids[i], "2026-01-01T00:00:00Z", ids[i], "l/x", 10 + i, i == 1);
        }
    }
    board_remove(mine, "run-0"); /* the released run is then the first of its row */
    board_remove(other, "run-0");
    BUFFER_SCOPE struct buffer released = {0};
    board = mine;
    buffer_format(&released,
                  "{\"runId\":\"run-1\",\"createdAt\":\"2026-01-01T00:00:00Z\","
                  "\"protocol\":\"localmode-bench/5\",\"deviceClass\":\"l/x\",\"deviceSubclass\":"
                  "\"l/x\",\"browser\":\"run-1\",\"flagged\":false,\"cells\":[{\"cellId\":\"c\","
                  "\"runtimeId\":\"webllm\",\"benchModelId\":\"m\",\"modelName\":\"M of run-1\","
                  "\"workloadId\":\"w\",\"resolvedBackend\":\"webgpu\",\"decodeCharsPerSec\":11,"
                  "\"loadMs\":22,\"loadCached\":true,\"streamIncremental\":true,"
                  "\"highVariance\":false}]}");
    ck_assert(board_replace(mine, buffer_string(&released), released.size));
    for (int i = 0; i < 2; i++) { /* and flagged again, and released again */
        ck_assert(board_replace(mine, flagged, sizeof flagged - 1));
        ck_assert(board_replace(mine, buffer_string(&released), released.size));
    }
    wanted.size = 0;
    board_write_snapshot(other, NULL, NULL, "t", &wanted);
    out.size = 0;
    board_write_snapshot(mine, NULL, NULL, "t", &out);
    ck_assert_str_eq(buffer_string(&out), buffer_string(&wanted));
    ck_assert(!board_replace(mine, "{\"runId\":\"run-9\"}", 17));
    ck_assert(!board_replace(mine, "{", 1));
    board_free(other);
}
END_TEST

START_TEST(board__counts_but_hides_flagged_and_foreign_entries)
{
    add_run("run-1", "2026-01-01T00:00:00Z", "Firefox", "linux/x", 10, true);
    add("{\"runId\":\"run-2\",\"protocol\":\"localmode-bench/5\",\"flagged\":true,\"cells\":[]}");
    add("{\"runId\":\"run-3\",\"protocol\":\"localmode-bench/3\",\"flagged\":false,\"cells\":[]}");
    add("{\"runId\":\"run-4\",\"flagged\":false,\"cells\":[]}");
    board_write_snapshot(board, NULL, "o/n", "2026-01-01T00:00:00.000Z", &out);
    ck_assert_ptr_nonnull(strstr(buffer_string(&out),
                                 "\"runs\":1,\"protocols\":[\"localmode-bench/5\","
                                 "\"localmode-bench/4\"],\"repo\":\"o/n\""));
    ck_assert_ptr_nonnull(strstr(out.data, "\"entries\":4,\"generatedAt\":"));
    ck_assert_ptr_null(strstr(out.data, "run-2"));
}
END_TEST

START_TEST(board__refuses_what_is_no_entry)
{
    ck_assert(!board_add(board, "{", 1));
    ck_assert(!board_add(board, "[]", 2));
    ck_assert(!board_add(board, "{\"runId\":7}", 11));
    ck_assert_uint_eq(board_entries(board), 0);
}
END_TEST

START_TEST(board__lists_the_newest_25_without_cells)
{
    for (int i = 0; i < 40; i++) {
        char id[16], created[32];
        snprintf(id, sizeof id, "run-%02d", i);
        snprintf(created, sizeof created, "2026-01-%02dT00:00:00Z", 1 + i * 7 % 28);
        add_run(id, created, "A", "l/x", 1, true);
    }
    board_write_snapshot(board, NULL, NULL, "t", &out);
    const char *at = strstr(buffer_string(&out), "\"recentSubmissions\":[");
    char last[32] = "9";
    int count = 0;
    for (; (at = strstr(at, "\"createdAt\":\"")) != NULL; at += 13, count++) {
        char created[21] = "";
        memcpy(created, at + 13, 20);
        ck_assert_int_le(strcmp(created, last), 0);
        memcpy(last, created, sizeof created);
    }
    ck_assert_int_eq(count, 25);
    ck_assert_ptr_null(strstr(strstr(out.data, "\"recentSubmissions\""), "\"cells\""));
}
END_TEST

static const char *recent_submissions(const struct board_query *query)
{
    out.size = 0;
    board_write_snapshot(board, query, NULL, "t", &out);
    return strstr(buffer_string(&out), "\"recentSubmissions\":[");
}

/* What the board keeps of them is what a look at all entries, which a filter takes, finds. */
START_TEST(board__keeps_the_newest_as_entries_come_and_go)
{
    struct board_query all = {.equal[BY_PROTOCOL] = "localmode-bench/5"};
    for (int i = 0; i < 120; i++) {
        char id[16], created[32], *kept;
        snprintf(id, sizeof id, "run-%03d", i);
        snprintf(created, sizeof created, "2026-01-%02dT00:00:00Z", 1 + i * 7 % 11);
        add_run(id, created, "A", "l/x", 1, true);
        snprintf(id, sizeof id, "run-%03d", i / 2 * 2);
        if (i % 5 == 4)
            board_remove(board, id);
        kept = strdup(recent_submissions(NULL));
        ck_assert_str_eq(kept, recent_submissions(&all));
        free(kept);
    }
    ck_assert_uint_lt(board_entries(board), 120);
}
END_TEST

START_TEST(board__filters_entries_and_cells_before_grouping)
{
    add_run("run-1", "2026-01-01T00:00:00Z", "Firefox", "linux/x", 10, true);
    add_run("run-2", "2026-01-02T00:00:00Z", "Chrome", "linux/x", 30, true);
    struct board_query filter = {.equal[BY_BROWSER] = "Chrome"};
    ck_assert_ptr_nonnull(
        strstr(rows(&filter), "\"submissions\":1,\"devices\":1,\"decodeCharsPerSec\":30"));
    filter = (struct board_query){.equal[BY_RUNTIME] = "other"};
    ck_assert_str_eq(rows(&filter), "[]");
    out.size = 0;
    board_write_snapshot(board, &filter, NULL, "t", &out);
    ck_assert_ptr_nonnull(strstr(buffer_string(&out), "\"runs\":0,"));
    ck_assert_ptr_nonnull(strstr(out.data, "\"entries\":2,"));
}
END_TEST

START_TEST(board__orders_protocols_as_numbers)
{
    static const char *const many[] = {"localmode-bench/9", "localmode-bench/10", NULL};
    board_free(board);
    board = board_new(many);
    for (int i = 9; i <= 10; i++) {
        char entry[512];
        snprintf(entry, sizeof entry,
                 "{\"runId\":\"run-%d\",\"createdAt\":\"t\",\"protocol\":\"localmode-bench/%d\","
                 "\"deviceClass\":\"a\",\"flagged\":false,\"cells\":[{\"runtimeId\":\"r\","
                 "\"benchModelId\":\"m\",\"workloadId\":\"w\"}]}",
                 i, i);
        add(entry);
    }
    const char *text = rows(NULL);
    ck_assert(strstr(text, "bench/10") < strstr(text, "bench/9"));
}
END_TEST

START_TEST(board__csv_quotes_and_disarms_formulas)
{
    add_run("run-1", "2026-01-01T00:00:00Z", "=cmd(),x", "linux/x", 10, true);
    add_run("run-2", "2026-01-01T00:00:00Z", "Firefox", "linux/x", 10, true);
    board_write_csv(board, NULL, &out);
    ck_assert_str_eq(
        buffer_string(&out),
        "protocol,deviceClass,deviceSubclass,runtimeId,benchModelId,modelName,workloadId,"
        "submissions,ttftMs,decodeCharsPerSec,overallCharsPerSec,singleLatencyMs,"
        "batchTextsPerSec,loadColdMs,loadWarmMs,qualityScore,qualityParseRate,"
        "resolvedBackends,browsers,highVariance,provisional\n"
        "localmode-bench/5,linux/x,linux/x,webllm,m,M of run-1,w,2,,10,,,,,20,,,webgpu,"
        "\"'=cmd(),x;Firefox\",false,true\n");
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("board");
    TCase *tests = tcase_create("board");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, device__names_follow_the_specification, 0,
                        sizeof devices / sizeof *devices);
    tcase_add_test(tests, board__groups_and_takes_medians);
    tcase_add_test(tests, board__is_the_same_however_entries_arrive);
    tcase_add_test(tests, board__forgets_what_is_removed);
    tcase_add_test(tests, board__is_after_a_release_as_if_the_run_had_never_been_flagged);
    tcase_add_test(tests, board__counts_but_hides_flagged_and_foreign_entries);
    tcase_add_test(tests, board__refuses_what_is_no_entry);
    tcase_add_test(tests, board__lists_the_newest_25_without_cells);
    tcase_add_test(tests, board__keeps_the_newest_as_entries_come_and_go);
    tcase_add_test(tests, board__filters_entries_and_cells_before_grouping);
    tcase_add_test(tests, board__orders_protocols_as_numbers);
    tcase_add_test(tests, board__csv_quotes_and_disarms_formulas);
    suite_add_tcase(suite, tests);
    return suite;
}
