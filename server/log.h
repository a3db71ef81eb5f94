/* The service's log on standard error: one line an event, text or JSON. Any thread.
 *
 * Only the edge logs. Values are escaped, so that nothing a client sent can end a line, start
 * another or move a terminal's cursor. Secrets are never passed in. */
#ifndef BENCHLEDGER_SERVER_LOG_H
#define BENCHLEDGER_SERVER_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log_field {
    const char *name;  /* ours */
    const char *value; /* NUL-terminated, from anywhere; NULL: the field is left out */
};

/* Before any thread is started. */
void log_configure(bool json, enum log_level least);
bool log_wanted(enum log_level level);
/* MESSAGE is ours; FIELDS end with a NULL name; NULL: none. */
void log_event(enum log_level level, const char *message, const struct log_field *fields);

#define LOG_FIELDS(...) ((const struct log_field[]){__VA_ARGS__, {NULL, NULL}})

#endif
