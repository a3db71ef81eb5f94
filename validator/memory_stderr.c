#include <stdio.h>
#include <stdlib.h>

#include "validator/arena.h"

void memory_exhausted(size_t size)
{
    fprintf(stderr, "benchledger: out of memory (%zu bytes)\n", size);
    abort();
}
