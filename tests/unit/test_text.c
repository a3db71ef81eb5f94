#include "tests/support/suite.h"
#include "validator/calendar.h"
#include "validator/sha256.h"
#include "validator/stats.h"
#include "validator/text.h"

static struct text text(const char *characters)
{
    return (struct text){characters, strlen(characters)};
}

static void assert_text(struct text got, const char *wanted)
{
    ck_assert_msg(got.size == strlen(wanted) && memcmp(got.data, wanted, got.size) == 0,
                  "'%.*s' instead of '%s'", (int)got.size, got.data, wanted);
}

START_TEST(text__trims_javascript_white_space)
{
    assert_text(text_trim(text(" \t\r\n\v\f\xEF\xBB\xBF\xC2\xA0 a b\xE3\x80\x80\xE2\x80\xA8 ")),
                "a b");
    assert_text(text_trim(text("\xC2\x85 x \xC2\x85")), "\xC2\x85 x \xC2\x85"); /* U+0085 is none */
    assert_text(text_trim(text(" \xE2\x80\x89 ")), "");
    assert_text(text_trim(text("")), "");
}
END_TEST

/* The hash was recorded from Node: every code point but surrogates, toLowerCase, a comma. */
START_TEST(text__lowers_every_code_point_as_node_does)
{
    ARENA_SCOPE struct arena arena = {0};
    BUFFER_SCOPE struct buffer all = {0};
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        BUFFER_SCOPE struct buffer one = {0};
        text_put(&one, code);
        struct text lower = text_lower(&arena, (struct text){one.data, one.size});
        buffer_add(&all, lower.data, lower.size);
        buffer_byte(&all, ',');
        arena_free(&arena);
    }
    char hex[SHA256_HEX + 1];
    sha256_hex(all.data, all.size, hex);
    ck_assert_str_eq(hex, "3e698ce545d631e64af6de954f6d03d978ed67c1ba60b3af4c1c0311f395085b");
}
END_TEST

/* Recorded from Node. */
static const struct {
    const char *text, *lower;
} sigmas[] = {{"ΑΣ", "ας"},   {"ΑΣΑ", "ασα"}, {"Σ", "σ"},
              {"ΑΣ.", "ας."}, {"Α.Σ", "α.ς"}, {"ΑΣ́", "ας́"},
              {"ΑΣ́Α", "ασ́α"}, {"İI", "i̇i"},   {"\U00010400Σ", "\U00010428ς"}};

START_TEST(text__lowers_a_final_sigma_by_its_neighbours)
{
    ARENA_SCOPE struct arena arena = {0};
    assert_text(text_lower(&arena, text(sigmas[_i].text)), sigmas[_i].lower);
}
END_TEST

START_TEST(text__cuts_by_units_and_may_split_a_pair)
{
    ARENA_SCOPE struct arena arena = {0};
    assert_text(text_cut(&arena, text("abc"), 2), "ab");
    assert_text(text_cut(&arena, text("abc"), 9), "abc");
    assert_text(text_cut(&arena, text("a\xF0\x9F\x98\x80z"), 3), "a\xF0\x9F\x98\x80");
    assert_text(text_cut(&arena, text("a\xF0\x9F\x98\x80z"), 2), "a\xED\xA0\xBD"); /* U+D83D */
    ck_assert_uint_eq(text_units(text("a\xF0\x9F\x98\x80\xE2\x82\xAC")), 4);
}
END_TEST

START_TEST(text__ignores_ascii_case_only)
{
    ck_assert(text_contains(text("Google SwiftShader"), "swiftshader"));
    ck_assert(!text_contains(text("wiftshader"), "swiftshader"));
    ck_assert(!text_contains(text("\xC5\xBFwiftshader"), "swiftshader")); /* long s */
    ck_assert(text_is(text("ApPle"), "apple"));
    ck_assert(!text_is(text("apples"), "apple"));
}
END_TEST

/* MS of Date.parse; 0 year: not a time. */
static const struct {
    const char *text;
    double ms;
    int year, month;
} times[] = {
    {"2026-09-21T21:46:18.964Z", 1790027178964.0, 2026, 9},
    {"2026-12-31T23:30:00-01:00", 1798763400000.0, 2027, 1},
    {"2024-02-29T00:00:00.123456Z", 1709164800123.0, 2024, 2},
    {"1970-01-01T00:00:00Z", 0, 1970, 1},
    {"2026-02-29T00:00:00Z", 0, 0, 0},
    {"2026-13-01T00:00:00Z", 0, 0, 0},
    {"2026-00-01T00:00:00Z", 0, 0, 0},
    {"2026-04-31T00:00:00Z", 0, 0, 0},
    {"2026-01-01T24:00:00Z", 0, 0, 0},
    {"2026-01-01T00:60:00Z", 0, 0, 0},
    {"2026-01-01T00:00:60Z", 0, 0, 0},
    {"2026-01-01T00:00:00", 0, 0, 0},
    {"2026-01-01T00:00:00.Z", 0, 0, 0},
    {"2026-01-01T00:00:00+0100", 0, 0, 0},
    {"2026-01-01T00:00:00+24:00", 0, 0, 0},
    {"2026-01-01T00:00:00Z ", 0, 0, 0},
    {"2026-1-01T00:00:00Z", 0, 0, 0},
    {"0000-01-01T00:00:00+00:01", 0, 0, 0},
};

