/* Parsing a multiple-choice answer (spec 02, "Parsing a multiple-choice answer"). Pure. */
#ifndef BENCHLEDGER_VALIDATOR_ANSWERS_H
#define BENCHLEDGER_VALIDATOR_ANSWERS_H

#include "validator/js.h"

enum { ANSWER_CHOICES = 4, ANSWER_NONE = -1 };

struct answer_choice {
    size_t units;             /* UTF-16 length of the lower-cased choice */
    unsigned char sha256[32]; /* of its lower-cased UTF-8 bytes */
};
struct answer_item {
    int answer; /* index of the right choice */
    struct answer_choice choices[ANSWER_CHOICES];
};
struct answer_key {
    const struct answer_item *items;
    size_t count;
};

/* Reads a key file's text. False with a static *PROBLEM when it is not one. The key lives in
 * ARENA. */
bool answer_key_read(struct arena *arena, const char *text, size_t size, struct answer_key *key,
                     const char **problem);

/* Index of the choice that OUTPUT names, or ANSWER_NONE. */
int answer_parse(struct arena *arena, const struct js_value *output,
                 const struct answer_item *item);

#endif
