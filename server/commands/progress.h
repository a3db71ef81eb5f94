/* What a long command says on stderr while it works, and how it is stopped: a bar on a terminal, a plain line
 * every few seconds otherwise, nothing while it is quick. One command at a time; the caller's thread. */
#ifndef BENCHLEDGER_SERVER_COMMANDS_PROGRESS_H
#define BENCHLEDGER_SERVER_COMMANDS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* From now on the first SIGINT, SIGTERM or SIGHUP is only noted; the second one kills. WHAT is done, one word; static. */
void progress_begin(const char *what);
/* What follows is WHAT of another kind, UNITS in plural (`commits`); static. */
void progress_next(const char *what, const char *units);
/* DONE of COUNT units, the last of SIZE bytes. False once a signal came: the command leaves everything as it
 * was and ends. */
bool progress_step(size_t done, size_t count, size_t size);
/* Takes the bar away, so that a line can be written; the next step draws it again. */
void progress_hide(void);

#endif
