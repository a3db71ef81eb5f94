#include <math.h>
#include <stdlib.h>

#include "validator/js.h"
#include "validator/js_members.h"
#include "validator/number.h"
#include "validator/text.h"

/* Most objects of a run are chunks of two members, which are worth a copy of fixed size. */
enum { FIRST_ROOM = 256, CHUNK_VALUES = 4 };

/* A container that is still open: where its children begin on the stack. */
struct frame {
    uint32_t base;
    bool object;
    bool alike; /* its keys so far are those of LIKE, in the same places */
    uint32_t like_count;
    const struct js_member
        *like; /* the object that was closed last: in an array, the one before it */
};

struct reader {
    struct arena *arena;
    const char *text, *at, *end;
    struct js_value *stack; /* children of open containers; keys and values take turns in objects */
    size_t height, room;
    struct frame frames[JS_DEPTH_MAX];
    size_t depth;
    const struct js_member *last; /* members of the object that was closed last */
    uint32_t last_count;
    const char *problem;
};

static bool fail(struct reader *reader, const char *at, const char *problem)
{
    reader->at = at;
    reader->problem = problem;
    return false;
}

static struct js_value *push(struct reader *reader)
{
    if (reader->height == reader->room) {
        reader->room *= 2;
        reader->stack = memory_grow(reader->stack, reader->room * sizeof *reader->stack);
    }
    return &reader->stack[reader->height++];
}

static void skip_space(struct reader *reader)
{
    const char *at = reader->at;
    while (at < reader->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    reader->at = at;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Steps over plain ASCII eight bytes at a time, up to a quote, backslash, control or non-ASCII byte or to the
 * last seven. A borrow can mark a byte behind a marked one, never before it: the lowest mark is true. */
static const char *skip_words(const char *at, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
        uint64_t marks =
            (word | (word - ones * 0x20) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) &
            high;
        if (marks)
            return at + (__builtin_ctzll(marks) >> 3);
    }
    return at;
}
#else
static const char *skip_words(const char *at, const char *end)
{
    (void)end;
    return at;
}
#endif

/* Bytes of the well-formed UTF-8 character at AT, 0 when it is none (overlong forms, surrogates and
 * code points above U+10FFFF are none). */
static size_t utf8_size(const unsigned char *at, const unsigned char *end)
{
    size_t left = (size_t)(end - at);
    if (at[0] < 0xC2)
        return 0;
    if (at[0] < 0xE0)
        return left >= 2 && (at[1] & 0xC0) == 0x80 ? 2 : 0;
    if (at[0] < 0xF0) {
        if (left < 3 || (at[1] & 0xC0) != 0x80 || (at[2] & 0xC0) != 0x80)
            return 0;
        if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] >= 0xA0))
            return 0;
        return 3;
    }
    if (at[0] > 0xF4 || left < 4 || (at[1] & 0xC0) != 0x80 || (at[2] & 0xC0) != 0x80 ||
        (at[3] & 0xC0) != 0x80)
        return 0;
    if ((at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] >= 0x90))
        return 0;
    return 4;
}

/* Steps over characters that stand for themselves; *ASCII turns false on others. */
static bool skip_plain(struct reader *reader, bool *ascii)
{
    const char *at = reader->at, *end = reader->end;
    for (;;) {
        at = skip_words(at, end);
        while (at < end && (unsigned char)*at < 0x80 && (unsigned char)*at >= 0x20 && *at != '"' &&
               *at != '\\')
            at++;
        if (at == end)
            return fail(reader, at, "the string is not closed");
        if (*at == '"' || *at == '\\')
            break;
        if ((unsigned char)*at < 0x20)
            return fail(reader, at, "a control character in a string must be escaped");
        size_t size = utf8_size((const unsigned char *)at, (const unsigned char *)end);
        if (!size)
            return fail(reader, at, "invalid UTF-8");
        *ascii = false;
        at += size;
    }
    reader->at = at;
    return true;
}

static bool read_hex4(struct reader *reader, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = reader->at < reader->end ? *reader->at : '\0';
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return fail(reader, reader->at, "\\u needs four hexadecimal digits");
        *unit = *unit << 4 | (unsigned)digit;
        reader->at++;
    }
    return true;
}

/* \uXXXX, with the low half of a pair when it follows. */
static bool read_unicode_escape(struct reader *reader, unsigned *code)
{
    if (!read_hex4(reader, code))
        return false;
    const char *behind = reader->at;
    if (*code >= 0xD800 && *code < 0xDC00 && reader->end - behind >= 2 && behind[0] == '\\' &&
        behind[1] == 'u') {
        unsigned low;
        reader->at += 2;
        if (!read_hex4(reader, &low))
            return false;
        if (low >= 0xDC00 && low < 0xE000)
            *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
        else
            reader->at = behind;
    }
    return true;
}

