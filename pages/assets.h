/* The files that pages are made with, compiled into the binary (bundle.py makes assets.c). */
#ifndef BENCHLEDGER_PAGES_ASSETS_H
#define BENCHLEDGER_PAGES_ASSETS_H

#include <stddef.h>

struct asset {
    const char *name; /* board.js */
    const char *type; /* Content-Type */
    const unsigned char *bytes;
    size_t size;
    char
        version[17]; /* of the bytes, hex: stands in its address, so that it may be kept for good */
};

/* *COUNT of them, by name. */
const struct asset *assets(size_t *count);
const struct asset *asset_find(const char *name); /* or NULL */

#endif
