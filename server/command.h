/* The commands of the one binary: each a row of the table in main.c. */
#ifndef BENCHLEDGER_SERVER_COMMAND_H
#define BENCHLEDGER_SERVER_COMMAND_H

struct command {
    const char *name;
    const char *summary; /* one line of --help */
    /* COUNT arguments after the command's name. Returns the exit code. */
    int (*run)(int count, char **arguments);
};

int serve_command(int count, char **arguments);
int check_command(int count, char **arguments);
int digest_command(int count, char **arguments);
int scrub_command(int count, char **arguments);
int entry_command(int count, char **arguments);
int index_command(int count, char **arguments);
int rows_command(int count, char **arguments);
int export_command(int count, char **arguments);
int keygen_command(int count, char **arguments);
int verify_receipt_command(int count, char **arguments);
int audit_command(int count, char **arguments);
int import_command(int count, char **arguments);
int redact_command(int count, char **arguments);
int replay_command(int count, char **arguments);
int token_command(int count, char **arguments);

#endif
