#include "server/limits/nonce.h"

#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validator/sha256.h"

enum { RANDOM_BYTES = 16, TIME_DIGITS_MOST = 15 };

static void sign(const struct nonce_secret *secret, const char *payload, size_t size,
                 char hex[SHA256_HEX + 1])
{
    unsigned char mac[SHA256_SIZE];
    unsigned int length = sizeof mac;
    if (!HMAC(EVP_sha256(), secret->key, sizeof secret->key, (const unsigned char *)payload, size,
              mac, &length))
        abort(); /* a broken crypto library: nothing could be accepted safely */
    hex_print(mac, sizeof mac, hex);
}

static void add_secret(struct nonce_keys *keys, const char *text)
{
    if (!*text)
        return;
    struct nonce_secret *secret = &keys->secrets[keys->count++];
    char hex[SHA256_HEX + 1];
    sha256(text, strlen(text), secret->key);
    sign(secret, "benchledger key id", 18, hex);
    memcpy(secret->id, hex, NONCE_KEY_ID);
    secret->id[NONCE_KEY_ID] = '\0';
}

void nonce_keys_init(struct nonce_keys *keys, const char *current, const char *previous, bool local)
{
    *keys = (struct nonce_keys){0};
    if (*current) {
        add_secret(keys, current);
        add_secret(keys, previous);
    }
    keys->development = local && !keys->count;
}

bool nonce_issue(const struct nonce_keys *keys, int64_t now_ms, char text[NONCE_TEXT])
{
    unsigned char bytes[RANDOM_BYTES];
    char random[2 * RANDOM_BYTES + 1];
    if ((!keys->count && !keys->development) || RAND_bytes(bytes, sizeof bytes) != 1)
        return false;
    hex_print(bytes, sizeof bytes, random);
    if (!keys->count) {
        snprintf(text, NONCE_TEXT, "dev.%" PRId64 ".%s", now_ms, random);
        return true;
    }
    char mac[SHA256_HEX + 1];
    int size =
        snprintf(text, NONCE_TEXT, "n1.%s.%" PRId64 ".%s", keys->secrets[0].id, now_ms, random);
    sign(&keys->secrets[0], text, (size_t)size, mac);
    snprintf(text + size, NONCE_TEXT - (size_t)size, ".%s", mac);
    return true;
}

static bool is_hex(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
    return true;
}

/* Reads the decimal at *AT up to a dot and moves behind the dot. One spelling per time: no sign, no
 * leading zero, so that one nonce cannot be written in two ways and be spent twice. */
static bool read_time(const char **at, const char *end, int64_t *ms)
{
    const char *start = *at;
    int64_t value = 0;
    while (*at < end && **at >= '0' && **at <= '9') {
        if (*at - start == TIME_DIGITS_MOST)
            return false;
        value = value * 10 + (**at - '0');
        (*at)++;
    }
    if (*at == start || *start == '0' || *at == end || **at != '.')
        return false;
    (*at)++;
    *ms = value;
    return true;
}

static enum nonce_verdict check_time(int64_t issued_ms, int64_t now_ms)
{
    if (issued_ms > now_ms + NONCE_SKEW_MS)
        return NONCE_FUTURE;
    return now_ms - issued_ms > NONCE_VALID_MS ? NONCE_EXPIRED : NONCE_GOOD;
}

static enum nonce_verdict check_development(const char *text, size_t size, int64_t now_ms)
{
    const char *at = text + 4, *end = text + size;
    int64_t issued;
    if (!read_time(&at, end, &issued))
        return NONCE_FOREIGN;
    size_t rest = (size_t)(end - at);
    if (rest < 16 || rest > 64 || !is_hex(at, rest))
        return NONCE_FOREIGN;
    return check_time(issued, now_ms);
}

static enum nonce_verdict check_signed(const struct nonce_secret *secret, const char *text,
                                       size_t size, int64_t now_ms)
{
    size_t payload = size - SHA256_HEX - 1;
    char mac[SHA256_HEX + 1];
    sign(secret, text, payload, mac);
    if (text[payload] != '.' || CRYPTO_memcmp(mac, text + payload + 1, SHA256_HEX) != 0)
        return NONCE_FOREIGN;
    /* Only what was signed here is looked at further. */
    const char *at = text + 3 + NONCE_KEY_ID + 1;
    int64_t issued;
    if (!read_time(&at, text + payload, &issued))
        return NONCE_FOREIGN;
    return check_time(issued, now_ms);
}

enum nonce_verdict nonce_check(const struct nonce_keys *keys, const char *text, size_t size,
                               int64_t now_ms)
{
    if (size >= NONCE_TEXT)
        return NONCE_FOREIGN;
    if (keys->development && size > 4 && !memcmp(text, "dev.", 4))
        return check_development(text, size, now_ms);
    size_t least = 3 + NONCE_KEY_ID + 1 + SHA256_HEX + 1;
    if (size <= least || memcmp(text, "n1.", 3) != 0 || text[3 + NONCE_KEY_ID] != '.')
        return NONCE_FOREIGN;
    for (size_t i = 0; i < keys->count; i++)
        if (!memcmp(keys->secrets[i].id, text + 3, NONCE_KEY_ID))
            return check_signed(&keys->secrets[i], text, size, now_ms);
    return NONCE_FOREIGN;
}
