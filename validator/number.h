/* IEEE doubles as ECMAScript reads and prints them (spec 01, "ECMAScript-exact JSON"). Pure. */
#ifndef BENCHLEDGER_VALIDATOR_NUMBER_H
#define BENCHLEDGER_VALIDATOR_NUMBER_H

#include <stddef.h>

enum { NUMBER_PRINT_MAX = 32 };

/* The double nearest to a token that matches the JSON number grammar (the caller has checked it).
 * Infinity when it overflows. */
double number_read(const char *token, size_t size);

/* Number::toString: shortest digits that read back as VALUE, closest to it. Returns the number of
 * bytes written, no NUL. VALUE must be finite. -0 prints as 0. */
size_t number_print(double value, char out[NUMBER_PRINT_MAX]);

/* Math.round(value * 100) / 100, the rounding of board rows and exports (spec 03). */
double number_round2(double value);

#endif
