/* Programs that link this generate data without waiting for the disk: fsync is theirs. */
#ifndef BENCHLEDGER_TESTS_UNSYNCED_H
#define BENCHLEDGER_TESTS_UNSYNCED_H

#include <stdbool.h>

/* From now on, fsync does nothing, or what it should. At first it does what it should. */
void unsynced(bool on);

#endif
