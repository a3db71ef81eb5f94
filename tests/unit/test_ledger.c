#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "github/change/ledger.h"
#include "github/store.h"
#include "tests/support/suite.h"

static struct ledger ledger;
static struct store_error error;

static void begin(void)
{
    ledger_begin(&ledger);
}

static void end(void)
{
    ledger_free(&ledger);
}

static uint64_t append(const char *at, const char *run_id)
{
    struct ledger_event event = {.at = at,
                                 .event = "accept",
                                 .run_id = run_id,
                                 .path = "runs/2026/03/x.json",
                                 .digest = "d",
                                 .submitted_digest = "s",
                                 .rules = 2,
                                 .flags = "[\"a\",\"b\"]",
                                 .nonce_sha256 = "n"};
    return ledger_append(&ledger, &event, NULL);
}

static void assert_changed(size_t i, const char *path, size_t lines)
{
    char changed[LEDGER_PATH_MAX];
    const char *bytes;
    size_t size, count = 0;
    ck_assert(ledger_changed(&ledger, i, changed, &bytes, &size));
    ck_assert_str_eq(changed, path);
    for (size_t at = 0; at < size; at++)
        count += bytes[at] == '\n';
    ck_assert_uint_eq(count, lines);
    ck_assert_int_eq(bytes[size - 1], '\n');
}

static void assert_changes(size_t count)
{
    char path[LEDGER_PATH_MAX];
    const char *bytes;
    size_t size;
    ck_assert(!ledger_changed(&ledger, count, path, &bytes, &size));
    if (count)
        ck_assert(ledger_changed(&ledger, count - 1, path, &bytes, &size));
}

START_TEST(ledger__writes_canonical_lines)
{
    append("2026-03-04T05:06:07.089Z", "run-1");
    char path[LEDGER_PATH_MAX];
    const char *bytes;
    size_t size;
    ck_assert(ledger_changed(&ledger, 0, path, &bytes, &size));
    ck_assert_str_eq(path, "ledger/2026-03-04.jsonl");
    static const char line[] =
        "{\"at\":\"2026-03-04T05:06:07.089Z\",\"digest\":\"d\",\"event\":"
        "\"accept\",\"flags\":[\"a\","
        "\"b\"],\"nonceSha256\":\"n\",\"path\":\"runs/2026/03/x.json\",\"prev\":"
        "\"0000000000000000000000000000000000000000000000000000000000000000"
        "\",\"rules\":2,\"runId\":"
        "\"run-1\",\"seq\":1,\"submittedDigest\":\"s\"}\n";
    ck_assert_uint_eq(size, strlen(line));
    ck_assert_mem_eq(bytes, line, size);
    struct arena arena ARENA_SCOPE = {0};
    struct buffer canonical BUFFER_SCOPE = {0};
    struct js_document document;
    struct js_error problem;
    ck_assert(js_read(&arena, bytes, size, &document, &problem));
    js_print_canonical(&document, &document.root, NULL, &canonical);
    ck_assert_uint_eq(canonical.size, size - 1);
    ck_assert_mem_eq(canonical.data, bytes, canonical.size);
    char hash[SHA256_HEX + 1];
    sha256_hex(bytes, size - 1, hash);
    ck_assert_str_eq(ledger.last, hash);
}
END_TEST

START_TEST(ledger__escapes_who_did_it)
{
    struct ledger_event event = {.at = "2026-03-04T05:06:07.089Z",
                                 .event = "accept",
                                 .run_id = "run-1",
                                 .path = "runs/2026/03/x.json",
                                 .by = "a \"name\"\n"};
    ledger_append(&ledger, &event, NULL);
    char path[LEDGER_PATH_MAX];
    const char *bytes;
    size_t size;
    ck_assert(ledger_changed(&ledger, 0, path, &bytes, &size));
    ck_assert_ptr_nonnull(memmem(bytes, size, "\"by\":\"a \\\"name\\\"\\n\"", 19));
    ck_assert_ptr_null(memmem(bytes, size, "nonceSha256", 11));
}
END_TEST

