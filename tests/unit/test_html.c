#include <math.h>
#include <stdio.h>

#include "pages/html.h"
#include "pages/terms.h"
#include "tests/support/suite.h"
#include "validator/bench_run.h"

static const char *filled(struct buffer *out, struct html_value value)
{
    out->size = 0;
    html_put(out, "<i title=\"{}\">", value);
    return buffer_string(out);
}

START_TEST(html__escapes_what_could_leave_its_place)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"plain \xC3\xA4 \xF0\x9F\x94\xA5", "<i title=\"plain \xC3\xA4 \xF0\x9F\x94\xA5\">"},
        {"<b>&\"'", "<i title=\"&lt;b&gt;&amp;&quot;&#39;\">"},
        {"\xE2\x80\xAE\x1B\x7F", "<i title=\"\\u202e\\u001b\\u007f\">"},
        {"two\nlines\t", "<i title=\"two\nlines\t\">"},
        {"\xED\xA0\xBD", "<i title=\"\xEF\xBF\xBD\">"},
        {"\xF7\xBF\xBF\xBF", "<i title=\"\xEF\xBF\xBD\">"}, /* beyond Unicode */
        {"\xC0\xBC", "<i title=\"&lt;\">"}, /* an overlong form, as a query may hold it */
        {"{}", "<i title=\"{}\">"},
    };
    struct buffer out BUFFER_SCOPE = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(filled(&out, html_text(cases[i].text)), cases[i].wanted);
    const struct js_value nul = js_make_string("a\0b", 3);
    ck_assert_str_eq(filled(&out, html_string(&nul)), "<i title=\"a\\u0000b\">");
    ck_assert_str_eq(filled(&out, html_string(NULL)), "<i title=\"\">");
    ck_assert_str_eq(filled(&out, html_text(NULL)), "<i title=\"\">");
}
END_TEST

START_TEST(html__cuts_by_code_points)
{
    struct buffer out BUFFER_SCOPE = {0};
    const char text[] = "\xF0\x9F\x94\xA5\xF0\x9F\x94\xA5\xF0\x9F\x94\xA5";
    ck_assert_str_eq(filled(&out, html_slice((struct text){text, 12}, 2)),
                     "<i title=\"\xF0\x9F\x94\xA5\xF0\x9F\x94\xA5\xE2\x80\xA6\">");
    ck_assert_str_eq(filled(&out, html_slice((struct text){text, 12}, 3)),
                     "<i title=\"\xF0\x9F\x94\xA5\xF0\x9F\x94\xA5\xF0\x9F\x94\xA5\">");
}
END_TEST

START_TEST(html__prints_numbers_for_code_and_for_readers)
{
    static const struct {
        double number;
        int decimals;
        const char *exact, *rounded, *shortened;
    } cases[] = {
        {72658.61999998987, 0, "72658.61999998987", "72659", "72659"},
        {1810.4, 1, "1810.4", "1810.4", "1810"},
        {1810, 1, "1810", "1810.0", "1810"},
        {143.6789, 1, "143.6789", "143.7", "143.7"},
        {143.745, 1, "143.745", "143.7", "143.7"},
        {143.25, 1, "143.25", "143.3", "143.3"},
        {31.918, 2, "31.918", "31.92", "31.92"},
        {0.00012, 2, "0.00012", "0.00012", "0.0001"},
        {0.4, 0, "0.4", "0.4", "0.4"},
        {0, 2, "0", "0.00", "0"},
        {-2.345, 2, "-2.345", "-2.35", "-2.35"},
        {NAN, 1, "\xE2\x80\x93", "\xE2\x80\x93", "\xE2\x80\x93"},
        {INFINITY, 0, "\xE2\x80\x93", "\xE2\x80\x93", "\xE2\x80\x93"},
        {1e21, 1, "1e+21", "1e+21", "1e+21"},
    };
    struct buffer out BUFFER_SCOPE = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        out.size = 0;
        html_put(&out, "{} {} {}", html_number(cases[i].number),
                 html_rounded(cases[i].number, cases[i].decimals), html_short(cases[i].number));
        char wanted[64];
        snprintf(wanted, sizeof wanted, "%s %s %s", cases[i].exact, cases[i].rounded,
                 cases[i].shortened);
        ck_assert_str_eq(buffer_string(&out), wanted);
    }
}
END_TEST

START_TEST(html__encodes_query_values)
{
    struct buffer out BUFFER_SCOPE = {0};
    ck_assert_str_eq(filled(&out, html_query((struct text){"a b/\"&=\xC3\xA4", 9})),
                     "<i title=\"a%20b%2F%22%26%3D%C3%A4\">");
}
END_TEST

START_TEST(html__gives_a_field_the_very_value)
{
    struct buffer out BUFFER_SCOPE = {0};
    static const char text[] = "a\xE2\x80\x8F\xC2\x85<\"&'\r\n\t\x1B\xED\xA0\xBD\0";
    ck_assert_str_eq(
        filled(&out, html_exact((struct text){text, sizeof text - 1})),
        "<i title=\"a\xE2\x80\x8F\xC2\x85&lt;&quot;&amp;&#39;&#13;&#10;\t&#27;\xEF\xBF\xBD"
        "\xEF\xBF\xBD\">");
}
END_TEST

START_TEST(terms__explain_every_metric)
{
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        ck_assert_str_eq(term(metric_name((enum metric)metric))->key,
                         metric_name((enum metric)metric));
        ck_assert_ptr_nonnull(term(metric_name((enum metric)metric))->formula);
    }
    ck_assert_ptr_nonnull(strstr(term("incremental")->formula, " 0.2"));
    ck_assert_ptr_nonnull(strstr(term("highVariance")->formula, "cv > 0.05 "));
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {html__escapes_what_could_leave_its_place,
                                  html__cuts_by_code_points,
                                  html__gives_a_field_the_very_value,
                                  html__prints_numbers_for_code_and_for_readers,
                                  html__encodes_query_values,
                                  terms__explain_every_metric};
    return suite_of("html", NULL, NULL, tests, sizeof tests / sizeof *tests);
}