static bool read_escape(struct reader *reader, unsigned *code)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *start = reader->at++;
    if (reader->at == reader->end)
        return fail(reader, reader->at, "the string is not closed");
    char name = *reader->at++;
    if (name == 'u')
        return read_unicode_escape(reader, code);
    const char *found = name ? strchr(names, name) : NULL;
    if (!found)
        return fail(reader, start, "unknown escape in a string");
    *code = (unsigned char)values[found - names];
    return true;
}

/* Copies a string that holds escapes; START is behind its opening quote, reader->at on the first
 * escape. The decoded form is never longer than the text. */
static bool read_escaped(struct reader *reader, const char *start, bool ascii,
                         struct js_value *value)
{
    const char *close = reader->at;
    while (close < reader->end && *close != '"')
        close += *close == '\\' && reader->end - close > 1 ? 2 : 1;
    char *text = arena_take(reader->arena, (size_t)(close - start) + 1), *out = text;
    const char *from = start;
    for (;;) {
        memcpy(out, from, (size_t)(reader->at - from));
        out += reader->at - from;
        if (*reader->at == '"')
            break;
        unsigned code;
        if (!read_escape(reader, &code))
            return false;
        ascii = ascii && code < 0x80;
        out = text_encode(out, code);
        from = reader->at;
        if (!skip_plain(reader, &ascii))
            return false;
    }
    *value = (struct js_value){.type = JS_STRING,
                               .flags = ascii ? JS_ASCII : 0,
                               .size = (uint32_t)(out - text),
                               .text = text};
    return true;
}

/* reader->at is on the opening quote. */
static bool read_string(struct reader *reader, struct js_value *value)
{
    const char *start = ++reader->at;
    bool ascii = true;
    if (!skip_plain(reader, &ascii))
        return false;
    if (*reader->at == '\\') {
        if (!read_escaped(reader, start, ascii, value))
            return false;
    } else {
        *value = (struct js_value){.type = JS_STRING,
                                   .flags = (uint8_t)(JS_PLAIN | (ascii ? JS_ASCII : 0)),
                                   .size = (uint32_t)(reader->at - start),
                                   .text = start};
    }
    reader->at++;
    return true;
}

static bool read_number(struct reader *reader, struct js_value *value)
{
    const char *at = reader->at;
    struct number_token token = number_scan(at, reader->end);
    if (token.problem)
        return fail(reader, at + token.size, token.problem);
    if (isinf(token.value))
        return fail(reader, at, "the number is too large");
    *value = (struct js_value){.type = JS_NUMBER,
                               .flags = token.is_printed ? JS_TOKEN : 0,
                               .token_size = token.is_printed ? (uint16_t)token.size : 0,
                               .size = (uint32_t)(at - reader->text),
                               .number = token.value};
    reader->at = at + token.size;
    return true;
}

static bool read_word(struct reader *reader, const char *word, enum js_type type,
                      struct js_value *value)
{
    size_t size = strlen(word);
    if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, word, size) != 0)
        return fail(reader, reader->at, "unexpected character");
    *value = (struct js_value){.type = (uint8_t)type};
    reader->at += size;
    return true;
}

static bool read_scalar(struct reader *reader)
{
    if (reader->at == reader->end)
        return fail(reader, reader->at, "the text ends too early");
    struct js_value *value = push(reader);
    switch (*reader->at) {
    case '"':
        return read_string(reader, value);
    case 't':
        return read_word(reader, "true", JS_TRUE, value);
    case 'f':
        return read_word(reader, "false", JS_FALSE, value);
    case 'n':
        return read_word(reader, "null", JS_NULL, value);
    default:
        if (*reader->at != '-' && (*reader->at < '0' || *reader->at > '9'))
            return fail(reader, reader->at, "unexpected character");
        return read_number(reader, value);
    }
}

static bool open_container(struct reader *reader, bool object)
{
    if (reader->depth == JS_DEPTH_MAX)
        return fail(reader, reader->at, "nested deeper than 128 levels");
    reader->frames[reader->depth++] = (struct frame){.base = (uint32_t)reader->height,
                                                     .object = object,
                                                     .alike = true,
                                                     .like = reader->last,
                                                     .like_count = reader->last_count};
    reader->at++;
    skip_space(reader);
    return true;
}