START_TEST(ledger__begins_a_file_for_a_later_day_only)
{
    ck_assert_uint_eq(append("2026-03-04T05:00:00.000Z", "run-1"), 1);
    ck_assert_uint_eq(append("2026-03-05T05:00:00.000Z", "run-2"), 2);
    ck_assert_uint_eq(append("2026-03-04T06:00:00.000Z", "run-3"),
                      3); /* applied again, keeps its time */
    assert_changed(0, "ledger/2026-03-04.jsonl", 1);
    assert_changed(1, "ledger/2026-03-05.jsonl", 2);
    assert_changes(2);
    ledger_settle(&ledger);
    assert_changes(0);
    append("2026-03-06T00:00:00.000Z", "run-4");
    assert_changed(0, "ledger/2026-03-06.jsonl", 1);
    assert_changes(1);
    ck_assert_str_eq(ledger_day(&ledger), "2026-03-06");
}
END_TEST

START_TEST(ledger__undoes_to_the_last_settling)
{
    append("2026-03-04T05:00:00.000Z", "run-1");
    ledger_settle(&ledger);
    char last[SHA256_HEX + 1];
    strcpy(last, ledger.last);
    append("2026-03-04T06:00:00.000Z", "run-2");
    append("2026-03-07T06:00:00.000Z", "run-3");
    ledger_undo(&ledger);
    ck_assert_uint_eq(ledger.seq, 1);
    ck_assert_str_eq(ledger.last, last);
    ck_assert_str_eq(ledger_day(&ledger), "2026-03-04");
    assert_changes(0);
    ck_assert_uint_eq(append("2026-03-04T06:00:00.000Z", "run-2"), 2);
    assert_changed(0, "ledger/2026-03-04.jsonl", 2);
    ledger_undo(&ledger);
    ledger_free(&ledger);
    ledger_begin(&ledger);
    append("2026-03-04T06:00:00.000Z", "run-2");
    ledger_undo(&ledger);
    assert_changes(0);
    ck_assert_str_eq(ledger_day(&ledger), "");
}
END_TEST

static void count_line(void *context, const struct ledger_line *line)
{
    size_t *count = context;
    ck_assert_uint_eq(line->seq, ++*count);
}

/* The bytes of the only day file. */
static void take_day(struct buffer *out)
{
    char path[LEDGER_PATH_MAX];
    const char *bytes;
    size_t size;
    ck_assert(ledger_changed(&ledger, 0, path, &bytes, &size));
    out->size = 0;
    buffer_add(out, bytes, size);
}

START_TEST(ledger__reads_what_it_wrote_and_what_was_added)
{
    struct buffer two BUFFER_SCOPE = {0};
    struct buffer three BUFFER_SCOPE = {0};
    append("2026-03-04T05:00:00.000Z", "run-1");
    append("2026-03-04T05:00:00.000Z", "run-2");
    take_day(&two);
    append("2026-03-04T05:00:00.000Z", "run-3");
    take_day(&three);
    ledger_free(&ledger);
    ledger_begin(&ledger);
    size_t count = 0;
    ck_assert(ledger_read(&ledger, "2026-03-04", two.data, two.size, count_line, &count, &error));
    ck_assert_uint_eq(count, 2);
    ck_assert(
        ledger_read(&ledger, "2026-03-04", three.data, three.size, count_line, &count, &error));
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(ledger.seq, 3);
    assert_changes(0);
    ck_assert(!ledger_read(&ledger, "2026-03-04", two.data, two.size, NULL, NULL, &error));
    ck_assert(!ledger_read(&ledger, "2026-03-03", two.data, two.size, NULL, NULL, &error));
    ck_assert_uint_eq(append("2026-03-05T05:00:00.000Z", "run-4"), 4);
}
END_TEST

START_TEST(ledger__finds_every_break_of_the_chain)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    append("2026-03-04T05:00:00.000Z", "run-1");
    append("2026-03-04T05:00:00.000Z", "run-2");
    append("2026-03-04T05:00:00.000Z", "run-3");
    take_day(&bytes);
    size_t first = strcspn(buffer_string(&bytes), "\n") + 1;
    struct ledger other;
    /* any byte of the first two lines, a missing line, a torn last one */
    for (size_t i = 0; i < 2 * first; i++) {
        bytes.data[i] ^= 1;
        ledger_begin(&other);
        ck_assert_msg(
            !ledger_read(&other, "2026-03-04", bytes.data, bytes.size, NULL, NULL, &error),
            "byte %zu", i);
        ck_assert_uint_eq(other.seq, 0);
        ledger_free(&other);
        bytes.data[i] ^= 1;
    }
    ledger_begin(&other);
    ck_assert(!ledger_read(&other, "2026-03-04", bytes.data + first, bytes.size - first, NULL, NULL,
                           &error));
    ck_assert(!ledger_read(&other, "2026-03-04", bytes.data, bytes.size - 1, NULL, NULL, &error));
    ck_assert(ledger_read(&other, "2026-03-04", bytes.data, bytes.size, NULL, NULL, &error));
    ledger_free(&other);
}
END_TEST

