#include <math.h>
#include <stdlib.h>

#include "validator/js.h"
#include "validator/number.h"
#include "validator/text.h"

enum { FEW_MEMBERS = 16 };

const struct js_value *js_get_sized(const struct js_value *object, const char *name, size_t size)
{
    if (!object || object->type != JS_OBJECT)
        return NULL;
    for (uint32_t i = 0; i < object->size; i++) {
        const struct js_value *key = &object->members[i].key;
        if (key->size == size && memcmp(key->text, name, size) == 0)
            return &object->members[i].value;
    }
    return NULL;
}

/* Names have no NUL, keys may: a key that goes on behind one is another. */
static bool is_named(const struct js_value *key, const char *name)
{
    uint32_t at = 0;
    while (at < key->size && name[at] && key->text[at] == name[at])
        at++;
    return at == key->size && !name[at];
}

const struct js_value *js_get(const struct js_value *object, const char *name)
{
    if (!object || object->type != JS_OBJECT)
        return NULL;
    for (uint32_t i = 0; i < object->size; i++) {
        const struct js_value *key = &object->members[i].key;
        if (key->size && *key->text == *name && is_named(key, name))
            return &object->members[i].value;
    }
    return NULL;
}

bool js_equals(const struct js_value *value, const char *text)
{
    return value && value->type == JS_STRING && value->size == strlen(text) &&
           memcmp(value->text, text, value->size) == 0;
}

size_t js_units(const struct js_value *string)
{
    if (string->flags & JS_ASCII)
        return string->size;
    return text_units(text_of(string));
}

/* The UTF-16 units of the well-formed character at *AT, which moves behind it. */
static size_t next_units(const unsigned char **at, unsigned units[2])
{
    const unsigned char *text = *at;
    if (text[0] < 0x80) {
        units[0] = text[0];
        *at += 1;
    } else if (text[0] < 0xE0) {
        units[0] = (text[0] & 0x1Fu) << 6 | (text[1] & 0x3Fu);
        *at += 2;
    } else if (text[0] < 0xF0) {
        units[0] = (text[0] & 0x0Fu) << 12 | (text[1] & 0x3Fu) << 6 | (text[2] & 0x3Fu);
        *at += 3;
    } else {
        unsigned code = (text[0] & 0x07u) << 18 | (text[1] & 0x3Fu) << 12 | (text[2] & 0x3Fu) << 6 |
                        (text[3] & 0x3Fu);
        units[0] = 0xD800 + ((code - 0x10000) >> 10);
        units[1] = 0xDC00 + ((code - 0x10000) & 0x3FF);
        *at += 4;
        return 2;
    }
    return 1;
}

/* The first two units from AT on, fewer at the end. */
static size_t two_units(const unsigned char *at, const unsigned char *end, unsigned units[3])
{
    size_t count = 0;
    while (count < 2 && at < end)
        count += next_units(&at, units + count);
    return count;
}

/* Order from the first character that differs. Its first unit may still be the same (a pair against
 * a lone surrogate), the second then differs. */
static int compare_from(const unsigned char *a, const unsigned char *a_end, const unsigned char *b,
                        const unsigned char *b_end)
{
    unsigned left[3], right[3];
    size_t lefts = two_units(a, a_end, left), rights = two_units(b, b_end, right);
    for (size_t i = 0; i < lefts && i < rights; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return lefts < rights ? -1 : lefts > rights;
}

int js_compare(const struct js_value *a, const struct js_value *b)
{
    const unsigned char *left = (const unsigned char *)a->text,
                        *right = (const unsigned char *)b->text;
    size_t shorter = a->size < b->size ? a->size : b->size;
    if (a->flags & b->flags & JS_ASCII) {
        int order = memcmp(left, right, shorter);
        return order ? order : a->size < b->size ? -1 : a->size > b->size;
    }
    size_t at = 0;
    while (at < shorter && left[at] == right[at])
        at++;
    if (at == shorter)
        return a->size < b->size ? -1 : a->size > b->size;
    while (at > 0 && (left[at] & 0xC0) == 0x80)
        at--;
    return compare_from(left + at, left + a->size, right + at, right + b->size);
}

static void print_string(const char *text, size_t size, struct buffer *out)
{
    static const char digits[] = "0123456789abcdef", short_names[] = "btn?fr";
    char *at = buffer_reserve(out, 6 * size + 2), *start = at;
    *at++ = '"';
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\') {
            *at++ = '\\';
            *at++ = (char)byte;
        } else if (byte < 0x20) {
            *at++ = '\\';
            if (byte >= 8 && byte <= 13 && byte != 11) {
                *at++ = short_names[byte - 8];
                continue;
            }
            memcpy(at, "u00", 3);
            at[3] = digits[byte >> 4];
            at[4] = digits[byte & 15];
            at += 5;
        } else if (byte == 0xED && (unsigned char)text[i + 1] >= 0xA0) { /* a lone surrogate */
            unsigned low = (text[i + 1] & 0x3Fu) << 6 | (text[i + 2] & 0x3Fu);
            memcpy(at, "\\ud", 3);
            at[3] = digits[low >> 8];
            at[4] = digits[low >> 4 & 15];
            at[5] = digits[low & 15];
            at += 6;
            i += 2;
        } else {
            *at++ = (char)byte;
        }
    }
    *at++ = '"';
    out->size += (size_t)(at - start);
}

