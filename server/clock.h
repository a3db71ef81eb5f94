/* The two clocks of the service. The pure rooms are given times, they never ask. */
#ifndef BENCHLEDGER_SERVER_CLOCK_H
#define BENCHLEDGER_SERVER_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ms(void);      /* since 1970 */
int64_t clock_monotonic_ms(void); /* for intervals */
/* ISO with ms and Z. */
void clock_iso(int64_t wall_ms, char text[32]);

#endif
