/* Nonces (spec 01, "Nonce"): issued, checked, opaque to the client. Pure but for the random bits.
 *
 * Form: `n1.<key id>.<issue ms>.<128 random bits>.<HMAC-SHA-256>`; without a secret, only beside a
 * local store, `dev.<ms>.<random>`. The key id names the secret without telling anything about it.
 */
#ifndef BENCHLEDGER_SERVER_LIMITS_NONCE_H
#define BENCHLEDGER_SERVER_LIMITS_NONCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NONCE_TEXT = 160, NONCE_SECRETS = 2, NONCE_KEY_ID = 8 };
enum { NONCE_VALID_MS = 24 * 3600 * 1000, NONCE_SKEW_MS = 60 * 1000 };

struct nonce_secret {
    unsigned char key[32];     /* SHA-256 of the configured text */
    char id[NONCE_KEY_ID + 1]; /* hex */
};
struct nonce_keys {
    struct nonce_secret secrets[NONCE_SECRETS]; /* the first one signs */
    size_t count;                               /* 0: development nonces, if allowed */
    bool development;
};

/* Texts may be empty. LOCAL: the store is local, so that development nonces may stand in. */
void nonce_keys_init(struct nonce_keys *keys, const char *current, const char *previous,
                     bool local);
/* False when there is neither a secret nor a local store, or no randomness. */
bool nonce_issue(const struct nonce_keys *keys, int64_t now_ms, char text[NONCE_TEXT]);

enum nonce_verdict { NONCE_GOOD, NONCE_EXPIRED, NONCE_FUTURE, NONCE_FOREIGN };
enum nonce_verdict nonce_check(const struct nonce_keys *keys, const char *text, size_t size,
                               int64_t now_ms);

#endif
