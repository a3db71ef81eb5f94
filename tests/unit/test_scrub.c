#include <stdio.h>

#include "tests/support/suite.h"
#include "validator/calendar.h"
#include "validator/scrub.h"

static struct arena arena;
static struct buffer out;

static void set_up(void)
{
    arena = (struct arena){0};
    out = (struct buffer){0};
}

static void tear_down(void)
{
    arena_free(&arena);
    buffer_free(&out);
}

/* Scrubs TEXT as of 2026-09-21T21:46:18.964Z into OUT, and says what was removed, joined by spaces. */
static const char *scrub_text(const char *text, enum digest_status digest)
{
    static char removed[1024];
    struct js_document document;
    struct js_error error;
    struct scrubbed scrubbed;
    ck_assert(js_read(&arena, text, strlen(text), &document, &error));
    scrub(&arena, &document, digest, 1790027178964.0, &scrubbed);
    js_print(&scrubbed.document, &scrubbed.document.root, &out);
    *removed = '\0';
    for (size_t i = 0; i < scrubbed.removed_count; i++)
        snprintf(removed + strlen(removed), sizeof removed - strlen(removed), "%s%s", i ? " " : "",
                 scrubbed.removed[i]);
    if (scrubbed.changed) { /* the published form verifies */
        struct js_document published;
        ck_assert(js_read(&arena, buffer_string(&out), out.size, &published, &error));
        ck_assert_int_eq(digest_verify(&published).status, DIGEST_OK);
        ck_assert(js_equals(js_get(&published.root, "digest"), scrubbed.digest));
    }
    return removed;
}

START_TEST(scrub__leaves_a_clean_run_alone)
{
    static const char text[] = "{\"schemaVersion\":2,\"environment\":{\"power\":{\"level\":0.5},"
                               "\"locale\":{\"locale\":\"de\"}},\"digest\":\"x\"}";
    ck_assert_str_eq(scrub_text(text, DIGEST_OK), "");
    ck_assert_str_eq(buffer_string(&out), text);
}
END_TEST

START_TEST(scrub__takes_the_nonce_without_counting_it)
{
    ck_assert_str_eq(scrub_text("{\"a\":1,\"nonce\":\"n\",\"digest\":\"x\"}", DIGEST_OK), "nonce");
    ck_assert_str_eq(buffer_string(&out), "{\"a\":1,\"digest\":\"x\"}");
}
END_TEST

START_TEST(scrub__counts_a_nonce_that_the_digest_covered)
{
    scrub_text("{\"digest\":\"x\",\"nonce\":\"n\",\"schemaVersion\":3}", DIGEST_LEGACY);
    ck_assert_msg(strstr(buffer_string(&out), "\"schemaVersion\":3,\"scrubbedAt\":"
                                              "\"2026-09-21T21:46:18.964Z\"}") != NULL,
                  "%s", out.data);
    ck_assert_int_eq(strncmp(out.data, "{\"digest\":\"", 11), 0); /* keeps its place */
}
END_TEST

START_TEST(scrub__removes_every_identifying_field_in_order)
{
    ck_assert_str_eq(
        scrub_text(
            "{\"schemaVersion\":1,\"nonce\":\"n\",\"environment\":{"
            "\"locale\":{\"calendar\":1,\"timeZone\":2,\"locale\":3,\"timeZoneOffsetMinutes\":4},"
            "\"languages\":[],\"power\":{\"chargingTimeSec\":1,\"level\":0.13,"
            "\"dischargingTimeSec\":null,\"charging\":true},"
            "\"display\":{\"prefersColorScheme\":1,\"prefersReducedMotion\":2,\"hdr\":3},"
            "\"userReportedHardware\":{\"gpu\":\"  RTX \\u0007\\u2028 4090  \"}}}",
            DIGEST_OK),
        "nonce environment.locale.timeZone environment.locale.timeZoneOffsetMinutes "
        "environment.locale.calendar environment.languages environment.power.chargingTimeSec "
        "environment.power.dischargingTimeSec environment.power.level "
        "environment.display.prefersReducedMotion environment.display.prefersColorScheme "
        "environment.userReportedHardware.gpu schemaVersion");
    static const char wanted[] =
        "{\"schemaVersion\":3,\"environment\":{\"locale\":{\"locale\":3},"
        "\"power\":{\"level\":0.25,\"charging\":true},\"display\":{\"hdr\":3},"
        "\"userReportedHardware\":{\"gpu\":\"RTX 4090\"}},"
        "\"scrubbedAt\":\"2026-09-21T21:46:18.964Z\",\"digest\":\"";
    ck_assert_msg(strncmp(buffer_string(&out), wanted, strlen(wanted)) == 0, "%s", out.data);
}
END_TEST

START_TEST(scrub__rounds_the_level_half_up)
{
    static const struct {
        const char *text, *level;
    } levels[] = {{"0.125", "0.25"}, {"0.1249", "0"}, {"0.875", "1"},
                  {"1", "1"},        {"0.62", "0.5"}, {"1e+308", "1e+308"}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        char text[128], wanted[64];
        snprintf(text, sizeof text, "{\"environment\":{\"power\":{\"level\":%s}}}", levels[i].text);
        snprintf(wanted, sizeof wanted, "{\"level\":%s}", levels[i].level);
        out.size = 0;
        scrub_text(text, DIGEST_OK);
        ck_assert_msg(strstr(buffer_string(&out), wanted) != NULL, "%s", out.data);
    }
}
END_TEST

START_TEST(scrub__cuts_the_gpu_at_64_units)
{
    /* 63 letters, then an emoji that the cut splits: its high half stays. */
    scrub_text("{\"environment\":{\"userReportedHardware\":{\"gpu\":\""
               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\ud83d\\ude00\"}}}",
               DIGEST_OK);
    ck_assert_ptr_nonnull(strstr(buffer_string(&out), "aaa\\ud83d\""));
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("scrub");
    TCase *tests = tcase_create("scrub");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, scrub__leaves_a_clean_run_alone);
    tcase_add_test(tests, scrub__takes_the_nonce_without_counting_it);
    tcase_add_test(tests, scrub__counts_a_nonce_that_the_digest_covered);
    tcase_add_test(tests, scrub__removes_every_identifying_field_in_order);
    tcase_add_test(tests, scrub__rounds_the_level_half_up);
    tcase_add_test(tests, scrub__cuts_the_gpu_at_64_units);
    suite_add_tcase(suite, tests);
    return suite;
}
