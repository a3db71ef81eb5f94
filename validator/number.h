/* IEEE doubles as ECMAScript reads and prints them (spec 01, "ECMAScript-exact JSON"). Pure. */
#ifndef BENCHLEDGER_VALIDATOR_NUMBER_H
#define BENCHLEDGER_VALIDATOR_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum { NUMBER_PRINT_MAX = 32 };

/* A number that begins at AT, by the JSON grammar. */
struct number_token {
    double value; /* infinite when it overflows */
    size_t size;
    bool is_printed;     /* the token is what number_print prints for the value */
    const char *problem; /* static, what is wrong at AT + size; NULL: nothing */
};
struct number_token number_scan(const char *at, const char *end);

/* The double nearest to a token that matches the JSON number grammar (the caller has checked it).
 * Infinity when it overflows. */
double number_read(const char *token, size_t size);

/* Number::toString: shortest digits that read back as VALUE, closest to it. Returns the number of
 * bytes written, no NUL. VALUE must be finite. -0 prints as 0. */
size_t number_print(double value, char out[NUMBER_PRINT_MAX]);

/* Math.round(value * 100) / 100, the rounding of board rows and exports (spec 03). */
double number_round2(double value);

#endif
