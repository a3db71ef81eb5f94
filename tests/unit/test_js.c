#include <stdlib.h>

#include "tests/support/suite.h"
#include "validator/digest.h"
#include "validator/js.h"

static struct arena arena;
static struct js_document document;
static struct js_error error;
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

static bool read_sized(const char *text, size_t size)
{
    return js_read(&arena, text, size, &document, &error);
}

static bool read(const char *text)
{
    return read_sized(text, strlen(text));
}

/* Recorded from Node: JSON.stringify(JSON.parse(text)) and its canonical form. */
static const struct {
    const char *text, *printed, *canonical;
} readings[] = {
    {" { } ", "{}", "{}"},
    {"[1, 2 ,\t3\r\n]", "[1,2,3]", "[1,2,3]"},
    {"\xEF\xBB\xBF[true,false,null]", "[true,false,null]", "[true,false,null]"},
    {"-0", "0", "0"},
    {"[1e21,1E-7,5e-324,1.50,100e-2]", "[1e+21,1e-7,5e-324,1.5,1]", "[1e+21,1e-7,5e-324,1.5,1]"},
    {"[9007199254740993,123456789012345678901]", "[9007199254740992,123456789012345680000]",
     "[9007199254740992,123456789012345680000]"},
    {"{\"b\":1,\"a\":2,\"b\":3}", "{\"b\":3,\"a\":2}", "{\"a\":2,\"b\":3}"},
    {"{\"x\":1,\"10\":2,\"9\":3,\"01\":4,\"4294967294\":5,\"4294967295\":6,\"-1\":7}",
     "{\"9\":3,\"10\":2,\"4294967294\":5,\"x\":1,\"01\":4,\"4294967295\":6,\"-1\":7}",
     "{\"-1\":7,\"01\":4,\"10\":2,\"4294967294\":5,\"4294967295\":6,\"9\":3,\"x\":1}"},
    {"{\"1\":0,\"\\u0031\":1}", "{\"1\":1}", "{\"1\":1}"},
    {"\"\\ud83d\\ude00\"", "\"\xF0\x9F\x98\x80\"", "\"\xF0\x9F\x98\x80\""},
    {"\"\\uD83D x \\uDE00\"", "\"\\ud83d x \\ude00\"", "\"\\ud83d x \\ude00\""},
    {"\"\\ud83d\\ud83d\\ude00\"", "\"\\ud83d\xF0\x9F\x98\x80\"", "\"\\ud83d\xF0\x9F\x98\x80\""},
    {"\"\\u0000\\u001F\\b\\t\\n\\f\\r\\\"\\\\\\/\\u007f\"",
     "\"\\u0000\\u001f\\b\\t\\n\\f\\r\\\"\\\\/\x7F\"",
     "\"\\u0000\\u001f\\b\\t\\n\\f\\r\\\"\\\\/\x7F\""},
    /* U+10000 (D800 DC00) sorts before U+E000 and U+FFFF, and behind a lone D800. */
    {"{\"\xEE\x80\x80\":1,\"\xF0\x90\x80\x80\":2,\"\xEF\xBF\xBF\":3,\"\\ud800\":4,"
     "\"\\ud800\xEE\x80\x80\":5}",
     "{\"\xEE\x80\x80\":1,\"\xF0\x90\x80\x80\":2,\"\xEF\xBF\xBF\":3,\"\\ud800\":4,"
     "\"\\ud800\xEE\x80\x80\":5}",
     "{\"\\ud800\":4,\"\xF0\x90\x80\x80\":2,\"\\ud800\xEE\x80\x80\":5,\"\xEE\x80\x80\":1,"
     "\"\xEF\xBF\xBF\":3}"},
};

START_TEST(js__prints_what_node_prints)
{
    ck_assert_msg(read(readings[_i].text), "%s", readings[_i].text);
    js_print(&document, &document.root, &out);
    ck_assert_str_eq(buffer_string(&out), readings[_i].printed);
}
END_TEST

START_TEST(js__sorts_keys_by_utf16_units)
{
    ck_assert(read(readings[_i].text));
    js_print_canonical(&document, &document.root, NULL, &out);
    ck_assert_str_eq(buffer_string(&out), readings[_i].canonical);
}
END_TEST

