/* A fuzz target is one function; libFuzzer or replay.c calls it. */
#ifndef BENCHLEDGER_TESTS_FUZZ_H
#define BENCHLEDGER_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
