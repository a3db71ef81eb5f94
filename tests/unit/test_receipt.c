#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/receipt/receipt.h"
#include "tests/support/suite.h"
#include "validator/sha256.h"

/* The first key of RFC 8032, 7.1, as PKCS#8. The armour is put around it at run time: a block that
 * looks like a private key would be declined by hosts. */
static const char rfc_private[] =
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";
static const char rfc_public[] = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

static const struct receipt_facts facts = {.run_id = "run-0001",
                                           .submitted_digest = "aa",
                                           .digest = "bb",
                                           .path = "runs/2026/11/run-0001.json",
                                           .accepted_at = "2026-11-30T00:00:00.000Z"};

static struct receipt_key *key;

static void armour(const char *kind, const char *base64, char text[512])
{
    snprintf(text, 512, "some words\n-----BEGIN %s KEY-----\n%s\n-----END %s KEY-----\n", kind,
             base64, kind);
}

static struct receipt_key *parse(const char *kind, const char *base64, const char **problem)
{
    char text[512];
    armour(kind, base64, text);
    return (strcmp(kind, "PUBLIC") ? receipt_key_parse_private
                                   : receipt_key_parse_public)(text, strlen(text), problem);
}

static void begin(void)
{
    const char *problem = NULL;
    key = parse("PRIVATE", rfc_private, &problem);
    ck_assert_ptr_nonnull(key);
}

static void end(void)
{
    receipt_key_free(key);
}

START_TEST(key__signs_as_rfc_8032_says)
{
    static const char signature[] = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901"
                                    "555fb8821590a33bacc61e39701cf9"
                                    "b46bd25bf5f0595bbe24655141438e7a100b";
    unsigned char made[RECEIPT_SIGNATURE];
    char hex[2 * RECEIPT_SIGNATURE + 1];
    ck_assert(receipt_key_sign(key, "", 0, made));
    hex_print(made, sizeof made, hex);
    ck_assert_str_eq(hex, signature);
    ck_assert(receipt_key_verify(key, "", 0, made));
    made[0] ^= 1;
    ck_assert(!receipt_key_verify(key, "", 0, made));
}
END_TEST

START_TEST(key__id_is_that_of_the_raw_public_key)
{
    /* SHA-256 of d75a9801 82b10ab7 ... f707511a, the public key of the same example */
    static const unsigned char raw[] = {0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7,
                                        0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
                                        0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25,
                                        0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a};
    char hex[SHA256_HEX + 1];
    const char *problem = NULL;
    sha256_hex(raw, sizeof raw, hex);
    hex[RECEIPT_KEY_ID] = '\0';
    ck_assert_str_eq(receipt_key_id(key), hex);
    struct receipt_key *public_only = parse("PUBLIC", rfc_public, &problem);
    ck_assert_ptr_nonnull(public_only);
    ck_assert_str_eq(receipt_key_id(public_only), hex);
    ck_assert_str_eq(receipt_key_public(public_only), receipt_key_public(key));
    unsigned char signature[RECEIPT_SIGNATURE];
    ck_assert(!receipt_key_sign(public_only, "", 0, signature));
    receipt_key_free(public_only);
}
END_TEST

START_TEST(key__of_another_kind_or_none_is_refused_with_a_reason)
{
    /* X25519 differs from Ed25519 in one byte of the algorithm's identifier. */
    static const char x25519[] = "MC4CAQAwBQYDK2VuBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";
    const char *problem = NULL;
    ck_assert_ptr_null(parse("PRIVATE", x25519, &problem));
    ck_assert_ptr_nonnull(strstr(problem, "Ed25519"));
    ck_assert_ptr_null(parse("PRIVATE", "AAAA", &problem));
    ck_assert_ptr_null(parse("PUBLIC", rfc_private, &problem));
    ck_assert_ptr_null(parse("PRIVATE", rfc_public, &problem));
    ck_assert_ptr_null(receipt_key_parse_private("", 0, &problem));
}
END_TEST

START_TEST(key__a_made_one_comes_back_from_its_pem)
{
    struct receipt_key *made = receipt_key_generate(), *other = receipt_key_generate();
    BUFFER_SCOPE struct buffer pem = {0};
    const char *problem = NULL;
    ck_assert(receipt_key_private(made, &pem));
    struct receipt_key *again = receipt_key_parse_private(pem.data, pem.size, &problem);
    ck_assert_ptr_nonnull(again);
    ck_assert_str_eq(receipt_key_id(again), receipt_key_id(made));
    ck_assert_str_ne(receipt_key_id(other), receipt_key_id(made));
    receipt_key_free(again);
    receipt_key_free(other);
    receipt_key_free(made);
}
END_TEST

