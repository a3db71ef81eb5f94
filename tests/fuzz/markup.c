#include "tests/fuzz/markup.h"

#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

/* The size of the well-formed sequence at AT (Unicode's table 3-7), 0 where there is none. */
static size_t sequence(const unsigned char *at, size_t left)
{
    static const struct {
        unsigned char first, last, low, high; /* of the first byte, and of the second */
        size_t size;
    } forms[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (*at < forms[i].first || *at > forms[i].last)
            continue;
        size_t size = forms[i].size;
        if (size > left || (size > 1 && (at[1] < forms[i].low || at[1] > forms[i].high)))
            return 0;
        for (size_t j = 2; j < size; j++)
            if ((at[j] & 0xC0) != 0x80)
                return 0;
        return size;
    }
    return 0;
}

void markup_check(const struct buffer *page, size_t most, size_t scripts)
{
    static const char script[] = "<script";
    size_t found = 0;
    if (!page->size || page->size > most)
        abort();
    for (size_t at = 0, size; at < page->size; at += size) {
        const unsigned char *byte = (const unsigned char *)page->data + at;
        size = sequence(byte, page->size - at);
        if (!size || (*byte < 0x20 && *byte != '\n' && *byte != '\t'))
            abort();
        if (page->size - at >= sizeof script - 1 &&
            !strncasecmp(page->data + at, script, sizeof script - 1))
            found++;
    }
    if (found != scripts)
        abort();
}
