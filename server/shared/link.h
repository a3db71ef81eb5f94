/* The connections to Redis, and the scripts that are run over them.
 *
 * A thread of its own makes all connections and tests them, so that nobody else ever waits for a name
 * server or a handshake. A call waits for its answer for half a second; the first that fails closes the
 * link for everybody until the thread has it open again, so that a Redis that hangs does not hold up
 * one request after the other. Any thread. */
#ifndef BENCHLEDGER_SERVER_SHARED_LINK_H
#define BENCHLEDGER_SERVER_SHARED_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/shared/redis_url.h"

struct link;

enum link_script {
    SCRIPT_RATE,    /* keys: windows; limit for each, amount, 1 to count without asking */
    SCRIPT_RESERVE, /* key; value, ms. 1: made, 2: it was there with this value, 0: with another */
    SCRIPT_KEEP,    /* key; value, ms: from now on, unless it is another's */
    SCRIPT_DROP,    /* key; value: removed if it is ours */
    SCRIPT_COUNT
};

enum { LINK_ARGUMENTS = 6, LINK_ARGUMENT = 208, LINK_PROBLEM = 256 };
struct link_call {
    enum link_script script;
    size_t keys, count; /* the first KEYS of COUNT arguments are keys */
    char arguments[LINK_ARGUMENTS][LINK_ARGUMENT];
};

enum link_start {
    LINK_UP,
    LINK_AWAY,    /* the thread goes on trying */
    LINK_REFUSED, /* Redis answers, and is not fit or does not let us in: *LINK stays NULL */
};
/* Looks once, then starts the thread. PASSWORD: empty for none; it must outlive the link. */
enum link_start link_open(const struct redis_url *url, const char *password, struct link **link,
                          char problem[LINK_PROBLEM]);
/* Tries once more to do what link_later was given. NULL is fine. */
void link_close(struct link *link);

/* False when Redis is away or refuses, with nothing known about whether the call was done. */
bool link_run(struct link *link, const struct link_call *call, int64_t *result);
/* Done by the thread, as soon as Redis is there. Of more than some thousands the oldest are lost. */
void link_later(struct link *link, const struct link_call *call);
/* False and why when the link is closed. */
bool link_ready(struct link *link, char problem[LINK_PROBLEM]);

#endif
