/* Faults of the dataset store, as opposed to expected outcomes: a duplicate or a moved tip is a
 * value, a disk that cannot be written is a fault. The text is for the log and says what to do. */
#ifndef BENCHLEDGER_GITHUB_ERROR_H
#define BENCHLEDGER_GITHUB_ERROR_H

#include <stdbool.h>

struct store_error {
    char message[512];
};

/* Sets *ERROR (NULL is fine) and returns false, so that a function can end with it. */
bool error_set(struct store_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same with what libgit2 last said on this thread behind a colon. */
bool error_git(struct store_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same with the text of errno. */
bool error_system(struct store_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
