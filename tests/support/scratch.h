/* Throw-away folders and made-up runs for tests of the store. Faults end the test program. */
#ifndef BENCHLEDGER_TESTS_SCRATCH_H
#define BENCHLEDGER_TESTS_SCRATCH_H

#include "github/store.h"
#include "validator/buffer.h"

enum { SCRATCH_PATH = 256 };

/* Makes a folder and returns its path, valid until scratch_end, which removes it with what is in
 * it. */
const char *scratch_begin(void);
void scratch_end(void);
/* FOLDER/NAME; FOLDER that of scratch_begin. Four at a time. */
const char *scratch_path(const char *name);
void scratch_write(const char *path, const char *text, size_t size);
void scratch_read(const char *path, struct buffer *out);

/* Runs a shell command; its exit status. OUT (may be NULL) receives what it prints. */
int scratch_shell(struct buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A made-up run, number N: `run-0000000N`. Entries are at least ENTRY_SIZE bytes. Months and days
 * spread over the months of 2026 up to November. Its withdrawSha256 is its digest. */
struct scratch_run {
    struct change change;
    char run_id[RUN_ID_MAX + 1], path[RUN_PATH_MAX + 1], at[32];
    char digest[SHA256_HEX + 1], nonce[SHA256_HEX + 1];
    struct buffer bytes, entry;
};
void scratch_run_make(struct scratch_run *run, unsigned n, size_t entry_size, bool flagged);
void scratch_run_free(struct scratch_run *run);
/* Acceptance time: MS since 1970 in ISO. */
void scratch_time(double ms, char at[32]);

struct store_options scratch_options(const char *path);
/* Claims and commits run N; waits for the end. */
struct change_result scratch_submit(struct store *store, unsigned n, size_t entry_size);

/* Reads a dataset from scratch and ends the program when anything is wrong with it: the ledger
 * chain, the index (segments, manifest and summary agree), `git fsck --strict`. */
struct scratch_counts {
    size_t entries; /* of the index */
    size_t lines;   /* of the ledger */
    size_t files;   /* under runs/ and quarantine/ */
};
void scratch_check(const char *path, struct scratch_counts *counts);

#endif
