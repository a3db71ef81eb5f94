/* What several instances of the service share over Redis: attempts per client address, and which
 * submission a nonce belongs to. Any thread.
 *
 * Addresses leave this process only as a keyed hash. Nothing is decided without an answer of Redis:
 * what could not be asked is SHARED_AWAY. */
#ifndef BENCHLEDGER_SERVER_SHARED_SHARED_H
#define BENCHLEDGER_SERVER_SHARED_SHARED_H

#include "server/limits/nonce.h"
#include "server/limits/ratelimit.h"
#include "server/shared/link.h"
#include "validator/sha256.h"

struct shared;

struct shared_options {
    const char *url, *prefix, *password; /* the password outlives it */
    const struct nonce_keys *keys; /* key the hashes of addresses; all instances have the same */
};
/* What is wrong with the options, or NULL. */
const char *shared_problem(const struct shared_options *options);
/* As link_open; the options have no problem. */
enum link_start shared_open(const struct shared_options *options, struct shared **shared,
                            char problem[LINK_PROBLEM]);
void shared_close(struct shared *shared); /* NULL is fine */
/* False and why while nothing can be shared. */
bool shared_ready(struct shared *shared, char problem[LINK_PROBLEM]);

enum shared_answer {
    SHARED_YES,
    SHARED_NO,
    SHARED_AWAY,
};
/* As ratelimit_take with a limit of LIMIT. */
enum shared_answer shared_take(struct shared *shared, enum rate_class class,
                               const struct address *client, int64_t limit, int64_t *retry_s);
/* As ratelimit_charge; at once or later. */
void shared_charge(struct shared *shared, enum rate_class class, const struct address *client,
                   int64_t limit, uint32_t n);

/* A nonce and the submission that spends it. */
struct shared_nonce {
    char nonce_sha256[SHA256_HEX + 1];
    char value[2 * SHA256_HEX + 2]; /* run id and submitted digest */
    bool made; /* by us just now: given back when the submission comes to nothing */
};
void shared_nonce_of(const char *nonce_sha256, const char *run_id, const char *submitted_digest,
                     struct shared_nonce *nonce);

/* How long a nonce is held while its run is judged, and from the hand-over to the store on: until no
 * nonce of that age is valid. */
enum { SHARED_HOLD_MS = 120 * 1000, SHARED_KEEP_MS = 25 * 3600 * 1000 };
/* Reserves NONCE for SHARED_HOLD_MS. SHARED_NO: it belongs to another submission. */
enum shared_answer shared_reserve(struct shared *shared, struct shared_nonce *nonce);
/* Its run is the store's; at once or later. */
void shared_keep(struct shared *shared, const struct shared_nonce *nonce);
/* Its submission came to nothing: given back if it was made for it. LATER: without waiting, for the
 * store's thread. */
void shared_release(struct shared *shared, const struct shared_nonce *nonce, bool later);

#endif
