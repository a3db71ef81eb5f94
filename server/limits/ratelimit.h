/* Attempts per client address over a sliding hour, in a table of fixed size (spec 04). Any thread.
 *
 * IPv4 counts per address, IPv6 per /64 and, eightfold, per /48. The hour slides in slots of a
 * minute and a slot counts until its last moment is an hour old: never more than the limit in any
 * hour. The table is keyed with a random secret, so that nobody can aim at another address's
 * bucket. */
#ifndef BENCHLEDGER_SERVER_LIMITS_RATELIMIT_H
#define BENCHLEDGER_SERVER_LIMITS_RATELIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/limits/address.h"

enum rate_class { RATE_NONE, RATE_SUBMIT, RATE_VALIDATE, RATE_VIEW, RATE_REVIEW, RATE_CLASSES };

/* What a client counts as: a network and how many times the limit it has. */
enum { RATE_SHARES = 2, RATE_HOUR_MS = 3600 * 1000 };
struct rate_share {
    struct address network;
    unsigned bits;
    uint64_t factor;
};
size_t rate_shares(const struct address *client, struct rate_share shares[RATE_SHARES]);

struct ratelimit;

/* LIMITS: attempts an hour by class, 0 = off. ADDRESSES: rows of the table. */
struct ratelimit *ratelimit_new(size_t addresses, const int64_t limits[RATE_CLASSES]);
void ratelimit_free(struct ratelimit *limit);

/* Counts an attempt. False when there were too many (it is then not counted) and *RETRY_S says when
 * the next one may succeed. NOW_MS is of a clock that does not jump. */
bool ratelimit_take(struct ratelimit *limit, enum rate_class class, const struct address *client,
                    int64_t now_ms, int64_t *retry_s);
/* The same question without counting: for attempts of which only some cost something, and are taken once
 * that is known. As many as are made at the same moment may pass it. */
bool ratelimit_has_room(struct ratelimit *limit, enum rate_class class,
                        const struct address *client, int64_t now_ms, int64_t *retry_s);
/* Counts N attempts that nobody made: what they stand for is worth as much. Never more than the limit
 * has room for, so that they weigh an hour at most, as attempts do. CLIENT is suspect from now on. */
void ratelimit_charge(struct ratelimit *limit, enum rate_class class, const struct address *client,
                      uint32_t n, int64_t now_ms);
/* Whether CLIENT was charged within the last hour, as far as the table remembers. Not per /48: it is
 * not only he that would be. */
bool ratelimit_suspects(struct ratelimit *limit, const struct address *client, int64_t now_ms);
/* One at a time: false while the address holds its turn of CLASS. A turn ends with
 * ratelimit_leave. */
bool ratelimit_enter(struct ratelimit *limit, enum rate_class class, const struct address *client);
void ratelimit_leave(struct ratelimit *limit, enum rate_class class, const struct address *client);

/* One sum over a sliding window of SPAN_MS, with the same strictness: the global budgets. */
struct budget;
struct budget *budget_new(int64_t limit, int64_t span_ms);
void budget_free(struct budget *budget);
/* Takes AMOUNT unless the limit would be passed; NULL or a limit of 0 always grants. */
bool budget_take(struct budget *budget, int64_t amount, int64_t now_ms, int64_t *retry_s);
/* Gives back what was taken at TAKEN_MS: the run came to nothing. */
void budget_return(struct budget *budget, int64_t amount, int64_t taken_ms);

#endif
