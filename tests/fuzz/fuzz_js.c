/* Reader and printer: what is read, printed and read again is equal, in both forms. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "validator/js.h"

enum { FORMS = 2 };

static void print(const struct js_document *document, int form, struct buffer *out)
{
    if (form == 0)
        js_print(document, &document->root, out);
    else
        js_print_canonical(document, &document->root, NULL, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document, again;
    struct js_error error;
    if (!js_read(&arena, (const char *)data, size, &document, &error)) {
        if (!error.message || error.offset > size || !error.line || !error.column)
            abort();
        return 0;
    }
    for (int form = 0; form < FORMS; form++) {
        BUFFER_SCOPE struct buffer first = {0};
        BUFFER_SCOPE struct buffer second = {0};
        print(&document, form, &first);
        if (!js_read(&arena, first.data, first.size, &again, &error))
            abort();
        print(&again, form, &second);
        if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0)
            abort();
    }
    return 0;
}
