#include <stdio.h>
#include <string.h>

#include "server/limits/nonce.h"
#include "tests/support/suite.h"

static const int64_t NOW = 1790000000000;

static struct nonce_keys keys_of(const char *current, const char *previous, bool local)
{
    struct nonce_keys keys;
    nonce_keys_init(&keys, current, previous, local);
    return keys;
}

static enum nonce_verdict check(const struct nonce_keys *keys, const char *text, int64_t now)
{
    return nonce_check(keys, text, strlen(text), now);
}

START_TEST(nonce__is_valid_for_a_day_and_a_minute_of_skew)
{
    struct nonce_keys keys = keys_of("secret", "", true);
    char text[NONCE_TEXT];
    ck_assert(nonce_issue(&keys, NOW, text));
    ck_assert_int_eq(check(&keys, text, NOW), NONCE_GOOD);
    ck_assert_int_eq(check(&keys, text, NOW + NONCE_VALID_MS), NONCE_GOOD);
    ck_assert_int_eq(check(&keys, text, NOW + NONCE_VALID_MS + 1), NONCE_EXPIRED);
    ck_assert_int_eq(check(&keys, text, NOW - NONCE_SKEW_MS), NONCE_GOOD);
    ck_assert_int_eq(check(&keys, text, NOW - NONCE_SKEW_MS - 1), NONCE_FUTURE);
}
END_TEST

START_TEST(nonce__survives_one_rotation)
{
    struct nonce_keys old = keys_of("old", "", false), rotated = keys_of("new", "old", false),
                      next = keys_of("newer", "new", false);
    char text[NONCE_TEXT];
    ck_assert(nonce_issue(&old, NOW, text));
    ck_assert_int_eq(check(&rotated, text, NOW), NONCE_GOOD);
    ck_assert_int_eq(check(&next, text, NOW), NONCE_FOREIGN);
}
END_TEST

START_TEST(nonce__any_changed_byte_is_foreign)
{
    struct nonce_keys keys = keys_of("secret", "", false);
    char text[NONCE_TEXT];
    ck_assert(nonce_issue(&keys, NOW, text));
    for (size_t i = 0; text[i]; i++) {
        char kept = text[i];
        text[i] = kept == '0' ? '1' : '0';
        ck_assert_int_eq(check(&keys, text, NOW), NONCE_FOREIGN);
        text[i] = kept;
    }
    ck_assert_int_eq(nonce_check(&keys, text, strlen(text) - 1, NOW), NONCE_FOREIGN);
}
END_TEST

START_TEST(nonce__development_only_beside_a_local_store_without_secret)
{
    struct nonce_keys local = keys_of("", "", true), remote = keys_of("", "", false),
                      keyed = keys_of("secret", "", true);
    char text[NONCE_TEXT];
    ck_assert(!nonce_issue(&remote, NOW, text));
    ck_assert(nonce_issue(&local, NOW, text));
    ck_assert_int_eq(strncmp(text, "dev.", 4), 0);
    ck_assert_int_eq(check(&local, text, NOW), NONCE_GOOD);
    ck_assert_int_eq(check(&local, text, NOW + NONCE_VALID_MS + 1), NONCE_EXPIRED);
    ck_assert_int_eq(check(&keyed, text, NOW), NONCE_FOREIGN);
    ck_assert_int_eq(check(&remote, text, NOW), NONCE_FOREIGN);
}
END_TEST

START_TEST(nonce__malformed_is_foreign)
{
    static const char *const bad[] = {"",
                                      "n1.",
                                      "dev.",
                                      "dev..",
                                      "dev.1790000000000",
                                      "dev.1790000000000.zz",
                                      "dev.01790000000000.0123456789abcdef",
                                      "dev.-1.0123456789abcdef",
                                      "n1.00000000.1.2.3",
                                      "dev.99999999999999999999.0123456789abcdef"};
    struct nonce_keys local = keys_of("", "", true), keyed = keys_of("secret", "", true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(check(&local, bad[i], NOW), NONCE_FOREIGN);
        ck_assert_int_eq(check(&keyed, bad[i], NOW), NONCE_FOREIGN);
    }
}
END_TEST

START_TEST(nonce__two_are_never_the_same)
{
    struct nonce_keys keys = keys_of("secret", "", false);
    char first[NONCE_TEXT], second[NONCE_TEXT];
    ck_assert(nonce_issue(&keys, NOW, first));
    ck_assert(nonce_issue(&keys, NOW, second));
    ck_assert_str_ne(first, second);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("nonce");
    TCase *cases = tcase_create("nonce");
    tcase_add_test(cases, nonce__is_valid_for_a_day_and_a_minute_of_skew);
    tcase_add_test(cases, nonce__survives_one_rotation);
    tcase_add_test(cases, nonce__any_changed_byte_is_foreign);
    tcase_add_test(cases, nonce__development_only_beside_a_local_store_without_secret);
    tcase_add_test(cases, nonce__malformed_is_foreign);
    tcase_add_test(cases, nonce__two_are_never_the_same);
    suite_add_tcase(suite, cases);
    return suite;
}
