/* Text as JavaScript sees it: UTF-16 lengths, white space, lower case (spec 01). Pure.
 *
 * A text is a slice of UTF-8 in which a lone surrogate stands as its three-byte form; it owns
 * nothing. */
#ifndef BENCHLEDGER_VALIDATOR_TEXT_H
#define BENCHLEDGER_VALIDATOR_TEXT_H

#include "validator/js.h"

struct text {
    const char *data;
    size_t size;
};

/* The text of a string value; empty for NULL and other types. */
struct text text_of(const struct js_value *string);

/* The code point at *AT, which moves behind it; *AT is below END, the text well formed. */
uint32_t text_next(const char **at, const char *end);
/* Writes a code point as at most TEXT_CODE_MAX bytes and returns the place behind them. */
enum { TEXT_CODE_MAX = 4 };
char *text_encode(char *out, uint32_t code);
void text_put(struct buffer *out, uint32_t code);

/* Whether TEXT is well formed; a lone surrogate in its three-byte form is. */
bool text_is_formed(struct text text);

/* JavaScript's \s. */
bool text_is_space(uint32_t code);
/* Controls and direction marks, which let a name play tricks on a page (list in spec 02), and their ranges
 * from the lowest to the highest; false behind the last. */
bool text_is_control(uint32_t code);
bool text_control_range(size_t i, uint32_t *first, uint32_t *last);
/* Without white space at both ends. */
struct text text_trim(struct text text);
/* toLowerCase; the result lives in ARENA. */
struct text text_lower(struct arena *arena, struct text text);
/* Length in UTF-16 units. */
size_t text_units(struct text text);
/* The first UNITS units, as JavaScript's slice gives them: a pair that is cut leaves its high half.
 * The result may live in ARENA. */
struct text text_cut(struct arena *arena, struct text text, size_t units);
/* One line of at most UNITS units: control characters become spaces, runs of white space one space,
 * trimmed, cut, trimmed again (spec 03, "Scrub"). The result lives in ARENA. */
struct text text_line(struct arena *arena, struct text text, size_t units);
/* The same of what people wrote, for files that everybody shall be able to read: without surrogates. */
struct text text_reason(struct arena *arena, struct text text, size_t units);
/* Whether TEXT contains the lower-case ASCII NEEDLE, ASCII letters compared without case. */
bool text_contains(struct text text, const char *needle);
/* Whether the two are equal, ASCII letters compared without case. */
bool text_is(struct text text, const char *word);

#endif
