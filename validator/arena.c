#include "validator/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 1024 * 1024 };

struct arena_block {
    struct arena_block *older;
    size_t size; /* keeps the data behind it 16-byte aligned */
};

void *memory_grow(void *block, size_t size)
{
    void *grown = realloc(block, size ? size : 1);
    if (!grown)
        memory_exhausted(size);
    return grown;
}

void *arena_grow(struct arena *arena, size_t size)
{
    size_t room = arena->room ? arena->room * 2 : FIRST_BLOCK;
    if (room > LARGEST_BLOCK)
        room = LARGEST_BLOCK;
    if (room < size)
        room = size;
    struct arena_block *block = memory_grow(NULL, sizeof *block + room);
    block->older = arena->newest;
    block->size = room;
    arena->newest = block;
    arena->data = (char *)(block + 1);
    arena->used = size;
    arena->room = room;
    arena->total += room;
    return arena->data;
}

void *arena_clear_take(struct arena *arena, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2) / size)
        memory_exhausted(SIZE_MAX);
    return memset(arena_take(arena, count * size), 0, count * size);
}

char *arena_copy(struct arena *arena, const char *text, size_t size)
{
    char *copy = arena_take(arena, size + 1);
    if (size)
        memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    char line[512];
    va_list values;
    va_start(values, format);
    int size = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (size < 0)
        return arena_copy(arena, "", 0);
    if ((size_t)size < sizeof line)
        return arena_copy(arena, line, (size_t)size);
    char *text = arena_take(arena, (size_t)size + 1);
    va_start(values, format);
    vsnprintf(text, (size_t)size + 1, format, values);
    va_end(values);
    return text;
}

void arena_free(struct arena *arena)
{
    for (struct arena_block *block = arena->newest; block;) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    *arena = (struct arena){0};
}
