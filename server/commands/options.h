/* Flags of the offline commands: one table for each command drives parsing and --help. */
#ifndef BENCHLEDGER_SERVER_COMMANDS_OPTIONS_H
#define BENCHLEDGER_SERVER_COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { OPTION_LIST_MOST = 64 };

/* The values of an option that may be given again and again. */
struct option_list {
    size_t count;
    const char *values[OPTION_LIST_MOST + 1]; /* ends with NULL */
};

/* --NAME, or --NAME VALUE when VALUE is not NULL. Ends with a NULL name. */
struct option_row {
    const char *name;
    const char *value; /* what --help calls it */
    bool *flag;        /* set when the flag is given */
    const char **text; /* receives the value */
    const char *help;
    struct option_list *list; /* instead of text, when it may be repeated */
};

struct manual {
    const char *usage;   /* "check [OPTION]... FILE..." */
    const char *summary; /* sentences */
    const char *exits;   /* exit codes, a line each */
    int operands_least, operands_most;
};

enum { EXIT_USAGE = 64 };

/* Parses flags in front of, between and behind the operands, which move to the front of ARGUMENTS.
 * Returns their number, or -1 with *EXIT_CODE when the command is over (help was printed, or a flag is
 * wrong and was reported). */
int options_parse(const struct manual *manual, const struct option_row *rows, int count,
                  char **arguments, int *exit_code);

#endif
