/* What the offline commands share: reading files, answer key, policy, output. */
#ifndef BENCHLEDGER_SERVER_COMMANDS_OFFLINE_H
#define BENCHLEDGER_SERVER_COMMANDS_OFFLINE_H

#include "aggregate/report.h"
#include "validator/model_catalogue.h"

enum offline_exit { OFFLINE_OK, OFFLINE_QUARANTINED, OFFLINE_REFUSED, OFFLINE_UNREADABLE };

/* One file on its way through a command; offline_close frees it. */
struct offline_file {
    const char *name;
    struct arena arena;
    struct buffer text;
    struct js_document document;
    char problem[REPORT_PROBLEM_MAX]; /* why it cannot be read; empty when it can */
};

/* Reads and parses a file, "-" is standard input. False: see problem. */
bool offline_open(struct offline_file *file, const char *name);
void offline_close(struct offline_file *file);

/* Adds text for a terminal: control characters, direction marks and what is no UTF-8 are shown as '?'. */
void offline_add_safely(struct buffer *out, const char *text, size_t size);
/* KEY and TEXT in JSON; what of TEXT is no UTF-8, as a name of a file may be, is shown as above. */
void offline_write_member(struct js_writer *writer, const char *key, const char *text);
/* `benchledger: FILE: message` on stderr. */
void offline_complain(const char *file, const char *message);
/* Every shape error of a refused file on stderr. */
void offline_complain_shape(const char *file, const struct shape_errors *errors);
/* Lines to stdout, with no bar in their way; there may be none. */
void offline_print(const struct buffer *lines);
/* Whether all that was printed to stdout has arrived; says so when it has not. */
bool offline_printed(void);
/* BYTES to stdout, with a newline only on a terminal. The exit code. */
int offline_output(const char *bytes, size_t size);

/* The whole of a file, "-" is standard input. False when it cannot be read (and that was reported). */
bool offline_read(const char *name, struct buffer *text);
/* What an option says, as one line of at most UNITS for the ledger, in ARENA. NULL when nothing is left of it, or it
 * is no UTF-8: a ledger line that cannot be read must not be. */
const char *offline_line(struct arena *arena, const char *given, size_t units);

/* Reads the version of a rule set. False when there is no such set (and that was reported). */
bool offline_rules(const char *text, int *rules);

/* The answer key at PATH, or the compiled-in one when PATH is NULL. False when it cannot be used (and that
 * was reported). The key lives in ARENA. */
bool offline_key(struct arena *arena, const char *path, struct answer_key *key);
/* The catalogue likewise. */
bool offline_catalogue(struct arena *arena, const char *path, struct model_catalogue *catalogue);

#endif
