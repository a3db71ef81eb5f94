#include <openssl/evp.h>
#include <stdlib.h>

#include "tests/support/suite.h"
#include "validator/sha256.h"

/* pages/module/sha256.c, under another name: sha256 itself is OpenSSL's here. */
void sha256_of_module(const void *data, size_t size, unsigned char digest[SHA256_SIZE]);

static void assert_same(const unsigned char *data, size_t size)
{
    unsigned char wanted[SHA256_SIZE], got[SHA256_SIZE];
    ck_assert_int_eq(EVP_Digest(data, size, wanted, NULL, EVP_sha256(), NULL), 1);
    sha256_of_module(data, size, got);
    ck_assert_msg(!memcmp(wanted, got, sizeof got), "%zu bytes", size);
}

static unsigned char *random_bytes(size_t size, unsigned seed)
{
    unsigned char *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    return bytes;
}

START_TEST(sha256__equals_openssl_at_every_length_up_to_five_blocks)
{
    for (size_t size = 0; size <= 5 * 64; size++) {
        unsigned char *bytes = random_bytes(size ? size : 1, (unsigned)size);
        assert_same(bytes, size);
        free(bytes);
    }
}
END_TEST

START_TEST(sha256__equals_openssl_at_large_lengths)
{
    static const size_t sizes[] = {4095,    4096,           4097,          65599,
                                   1000000, (1 << 24) + 55, (1 << 24) + 56};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *bytes = random_bytes(sizes[i], 7);
        assert_same(bytes, sizes[i]);
        free(bytes);
    }
}
END_TEST

START_TEST(sha256__takes_data_at_any_address)
{
    unsigned char *bytes = random_bytes(1024, 3);
    for (size_t at = 0; at < 16; at++)
        assert_same(bytes + at, 900);
    free(bytes);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        sha256__equals_openssl_at_every_length_up_to_five_blocks,
        sha256__equals_openssl_at_large_lengths,
        sha256__takes_data_at_any_address,
    };
    return suite_of("sha256", NULL, NULL, tests, sizeof tests / sizeof *tests);
}
