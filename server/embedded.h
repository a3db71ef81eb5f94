/* Files compiled into the binary, made by embed.py: it runs from anywhere, uninstalled. */
#ifndef BENCHLEDGER_SERVER_EMBEDDED_H
#define BENCHLEDGER_SERVER_EMBEDDED_H

#include <stddef.h>

/* The default answer key, server/data/tinymmlu-key.json. */
extern const unsigned char embedded_mmlu_key[];
extern const size_t embedded_mmlu_key_size;

#endif
