#include "validator/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

char *buffer_grow(struct buffer *buffer, size_t size)
{
    size_t room = buffer->room + buffer->room / 2;
    if (room < buffer->size + size)
        room = buffer->size + size;
    if (room < 64)
        room = 64;
    buffer->data = memory_grow(buffer->data, room);
    buffer->room = room;
    return buffer->data + buffer->size;
}

void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    va_list again;
    va_copy(again, values);
    int size = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (size > 0) {
        vsnprintf(buffer_reserve(buffer, (size_t)size + 1), (size_t)size + 1, format, again);
        buffer->size += (size_t)size;
    }
    va_end(again);
}

const char *buffer_string(struct buffer *buffer)
{
    *buffer_reserve(buffer, 1) = '\0';
    return buffer->data;
}

char *buffer_take(struct buffer *buffer, size_t *size)
{
    buffer_string(buffer);
    char *data = buffer->data;
    if (size)
        *size = buffer->size;
    *buffer = (struct buffer){0};
    return data;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}
