/* A body that many answers share: immutable bytes, their gzip form made once on demand, an ETag.
 * Reference-counted; any thread. */
#ifndef BENCHLEDGER_SERVER_API_CONTENT_H
#define BENCHLEDGER_SERVER_API_CONTENT_H

#include <stddef.h>

enum { ETAG_TEXT = 72 };

struct content;

/* Takes DATA (malloc'ed). TAG: what the ETag holds, hex, copied; NULL: the SHA-256 of the bytes. */
struct content *content_new(char *data, size_t size, const char *tag);
struct content *content_ref(struct content *content);
void content_unref(struct content *content); /* NULL is fine */

const char *content_data(const struct content *content, size_t *size);
/* The gzip form, or NULL when it would not be smaller. */
const char *content_gzip(struct content *content, size_t *size);
const char *content_tag(const struct content *content);
/* Bytes held in memory, with the gzip form when it was made. Waits for nobody. */
size_t content_weight(const struct content *content);
/* The weight of all contents there are: kept ones, and those that slow readers still hold. */
size_t content_held(void);

#endif
