#include "validator/text.h"

#include <string.h>

#include "validator/lower.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { CAPITAL_SIGMA = 0x3A3, SMALL_SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2, CAPITAL_I_DOT = 0x130 };

struct text text_of(const struct js_value *string)
{
    if (!string || string->type != JS_STRING)
        return (struct text){"", 0};
    return (struct text){string->text, string->size};
}

uint32_t text_next(const char **at, const char *end)
{
    const unsigned char *text = (const unsigned char *)*at;
    size_t left = (size_t)(end - *at);
    if (text[0] < 0x80 || left < 2) {
        *at += 1;
        return text[0];
    }
    if (text[0] < 0xE0 || left < 3) {
        *at += 2;
        return (text[0] & 0x1Fu) << 6 | (text[1] & 0x3Fu);
    }
    if (text[0] < 0xF0 || left < 4) {
        *at += 3;
        return (text[0] & 0x0Fu) << 12 | (text[1] & 0x3Fu) << 6 | (text[2] & 0x3Fu);
    }
    *at += 4;
    return (text[0] & 0x07u) << 18 | (text[1] & 0x3Fu) << 12 | (text[2] & 0x3Fu) << 6 |
           (text[3] & 0x3Fu);
}

char *text_encode(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *out++ = (char)(0xE0 | code >> 12);
        } else {
            *out++ = (char)(0xF0 | code >> 18);
            *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *out++ = (char)(0x80 | (code & 0x3F));
    return out;
}

void text_put(struct buffer *out, uint32_t code)
{
    char *at = buffer_reserve(out, TEXT_CODE_MAX);
    out->size += (size_t)(text_encode(at, code) - at);
}

bool text_is_formed(struct text text)
{
    const char *at = text.data, *end = text.data + text.size;
    while (at < end) { /* what is written again comes out as it was, or was no character */
        const char *from = at;
        uint32_t code = text_next(&at, end);
        char again[TEXT_CODE_MAX + 1];
        size_t size = (size_t)(text_encode(again, code) - again);
        if (code > 0x10FFFF || size != (size_t)(at - from) || memcmp(from, again, size) != 0)
            return false;
    }
    return true;
}

bool text_is_space(uint32_t code)
{
    return code == ' ' || (code >= 9 && code <= 13) || code == 0xA0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
           code == 0x202F || code == 0x205F || code == 0x3000 || code == 0xFEFF;
}

/* The code point that ends before *AT, which moves onto it; *AT is above START. */
static uint32_t text_previous(const char *start, const char **at)
{
    const char *end = *at;
    do
        --*at;
    while (*at > start && ((unsigned char)**at & 0xC0) == 0x80);
    const char *next = *at;
    return text_next(&next, end);
}

struct text text_trim(struct text text)
{
    const char *start = text.data, *end = text.data + text.size;
    for (const char *next = start; start < end; start = next)
        if (!text_is_space(text_next(&next, end)))
            break;
    for (const char *last = end; end > start; end = last)
        if (!text_is_space(text_previous(start, &last)))
            break;
    return (struct text){start, (size_t)(end - start)};
}

static bool in_ranges(const struct code_range *ranges, size_t count, uint32_t code)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = (low + count) / 2;
        if (code > ranges[middle].last)
            low = middle + 1;
        else if (code < ranges[middle].first)
            count = middle;
        else
            return true;
    }
    return false;
}

static const struct code_range controls[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x61C, 0x61C},
                                             {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069}};

bool text_is_control(uint32_t code)
{
    return (code < 0x20 || code >= 0x7F) && in_ranges(controls, COUNT(controls), code);
}

bool text_control_range(size_t i, uint32_t *first, uint32_t *last)
{
    if (i >= COUNT(controls))
        return false;
    *first = controls[i].first;
    *last = controls[i].last;
    return true;
}

static bool is_cased(uint32_t code)
{
    return in_ranges(cased, COUNT(cased), code);
}

static bool is_ignorable(uint32_t code)
{
    return in_ranges(case_ignorable, COUNT(case_ignorable), code);
}