/* The children leave the stack for the arena; the container takes their place. */
static void close_container(struct reader *reader)
{
    struct frame frame = reader->frames[--reader->depth];
    struct js_value *children = reader->stack + frame.base;
    size_t count = reader->height - frame.base;
    reader->at++;
    /* The first keys of an object that is in order are in order, and each stands once. */
    if (frame.object && !frame.alike)
        count = 2 * js_order_members((struct js_member *)(void *)children, count / 2);
    struct js_value *copy = NULL;
    if (count) {
        copy = arena_take(reader->arena, count * sizeof *copy);
        if (count == CHUNK_VALUES)
            memcpy(copy, children, CHUNK_VALUES * sizeof *copy);
        else
            memcpy(copy, children, count * sizeof *copy);
    }
    reader->height = frame.base;
    struct js_value *value = push(reader);
    if (frame.object) {
        reader->last = (const struct js_member *)(void *)copy;
        reader->last_count = (uint32_t)(count / 2);
        *value = (struct js_value){
            .type = JS_OBJECT, .size = reader->last_count, .members = reader->last};
    } else
        *value = (struct js_value){.type = JS_ARRAY, .size = (uint32_t)count, .items = copy};
}

/* Keys are short: a loop is cheaper than a call. */
static bool same_bytes(const char *a, const char *b, size_t size)
{
    size_t at = 0;
    while (at < size && a[at] == b[at])
        at++;
    return at == size;
}

/* Objects of an array mostly have the same keys: takes the key that LIKE has in this place, with its colon, when
 * the text goes on with it. */
static bool take_expected_key(struct reader *reader, struct frame *frame)
{
    size_t place = (reader->height - frame->base) / 2;
    if (!frame->alike || place >= frame->like_count) {
        frame->alike = false;
        return false;
    }
    const struct js_value *key = &frame->like[place].key;
    const char *at = reader->at;
    frame->alike = (key->flags & JS_PLAIN) && (size_t)(reader->end - at) >= key->size + (size_t)3 &&
                   at[key->size + 1] == '"' && at[key->size + 2] == ':' &&
                   same_bytes(at + 1, key->text, key->size);
    if (!frame->alike)
        return false;
    *push(reader) = *key;
    reader->at = at + key->size + 3;
    return true;
}

static bool read_key(struct reader *reader)
{
    if (reader->at == reader->end || *reader->at != '"')
        return fail(reader, reader->at, "expected a key in double quotes");
    if (take_expected_key(reader, &reader->frames[reader->depth - 1])) {
        skip_space(reader);
        return true;
    }
    if (!read_string(reader, push(reader)))
        return false;
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != ':')
        return fail(reader, reader->at, "expected a colon");
    reader->at++;
    skip_space(reader);
    return true;
}

static bool is_at(const struct reader *reader, char c)
{
    return reader->at < reader->end && *reader->at == c;
}

/* One value and, when it opens a container, its beginning. *OPENED: its first child follows. */
static bool read_item(struct reader *reader, bool *opened)
{
    bool object = is_at(reader, '{');
    *opened = false;
    if (!object && !is_at(reader, '['))
        return read_scalar(reader);
    if (!open_container(reader, object))
        return false;
    if (is_at(reader, object ? '}' : ']')) {
        close_container(reader);
        return true;
    }
    *opened = true;
    return !object || read_key(reader);
}

/* Behind a value: closes what ends here. *MORE: another child of the innermost container
 * follows. */
static bool read_behind(struct reader *reader, bool *more)
{
    *more = false;
    while (reader->depth > 0) {
        bool object = reader->frames[reader->depth - 1].object;
        skip_space(reader);
        if (is_at(reader, ',')) {
            reader->at++;
            skip_space(reader);
            *more = true;
            return !object || read_key(reader);
        }
        if (!is_at(reader, object ? '}' : ']'))
            return fail(reader, reader->at,
                        object ? "expected a comma or a closing brace"
                               : "expected a comma or a closing bracket");
        close_container(reader);
    }
    return true;
}

static bool read_text(struct reader *reader)
{
    bool more = true;
    skip_space(reader);
    while (more) {
        bool opened;
        if (!read_item(reader, &opened) || (!opened && !read_behind(reader, &more)))
            return false;
    }
    skip_space(reader);
    return reader->at == reader->end ||
           fail(reader, reader->at, "text behind the end of the value");
}

static void locate(const struct reader *reader, struct js_error *error)
{
    *error = (struct js_error){(size_t)(reader->at - reader->text), 1, 1, reader->problem};
    for (const char *at = reader->text; at < reader->at; at++) {
        if (*at == '\n') {
            error->line++;
            error->column = 1;
        } else if (((unsigned char)*at & 0xC0) != 0x80) {
            error->column++;
        }
    }
}

bool js_read(struct arena *arena, const char *text, size_t size, struct js_document *document,
             struct js_error *error)
{
    struct reader reader = {
        .arena = arena, .text = text, .at = text, .end = text + size, .room = FIRST_ROOM};
    bool read;
    reader.stack = memory_grow(NULL, reader.room * sizeof *reader.stack);
    if (size > JS_TEXT_MAX) {
        read = fail(&reader, text, "the text is too large");
    } else {
        if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
            reader.at += 3;
        read = read_text(&reader);
    }
    if (read)
        *document = (struct js_document){text, size, reader.stack[0]};
    else
        locate(&reader, error);
    free(reader.stack);
    return read;
}