START_TEST(key__file_is_closed_to_others)
{
    static const struct {
        uid_t owner;
        mode_t mode;
        bool good;
    } rows[] = {{1000, 0600, true},  {1000, 0400, true},  {1000, 0640, false}, {1000, 0604, false},
                {1000, 0620, false}, {0, 0640, true},     {0, 0440, true},     {0, 0644, false},
                {0, 0660, false},    {1001, 0600, false}, {1001, 0640, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(receipt_key_guarded(rows[i].owner, rows[i].mode, 1000) == rows[i].good, "%zu",
                      i);
    ck_assert(!receipt_key_guarded(0, 0640, 0));
}
END_TEST

START_TEST(key__load_says_what_is_wrong_with_the_file)
{
    char path[] = "/tmp/benchledger-key-XXXXXX", text[512];
    const char *problem = NULL;
    int fd = mkstemp(path);
    armour("PRIVATE", rfc_private, text);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    ck_assert_int_eq(fchmod(fd, 0644), 0);
    ck_assert_ptr_null(receipt_key_load(path, &problem));
    ck_assert_ptr_nonnull(strstr(problem, "by others"));
    ck_assert_int_eq(fchmod(fd, 0600), 0);
    problem = NULL;
    struct receipt_key *loaded = receipt_key_load(path, &problem);
    ck_assert_ptr_nonnull(loaded);
    receipt_key_free(loaded);
    ck_assert_int_eq(ftruncate(fd, 40), 0);
    ck_assert_ptr_null(receipt_key_load(path, &problem));
    ck_assert_ptr_nonnull(strstr(problem, "no private key"));
    close(fd);
    unlink(path);
    ck_assert_ptr_null(receipt_key_load(path, &problem));
    ck_assert_ptr_nonnull(strstr(problem, "No such file"));
}
END_TEST

/* What receipt_write makes of GIVEN, as an object. */
static void write_object(const struct receipt_key *with, const struct receipt_facts *given,
                         struct buffer *out)
{
    struct js_writer writer = {.out = out};
    js_write_begin(&writer, '{');
    receipt_write(with, given, &writer);
    js_write_end(&writer, '}');
}

/* 1 good, 0 not good, -1 no receipt */
static int verdict(const char *text, size_t size)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct js_error error;
    struct receipt receipt;
    const char *problem = NULL;
    ck_assert(js_read(&arena, text, size, &document, &error));
    if (!receipt_read(&document, &receipt, &problem)) {
        ck_assert_ptr_nonnull(problem);
        return -1;
    }
    return receipt_verify(&document, &receipt, key);
}

START_TEST(receipt__is_the_same_every_time_and_verifies)
{
    BUFFER_SCOPE struct buffer first = {0}, second = {0};
    write_object(key, &facts, &first);
    write_object(key, &facts, &second);
    ck_assert_str_eq(buffer_string(&first), buffer_string(&second));
    ck_assert_int_eq(verdict(first.data, first.size), 1);
    /* without its surroundings, too */
    size_t shell = strlen("{\"receipt\":");
    ck_assert_int_eq(verdict(first.data + shell, first.size - shell - 1), 1);
}
END_TEST

START_TEST(receipt__any_changed_fact_is_noticed)
{
    static const char *const changes[][2] = {{"run-0001\",", "run-0002\","},
                                             {"\"aa\"", "\"ab\""},
                                             {"\"bb\"", "\"bc\""},
                                             {"runs/2026", "runs/2025"},
                                             {"00:00.000Z", "00:00.001Z"}};
    BUFFER_SCOPE struct buffer object = {0};
    write_object(key, &facts, &object);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        BUFFER_SCOPE struct buffer changed = {0};
        buffer_add(&changed, object.data, object.size);
        char *at = strstr(buffer_string(&changed), changes[i][0]);
        ck_assert_ptr_nonnull(at);
        memcpy(at, changes[i][1], strlen(changes[i][1]));
        ck_assert_int_eq(verdict(changed.data, changed.size), 0);
    }
}
END_TEST

START_TEST(receipt__order_and_white_space_do_not_matter)
{
    BUFFER_SCOPE struct buffer object = {0}, moved = {0};
    write_object(key, &facts, &object);
    const char *text = buffer_string(&object), *run = ",\"runId\":\"run-0001\"";
    const char *at = strstr(text, run), *end = strstr(text, "},\"signature\"");
    buffer_add(&moved, text, (size_t)(at - text));
    buffer_add(&moved, at + strlen(run), (size_t)(end - at) - strlen(run));
    buffer_format(&moved, " %s\n%s", run, end);
    ck_assert_int_eq(verdict(moved.data, moved.size), 1);
}
END_TEST

START_TEST(receipt__what_is_none_is_told_from_one_that_is_false)
{
    static const char *const none[] = {"{}",
                                       "[]",
                                       "null",
                                       "{\"receipt\":null}",
                                       "{\"receipt\":{\"payload\":{}}}",
                                       "{\"payload\":{},\"signature\":\"\"}",
                                       "{\"payload\":[],\"signature\":\"AAAA\"}"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_msg(verdict(none[i], strlen(none[i])) == -1, "%s", none[i]);
    BUFFER_SCOPE struct buffer object = {0};
    write_object(key, &facts, &object);
    char *signature = strstr(buffer_string(&object), "signature") + strlen("signature':'");
    char *last = strstr(signature, "==");
    last[-1] = (char)(last[-1] + 1); /* bits that decode to nothing: another spelling */
    ck_assert_int_eq(verdict(object.data, object.size), -1);
}
END_TEST

START_TEST(receipt__needs_a_key_and_every_fact)
{
    BUFFER_SCOPE struct buffer without = {0}, lacking = {0};
    struct receipt_facts some = facts;
    some.accepted_at = "";
    write_object(NULL, &facts, &without);
    write_object(key, &some, &lacking);
    ck_assert_str_eq(buffer_string(&without), "{}");
    ck_assert_str_eq(buffer_string(&lacking), "{}");
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {key__signs_as_rfc_8032_says,
                                  key__id_is_that_of_the_raw_public_key,
                                  key__of_another_kind_or_none_is_refused_with_a_reason,
                                  key__a_made_one_comes_back_from_its_pem,
                                  key__file_is_closed_to_others,
                                  key__load_says_what_is_wrong_with_the_file,
                                  receipt__is_the_same_every_time_and_verifies,
                                  receipt__any_changed_fact_is_noticed,
                                  receipt__order_and_white_space_do_not_matter,
                                  receipt__what_is_none_is_told_from_one_that_is_false,
                                  receipt__needs_a_key_and_every_fact};
    return suite_of("receipt", begin, end, tests, sizeof tests / sizeof *tests);
}
