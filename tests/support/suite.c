#include "tests/support/suite.h"

#include <stdlib.h>

enum { TIMEOUT_S = 60 };

Suite *suite_of(const char *name, void (*begin)(void), void (*end)(void),
                const TTest *const tests[], size_t count)
{
    Suite *suite = suite_create(name);
    TCase *cases = tcase_create(name);
    tcase_add_checked_fixture(cases, begin, end);
    tcase_set_timeout(cases, TIMEOUT_S);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(test_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
