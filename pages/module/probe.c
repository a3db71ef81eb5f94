/* Whether this machine can make WebAssembly: the C library, the linker and the compiler's helpers. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((export_name("probe"))) int probe(char *out, size_t size, double value)
{
    char *room = malloc(size);
    long double helper = (long double)value * value;
    int printed = room ? snprintf(out, size, "%d", (int)helper) : 0;
    free(room);
    return printed;
}
