/* ISO 8601 times as run files carry them (spec 02, createdAt). Pure: knows the calendar, not the
 * clock. */
#ifndef BENCHLEDGER_VALIDATOR_CALENDAR_H
#define BENCHLEDGER_VALIDATOR_CALENDAR_H

#include "validator/text.h"

enum { CALENDAR_SIZE = 25 };

/* Reads YYYY-MM-DDTHH:MM:SS[.digits](Z|+HH:MM|-HH:MM) that exists in the calendar. *MS counts from
 * 1970; YEAR and MONTH are those of UTC, from 0 to 9999. */
bool calendar_read(struct text text, double *ms, int *year, int *month);

/* UTC with milliseconds and Z, as Date.toISOString prints years 0 to 9999; a final NUL. */
void calendar_print(double ms, char text[CALENDAR_SIZE]);

#endif
