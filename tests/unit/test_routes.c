#include <string.h>

#include "server/http/match.h"
#include "tests/support/suite.h"

static struct route_match match;

static const char *hit(enum method method, const char *path)
{
    size_t count;
    const struct route *table = routes(&count);
    routes_match(table, count, method, path, &match);
    return match.route ? match.route->path : match.first ? "405" : "404";
}

START_TEST(routes__every_row_is_complete)
{
    size_t count;
    const struct route *table = routes(&count);
    for (size_t i = 0; i < count; i++) {
        ck_assert(table[i].handle != NULL);
        ck_assert_ptr_nonnull(table[i].summary);
        ck_assert_int_eq(strncmp(table[i].success, "200 ", 4), 0);
        ck_assert(table[i].method == METHOD_GET || table[i].method == METHOD_POST);
        ck_assert((table[i].body != NULL) == (table[i].method == METHOD_POST));
    }
}
END_TEST

START_TEST(routes__paths_find_their_rows)
{
    static const struct {
        const char *path, *row;
    } table[] = {
        {"/api/bench/nonce", "/api/bench/nonce"},
        {"/api/bench/nonce/", "404"},
        {"/api/bench", "404"},
        {"", "404"},
        {"/", "/"},
        {"//", "404"},
        {"/row", "/row"},
        {"/row/", "404"},
        {"/review", "/review"},
        {"/review/some-run", "/review/{run}"},
        {"/review/", "404"},
        {"/quarantine.atom", "/quarantine.atom"},
        {"/runs/2026/09/abc-DEF_1.json", "/runs/{year}/{month}/{file}"},
        {"/quarantine/2026/12/x.json", "/quarantine/{year}/{month}/{file}"},
        {"/runs/2026/13/x.json", "404"},
        {"/runs/2026/00/x.json", "404"},
        {"/runs/26/01/x.json", "404"},
        {"/runs/2026/01/.json", "404"},
        {"/runs/2026/01/..json", "404"},
        {"/runs/2026/01/../x.json", "404"},
        {"/runs/2026/01/a/b.json", "404"},
        {"/runs/2026/01/x.txt", "404"},
        {"/index/segments/00001.json", "/index/segments/{segment}"},
        {"/index/segments/x.json", "404"},
        {"/ledger/2026-09-01.jsonl", "/ledger/{day}"},
        {"/ledger/2026-9-1.jsonl", "404"},
        {"/api/bench/runs/some-run", "/api/bench/runs/{run}"},
        {"/api/bench/runs/", "404"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_str_eq(hit(METHOD_GET, table[i].path), table[i].row);
    ck_assert_str_eq(hit(METHOD_GET, "/runs/2026/09/abc.json"), "/runs/{year}/{month}/{file}");
    ck_assert_uint_eq(match.parameters[2].size, 8);
    ck_assert_int_eq(memcmp(match.parameters[2].text, "abc.json", 8), 0);
}
END_TEST

START_TEST(routes__allow_derives_from_the_table)
{
    ck_assert_str_eq(hit(METHOD_GET, "/api/bench/submit"), "405");
    ck_assert_str_eq(match.allow, "POST, OPTIONS");
    ck_assert_str_eq(hit(METHOD_POST, "/healthz"), "405");
    ck_assert_str_eq(match.allow, "GET, HEAD, OPTIONS");
    ck_assert_str_eq(hit(METHOD_HEAD, "/healthz"), "/healthz");
    ck_assert_str_eq(hit(METHOD_HEAD, "/api/bench/submit"), "405");
    ck_assert_str_eq(hit(METHOD_OTHER, "/healthz"), "405");
    ck_assert_int_eq(method_parse("PUT"), METHOD_OTHER);
    ck_assert_int_eq(method_parse("get"), METHOD_OTHER);
}
END_TEST

START_TEST(routes__error_codes_are_unique_and_complete)
{
    for (int i = 0; i < ERROR_COUNT; i++) {
        ck_assert_ptr_nonnull(error_row((enum error)i)->code);
        ck_assert_ptr_nonnull(error_row((enum error)i)->message);
        ck_assert(error_row((enum error)i)->status >= 400 &&
                  error_row((enum error)i)->status < 600);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(error_row((enum error)i)->code, error_row((enum error)j)->code);
    }
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("routes");
    TCase *cases = tcase_create("routes");
    tcase_add_test(cases, routes__every_row_is_complete);
    tcase_add_test(cases, routes__paths_find_their_rows);
    tcase_add_test(cases, routes__allow_derives_from_the_table);
    tcase_add_test(cases, routes__error_codes_are_unique_and_complete);
    suite_add_tcase(suite, cases);
    return suite;
}
