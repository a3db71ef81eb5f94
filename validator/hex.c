#include "validator/sha256.h"

void hex_print(const unsigned char *bytes, size_t count, char *hex)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[2 * count] = '\0';
}

void sha256_hex(const void *data, size_t size, char hex[SHA256_HEX + 1])
{
    unsigned char digest[SHA256_SIZE];
    sha256(data, size, digest);
    hex_print(digest, sizeof digest, hex);
}
