/* A growing run of bytes. Zero-initialised is empty; the owner frees it (or declares it
 * BUFFER_SCOPE). */
#ifndef BENCHLEDGER_VALIDATOR_BUFFER_H
#define BENCHLEDGER_VALIDATOR_BUFFER_H

#include <stddef.h>

struct buffer {
    char *data; /* NULL while empty; not NUL-terminated, see buffer_string */
    size_t size, room;
};

/* Makes room for SIZE more bytes and returns where they go; the caller then adds to
 * buffer->size. */
char *buffer_reserve(struct buffer *buffer, size_t size);
void buffer_add(struct buffer *buffer, const void *data, size_t size);
void buffer_text(struct buffer *buffer, const char *text);
static inline void buffer_byte(struct buffer *buffer, char byte)
{
    *(buffer->size < buffer->room ? buffer->data + buffer->size : buffer_reserve(buffer, 1)) = byte;
    buffer->size++;
}
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The bytes with a NUL behind them (not counted), owned by the buffer. */
const char *buffer_string(struct buffer *buffer);
/* Hands the bytes (NUL behind them) to the caller, who frees them; the buffer is empty
 * afterwards. */
char *buffer_take(struct buffer *buffer, size_t *size);
void buffer_free(struct buffer *buffer);

#define BUFFER_SCOPE __attribute__((cleanup(buffer_free)))

#endif
