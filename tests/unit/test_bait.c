#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/bait.h"
#include "tests/support/suite.h"
#include "validator/buffer.h"

/* No token stands in this file as a whole: our own host would decline it. */

static struct bait find(const char *before, const char *prefix, size_t letters, const char *after)
{
    BUFFER_SCOPE struct buffer text = {0};
    buffer_format(&text, "{\"a\":\"%s%s", before, prefix);
    for (size_t i = 0; i < letters; i++)
        buffer_byte(&text, '7');
    buffer_format(&text, "%s\"}", after);
    return bait_find(text.data, text.size);
}

static const char *before_of(const struct bait_kind *kind)
{
    return kind->prefix[0] == ':' ? "1234567890" : "";
}

START_TEST(bait__every_kind_is_refused_at_its_lengths)
{
    struct bait_kind kind;
    size_t count = 0;
    for (; bait_kind(count, &kind); count++) {
        const size_t lengths[] = {kind.least, kind.most};
        for (int i = 0; i < 4; i++) { /* at even and at odd places */
            char before[16];
            snprintf(before, sizeof before, "%s%s", i & 1 ? " " : "  ", before_of(&kind));
            struct bait bait = find(before, kind.prefix, lengths[i / 2], "");
            ck_assert_msg(bait.level == BAIT_REFUSED, "%s %d", kind.prefix, i);
            ck_assert_str_eq(bait.word, kind.word);
        }
    }
    ck_assert_uint_gt(count, 50);
}
END_TEST

START_TEST(bait__another_length_is_suspect_and_a_bare_prefix_nothing)
{
    struct bait_kind kind;
    for (size_t i = 0; bait_kind(i, &kind); i++) {
        const char *before = before_of(&kind);
        ck_assert_msg(find(before, kind.prefix, kind.least - 1, "").level == BAIT_SUSPECT, "%s",
                      kind.prefix);
        ck_assert_msg(find(before, kind.prefix, kind.most + 1, "").level == BAIT_SUSPECT, "%s",
                      kind.prefix);
        ck_assert_msg(find(before, kind.prefix, 3, "").level == BAIT_NONE, "%s", kind.prefix);
        ck_assert_msg(find(before, kind.prefix, 0, "").level == BAIT_NONE, "%s", kind.prefix);
    }
}
END_TEST

START_TEST(bait__is_found_at_the_bounds_of_words_only)
{
    static const struct {
        const char *before;
        enum bait_level level;
    } rows[] = {{"", BAIT_REFUSED},         {" ", BAIT_REFUSED},   {"=", BAIT_REFUSED},
                {"\\n", BAIT_REFUSED},      {"\\t", BAIT_REFUSED}, {"\\u001b", BAIT_REFUSED},
                {"\xc3\xa9", BAIT_REFUSED}, {"x", BAIT_NONE},      {"7", BAIT_NONE},
                {"_", BAIT_NONE},           {"-", BAIT_NONE},      {"n", BAIT_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(find(rows[i].before,
                           "gh"
                           "p_",
                           36, "")
                              .level == rows[i].level,
                      "'%s'", rows[i].before);
    /* What ends it does not matter. */
    ck_assert_int_eq(find("",
                          "gh"
                          "p_",
                          36, ".")
                         .level,
                     BAIT_REFUSED);
    ck_assert_int_eq(find("",
                          "gh"
                          "p_",
                          36, "\\n")
                         .level,
                     BAIT_REFUSED);
    ck_assert_int_eq(find("",
                          "gh"
                          "p_",
                          36, "_")
                         .level,
                     BAIT_REFUSED);
}
END_TEST

START_TEST(bait__at_the_very_ends_of_the_bytes)
{
    char text[40];
    snprintf(text, sizeof text, "gh%s", "p_");
    memset(text + 4, 'a', 36);
    ck_assert_int_eq(bait_find(text, 40).level, BAIT_REFUSED);
    ck_assert_int_eq(bait_find(text, 39).level, BAIT_SUSPECT);
    for (size_t size = 0; size < 16; size++)
        ck_assert_int_eq(bait_find(text, size).level, BAIT_NONE);
    /* A prefix whose anchor is in and whose beginning is not. */
    ck_assert_int_eq(bait_find(text + 2, 38).level, BAIT_NONE);
}
END_TEST

START_TEST(bait__the_worst_is_told)
{
    BUFFER_SCOPE struct buffer text = {0};
    buffer_format(&text, "%s%s %s%s",
                  "gl"
                  "pat-",
                  "7777777777777",
                  "AK"
                  "IA",
                  "7777777777777777");
    struct bait bait = bait_find(text.data, text.size);
    ck_assert_int_eq(bait.level, BAIT_REFUSED);
    ck_assert_str_eq(bait.word, "aws-access-key");
}
END_TEST

START_TEST(bait__examples_of_documentation_are_suspect)
{
    BUFFER_SCOPE struct buffer text = {0};
    buffer_format(&text, "%s%s",
                  "AK"
                  "IA",
                  "IOSFODNN7EXAMPLE");
    ck_assert_int_eq(bait_find(text.data, text.size).level, BAIT_SUSPECT);
}
END_TEST

START_TEST(bait__a_private_key_needs_its_body)
{
    static const char *const labels[] = {"", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "};
    const char *body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ";
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        BUFFER_SCOPE struct buffer text = {0}, line = {0};
        buffer_format(&line, "\"-----BEGIN %sPRIVATE %s-----", labels[i], "KEY");
        buffer_format(&text, "%s\\n%s\\n\"", buffer_string(&line), body);
        struct bait bait = bait_find(text.data, text.size);
        ck_assert_int_eq(bait.level, BAIT_REFUSED);
        ck_assert_str_eq(bait.word, "private-key");
        buffer_text(&line, "\\n and so on\"");
        ck_assert_int_eq(bait_find(line.data, line.size).level, BAIT_SUSPECT);
    }
    BUFFER_SCOPE struct buffer public_key = {0};
    buffer_format(&public_key, "\"-----BEGIN PUBLIC KEY-----\\n%s\"", body);
    ck_assert_int_eq(bait_find(public_key.data, public_key.size).level, BAIT_NONE);
}
END_TEST

START_TEST(bait__ordinary_text_has_none)
{
    static const char *const texts[] = {
        "{\"n_ctx\":2048,\"n_gpu_layers\":99,\"cache_prompt\":true,\"hf_hub\":\"onnx-community\"}",
        "the graph_of thoughts, npm_config_registry, sk-learn, AKIA, xoxb-, SG.module, glpat-",
        "A task-specific ask-for-help risk-averse desk-bound disk-based mask-filling approach",
        "d2f1c0a9b8e7d6c5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1",
        "ASIATICA AKIAPOLAAU SKELETON SK0bold hooks.slack.com/help",
        "-----BEGIN CERTIFICATE-----"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(bait_find(texts[i], strlen(texts[i])).level == BAIT_NONE, "%s", texts[i]);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {bait__every_kind_is_refused_at_its_lengths,
                                  bait__another_length_is_suspect_and_a_bare_prefix_nothing,
                                  bait__is_found_at_the_bounds_of_words_only,
                                  bait__at_the_very_ends_of_the_bytes,
                                  bait__the_worst_is_told,
                                  bait__examples_of_documentation_are_suspect,
                                  bait__a_private_key_needs_its_body,
                                  bait__ordinary_text_has_none};
    return suite_of("bait", NULL, NULL, tests, sizeof tests / sizeof *tests);
}
