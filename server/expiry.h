/* The day on which the token of a remote store expires (`token_expires`): nobody notices for months
 * that runs queue, unless it is said before. Pure. */
#ifndef BENCHLEDGER_SERVER_EXPIRY_H
#define BENCHLEDGER_SERVER_EXPIRY_H

#include <stdbool.h>
#include <stdint.h>

enum { EXPIRY_TEXT = 160, EXPIRY_WARN_DAYS = 14 };

/* YYYY-MM-DD, a day that exists, to the number of days since 1970. */
bool expiry_parse(const char *text, int64_t *day);
/* Whether it is time to warn, from EXPIRY_WARN_DAYS before on, and in which words; the word before the
 * colon is stable. NOW_MS is wall time; days are those of UTC. */
bool expiry_warn(int64_t day, int64_t now_ms, char text[EXPIRY_TEXT]);

#endif