static void print_text(const struct js_value *string, struct buffer *out)
{
    if (!(string->flags & JS_PLAIN)) {
        print_string(string->text, string->size, out);
        return;
    }
    buffer_byte(out, '"');
    buffer_add(out, string->text, string->size);
    buffer_byte(out, '"');
}

static void print_number(double number, struct buffer *out)
{
    if (!isfinite(number)) {
        buffer_add(out, "null", 4);
        return;
    }
    char *at = buffer_reserve(out, NUMBER_PRINT_MAX);
    out->size += number_print(number, at);
}

/* Anything without children. */
static void print_scalar(const struct js_document *document, const struct js_value *value,
                         struct buffer *out)
{
    static const char *const words[] = {"null", "false", "true"};
    if (value->type == JS_STRING)
        print_text(value, out);
    else if (value->type != JS_NUMBER)
        buffer_text(out, words[value->type]);
    else if (value->flags & JS_TOKEN)
        buffer_add(out, document->text + value->size, value->token_size);
    else
        print_number(value->number, out);
}

/* A plain key and a number that keeps its token: nearly all members of a trace. */
static bool is_token_member(const struct js_member *member)
{
    return (member->key.flags & JS_PLAIN) && member->value.type == JS_NUMBER &&
           (member->value.flags & JS_TOKEN);
}

static size_t token_member_size(const struct js_member *member)
{
    return member->key.size + (size_t)member->value.token_size + 3;
}

/* Writes such a member and returns the place behind it. */
static char *put_token_member(const struct js_document *document, const struct js_member *member,
                              char *at)
{
    *at++ = '"';
    at = copy_bytes(at, member->key.text, member->key.size);
    *at++ = '"';
    *at++ = ':';
    return copy_bytes(at, document->text + member->value.size, member->value.token_size);
}

static bool print_token_member(const struct js_document *document, const struct js_member *member,
                               struct buffer *out)
{
    if (!is_token_member(member))
        return false;
    char *at = buffer_reserve(out, token_member_size(member));
    out->size += (size_t)(put_token_member(document, member, at) - at);
    return true;
}

void js_print(const struct js_document *document, const struct js_value *value, struct buffer *out)
{
    if (value->type < JS_ARRAY) {
        print_scalar(document, value, out);
        return;
    }
    bool object = value->type == JS_OBJECT;
    buffer_byte(out, object ? '{' : '[');
    for (uint32_t i = 0; i < value->size; i++) {
        if (i)
            buffer_byte(out, ',');
        if (!object) {
            js_print(document, &value->items[i], out);
        } else if (!print_token_member(document, &value->members[i], out)) {
            print_text(&value->members[i].key, out);
            buffer_byte(out, ':');
            js_print(document, &value->members[i].value, out);
        }
    }
    buffer_byte(out, object ? '}' : ']');
}

/* js_compare with the usual case in front: ASCII keys whose first letters differ. */
static int compare_keys(const struct js_value *a, const struct js_value *b)
{
    if ((a->flags & b->flags & JS_ASCII) && a->size && b->size && *a->text != *b->text)
        return *a->text < *b->text ? -1 : 1;
    return js_compare(a, b);
}

static int by_key(const void *left, const void *right)
{
    const struct js_member *const *a = left, *const *b = right;
    return compare_keys(&(*a)->key, &(*b)->key);
}

/* Pointers to the members in canonical order: into FEW when they fit, else on the heap. */
static const struct js_member **sort_members(const struct js_value *object,
                                             const struct js_member *few[FEW_MEMBERS])
{
    const struct js_member **order = few;
    if (object->size > FEW_MEMBERS) {
        order = memory_grow(NULL, object->size * sizeof *order);
        for (uint32_t i = 0; i < object->size; i++)
            order[i] = &object->members[i];
        qsort(order, object->size, sizeof *order, by_key);
        return order;
    }
    for (uint32_t i = 0; i < object->size; i++) {
        uint32_t at = i;
        for (; at > 0 && compare_keys(&order[at - 1]->key, &object->members[i].key) > 0; at--)
            order[at] = order[at - 1];
        order[at] = &object->members[i];
    }
    return order;
}

