/* An index and the files that a dataset would hold of it, for each test of a suite. */
#ifndef BENCHLEDGER_TESTS_STORED_H
#define BENCHLEDGER_TESTS_STORED_H

#include "aggregate/index.h"

enum { NO_LIMIT = 1 << 30 };

/* A test may put another one in its place. */
extern struct index *stored_index;
extern struct index_problem stored_problem;

void stored_begin(void);
void stored_end(void);
/* There are no files any more. */
void stored_forget(void);
/* Takes over what changed, and settles; how many files. */
size_t stored_changes(void);
/* NULL when there is none. */
struct buffer *stored_file(const char *path);
void stored_manifest_holds(const char *holds);
/* Puts the index that the files hold in the place of the present one. */
bool stored_load(size_t limit, index_tell tell, void *context);

#endif
