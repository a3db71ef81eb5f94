#include <string.h>

#include "server/shared/redis_url.h"
#include "tests/support/suite.h"

START_TEST(redis_url__forms)
{
    static const struct {
        const char *text, *host, *path;
        int port, db;
    } rows[] = {{"redis://localhost", "localhost", "", 6379, 0},
                {"redis://127.0.0.1:7000", "127.0.0.1", "", 7000, 0},
                {"redis://redis.example:1/15", "redis.example", "", 1, 15},
                {"redis://h/", "h", "", 6379, 0},
                {"redis://h/3", "h", "", 6379, 3},
                {"redis://[::1]", "::1", "", 6379, 0},
                {"redis://[2001:db8::1]:6380/2", "2001:db8::1", "", 6380, 2},
                {"unix:///run/redis.sock", "", "/run/redis.sock", 6379, 0},
                {"unix:///run/redis.sock?db=4", "", "/run/redis.sock", 6379, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct redis_url url;
        const char *problem = NULL;
        ck_assert_msg(redis_url_parse(rows[i].text, &url, &problem), "%s: %s", rows[i].text,
                      problem);
        ck_assert_str_eq(url.host, rows[i].host);
        ck_assert_str_eq(url.path, rows[i].path);
        ck_assert_int_eq(url.port, rows[i].port);
        ck_assert_int_eq(url.db, rows[i].db);
    }
}
END_TEST

START_TEST(redis_url__what_is_none_is_refused_without_repeating_it)
{
    static const char *const bad[] = {"",
                                      "localhost",
                                      "localhost:6379",
                                      "http://h",
                                      "rediss://h",
                                      "redis:/h",
                                      "redis://",
                                      "redis://:6379",
                                      "redis://h:0",
                                      "redis://h:65536",
                                      "redis://h:",
                                      "redis://h:6379x",
                                      "redis://h/x",
                                      "redis://h/-1",
                                      "redis://h/65536",
                                      "redis://h/1/2",
                                      "redis://h?db=1",
                                      "redis://[::1",
                                      "redis://[::1]x",
                                      "redis://[]",
                                      "redis://user:hush@h",
                                      "redis://:hush@h:1/0",
                                      "unix://",
                                      "unix:///",
                                      "unix://run/redis.sock",
                                      "unix:///s?db=",
                                      "unix:///s?password=hush",
                                      "unix://:hush@/s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct redis_url url;
        const char *problem = NULL;
        ck_assert_msg(!redis_url_parse(bad[i], &url, &problem), "%s", bad[i]);
        ck_assert_ptr_nonnull(problem);
        ck_assert_ptr_null(strstr(problem, "hush"));
        if (strchr(bad[i], '@'))
            ck_assert_ptr_nonnull(strstr(problem, "redis_password"));
    }
}
END_TEST

START_TEST(redis_url__a_path_fits_a_socket_address)
{
    char text[128] = "unix:///";
    struct redis_url url;
    const char *problem = NULL;
    memset(text + 8, 'a', 106);
    ck_assert(redis_url_parse(text, &url, &problem));
    text[114] = 'a';
    ck_assert(!redis_url_parse(text, &url, &problem));
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {redis_url__forms, redis_url__a_path_fits_a_socket_address,
                                  redis_url__what_is_none_is_refused_without_repeating_it};
    return suite_of("redis_url", NULL, NULL, tests, sizeof tests / sizeof *tests);
}
