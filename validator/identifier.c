#include "validator/identifier.h"

enum { SERIAL_LEAST = 12, SERIAL_DIGITS_LEAST = 4, SERIAL_LETTERS_LEAST = 2, NUMBER_LEAST = 14 };
enum { LOOKED_AT_MOST = 1024 }; /* bytes: from each word to the end is looked again */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_word(char c)
{
    return is_digit(c) || is_lower(c) || is_upper(c);
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Each looks whether what it knows begins at AT, which is not in the middle of a word. */
static bool is_serial(const char *at, const char *end)
{
    size_t size = 0, digits = 0, lower = 0, hex = 0;
    for (; at < end && is_word(*at); at++, size++) {
        digits += is_digit(*at);
        lower += is_lower(*at);
        hex += is_hex(*at);
    }
    if (digits == size)
        return size >= NUMBER_LEAST;
    return size >= SERIAL_LEAST && digits >= SERIAL_DIGITS_LEAST &&
           size - digits >= SERIAL_LETTERS_LEAST && (!lower || hex == size);
}

/* FORM: x stands for a hexadecimal digit, : for : or -, anything else for itself. */
static bool has_form(const char *at, const char *end, const char *form)
{
    for (; *form; form++, at++)
        if (at == end || !(*form == 'x'   ? is_hex(*at)
                           : *form == ':' ? *at == ':' || *at == '-'
                                          : *at == *form))
            return false;
    return at == end || !is_word(*at);
}

static bool is_uuid(const char *at, const char *end)
{
    return has_form(at, end, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
}

static bool is_mac(const char *at, const char *end)
{
    return has_form(at, end, "xx:xx:xx:xx:xx:xx");
}

static bool is_email(const char *at, const char *end)
{
    const char *name = at;
    while (at < end && (is_word(*at) || *at == '.' || *at == '_' || *at == '+' || *at == '-'))
        at++;
    if (at == name || at == end || *at != '@')
        return false;
    const char *host = ++at;
    while (at < end && (is_word(*at) || *at == '-'))
        at++;
    return at > host && end - at > 1 && *at == '.' && is_word(at[1]);
}

static bool is_home(const char *at, const char *end)
{
    const struct text rest = {at, (size_t)(end - at)};
    static const char *const folders[] = {"users/", "users\\", "home/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t size = strlen(folders[i]);
        if (rest.size > size && text_is((struct text){at, size}, folders[i]) && is_word(at[size]))
            return true;
    }
    return false;
}

static bool is_owner(const char *at, const char *end)
{
    static const char *const marks[] = {"'s", "\xE2\x80\x99s"};
    const char *name = at;
    while (at < end && (is_lower(*at) || is_upper(*at)))
        at++;
    for (size_t i = 0; at > name && i < sizeof marks / sizeof *marks; i++) {
        const char *behind = at + strlen(marks[i]);
        if (behind >= end || memcmp(at, marks[i], strlen(marks[i])) != 0 || is_word(*behind))
            continue;
        while (behind < end && !is_word(*behind))
            behind++;
        return behind < end;
    }
    return false;
}

const char *identifier_find(struct text text)
{
    static const struct {
        const char *kind;
        bool (*begins)(const char *at, const char *end);
    } kinds[] = {{"email", is_email}, {"uuid", is_uuid},   {"mac", is_mac},
                 {"home", is_home},   {"owner", is_owner}, {"serial", is_serial}};
    text = text_trim(text);
    const char *end = text.data + (text.size < LOOKED_AT_MOST ? text.size : LOOKED_AT_MOST);
    for (const char *at = text.data; at < end; at++) {
        if (!is_word(*at) || (at > text.data && is_word(at[-1])))
            continue;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (kinds[i].begins(at, end))
                return kinds[i].kind;
    }
    return NULL;
}