static const struct {
    const char *text;
    size_t offset, line, column;
} refusals[] = {
    {"", 0, 1, 1},
    {"   ", 3, 1, 4},
    {"[1,]", 3, 1, 4},
    {"{\"a\":1,}", 7, 1, 8},
    {"{a:1}", 1, 1, 2},
    {"[1\n,\n 2 3]", 8, 3, 4},
    {"01", 1, 1, 2},
    {"1.", 2, 1, 3},
    {"-", 1, 1, 2},
    {"1e", 2, 1, 3},
    {".5", 0, 1, 1},
    {"+1", 0, 1, 1},
    {"NaN", 0, 1, 1},
    {"nul", 0, 1, 1},
    {"[1e999]", 1, 1, 2},
    {"\"abc", 4, 1, 5},
    {"\"a\nb\"", 2, 1, 3},
    {"\"\\x\"", 1, 1, 2},
    {"\"\\u12g4\"", 5, 1, 6},
    {"\"\\ud800\\u12\"", 11, 1, 12},
    {"{\"a\" 1}", 5, 1, 6},
    {"[1] x", 4, 1, 5},
    {"[", 1, 1, 2},
    {"{\"a\":", 5, 1, 6},
    {"\"\xC3\xA9\xFF\"", 3, 1, 3},
    {"\"\xC0\xAF\"", 1, 1, 2},         /* overlong */
    {"\"\xE0\x80\xAF\"", 1, 1, 2},     /* overlong */
    {"\"\xF0\x80\x80\xAF\"", 1, 1, 2}, /* overlong */
    {"\"\xED\xA0\x80\"", 1, 1, 2},     /* a surrogate */
    {"\"\xF4\x90\x80\x80\"", 1, 1, 2}, /* above U+10FFFF */
    {"\"\xE2\x82\"", 1, 1, 2},         /* cut off */
    {"\xEF\xBB\xBF\xEF\xBB\xBF[]", 3, 1, 2},
};

START_TEST(js__refuses_with_the_place)
{
    ck_assert_msg(!read(refusals[_i].text), "%s", refusals[_i].text);
    ck_assert_uint_eq(error.offset, refusals[_i].offset);
    ck_assert_uint_eq(error.line, refusals[_i].line);
    ck_assert_uint_eq(error.column, refusals[_i].column);
    ck_assert_ptr_nonnull(error.message);
}
END_TEST

static bool read_nested(size_t depth)
{
    char *text = malloc(2 * depth);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    bool got = read_sized(text, 2 * depth);
    free(text);
    return got;
}

START_TEST(js__refuses_depth_above_128)
{
    ck_assert(read_nested(128));
    ck_assert(!read_nested(129));
    ck_assert(!read_nested(100000));
}
END_TEST

START_TEST(js__refuses_every_prefix_without_reading_beyond)
{
    static const char text[] = "{\"a\":[1.5e3,\"\\ud83d\\ude00\xC3\xA9\",true,null,{\"b\":-0}]}";
    for (size_t size = 0; size < sizeof text - 1; size++) {
        char *exact = malloc(size ? size : 1); /* a byte too far is an error of the sanitizer */
        memcpy(exact, text, size);
        ck_assert(!read_sized(exact, size));
        free(exact);
    }
    ck_assert(read(text));
}
END_TEST

START_TEST(js__keeps_nul_in_keys_and_values)
{
    static const char text[] = "{\"a\\u0000b\":\"\\u0000\",\"a\":1}";
    ck_assert(read(text));
    ck_assert_uint_eq(document.root.size, 2);
    ck_assert_uint_eq(document.root.members[0].key.size, 3);
    ck_assert_ptr_nonnull(js_get_sized(&document.root, "a\0b", 3));
    ck_assert_double_eq(js_get(&document.root, "a")->number, 1); /* not the longer key */
    ck_assert_ptr_null(js_get(&document.root, "a?b"));
    js_print(&document, &document.root, &out);
    ck_assert_str_eq(buffer_string(&out), text);
}
END_TEST

START_TEST(js__merges_repeats_among_many_keys)
{
    BUFFER_SCOPE struct buffer text = {0};
    buffer_byte(&text, '{');
    for (int i = 0; i < 50000; i++)
        buffer_format(&text, "\"k%d\":%d,", i % 20000, i);
    buffer_text(&text, "\"end\":0}");
    ck_assert(read_sized(text.data, text.size));
    ck_assert_uint_eq(document.root.size, 20001);
    ck_assert(js_equals(&document.root.members[7].key, "k7"));
    ck_assert_double_eq(document.root.members[7].value.number, 40007);
    ck_assert_double_eq(document.root.members[19999].value.number, 39999);
}
END_TEST

/* Neighbours that are nearly alike, each of which the reader may take for the one before. */
START_TEST(js__tells_objects_of_an_array_apart)
{
    static const char *const texts[] = {
        "[{\"t\":1,\"c\":2},{\"t\":3,\"c\":4},{\"c\":5,\"t\":6},{\"t\":8,\"c\":9,\"d\":0},{}]",
        "[{\"t\":1,\"c\":2},{\"t\":7},{\"t\":3,\"c\":4}]",
        "[{\"2\":1,\"10\":2,\"a\":3},{\"2\":1,\"10\":2,\"a\":3},{\"2\":1,\"a\":3}]",
        "[{\"\":1},{\"\":2},{\"a\":{\"\":3},\"b\":4},{\"a\":{\"\":5},\"b\":6}]",
        "[{\"ab\":1},{\"a\":2},{\"abc\":3},{\"a\\\\b\":4},{\"a\\\\b\":5}]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        out.size = 0;
        ck_assert_msg(read(texts[i]), "%s", texts[i]);
        js_print(&document, &document.root, &out);
        ck_assert_str_eq(buffer_string(&out), texts[i]);
    }
    out.size = 0;
    ck_assert(read(
        "[{\"t\":1,\"c\":2},{\"t\" : 3,\"c\":4,\"t\":5},{\"10\":1,\"2\":2},{\"10\":1,\"2\":2}]"));
    js_print(&document, &document.root, &out);
    ck_assert_str_eq(buffer_string(&out),
                     "[{\"t\":1,\"c\":2},{\"t\":5,\"c\":4},{\"2\":2,\"10\":1},{\"2\":2,\"10\":1}]");
    out.size = 0;
    ck_assert(read(
        "[{\"t\":1,\"c\":2},{\"c\":3,\"c\":4}]")); /* a repeat in the place of the expected key */
    js_print(&document, &document.root, &out);
    ck_assert_str_eq(buffer_string(&out), "[{\"t\":1,\"c\":2},{\"c\":4}]");
    ck_assert(!read("[{\"t\":1},{\"t\""));
    ck_assert(!read("[{\"t\":1},{\"t\":"));
    ck_assert(!read("[{\"t\":1},{\"t"));
}
END_TEST

