/* ECMAScript-exact JSON: reader, tree, printer, canonical form (spec 01).
 *
 * The reader makes one pass over the text and builds an arena tree of 16-byte values. Strings
 * without escapes and numbers that already stand in their shortest form point into the text, so the
 * text must outlive the document. Trees are read only; a changed document shares what did not
 * change. Strings are UTF-8, except that a lone surrogate (legal when escaped) stands as its
 * three-byte form. */
#ifndef BENCHLEDGER_VALIDATOR_JS_H
#define BENCHLEDGER_VALIDATOR_JS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "validator/arena.h"
#include "validator/buffer.h"

enum js_type { JS_NULL, JS_FALSE, JS_TRUE, JS_NUMBER, JS_STRING, JS_ARRAY, JS_OBJECT };
enum js_flag {
    JS_ASCII = 1, /* string: only bytes below 0x80, so bytes = UTF-16 units */
    JS_PLAIN = 2, /* string: prints as its own bytes, nothing to escape */
    JS_TOKEN = 4, /* number: the token at text + size, token_size bytes, is its printed form */
};
enum { JS_DEPTH_MAX = 128, JS_TEXT_MAX = 1 << 30 };

struct js_value {
    uint8_t type; /* enum js_type */
    uint8_t flags;
    uint16_t token_size;
    uint32_t size; /* string: bytes; array, object: children; number: offset of its token */
    union {
        double number;
        const char *text; /* not NUL-terminated */
        const struct js_value *items;
        const struct js_member *members; /* in JavaScript's property order, keys unique */
    };
};

struct js_member {
    struct js_value key; /* a string */
    struct js_value value;
};

struct js_document {
    const char *text; /* what the number tokens point into */
    size_t text_size; /* about what printing takes */
    struct js_value root;
};

struct js_error {
    size_t offset;       /* bytes from the start of the text */
    size_t line, column; /* from 1; the column counts characters */
    const char *message; /* static */
};

/* False and *ERROR on anything that JSON.parse refuses, plus depth above 128 and numbers that
 * overflow. A leading byte order mark is skipped. TEXT of at most JS_TEXT_MAX bytes. */
bool js_read(struct arena *arena, const char *text, size_t size, struct js_document *document,
             struct js_error *error);

/* The member NAME of an object, or NULL (also when OBJECT is NULL or no object). */
const struct js_value *js_get_sized(const struct js_value *object, const char *name, size_t size);
const struct js_value *js_get(const struct js_value *object, const char *name);

/* Whether VALUE is a string equal to TEXT. VALUE may be NULL. */
bool js_equals(const struct js_value *value, const char *text);
/* Length of a string in UTF-16 code units. */
size_t js_units(const struct js_value *string);
/* Order of two strings by UTF-16 code units: below, equal to or above 0. */
int js_compare(const struct js_value *a, const struct js_value *b);

/* JSON.stringify without white space. VALUE belongs to DOCUMENT. */
void js_print(const struct js_document *document, const struct js_value *value, struct buffer *out);
/* Canonical form: the same with keys sorted by UTF-16 code units at every level. Members of the
 * outermost object whose names are in OMIT (NULL-terminated, may be NULL) are left out. */
void js_print_canonical(const struct js_document *document, const struct js_value *value,
                        const char *const *omit, struct buffer *out);

/* Values made by code; TEXT is not copied. */
struct js_value js_make_string(const char *text, size_t size);
struct js_value js_make_number(double number);

/* Writes JSON piece by piece with the commas put in; keys are ours and are not escaped. */
struct js_writer {
    struct buffer *out;
    bool follows; /* a comma is due before the next item */
};
void js_write_begin(struct js_writer *writer, char bracket); /* '{' or '[' */
void js_write_end(struct js_writer *writer, char bracket);   /* '}' or ']' */
void js_write_key(struct js_writer *writer, const char *key);
void js_write_null(struct js_writer *writer);
void js_write_bool(struct js_writer *writer, bool value);
void js_write_number(struct js_writer *writer, double value); /* not finite: null */
void js_write_string(struct js_writer *writer, const char *text, size_t size);
void js_write_text(struct js_writer *writer, const char *text); /* NUL-terminated */
/* A string value with whatever it holds. */
void js_write_value(struct js_writer *writer, const struct js_value *string);
/* JSON that is already serialised. */
void js_write_raw(struct js_writer *writer, const char *json, size_t size);

#endif
