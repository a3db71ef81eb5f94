/* What the validator's surroundings are in a browser. */
#ifndef BENCHLEDGER_PAGES_MODULE_EDGE_H
#define BENCHLEDGER_PAGES_MODULE_EDGE_H

#include <stdbool.h>

/* Whether the last trap was for lack of memory: asked after it, when the instance is good for nothing else. */
bool edge_exhausted(void);

#endif