/* Unicode's Final_Sigma: a cased letter before, none behind, case-ignorable ones passed over. */
static bool is_final_sigma(struct text text, const char *sigma, const char *behind)
{
    uint32_t code = 0;
    const char *at = sigma, *end = text.data + text.size;
    while (at > text.data && is_ignorable(code = text_previous(text.data, &at)))
        code = 0;
    if (!code || !is_cased(code))
        return false;
    for (at = behind; at < end;) {
        code = text_next(&at, end);
        if (!is_ignorable(code))
            return !is_cased(code);
    }
    return true;
}

static uint32_t lower_code(uint32_t code)
{
    if (code < 0x80)
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    size_t low = 0, count = COUNT(lower_runs);
    while (low < count) {
        size_t middle = (low + count) / 2;
        const struct lower_run *run = &lower_runs[middle];
        if (code > run->last)
            low = middle + 1;
        else if (code < run->first)
            count = middle;
        else
            return (code - run->first) % (uint32_t)run->step
                       ? code
                       : (uint32_t)((int32_t)code + run->delta);
    }
    return code;
}

struct text text_lower(struct arena *arena, struct text text)
{
    BUFFER_SCOPE struct buffer lower = {0};
    const char *end = text.data + text.size;
    for (const char *at = text.data, *next = at; at < end; at = next) {
        uint32_t code = text_next(&next, end);
        if (code == CAPITAL_I_DOT) {
            text_put(&lower, 'i');
            text_put(&lower, 0x307);
        } else if (code == CAPITAL_SIGMA) {
            text_put(&lower, is_final_sigma(text, at, next) ? FINAL_SIGMA : SMALL_SIGMA);
        } else {
            text_put(&lower, lower_code(code));
        }
    }
    return (struct text){arena_copy(arena, lower.data, lower.size), lower.size};
}

size_t text_units(struct text text)
{
    size_t units = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        units += ((byte & 0xC0) != 0x80) + (byte >= 0xF0);
    }
    return units;
}

struct text text_cut(struct arena *arena, struct text text, size_t units)
{
    const char *at = text.data, *end = text.data + text.size;
    while (at < end && units > 0) {
        const char *next = at;
        uint32_t code = text_next(&next, end);
        if (code >= 0x10000 && units == 1) {
            BUFFER_SCOPE struct buffer cut = {0};
            buffer_add(&cut, text.data, (size_t)(at - text.data));
            text_put(&cut, 0xD800 + ((code - 0x10000) >> 10));
            return (struct text){arena_copy(arena, cut.data, cut.size), cut.size};
        }
        units -= code >= 0x10000 ? 2 : 1;
        at = next;
    }
    return (struct text){text.data, (size_t)(at - text.data)};
}

static bool same_letters(const char *text, const char *word, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (lower_code((unsigned char)text[i] & 0x7F) != (uint32_t)word[i] || text[i] & 0x80)
            return false;
    return true;
}

bool text_contains(struct text text, const char *needle)
{
    size_t size = strlen(needle);
    for (size_t at = 0; at + size <= text.size; at++)
        if (same_letters(text.data + at, needle, size))
            return true;
    return false;
}

bool text_is(struct text text, const char *word)
{
    return text.size == strlen(word) && same_letters(text.data, word, text.size);
}

struct text text_line(struct arena *arena, struct text text, size_t units)
{
    BUFFER_SCOPE struct buffer tidied = {0};
    const char *end = text.data + text.size;
    bool space = false;
    for (const char *at = text.data; at < end;) {
        uint32_t code = text_next(&at, end);
        bool blank = text_is_control(code) || text_is_space(code);
        if (!blank)
            text_put(&tidied, code);
        else if (!space)
            buffer_byte(&tidied, ' ');
        space = blank;
    }
    struct text copy = {arena_copy(arena, tidied.data, tidied.size), tidied.size};
    return text_trim(text_cut(arena, text_trim(copy), units));
}

static struct text without_surrogates(struct arena *arena, struct text text)
{
    BUFFER_SCOPE struct buffer kept = {0};
    const char *end = text.data + text.size;
    for (const char *at = text.data; at < end;) {
        uint32_t code = text_next(&at, end);
        if (code < 0xD800 || code > 0xDFFF)
            text_put(&kept, code);
    }
    return (struct text){arena_copy(arena, kept.data, kept.size), kept.size};
}

struct text text_reason(struct arena *arena, struct text text, size_t units)
{
    struct text line = text_line(arena, without_surrogates(arena, text), units);
    return text_trim(without_surrogates(arena, line)); /* a pair may have been cut */
}
