/* Memory of one submission: many small blocks, freed at once.
 *
 * Everything that is derived from a run file (tree, typed view, statistics, flags) lives in the
 * arena of its submission and dies with it. Running out of memory ends the process with a message:
 * what was acknowledged is durable, so stopping loses nothing, and no caller has to carry a failure
 * that it could not answer. An arena is used by one thread at a time. */
#ifndef BENCHLEDGER_VALIDATOR_ARENA_H
#define BENCHLEDGER_VALIDATOR_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *newest; /* zero-initialised is an empty arena */
    char *data;                 /* of the newest block */
    size_t used, room;
    size_t total; /* bytes taken from the system */
};

/* Out of line: SIZE bytes (a multiple of ARENA_ALIGNMENT) from a new block. */
enum { ARENA_ALIGNMENT = 16 };
void *arena_grow(struct arena *arena, size_t size);

/* SIZE bytes, aligned to ARENA_ALIGNMENT, not cleared. None are a place, too: an empty arena has no other. */
static inline void *arena_take(struct arena *arena, size_t size)
{
    size = ((size ? size : 1) + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    if (size > arena->room - arena->used)
        return arena_grow(arena, size);
    arena->used += size;
    return arena->data + arena->used - size;
}

/* COUNT items of SIZE bytes, cleared. */
void *arena_clear_take(struct arena *arena, size_t count, size_t size);
/* A copy of TEXT with a final NUL. */
char *arena_copy(struct arena *arena, const char *text, size_t size);
/* A printf-formatted string with a final NUL. */
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena);

/* Says that SIZE bytes could not be had and ends the process. Defined at the edge (memory_stderr.c): a page that
 * runs the validator has another way to say so. */
_Noreturn void memory_exhausted(size_t size);

/* realloc that ends the process instead of returning NULL. */
void *memory_grow(void *block, size_t size) __attribute__((returns_nonnull));

#define ARENA_SCOPE __attribute__((cleanup(arena_free)))

#endif
