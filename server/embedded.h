/* Files compiled into the binary, made by embed.py: it runs from anywhere, uninstalled. */
#ifndef BENCHLEDGER_SERVER_EMBEDDED_H
#define BENCHLEDGER_SERVER_EMBEDDED_H

#include <stddef.h>

/* The default answer key, server/data/tinymmlu-key.json. */
const char *embedded_mmlu_key(size_t *size);
/* The default catalogue, server/data/model-catalogue.json. */
const char *embedded_model_catalogue(size_t *size);

#endif
