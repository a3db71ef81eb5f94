/* The device names that runs are grouped by (spec 03, "Entry"). Pure; results live in ARENA. */
#ifndef BENCHLEDGER_AGGREGATE_DEVICE_H
#define BENCHLEDGER_AGGREGATE_DEVICE_H

#include "validator/text.h"

/* platform/vendor-architecture or platform/no-webgpu. VENDOR and ARCHITECTURE may be NULL. */
struct text device_class(struct arena *arena, struct text platform, bool gpu_available,
                         const struct js_value *vendor, const struct js_value *architecture);
/* DEVICE_CLASS refined by the GPU's model, or DEVICE_CLASS itself. GPU_MODEL may be NULL. */
struct text device_subclass(struct arena *arena, struct text device_class,
                            const struct js_value *gpu_model);

#endif
