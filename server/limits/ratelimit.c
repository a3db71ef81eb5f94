#include "server/limits/ratelimit.h"

#include <openssl/rand.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

/* SLOTS - 1 whole slots and the one that is running cover the window. */
enum { SLOTS = 61, WAYS = 8, WIDE_FACTOR = 8, SLOT_MS = RATE_HOUR_MS / (SLOTS - 1) };

struct window {
    int64_t newest; /* number of the newest slot since the clock's zero */
    uint32_t counts[SLOTS];
};

struct row {
    struct address network; /* family 0: free */
    uint8_t bits;
    int64_t used_ms;
    bool charged;
    int64_t charged_ms;
    struct window windows[RATE_CLASSES - 1];
    uint32_t turns[RATE_CLASSES - 1];
};

struct ratelimit {
    pthread_mutex_t mutex;
    int64_t limits[RATE_CLASSES];
    uint64_t secret[2];
    size_t buckets; /* of WAYS rows */
    struct row *rows;
};

static void window_slide(struct window *window, int64_t slot)
{
    if (slot <= window->newest)
        return;
    int64_t steps = slot - window->newest;
    if (steps > SLOTS)
        steps = SLOTS;
    for (int64_t i = 0; i < steps; i++)
        window->counts[(slot - i) % SLOTS] = 0;
    window->newest = slot;
}

static uint64_t window_sum(const struct window *window)
{
    uint64_t sum = 0;
    for (int i = 0; i < SLOTS; i++)
        sum += window->counts[i];
    return sum;
}

/* Slots from now until enough of the oldest have left for one more attempt. */
static int64_t window_wait(const struct window *window, uint64_t limit)
{
    uint64_t sum = window_sum(window);
    for (int64_t age = SLOTS - 1; age >= 0; age--) {
        if (window->newest < age)
            continue;
        sum -= window->counts[(window->newest - age) % SLOTS];
        if (sum < limit)
            return SLOTS - age;
    }
    return SLOTS;
}

struct ratelimit *ratelimit_new(size_t addresses, const int64_t limits[RATE_CLASSES])
{
    struct ratelimit *limit = memory_grow(NULL, sizeof *limit);
    *limit = (struct ratelimit){.buckets = (addresses + WAYS - 1) / WAYS};
    pthread_mutex_init(&limit->mutex, NULL);
    memcpy(limit->limits, limits, sizeof limit->limits);
    limit->rows = calloc(limit->buckets * WAYS, sizeof *limit->rows);
    if (!limit->rows || RAND_bytes((unsigned char *)limit->secret, sizeof limit->secret) != 1)
        abort();
    return limit;
}

void ratelimit_free(struct ratelimit *limit)
{
    if (!limit)
        return;
    pthread_mutex_destroy(&limit->mutex);
    free(limit->rows);
    free(limit);
}

static uint64_t rotate(uint64_t word, int bits)
{
    return (word << bits) | (word >> (64 - bits));
}

/* SipHash's round. */
static void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}

