/* The index entry of a run (spec 03, "Entry"). Pure. */
#ifndef BENCHLEDGER_AGGREGATE_ENTRY_H
#define BENCHLEDGER_AGGREGATE_ENTRY_H

#include "validator/validate.h"

/* JSON.stringify bytes of the entry for the run as it stands in the verdict's document. */
void entry_write(const struct verdict *verdict, bool flagged, const char *path, struct buffer *out);

#endif
