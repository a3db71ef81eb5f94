/* A growing run of bytes. Zero-initialised is empty; the owner frees it (or declares it
 * BUFFER_SCOPE). */
#ifndef BENCHLEDGER_VALIDATOR_BUFFER_H
#define BENCHLEDGER_VALIDATOR_BUFFER_H

#include <stddef.h>
#include <string.h>

struct buffer {
    char *data; /* NULL while empty; not NUL-terminated, see buffer_string */
    size_t size, room;
};

/* Out of line: more room for SIZE bytes. */
char *buffer_grow(struct buffer *buffer, size_t size);

/* Makes room for SIZE more bytes and returns where they go; the caller then adds to buffer->size. */
static inline char *buffer_reserve(struct buffer *buffer, size_t size)
{
    if (size > buffer->room - buffer->size)
        return buffer_grow(buffer, size);
    return buffer->data + buffer->size;
}

/* Copies SIZE bytes and returns the place behind them. Keys and numbers are short: two overlapping moves of a
 * fixed size are cheaper than a call. */
static inline char *copy_bytes(char *at, const char *from, size_t size)
{
    if (size > 32) {
        memcpy(at, from, size);
    } else if (size >= 16) {
        memcpy(at, from, 16);
        memcpy(at + size - 16, from + size - 16, 16);
    } else if (size >= 8) {
        memcpy(at, from, 8);
        memcpy(at + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
        memcpy(at, from, 4);
        memcpy(at + size - 4, from + size - 4, 4);
    } else {
        for (size_t i = 0; i < size; i++)
            at[i] = from[i];
    }
    return at + size;
}

static inline void buffer_add(struct buffer *buffer, const void *data, size_t size)
{
    if (size == 0)
        return;
    copy_bytes(buffer_reserve(buffer, size), data, size);
    buffer->size += size;
}

void buffer_text(struct buffer *buffer, const char *text);
static inline void buffer_byte(struct buffer *buffer, char byte)
{
    *buffer_reserve(buffer, 1) = byte;
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
