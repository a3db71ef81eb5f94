#include "aggregate/csv.h"

#include <math.h>

#include "validator/number.h"

void csv_text(struct buffer *out, const char *text, size_t size)
{
    bool formula = size && strchr("=+-@", *text) && *text;
    bool quoted = false;
    for (size_t i = 0; i < size; i++)
        quoted = quoted || text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
    if (quoted)
        buffer_byte(out, '"');
    if (formula)
        buffer_byte(out, '\'');
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            buffer_byte(out, '"');
        if ((unsigned char)text[i] == 0xED && (unsigned char)text[i + 1] >= 0xA0) {
            buffer_add(out, "\xEF\xBF\xBD", 3);
            i += 2;
        } else {
            buffer_byte(out, text[i]);
        }
    }
    if (quoted)
        buffer_byte(out, '"');
}

void csv_number(struct buffer *out, double number)
{
    if (isfinite(number))
        out->size += number_print(number, buffer_reserve(out, NUMBER_PRINT_MAX));
}

void csv_bool(struct buffer *out, bool value)
{
    buffer_text(out, value ? "true" : "false");
}
