/* The index entry of a run (spec 03, "Entry") and the device names it is grouped by. Pure. */
#ifndef BENCHLEDGER_AGGREGATE_ENTRY_H
#define BENCHLEDGER_AGGREGATE_ENTRY_H

#include "validator/validate.h"

/* JSON.stringify bytes of the entry for the run as it stands in DOCUMENT of the verdict. */
void entry_write(const struct verdict *verdict, bool flagged, const char *path, struct buffer *out);

/* deviceClass and deviceSubclass; the results live in ARENA. GPU_MODEL may be NULL. */
const char *device_class(struct arena *arena, const struct js_value *platform, bool gpu_available,
                         const struct js_value *gpu_vendor, const struct js_value *gpu_architecture);
const char *device_subclass(struct arena *arena, const char *device_class,
                            const struct js_value *gpu_model);

#endif
