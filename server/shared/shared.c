#include "server/shared/shared.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

enum { PREFIX_MOST = 64, ADDRESS_DIGITS = 32 };

struct shared {
    struct link *link;
    char prefix[PREFIX_MOST + 1];
    unsigned char
        secret[SHA256_SIZE]; /* of the addresses' hashes; zeros beside development nonces */
};

const char *shared_problem(const struct shared_options *options)
{
    struct redis_url url;
    const char *problem = NULL;
    if (!redis_url_parse(options->url, &url, &problem))
        return problem;
    return strlen(options->prefix) > PREFIX_MOST ? "redis_prefix is longer than 64 bytes" : NULL;
}

enum link_start shared_open(const struct shared_options *options, struct shared **out,
                            char problem[LINK_PROBLEM])
{
    struct redis_url url;
    const char *wrong;
    struct shared *shared = memory_grow(NULL, sizeof *shared);
    *shared = (struct shared){0};
    snprintf(shared->prefix, sizeof shared->prefix, "%s", options->prefix);
    if (options->keys->count)
        memcpy(shared->secret, options->keys->secrets[0].key, sizeof shared->secret);
    enum link_start start = LINK_REFUSED;
    if (redis_url_parse(options->url, &url, &wrong))
        start = link_open(&url, options->password, &shared->link, problem);
    else
        snprintf(problem, LINK_PROBLEM, "%s", wrong);
    if (start == LINK_REFUSED)
        shared_close(shared);
    else
        *out = shared;
    return start;
}

void shared_close(struct shared *shared)
{
    if (!shared)
        return;
    link_close(shared->link);
    explicit_bzero(shared->secret, sizeof shared->secret);
    free(shared);
}

bool shared_ready(struct shared *shared, char problem[LINK_PROBLEM])
{
    return link_ready(shared->link, problem);
}

static void add(struct link_call *call, const char *text)
{
    snprintf(call->arguments[call->count++], LINK_ARGUMENT, "%s", text);
}

static void add_number(struct link_call *call, int64_t number)
{
    snprintf(call->arguments[call->count++], LINK_ARGUMENT, "%" PRId64, number);
}

static void add_network(const struct shared *shared, enum rate_class class,
                        const struct rate_share *share, struct link_call *call)
{
    unsigned char message[18], mac[SHA256_SIZE];
    unsigned size = sizeof mac;
    char hex[SHA256_HEX + 1];
    message[0] = share->network.family;
    message[1] = (unsigned char)share->bits;
    memcpy(message + 2, share->network.bytes, 16);
    if (!HMAC(EVP_sha256(), shared->secret, sizeof shared->secret, message, sizeof message, mac,
              &size))
        abort(); /* a broken crypto library */
    hex_print(mac, sizeof mac, hex);
    snprintf(call->arguments[call->count++], LINK_ARGUMENT, "%srate:%d:%.*s", shared->prefix,
             (int)class, ADDRESS_DIGITS, hex);
}

static void rate_call(const struct shared *shared, enum rate_class class,
                      const struct address *client, int64_t limit, uint32_t amount, bool fine,
                      struct link_call *call)
{
    struct rate_share shares[RATE_SHARES];
    *call = (struct link_call){.script = SCRIPT_RATE, .keys = rate_shares(client, shares)};
    for (size_t i = 0; i < call->keys; i++)
        add_network(shared, class, &shares[i], call);
    for (size_t i = 0; i < call->keys; i++)
        add_number(call, limit * (int64_t)shares[i].factor);
    add_number(call, amount);
    add_number(call, fine);
}

enum shared_answer shared_take(struct shared *shared, enum rate_class class,
                               const struct address *client, int64_t limit, int64_t *retry_s)
{
    struct link_call call;
    int64_t wait_s = 0;
    if (class == RATE_NONE || !limit)
        return SHARED_YES;
    rate_call(shared, class, client, limit, 1, false, &call);
    if (!link_run(shared->link, &call, &wait_s))
        return SHARED_AWAY;
    if (!wait_s)
        return SHARED_YES;
    *retry_s = wait_s;
    return SHARED_NO;
}

void shared_charge(struct shared *shared, enum rate_class class, const struct address *client,
                   int64_t limit, uint32_t n)
{
    struct link_call call;
    if (!limit)
        return;
    rate_call(shared, class, client, limit, n, true, &call);
    link_later(shared->link, &call);
}

void shared_nonce_of(const char *nonce_sha256, const char *run_id, const char *submitted_digest,
                     struct shared_nonce *nonce)
{
    *nonce = (struct shared_nonce){.made = false};
    snprintf(nonce->nonce_sha256, sizeof nonce->nonce_sha256, "%s", nonce_sha256);
    snprintf(nonce->value, sizeof nonce->value, "%s %s", run_id, submitted_digest);
}

/* HOLD_MS 0: the script takes none. */
static struct link_call nonce_call(const struct shared *shared, enum link_script script,
                                   const struct shared_nonce *nonce, int64_t hold_ms)
{
    struct link_call call = {.script = script, .keys = 1, .count = 1};
    snprintf(call.arguments[0], LINK_ARGUMENT, "%snonce:%s", shared->prefix, nonce->nonce_sha256);
    add(&call, nonce->value);
    if (hold_ms)
        add_number(&call, hold_ms);
    return call;
}

enum shared_answer shared_reserve(struct shared *shared, struct shared_nonce *nonce)
{
    struct link_call call = nonce_call(shared, SCRIPT_RESERVE, nonce, SHARED_HOLD_MS);
    int64_t result = 0;
    if (!link_run(shared->link, &call, &result))
        return SHARED_AWAY;
    nonce->made = result == 1;
    return result ? SHARED_YES : SHARED_NO;
}

void shared_keep(struct shared *shared, const struct shared_nonce *nonce)
{
    struct link_call call = nonce_call(shared, SCRIPT_KEEP, nonce, SHARED_KEEP_MS);
    link_later(shared->link, &call);
}

void shared_release(struct shared *shared, const struct shared_nonce *nonce, bool later)
{
    struct link_call call = nonce_call(shared, SCRIPT_DROP, nonce, 0);
    int64_t result;
    if (nonce->made && (later || !link_run(shared->link, &call, &result)))
        link_later(shared->link, &call);
}