START_TEST(calendar__reads_times_that_exist)
{
    double ms;
    int year, month;
    bool read = calendar_read(text(times[_i].text), &ms, &year, &month);
    ck_assert_msg(read == (times[_i].year != 0), "%s", times[_i].text);
    if (!read)
        return;
    ck_assert_double_eq(ms, times[_i].ms);
    ck_assert_int_eq(year, times[_i].year);
    ck_assert_int_eq(month, times[_i].month);
}
END_TEST

START_TEST(calendar__prints_what_it_reads)
{
    char printed[CALENDAR_SIZE];
    for (double ms = -1e12; ms < 4e12; ms += 86413579997.0) {
        double back;
        int year, month;
        calendar_print(ms, printed);
        ck_assert(calendar_read(text(printed), &back, &year, &month));
        ck_assert_double_eq(back, ms);
    }
    calendar_print(1790027178964.0, printed);
    ck_assert_str_eq(printed, "2026-09-21T21:46:18.964Z");
}
END_TEST

/* Recorded from a JavaScript computation of spec 02. */
START_TEST(stats__equal_javascript_to_the_last_bit)
{
    static const double values[] = {51.279999999998836, 66.29999999999927, 54.97999999999956};
    double scratch[3];
    struct sample sample = sample_of(values, 3, scratch);
    ck_assert(sample.median == 54.97999999999956 && sample.mean == 57.51999999999922 &&
              sample.sd == 7.825522346783119 && sample.iqr == 7.510000000000218 &&
              sample.ci95 == 19.44124416619846 && sample.cv == 0.13604871951987527);
    sample = sample_of(values, 1, scratch);
    ck_assert(sample.sd == 0 && sample.ci95 == 0 && sample.cv == 0 && sample.iqr == 0);
    ck_assert_uint_eq(sample_of(values, 0, scratch).n, 0);
}
END_TEST

START_TEST(stats__use_the_last_t_beyond_thirty_degrees)
{
    double values[40], scratch[40];
    for (int i = 0; i < 40; i++)
        values[i] = i % 2;
    struct sample at_30 = sample_of(values, 31, scratch), at_39 = sample_of(values, 40, scratch);
    ck_assert(at_30.ci95 == 2.042 * at_30.sd / __builtin_sqrt(31));
    ck_assert(at_39.ci95 == 2.042 * at_39.sd / __builtin_sqrt(40));
}
END_TEST

static const struct {
    const char *bytes;
    bool formed;
} forms[] = {
    {"", true},
    {"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", true},
    {"\xED\xA0\xBD", true}, /* a lone surrogate, as our texts hold it */
    {"\xF4\x8F\xBF\xBF", true},
    {"\xF4\x90\x80\x80", false},
    {"\xF8\x88\x80\x80\x80", false},
    {"a\xFF", false},
    {"\xC3", false},
    {"\xC3(", false},
    {"\xE2\x82", false},
    {"\xF0\x9F\x98", false},
    {"\x80", false},
    {"\xC0\xAF", false},
    {"\xE0\x80\xAF", false},
    {"\xF0\x80\x80\xAF", false},
};

START_TEST(text__tells_well_formed_from_not)
{
    ck_assert_int_eq(text_is_formed(text(forms[_i].bytes)), forms[_i].formed);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, text__trims_javascript_white_space);
    tcase_add_test(tests, text__lowers_every_code_point_as_node_does);
    tcase_add_loop_test(tests, text__lowers_a_final_sigma_by_its_neighbours, 0,
                        sizeof sigmas / sizeof *sigmas);
    tcase_add_test(tests, text__cuts_by_units_and_may_split_a_pair);
    tcase_add_loop_test(tests, text__tells_well_formed_from_not, 0, sizeof forms / sizeof *forms);
    tcase_add_test(tests, text__ignores_ascii_case_only);
    tcase_add_loop_test(tests, calendar__reads_times_that_exist, 0, sizeof times / sizeof *times);
    tcase_add_test(tests, calendar__prints_what_it_reads);
    tcase_add_test(tests, stats__equal_javascript_to_the_last_bit);
    tcase_add_test(tests, stats__use_the_last_t_beyond_thirty_degrees);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return suite;
}