/* A first line with MEMBERS. */
static bool reads(const char *members)
{
    struct buffer line BUFFER_SCOPE = {0};
    struct ledger other;
    buffer_format(&line, "{\"prev\":\"%064d\",\"seq\":1,%s}\n", 0, members);
    ledger_begin(&other);
    bool fine = ledger_read(&other, "2026-03-04", line.data, line.size, NULL, NULL, &error);
    ledger_free(&other);
    return fine;
}

START_TEST(ledger__refuses_lines_that_name_no_run)
{
    static const char *const broken[] = {
        "\"event\":\"accept\"",
        "\"event\":\"accept\",\"runId\":7",
        "\"event\":\"decide\",\"runId\":\"\"",
        "\"event\":\"accept\",\"runId\":\"a\\u0000b\"",
        "\"event\":\"withdraw\",\"runId\":\"a\",\"path\":\"README.md\"",
        "\"event\":\"accept\",\"runId\":\"a\",\"path\":\"runs/2026/03/.json\"",
        "\"event\":\"accept\",\"runId\":\"a\",\"path\":\"runs/2026/3x/a.json\"",
        "\"event\":\"accept\",\"runId\":\"a\",\"path\":\"runs/2026/03/a/../../b.json\"",
        "\"event\":\"accept\",\"runId\":\"a\",\"path\":\"runs/2026/03/a\\u0000.json\"",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        ck_assert_msg(!reads(broken[i]), "%s", broken[i]);
        ck_assert_ptr_nonnull(strstr(error.message, "2026-03-04.jsonl: the line after seq 0 has"));
        ck_assert(strstr(error.message, "that a run could have") ||
                  strstr(error.message, "that no run could have"));
    }
    char longest[128];
    for (int size = RUN_ID_MAX; size <= RUN_ID_MAX + 1; size++) {
        snprintf(longest, sizeof longest, "\"event\":\"accept\",\"runId\":\"%0*d\"", size, 0);
        ck_assert_int_eq(reads(longest), size == RUN_ID_MAX);
    }
    static const char *const sound[] = {
        "\"event\":\"audit\",\"runId\":7,\"path\":\"..\"",
        ("\"event\":\"accept\",\"runId\":\"a\",\"path\":\"runs/2026/03/a.json\",\"rules\":1e300,"
         "\"flags\":{},\"more\":[1]"),
        "\"event\":\"redact\",\"runId\":\"a\"",
    };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        ck_assert_msg(reads(sound[i]), "%s", error.message);
}
END_TEST

START_TEST(ledger__knows_its_paths)
{
    char day[LEDGER_DAY + 1];
    ck_assert(ledger_path_day("ledger/2026-03-04.jsonl", day));
    ck_assert_str_eq(day, "2026-03-04");
    ck_assert(!ledger_path_day("ledger/2026-03-4x.jsonl", day));
    ck_assert(!ledger_path_day("ledger/2026-03-04.json", day));
    ck_assert(!ledger_path_day("ledger/README.md", day));
    ck_assert(!ledger_path_day("ledger/a/2026-03-04.jsonl", day));
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        ledger__writes_canonical_lines,
        ledger__escapes_who_did_it,
        ledger__begins_a_file_for_a_later_day_only,
        ledger__undoes_to_the_last_settling,
        ledger__reads_what_it_wrote_and_what_was_added,
        ledger__finds_every_break_of_the_chain,
        ledger__refuses_lines_that_name_no_run,
        ledger__knows_its_paths,
    };
    return suite_of("ledger", begin, end, tests, sizeof tests / sizeof *tests);
}
