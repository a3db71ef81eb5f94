#include "validator/digest.h"

static void hash_without(const struct js_document *document, const char *const *omit, char *hex,
                         struct buffer *canonical)
{
    buffer_reserve(canonical, document->text_size);
    js_print_canonical(document, &document->root, omit, canonical);
    sha256_hex(canonical->data, canonical->size, hex);
}

void digest_compute(const struct js_document *document, char hex[SHA256_HEX + 1],
                    struct buffer *canonical)
{
    static const char *const omit[] = {"digest", "nonce", NULL};
    BUFFER_SCOPE struct buffer own = {0};
    hash_without(document, omit, hex, canonical ? canonical : &own);
}

struct digest_check digest_verify(const struct js_document *document)
{
    static const char *const omit_digest[] = {"digest", NULL};
    struct digest_check check = {.status = DIGEST_MISMATCH};
    const struct js_value *digest = js_get(&document->root, "digest");
    digest_compute(document, check.computed, NULL);
    if (!digest || digest->type != JS_STRING) {
        check.status = DIGEST_MISSING;
    } else if (js_equals(digest, check.computed)) {
        check.status = DIGEST_OK;
    } else if (js_get(&document->root, "nonce")) {
        BUFFER_SCOPE struct buffer canonical = {0};
        char older[SHA256_HEX + 1];
        hash_without(document, omit_digest, older, &canonical);
        if (js_equals(digest, older))
            check.status = DIGEST_LEGACY;
    }
    return check;
}

const char *digest_status_name(enum digest_status status)
{
    static const char *const names[] = {"ok", "legacy", "missing", "mismatch"};
    return names[status];
}
