/* Runs a fuzz target once over each file given: crash inputs and a small corpus are part of the suite. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

enum { LARGEST = 1 << 22 };

int main(int count, char **arguments)
{
    uint8_t *data = malloc(LARGEST);
    for (int i = 1; data && i < count; i++) {
        FILE *file = fopen(arguments[i], "rb");
        if (!file) {
            perror(arguments[i]);
            free(data);
            return 1;
        }
        size_t size = fread(data, 1, LARGEST, file);
        fclose(file);
        uint8_t *exact = malloc(size ? size : 1); /* a byte too far is an error of the sanitizer */
        for (size_t j = 0; exact && j < size; j++)
            exact[j] = data[j];
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
    free(data);
    printf("%d inputs replayed\n", count - 1);
    return count > 1 ? 0 : 1;
}
