/* Things that several requests want at once are made by one of them; the others wait for it. Any
 * thread. */
#ifndef BENCHLEDGER_SERVER_API_MAKING_H
#define BENCHLEDGER_SERVER_API_MAKING_H

#include <stdbool.h>

struct making;

struct making *making_new(void);
void making_free(struct making *making); /* NULL is fine */

/* True: the caller makes KEY and ends with making_end. False: somebody else has just made it, or
 * failed to; the caller looks again, and makes it for itself if it is not there. KEY stays the caller's
 * and is kept until then. A thread makes one thing at a time. */
bool making_begin(struct making *making, const char *key);
void making_end(struct making *making, const char *key);

#endif
