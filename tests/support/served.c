#include "tests/support/served.h"

#include <check.h>

#include "tests/support/scratch.h"

struct store *store;

void served_open(struct store_options options)
{
    struct store_error error;
    ck_assert_msg(store_open(&options, &store, &error), "%s", error.message);
}

void served_begin(void)
{
    scratch_begin();
    served_open(scratch_options(scratch_path("data")));
}

void served_end(void)
{
    store_close(store);
    store = NULL;
    scratch_end();
}

void served_reopen(void)
{
    store_close(store);
    served_open(scratch_options(scratch_path("data")));
}

void served_check(size_t runs)
{
    struct scratch_counts counts;
    scratch_check(scratch_path("data"), &counts);
    ck_assert_uint_eq(counts.entries, runs);
    ck_assert_uint_eq(counts.files, runs);
}
