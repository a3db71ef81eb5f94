#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/unit/number_sample.h"
#include "validator/number.h"

enum { SAMPLES = sizeof number_samples / sizeof *number_samples };

static double value_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const char *print(double value)
{
    static char text[NUMBER_PRINT_MAX + 1];
    text[number_print(value, text)] = '\0';
    return text;
}

START_TEST(number__prints_as_node_does)
{
    for (int i = 0; i < SAMPLES; i++)
        ck_assert_str_eq(print(value_of(number_samples[i].bits)), number_samples[i].printed);
}
END_TEST

START_TEST(number__reads_back_what_it_printed)
{
    for (int i = 0; i < SAMPLES; i++) {
        const char *text = number_samples[i].printed;
        double wanted = value_of(number_samples[i].bits), read = number_read(text, strlen(text));
        ck_assert_msg(read == wanted, "%s", text);
    }
}
END_TEST

/* Tokens that no printer makes: long, between two doubles, with exponents that undo each other. */
static const struct {
    const char *token;
    double value;
} tokens[] = {
    {"1e400", INFINITY},
    {"-1e400", -INFINITY},
    {"1.7976931348623158e308", 1.7976931348623157e308},
    {"1.7976931348623159e308", INFINITY},
    {"2.4703282292062327e-324", 0},
    {"2.4703282292062328e-324", 5e-324},
    {"9007199254740993", 9007199254740992},
    {"9007199254740993.00000000000000000000000000000000000000000000000000001", 9007199254740994},
    {"0.000000000000000000000000000000000000000000000000000000001e57", 1},
    {"100000000000000000000000000000000000000000000000000000000e-56", 1},
    {"123456789012345678901234567890", 123456789012345677877719597056.0},
    {"1E+2", 100},
    {"0e99999999999", 0},
    {"1e-99999999999", 0},
};

START_TEST(number__reads_tokens_that_no_printer_makes)
{
    ck_assert_msg(number_read(tokens[_i].token, strlen(tokens[_i].token)) == tokens[_i].value, "%s",
                  tokens[_i].token);
}
END_TEST

START_TEST(number__reads_a_million_digits)
{
    size_t size = 1000000;
    char *token = malloc(size + 16);
    memset(token, '9', size);
    memcpy(token + size, "e-1000000", 9);
    ck_assert(number_read(token, size + 9) == 1);
    free(token);
}
END_TEST

/* Expectations from Math.round(v * 100) / 100 in Node. */
static const struct {
    double value, rounded;
} roundings[] = {{1.005, 1},      {1.255, 1.25},   {2.675, 2.68}, {0.125, 0.13},
                 {-0.125, -0.12}, {-0.126, -0.13}, {1e20, 1e20},  {0.004999999999999999, 0}};

START_TEST(number__rounds_half_up_to_hundredths)
{
    ck_assert_double_eq(number_round2(roundings[_i].value), roundings[_i].rounded);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("number");
    TCase *tests = tcase_create("number");
    tcase_add_test(tests, number__prints_as_node_does);
    tcase_add_test(tests, number__reads_back_what_it_printed);
    tcase_add_loop_test(tests, number__reads_tokens_that_no_printer_makes, 0,
                        sizeof tokens / sizeof *tokens);
    tcase_add_test(tests, number__reads_a_million_digits);
    tcase_add_loop_test(tests, number__rounds_half_up_to_hundredths, 0,
                        sizeof roundings / sizeof *roundings);
    suite_add_tcase(suite, tests);
    return suite;
}