START_TEST(js__counts_utf16_units)
{
    static const struct {
        const char *text;
        size_t units;
    } lengths[] = {{"\"\"", 0},
                   {"\"abc\"", 3},
                   {"\"\xC3\xA9\xE2\x82\xAC\"", 2},
                   {"\"\xF0\x9F\x98\x80\"", 2},
                   {"\"\\ud83d\"", 1},
                   {"\"\\ud83d\\ude00\\u0041\"", 3}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ck_assert(read(lengths[i].text));
        ck_assert_uint_eq(js_units(&document.root), lengths[i].units);
    }
}
END_TEST

START_TEST(js__writer_puts_commas_where_they_belong)
{
    struct js_writer writer = {.out = &out};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "a");
    js_write_begin(&writer, '[');
    js_write_number(&writer, 1);
    js_write_number(&writer, 0.0 / 0.0);
    js_write_begin(&writer, '{');
    js_write_end(&writer, '}');
    js_write_end(&writer, ']');
    js_write_key(&writer, "b");
    js_write_text(&writer, "x\"\n");
    js_write_key(&writer, "c");
    js_write_bool(&writer, true);
    js_write_end(&writer, '}');
    ck_assert_str_eq(buffer_string(&out), "{\"a\":[1,null,{}],\"b\":\"x\\\"\\n\",\"c\":true}");
}
END_TEST

START_TEST(digest__covers_all_but_digest_and_nonce)
{
    /* sha256 of {"a":{"digest":1,"nonce":2},"b":1} */
    ck_assert(read("{\"nonce\":\"n\",\"b\":1,\"a\":{\"nonce\":2,\"digest\":1},\"digest\":\"x\"}"));
    struct digest_check check = digest_verify(&document);
    ck_assert_int_eq(check.status, DIGEST_MISMATCH);
    char expected[SHA256_HEX + 1];
    static const char canonical[] = "{\"a\":{\"digest\":1,\"nonce\":2},\"b\":1}";
    sha256_hex(canonical, strlen(canonical), expected);
    ck_assert_str_eq(check.computed, expected);
    ck_assert(read("{\"b\":1}"));
    ck_assert_int_eq(digest_verify(&document).status, DIGEST_MISSING);
}
END_TEST

START_TEST(digest__verifies_under_the_older_rule_with_a_nonce)
{
    static const char older[] = "{\"b\":1,\"nonce\":\"n\"}";
    char hex[SHA256_HEX + 1];
    sha256_hex(older, strlen(older), hex);
    BUFFER_SCOPE struct buffer text = {0};
    buffer_format(&text, "{\"nonce\":\"n\",\"digest\":\"%s\",\"b\":1}", hex);
    ck_assert(read_sized(text.data, text.size));
    ck_assert_int_eq(digest_verify(&document).status, DIGEST_LEGACY);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("js");
    TCase *tests = tcase_create("js");
    int readings_count = sizeof readings / sizeof *readings,
        refusals_count = sizeof refusals / sizeof *refusals;
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, js__prints_what_node_prints, 0, readings_count);
    tcase_add_loop_test(tests, js__sorts_keys_by_utf16_units, 0, readings_count);
    tcase_add_loop_test(tests, js__refuses_with_the_place, 0, refusals_count);
    tcase_add_test(tests, js__refuses_depth_above_128);
    tcase_add_test(tests, js__refuses_every_prefix_without_reading_beyond);
    tcase_add_test(tests, js__keeps_nul_in_keys_and_values);
    tcase_add_test(tests, js__merges_repeats_among_many_keys);
    tcase_add_test(tests, js__tells_objects_of_an_array_apart);
    tcase_add_test(tests, js__counts_utf16_units);
    tcase_add_test(tests, js__writer_puts_commas_where_they_belong);
    tcase_add_test(tests, digest__covers_all_but_digest_and_nonce);
    tcase_add_test(tests, digest__verifies_under_the_older_rule_with_a_nonce);
    suite_add_tcase(suite, tests);
    return suite;
}
