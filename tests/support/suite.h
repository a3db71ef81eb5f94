/* Every unit test program is one Check suite: it defines test_suite, suite.c runs it. */
#ifndef BENCHLEDGER_TESTS_SUITE_H
#define BENCHLEDGER_TESTS_SUITE_H

#include <check.h>

Suite *test_suite(void);

/* A suite of one case: COUNT tests, each between BEGIN and END, none of which may take a minute. */
Suite *suite_of(const char *name, void (*begin)(void), void (*end)(void),
                const TTest *const tests[], size_t count);

#endif
