/* Ed25519 keys of receipts (spec 04, "receipt"). Pure but for randomness and receipt_key_load. A key
 * never changes once made: any number of threads may sign and verify with it. */
#ifndef BENCHLEDGER_SERVER_RECEIPT_KEY_H
#define BENCHLEDGER_SERVER_RECEIPT_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "validator/buffer.h"

enum { RECEIPT_KEY_ID = 16, RECEIPT_SIGNATURE = 64, RECEIPT_KEY_FILE_MOST = 4096 };

struct receipt_key;

/* NULL without randomness. */
struct receipt_key *receipt_key_generate(void);
/* From PEM; text around the block is skipped. NULL and *PROBLEM (static) when it is no such key. */
struct receipt_key *receipt_key_parse_private(const char *pem, size_t size, const char **problem);
struct receipt_key *receipt_key_parse_public(const char *pem, size_t size, const char **problem);
/* The private key of the file at PATH. NULL and *PROBLEM (static) also when it cannot be read or
 * others could read it, see receipt_key_guarded. */
struct receipt_key *receipt_key_load(const char *path, const char **problem);
void receipt_key_free(struct receipt_key *key); /* NULL is fine */

/* Whether a key file of OWNER with MODE is closed enough for the process of USER: his own is for him
 * alone; one of root's may be read by a group, which is how a service gets a key that it cannot
 * change. */
bool receipt_key_guarded(uid_t owner, mode_t mode, uid_t user);

/* The first 16 hex digits of SHA-256 over the 32 bytes of the public key. */
const char *receipt_key_id(const struct receipt_key *key);
/* PEM with a final newline. */
const char *receipt_key_public(const struct receipt_key *key);
/* Adds the PKCS#8 PEM; the caller wipes it. */
bool receipt_key_private(const struct receipt_key *key, struct buffer *out);

bool receipt_key_sign(const struct receipt_key *key, const void *data, size_t size,
                      unsigned char signature[RECEIPT_SIGNATURE]);
bool receipt_key_verify(const struct receipt_key *key, const void *data, size_t size,
                        const unsigned char signature[RECEIPT_SIGNATURE]);

#endif
