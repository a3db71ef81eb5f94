#include "pages/html.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "validator/number.h"

/* A text that is not there is an empty one. */
static struct text given(struct text text)
{
    return text.data ? text : (struct text){"", 0};
}

struct html_value html_text(const char *text)
{
    return html_slice((struct text){text, text ? strlen(text) : 0}, HTML_TEXT_MOST);
}

struct html_value html_string(const struct js_value *string)
{
    return html_slice(text_of(string), HTML_NAME_MOST);
}

struct html_value html_slice(struct text text, size_t most)
{
    return (struct html_value){.kind = HTML_SLICE, .text = given(text), .most = most};
}

struct html_value html_exact(struct text text)
{
    return (struct html_value){.kind = HTML_EXACT, .text = given(text)};
}

struct html_value html_number(double number)
{
    return (struct html_value){.kind = HTML_NUMBER, .number = number};
}

struct html_value html_rounded(double number, int decimals)
{
    return (struct html_value){.kind = HTML_ROUNDED, .number = number, .decimals = decimals};
}

struct html_value html_short(double number)
{
    return (struct html_value){.kind = HTML_SHORT, .number = number};
}

struct html_value html_raw(const struct buffer *markup)
{
    return (struct html_value){.kind = HTML_RAW, .text = {markup->data, markup->size}};
}

struct html_value html_markup(const char *markup)
{
    return (struct html_value){.kind = HTML_RAW, .text = {markup, strlen(markup)}};
}

struct html_value html_query(struct text text)
{
    return (struct html_value){.kind = HTML_QUERY, .text = text};
}

/* Whether CODE is a character of markup, which OUT then has as a reference. */
static bool put_reference(struct buffer *out, uint32_t code)
{
    static const struct {
        char code;
        const char *reference;
    } table[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (code != (uint32_t)table[i].code)
            continue;
        buffer_text(out, table[i].reference);
        return true;
    }
    return false;
}

/* What UTF-8 has no form for: a lone surrogate of a file, or bytes of an address that only look like a character. */
static bool is_no_character(uint32_t code)
{
    return (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF;
}

static void put_code(struct buffer *out, uint32_t code)
{
    if (put_reference(out, code))
        return;
    if (code == '\n' || code == '\t')
        buffer_byte(out, (char)code);
    else if (is_no_character(code) || code == 0xFFFE ||
             code == 0xFFFF) /* XML has no form for these */
        buffer_text(out, "\xEF\xBF\xBD");
    else if (text_is_control(code))
        buffer_format(out, "\\u%04x", code);
    else
        text_put(out, code);
}

static void put_exact(struct buffer *out, struct text text)
{
    const char *at = text.data, *end = text.data + text.size;
    while (at < end) {
        uint32_t code = text_next(&at, end);
        if (put_reference(out, code))
            continue;
        if (code == 0 || is_no_character(code)) /* no markup can hold these */
            buffer_text(out, "\xEF\xBF\xBD");
        else if (code < ' ' && code != '\t') /* line ends are made one kind, others are no markup */
            buffer_format(out, "&#%u;", code);
        else
            text_put(out, code);
    }
}

static void put_slice(struct buffer *out, struct text text, size_t most)
{
    const char *at = text.data, *end = text.data + text.size;
    for (size_t i = 0; i < most && at < end; i++)
        put_code(out, text_next(&at, end));
    if (at < end)
        buffer_text(out, "\xE2\x80\xA6"); /* an ellipsis */
}

static void put_number(struct buffer *out, double number)
{
    if (isfinite(number))
        out->size += number_print(number, buffer_reserve(out, NUMBER_PRINT_MAX));
    else
        buffer_text(out, "\xE2\x80\x93"); /* an en dash */
}

static void put_rounded(struct buffer *out, double number, int decimals)
{
    static const double scales[] = {1, 10, 100};
    double scale = scales[decimals], size = fabs(number);
    if (!isfinite(number) || size >= 1e15) {
        put_number(out, number);
        return;
    }
    uint64_t units = (uint64_t)floor(size * scale + 0.5);
    if (!units && size > 0) {
        buffer_format(out, "%.2g", number);
        return;
    }
    enum { ROOM = 24 }; /* seventeen digits, point and sign */
    char digits[ROOM];  /* thousands of figures go out with a page: no format of the C library */
    size_t used = 0;
    for (int i = 0; (units || i <= decimals) && used < ROOM - 2; i++, units /= 10) {
        if (i && i == decimals)
            digits[ROOM - ++used] = '.';
        digits[ROOM - ++used] = (char)('0' + units % 10);
    }
    if (number < 0)
        digits[ROOM - ++used] = '-';
    buffer_add(out, digits + ROOM - used, used);
}

/* Four significant digits, and never fewer than all of the integer part. */
static double shorten(double number)
{
    double size = fabs(number);
    if (!isfinite(number) || size >= 1e15 || size == 0)
        return number;
    int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 4;
    double scale = pow(10, decimals), rounded = floor(size * scale + 0.5) / scale;
    return number < 0 ? -rounded : rounded;
}

static void put_query(struct buffer *out, struct text text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c && strchr(plain, c))
            buffer_byte(out, c);
        else
            buffer_format(out, "%%%02X", (unsigned char)c);
    }
}

static void put_value(struct buffer *out, const struct html_value *value)
{
    switch (value->kind) {
    case HTML_SLICE:
        put_slice(out, value->text, value->most);
        return;
    case HTML_EXACT:
        put_exact(out, value->text);
        return;
    case HTML_NUMBER:
        put_number(out, value->number);
        return;
    case HTML_ROUNDED:
        put_rounded(out, value->number, value->decimals);
        return;
    case HTML_SHORT:
        put_number(out, shorten(value->number));
        return;
    case HTML_RAW:
        buffer_add(out, value->text.data, value->text.size);
        return;
    case HTML_QUERY:
        put_query(out, value->text);
        return;
    }
}

void html_fill(struct buffer *out, const char *form, const struct html_value *values, size_t count)
{
    size_t used = 0;
    for (const char *at = strstr(form, "{}"); at; at = strstr(form, "{}")) {
        assert(used < count);
        buffer_add(out, form, (size_t)(at - form));
        put_value(out, &values[used++]);
        form = at + 2;
    }
    assert(used == count);
    buffer_text(out, form);
}
