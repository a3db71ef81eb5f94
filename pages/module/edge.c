#include "pages/module/edge.h"

#include <stdlib.h>

#include "validator/arena.h"

static bool exhausted;

bool edge_exhausted(void)
{
    return exhausted;
}

/* A trap is an exception to the page, which then throws the instance away. */
void memory_exhausted(size_t size)
{
    (void)size;
    exhausted = true;
    __builtin_trap();
}

/* What follows stands in the place of the C library's own, so that it asks the page for nothing: a program that
 * only formats numbers into memory has no files, and what can never happen needs no message. */
void abort(void)
{
    __builtin_trap();
}

_Noreturn void __assert_fail(const char *, const char *, int, const char *);
void __assert_fail(const char *condition, const char *file, int line, const char *function)
{
    (void)condition, (void)file, (void)line, (void)function;
    __builtin_trap();
}

/* What the C library would import for its files. */
int __imported_wasi_snapshot_preview1_fd_write(int, int, int, int);
int __imported_wasi_snapshot_preview1_fd_write(int file, int parts, int count, int written)
{
    (void)file, (void)parts, (void)count, (void)written;
    __builtin_trap();
}

int __imported_wasi_snapshot_preview1_fd_close(int);
int __imported_wasi_snapshot_preview1_fd_close(int file)
{
    (void)file;
    __builtin_trap();
}

int __imported_wasi_snapshot_preview1_fd_seek(int, long long, int, int);
int __imported_wasi_snapshot_preview1_fd_seek(int file, long long offset, int whence, int position)
{
    (void)file, (void)offset, (void)whence, (void)position;
    __builtin_trap();
}
