/* SHA-256 behind a small interface, so that the validator needs nothing but the C library: the
 * service links sha256_openssl.c, a WebAssembly build brings its own. */
#ifndef BENCHLEDGER_VALIDATOR_SHA256_H
#define BENCHLEDGER_VALIDATOR_SHA256_H

#include <stddef.h>

enum { SHA256_SIZE = 32, SHA256_HEX = 64 };

void sha256(const void *data, size_t size, unsigned char digest[SHA256_SIZE]);
/* Lower-case hex of the digest of DATA with a final NUL. */
void sha256_hex(const void *data, size_t size, char hex[SHA256_HEX + 1]);
/* Lower-case hex of COUNT bytes with a final NUL; HEX holds 2 * COUNT + 1. */
void hex_print(const unsigned char *bytes, size_t count, char *hex);

#endif
