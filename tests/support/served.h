/* A store in a scratch folder, open during each test of a suite. */
#ifndef BENCHLEDGER_TESTS_SERVED_H
#define BENCHLEDGER_TESTS_SERVED_H

#include "github/store.h"

/* The one that is open; a test may close it or put another in its place. */
extern struct store *store;

/* For each test: the dataset lies at scratch_path("data"). */
void served_begin(void);
void served_end(void);
void served_open(struct store_options options);
void served_reopen(void);
/* Reads the dataset from scratch: everything agrees on the number of runs. */
void served_check(size_t runs);

#endif