/* SipHash-2-4 over the network's three words. */
static uint64_t hash_network(const uint64_t secret[2], const struct address *network, unsigned bits)
{
    uint64_t words[3];
    memcpy(words, network->bytes, 16);
    words[2] = (uint64_t)24 << 56 | (uint64_t)network->family << 8 | bits;
    uint64_t v[4] = {secret[0] ^ 0x736f6d6570736575, secret[1] ^ 0x646f72616e646f6d,
                     secret[0] ^ 0x6c7967656e657261, secret[1] ^ 0x7465646279746573};
    for (int i = 0; i < 3; i++) {
        v[3] ^= words[i];
        sip_round(v);
        sip_round(v);
        v[0] ^= words[i];
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The network's row, or with MAKE the least recently used one of its bucket, cleared for it. Rows
 * whose turn is taken go last: they would be forgotten while somebody holds them. */
static struct row *find_row(struct ratelimit *limit, const struct address *network, unsigned bits,
                            bool make, int64_t now_ms)
{
    size_t bucket = hash_network(limit->secret, network, bits) % limit->buckets;
    struct row *rows = limit->rows + bucket * WAYS, *oldest = NULL;
    for (size_t i = 0; i < WAYS; i++) {
        struct row *row = &rows[i];
        if (row->network.family == network->family && row->bits == bits &&
            !memcmp(row->network.bytes, network->bytes, 16))
            return row;
        bool busy = row->turns[RATE_VALIDATE - 1] != 0;
        bool oldest_busy = oldest && oldest->turns[RATE_VALIDATE - 1] != 0;
        if (!oldest || (oldest_busy && !busy) ||
            (oldest_busy == busy && row->used_ms < oldest->used_ms))
            oldest = row;
    }
    if (!make)
        return NULL;
    *oldest = (struct row){.network = *network, .bits = (uint8_t)bits, .used_ms = now_ms};
    return oldest;
}

size_t rate_shares(const struct address *client, struct rate_share shares[RATE_SHARES])
{
    if (client->family != 6) {
        shares[0] = (struct rate_share){*client, 32, 1};
        return 1;
    }
    shares[0] = (struct rate_share){address_network(client, 64), 64, 1};
    shares[1] = (struct rate_share){address_network(client, 48), 48, WIDE_FACTOR};
    return 2;
}

/* Whether there is room; with COUNTED the attempt is then counted. A question alone takes no row of the
 * table. */
static bool attempt(struct ratelimit *limit, enum rate_class class, const struct address *client,
                    bool counted, int64_t now_ms, int64_t *retry_s)
{
    if (class == RATE_NONE || !limit->limits[class])
        return true;
    int64_t slot = now_ms / SLOT_MS, wait = 0;
    struct rate_share shares[RATE_SHARES];
    struct window *windows[RATE_SHARES];
    size_t count = rate_shares(client, shares), known = 0;
    pthread_mutex_lock(&limit->mutex);
    for (size_t i = 0; i < count; i++) {
        struct row *row = find_row(limit, &shares[i].network, shares[i].bits, counted, now_ms);
        if (!row)
            continue;
        row->used_ms = now_ms;
        struct window *window = windows[known++] = &row->windows[class - 1];
        window_slide(window, slot);
        uint64_t most = (uint64_t)limit->limits[class] * shares[i].factor;
        if (window_sum(window) >= most) {
            int64_t slots = window_wait(window, most);
            if (slots > wait)
                wait = slots;
        }
    }
    /* Making the second row cannot have evicted the first: it was used just now, and a bucket that
     * holds both has WAYS - 1 older ones. */
    for (size_t i = 0; i < known && counted && !wait; i++)
        windows[i]->counts[slot % SLOTS]++;
    pthread_mutex_unlock(&limit->mutex);
    if (wait)
        *retry_s = ((slot + wait) * SLOT_MS - now_ms + 999) / 1000;
    return !wait;
}

bool ratelimit_take(struct ratelimit *limit, enum rate_class class, const struct address *client,
                    int64_t now_ms, int64_t *retry_s)
{
    return attempt(limit, class, client, true, now_ms, retry_s);
}

bool ratelimit_has_room(struct ratelimit *limit, enum rate_class class,
                        const struct address *client, int64_t now_ms, int64_t *retry_s)
{
    return attempt(limit, class, client, false, now_ms, retry_s);
}

void ratelimit_charge(struct ratelimit *limit, enum rate_class class, const struct address *client,
                      uint32_t n, int64_t now_ms)
{
    int64_t slot = now_ms / SLOT_MS;
    struct rate_share shares[RATE_SHARES];
    size_t count = rate_shares(client, shares);
    pthread_mutex_lock(&limit->mutex);
    for (size_t i = 0; i < count; i++) {
        struct row *row = find_row(limit, &shares[i].network, shares[i].bits, true, now_ms);
        struct window *window = &row->windows[class - 1];
        row->used_ms = row->charged_ms = now_ms;
        row->charged = true;
        window_slide(window, slot);
        uint64_t most = (uint64_t)limit->limits[class] * shares[i].factor;
        uint64_t sum = window_sum(window), room = most > sum ? most - sum : 0;
        window->counts[slot % SLOTS] += n < room ? n : (uint32_t)room;
    }
    pthread_mutex_unlock(&limit->mutex);
}

bool ratelimit_suspects(struct ratelimit *limit, const struct address *client, int64_t now_ms)
{
    struct rate_share shares[RATE_SHARES];
    rate_shares(client, shares);
    pthread_mutex_lock(&limit->mutex);
    const struct row *row = find_row(limit, &shares[0].network, shares[0].bits, false, 0);
    bool suspect = row && row->charged && now_ms - row->charged_ms < RATE_HOUR_MS;
    pthread_mutex_unlock(&limit->mutex);
    return suspect;
}

bool ratelimit_enter(struct ratelimit *limit, enum rate_class class, const struct address *client)
{
    struct rate_share shares[RATE_SHARES];
    rate_shares(client, shares);
    pthread_mutex_lock(&limit->mutex);
    struct row *row = find_row(limit, &shares[0].network, shares[0].bits, true, 0);
    bool granted = row->turns[class - 1] == 0;
    row->turns[class - 1] = 1;
    pthread_mutex_unlock(&limit->mutex);
    return granted;
}

void ratelimit_leave(struct ratelimit *limit, enum rate_class class, const struct address *client)
{
    struct rate_share shares[RATE_SHARES];
    rate_shares(client, shares);
    pthread_mutex_lock(&limit->mutex);
    struct row *row = find_row(limit, &shares[0].network, shares[0].bits, false, 0);
    if (row)
        row->turns[class - 1] = 0;
    pthread_mutex_unlock(&limit->mutex);
}

struct budget {
    pthread_mutex_t mutex;
    int64_t limit, slot_ms, newest;
    int64_t amounts[SLOTS];
};

struct budget *budget_new(int64_t limit, int64_t span_ms)
{
    struct budget *budget = memory_grow(NULL, sizeof *budget);
    *budget = (struct budget){.limit = limit, .slot_ms = span_ms / (SLOTS - 1)};
    pthread_mutex_init(&budget->mutex, NULL);
    return budget;
}

void budget_free(struct budget *budget)
{
    if (!budget)
        return;
    pthread_mutex_destroy(&budget->mutex);
    free(budget);
}

bool budget_take(struct budget *budget, int64_t amount, int64_t now_ms, int64_t *retry_s)
{
    if (!budget || !budget->limit)
        return true;
    int64_t slot = now_ms / budget->slot_ms, sum = 0;
    pthread_mutex_lock(&budget->mutex);
    for (int64_t gone = budget->newest + 1; gone <= slot && gone <= budget->newest + SLOTS; gone++)
        budget->amounts[gone % SLOTS] = 0;
    if (slot > budget->newest)
        budget->newest = slot;
    for (int i = 0; i < SLOTS; i++)
        sum += budget->amounts[i];
    bool granted = sum + amount <= budget->limit;
    if (granted)
        budget->amounts[slot % SLOTS] += amount;
    int64_t wait = SLOTS;
    for (int64_t age = SLOTS - 1; !granted && age >= 0; age--) {
        sum -= slot >= age ? budget->amounts[(slot - age) % SLOTS] : 0;
        if (sum + amount <= budget->limit) {
            wait = SLOTS - age;
            break;
        }
    }
    pthread_mutex_unlock(&budget->mutex);
    if (!granted)
        *retry_s = ((slot + wait) * budget->slot_ms - now_ms + 999) / 1000;
    return granted;
}

void budget_return(struct budget *budget, int64_t amount, int64_t taken_ms)
{
    if (!budget || !budget->limit)
        return;
    int64_t slot = taken_ms / budget->slot_ms;
    pthread_mutex_lock(&budget->mutex);
    if (slot <= budget->newest && budget->newest - slot < SLOTS)
        budget->amounts[slot % SLOTS] -= amount;
    pthread_mutex_unlock(&budget->mutex);
}
