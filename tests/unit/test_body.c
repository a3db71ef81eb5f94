#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "server/http/body.h"
#include "tests/support/suite.h"

enum { ROOM = 1 << 20 };

static size_t gzip(const char *data, size_t size, char *out)
{
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (const Bytef *)data;
    stream.avail_in = (uInt)size;
    stream.next_out = (Bytef *)out;
    stream.avail_out = ROOM;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

static void feed(struct body *body, const char *data, size_t size, size_t step)
{
    for (size_t at = 0; at < size; at += step)
        body_receive(body, data + at, size - at < step ? size - at : step);
    body_finish(body);
}

START_TEST(body__keeps_up_to_the_limit)
{
    char data[2000] = {0};
    struct body body;
    body_init(&body, 1000);
    feed(&body, data, 1000, 7);
    ck_assert_int_eq(body.state, BODY_KEEP);
    ck_assert_uint_eq(body.data.size, 1000);
    body_free(&body);
    body_init(&body, 1000);
    feed(&body, data, 1001, 7);
    ck_assert_int_eq(body.state, BODY_TOO_LARGE);
    ck_assert_uint_eq(body.data.size, 0);
    ck_assert_uint_eq(body.received, 1001);
    body_free(&body);
}
END_TEST

START_TEST(body__inflates_in_any_steps_and_several_members)
{
    char *packed = malloc(ROOM), *plain = malloc(100000);
    for (int i = 0; i < 100000; i++)
        plain[i] = (char)(i * 31 % 251);
    size_t size = gzip(plain, 60000, packed);
    size += gzip(plain + 60000, 40000, packed + size);
    for (size_t step = 1; step < 5000; step = step * 3 + 1) {
        struct body body;
        body_init(&body, 100000);
        body_expect_gzip(&body);
        feed(&body, packed, size, step);
        ck_assert_int_eq(body.state, BODY_KEEP);
        ck_assert_uint_eq(body.data.size, 100000);
        ck_assert_int_eq(memcmp(body.data.data, plain, 100000), 0);
        body_free(&body);
    }
    free(packed);
    free(plain);
}
END_TEST

START_TEST(body__a_bomb_is_noticed_while_it_inflates)
{
    size_t size = 64 << 20;
    char *zeros = calloc(1, size), *packed = malloc(ROOM);
    size_t packed_size = gzip(zeros, size, packed);
    free(zeros);
    struct body body;
    body_init(&body, 100000);
    body_expect_gzip(&body);
    body_receive(&body, packed, packed_size);
    ck_assert_int_eq(body.state, BODY_TOO_LARGE);
    ck_assert_ptr_null(body.data.data);
    body_free(&body);
    free(packed);
}
END_TEST

START_TEST(body__corrupt_truncated_and_trailing_gzip_are_told)
{
    char *packed = malloc(ROOM), plain[5000];
    memset(plain, 'x', sizeof plain);
    size_t size = gzip(plain, sizeof plain, packed);
    for (int what = 0; what < 3; what++) {
        struct body body;
        body_init(&body, 100000);
        body_expect_gzip(&body);
        if (what == 0)
            feed(&body, packed, size - 1, 10);
        else if (what == 1)
            feed(&body, plain, sizeof plain, 10);
        else {
            static const char rubbish[] = "rubbish that is no gzip member";
            memcpy(packed + size, rubbish, sizeof rubbish);
            feed(&body, packed, size + sizeof rubbish, 10);
        }
        ck_assert_int_eq(body.state, BODY_CORRUPT);
        body_free(&body);
    }
    free(packed);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("body");
    TCase *cases = tcase_create("body");
    tcase_add_test(cases, body__keeps_up_to_the_limit);
    tcase_add_test(cases, body__inflates_in_any_steps_and_several_members);
    tcase_add_test(cases, body__a_bomb_is_noticed_while_it_inflates);
    tcase_add_test(cases, body__corrupt_truncated_and_trailing_gzip_are_told);
    suite_add_tcase(suite, cases);
    return suite;
}
