/* Every unit test program is one Check suite: it defines test_suite, suite.c runs it. */
#ifndef BENCHLEDGER_TESTS_SUITE_H
#define BENCHLEDGER_TESTS_SUITE_H

#include <check.h>

Suite *test_suite(void);

#endif
