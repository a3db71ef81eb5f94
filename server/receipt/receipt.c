#include "server/receipt/receipt.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

/* Of the signature: four letters for three bytes, and a NUL. */
enum { BASE64 = (RECEIPT_SIGNATURE + 2) / 3 * 4, PADDING = BASE64 / 4 * 3 - RECEIPT_SIGNATURE };

static const char *const payload_keys[] = {"keyId",  "runId", "submittedDigest",
                                           "digest", "path",  "acceptedAt"};
enum { PAYLOAD_KEYS = sizeof payload_keys / sizeof *payload_keys };

static void write_payload(const char *const values[PAYLOAD_KEYS], struct buffer *out)
{
    struct js_writer writer = {.out = out};
    js_write_begin(&writer, '{');
    for (size_t i = 0; i < PAYLOAD_KEYS; i++) {
        js_write_key(&writer, payload_keys[i]);
        js_write_text(&writer, values[i]);
    }
    js_write_end(&writer, '}');
}

/* The bytes that are signed. */
static void add_signed(const struct js_document *document, const struct js_value *payload,
                       struct buffer *out)
{
    buffer_text(out, "benchledger-receipt-v1\n");
    js_print_canonical(document, payload, NULL, out);
}

static bool sign_payload(const struct receipt_key *key, const struct buffer *payload,
                         char base64[BASE64 + 1])
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer bytes BUFFER_SCOPE = {0};
    unsigned char signature[RECEIPT_SIGNATURE];
    struct js_document document;
    struct js_error error;
    if (!js_read(&arena, payload->data, payload->size, &document, &error))
        return false;
    add_signed(&document, &document.root, &bytes);
    if (!receipt_key_sign(key, bytes.data, bytes.size, signature))
        return false;
    EVP_EncodeBlock((unsigned char *)base64, signature, sizeof signature);
    return true;
}

void receipt_write(const struct receipt_key *key, const struct receipt_facts *facts,
                   struct js_writer *writer)
{
    struct buffer payload BUFFER_SCOPE = {0};
    char base64[BASE64 + 1];
    if (!key)
        return;
    const char *const values[] = {receipt_key_id(key), facts->run_id, facts->submitted_digest,
                                  facts->digest,       facts->path,   facts->accepted_at};
    for (size_t i = 0; i < PAYLOAD_KEYS; i++)
        if (!*values[i])
            return;
    write_payload(values, &payload);
    if (!sign_payload(key, &payload, base64))
        return;
    js_write_key(writer, "receipt");
    js_write_begin(writer, '{');
    js_write_key(writer, "payload");
    js_write_raw(writer, payload.data, payload.size);
    js_write_key(writer, "signature");
    js_write_text(writer, base64);
    js_write_end(writer, '}');
}

/* One spelling per signature: what does not encode to itself again is none. */
static bool read_signature(const struct js_value *text, unsigned char signature[RECEIPT_SIGNATURE])
{
    unsigned char bytes[RECEIPT_SIGNATURE + PADDING];
    char again[BASE64 + 1];
    if (!text || text->type != JS_STRING || text->size != BASE64 ||
        EVP_DecodeBlock(bytes, (const unsigned char *)text->text, BASE64) != (int)sizeof bytes)
        return false;
    EVP_EncodeBlock((unsigned char *)again, bytes, RECEIPT_SIGNATURE);
    memcpy(signature, bytes, RECEIPT_SIGNATURE);
    return !memcmp(again, text->text, BASE64);
}

bool receipt_read(const struct js_document *document, struct receipt *receipt, const char **problem)
{
    const struct js_value *inner = js_get(&document->root, "receipt");
    const struct js_value *object = inner ? inner : &document->root;
    const struct js_value *payload = js_get(object, "payload");
    *receipt = (struct receipt){.payload = payload};
    *problem = "is no receipt: payload and signature are missing";
    if (!payload || payload->type != JS_OBJECT || !js_get(object, "signature"))
        return false;
    *problem = "is no receipt: its payload lacks a key";
    for (size_t i = 0; i < PAYLOAD_KEYS; i++) {
        const struct js_value *value = js_get(payload, payload_keys[i]);
        if (!value || value->type != JS_STRING)
            return false;
    }
    const struct js_value *id = js_get(payload, "keyId");
    *problem = "is no receipt: its keyId is not 16 hex digits";
    if (id->size != RECEIPT_KEY_ID)
        return false;
    memcpy(receipt->key_id, id->text, RECEIPT_KEY_ID);
    if (strspn(receipt->key_id, "0123456789abcdef") != RECEIPT_KEY_ID)
        return false;
    *problem = "is no receipt: its signature is not 64 bytes in base64";
    return read_signature(js_get(object, "signature"), receipt->signature);
}

bool receipt_verify(const struct js_document *document, const struct receipt *receipt,
                    const struct receipt_key *key)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    add_signed(document, receipt->payload, &bytes);
    return !strcmp(receipt->key_id, receipt_key_id(key)) &&
           receipt_key_verify(key, bytes.data, bytes.size, receipt->signature);
}