static bool is_omitted(const struct js_value *key, const char *const *omit)
{
    for (; omit && *omit; omit++)
        if (js_equals(key, *omit))
            return true;
    return false;
}

/* A chunk of a trace, two members whose values keep their tokens, in one go. False when VALUE is another. */
static bool print_canonical_chunk(const struct js_document *document, const struct js_value *value,
                                  struct buffer *out)
{
    if (value->size != 2)
        return false;
    const struct js_member *first = value->members, *second = first + 1;
    if (!is_token_member(first) || !is_token_member(second))
        return false;
    if (compare_keys(&first->key, &second->key) > 0) {
        first = second;
        second = value->members;
    }
    char *start = buffer_reserve(out, token_member_size(first) + token_member_size(second) + 3);
    char *at = start;
    *at++ = '{';
    at = put_token_member(document, first, at);
    *at++ = ',';
    at = put_token_member(document, second, at);
    *at++ = '}';
    out->size += (size_t)(at - start);
    return true;
}

static void print_canonical_object(const struct js_document *document, const struct js_value *value,
                                   const char *const *omit, struct buffer *out)
{
    if (!omit && print_canonical_chunk(document, value, out))
        return;
    const struct js_member *few[FEW_MEMBERS];
    const struct js_member **order = sort_members(value, few);
    bool follows = false;
    buffer_byte(out, '{');
    for (uint32_t i = 0; i < value->size; i++) {
        if (omit && is_omitted(&order[i]->key, omit))
            continue;
        if (follows)
            buffer_byte(out, ',');
        follows = true;
        if (print_token_member(document, order[i], out))
            continue;
        print_text(&order[i]->key, out);
        buffer_byte(out, ':');
        js_print_canonical(document, &order[i]->value, NULL, out);
    }
    buffer_byte(out, '}');
    if (order != few)
        free(order);
}

void js_print_canonical(const struct js_document *document, const struct js_value *value,
                        const char *const *omit, struct buffer *out)
{
    if (value->type == JS_OBJECT) {
        print_canonical_object(document, value, omit, out);
    } else if (value->type == JS_ARRAY) {
        buffer_byte(out, '[');
        for (uint32_t i = 0; i < value->size; i++) {
            if (i)
                buffer_byte(out, ',');
            js_print_canonical(document, &value->items[i], NULL, out);
        }
        buffer_byte(out, ']');
    } else {
        print_scalar(document, value, out);
    }
}

struct js_value js_make_string(const char *text, size_t size)
{
    uint8_t ascii = JS_ASCII;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] >= 0x80)
            ascii = 0;
    return (struct js_value){
        .type = JS_STRING, .flags = ascii, .size = (uint32_t)size, .text = text};
}

struct js_value js_make_number(double number)
{
    return (struct js_value){.type = JS_NUMBER, .number = number};
}

static void before_item(struct js_writer *writer)
{
    if (writer->follows)
        buffer_byte(writer->out, ',');
    writer->follows = true;
}

void js_write_begin(struct js_writer *writer, char bracket)
{
    before_item(writer);
    buffer_byte(writer->out, bracket);
    writer->follows = false;
}

void js_write_end(struct js_writer *writer, char bracket)
{
    buffer_byte(writer->out, bracket);
    writer->follows = true;
}

void js_write_key(struct js_writer *writer, const char *key)
{
    before_item(writer);
    buffer_byte(writer->out, '"');
    buffer_text(writer->out, key);
    buffer_add(writer->out, "\":", 2);
    writer->follows = false;
}

void js_write_null(struct js_writer *writer)
{
    js_write_raw(writer, "null", 4);
}

void js_write_bool(struct js_writer *writer, bool value)
{
    js_write_raw(writer, value ? "true" : "false", value ? 4 : 5);
}

void js_write_number(struct js_writer *writer, double value)
{
    before_item(writer);
    print_number(value, writer->out);
}

void js_write_string(struct js_writer *writer, const char *text, size_t size)
{
    before_item(writer);
    print_string(text, size, writer->out);
}

void js_write_text(struct js_writer *writer, const char *text)
{
    js_write_string(writer, text, strlen(text));
}

void js_write_value(struct js_writer *writer, const struct js_value *string)
{
    before_item(writer);
    print_text(string, writer->out);
}

void js_write_raw(struct js_writer *writer, const char *json, size_t size)
{
    before_item(writer);
    buffer_add(writer->out, json, size);
}
