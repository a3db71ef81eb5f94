/* Fields of CSV files (RFC 4180; spec 03, "CSV exports"). Pure. */
#ifndef BENCHLEDGER_AGGREGATE_CSV_H
#define BENCHLEDGER_AGGREGATE_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "validator/buffer.h"

/* Quoted where it has to be; what a spreadsheet would run as a formula is given a leading apostrophe. A lone
 * surrogate has no UTF-8: it becomes U+FFFD, as an encoder of the web prints it. */
void csv_text(struct buffer *out, const char *text, size_t size);
/* As ECMAScript prints it; nothing when it is not finite, which JSON prints as null. */
void csv_number(struct buffer *out, double number);
void csv_bool(struct buffer *out, bool value);

#endif
