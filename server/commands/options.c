#include "server/commands/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(const struct manual *manual, const struct option_row *rows, FILE *out)
{
    fprintf(out, "Usage: benchledger %s\n\n%s\n\nOptions:\n", manual->usage, manual->summary);
    for (const struct option_row *row = rows; row->name; row++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", row->name, row->value ? " " : "",
                 row->value ? row->value : "");
        fprintf(out, "  %-24s %s\n", left, row->help);
    }
    fprintf(out, "  %-24s %s\n\nExit codes:\n%s\n", "--help", "print this text", manual->exits);
}

static const struct option_row *find_row(const struct option_row *rows, const char *name,
                                         size_t size)
{
    for (; rows->name; rows++)
        if (strlen(rows->name) == size && memcmp(rows->name, name, size) == 0)
            return rows;
    return NULL;
}

static int complain(const struct manual *manual, const char *what, const char *argument)
{
    fprintf(stderr, "benchledger: %s%.200s\nUsage: benchledger %s\n", what, argument,
            manual->usage);
    return EXIT_USAGE;
}

/* Handles the flag at *AT (without its dashes); false when the command is over. */
static bool take_flag(const struct manual *manual, const struct option_row *rows, int count,
                      char **arguments, int *at, int *exit_code)
{
    const char *name = arguments[*at] + 2, *equals = strchr(name, '=');
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    const struct option_row *row = find_row(rows, name, size);
    if (size == 4 && memcmp(name, "help", 4) == 0) {
        print_help(manual, rows, stdout);
        *exit_code = EXIT_SUCCESS;
        return false;
    }
    if (!row || (equals && !row->value)) {
        *exit_code = complain(manual, "unknown option ", arguments[*at]);
        return false;
    }
    if (!row->value) {
        *row->flag = true;
        return true;
    }
    if (!equals && *at + 1 == count) {
        *exit_code = complain(manual, "a value is missing behind ", arguments[*at]);
        return false;
    }
    const char *value = equals ? equals + 1 : arguments[++*at];
    if (!row->list) {
        *row->text = value;
        return true;
    }
    if (row->list->count == OPTION_LIST_MOST) {
        *exit_code = complain(manual, "too often: --", row->name);
        return false;
    }
    row->list->values[row->list->count++] = value;
    return true;
}

int options_parse(const struct manual *manual, const struct option_row *rows, int count,
                  char **arguments, int *exit_code)
{
    int operands = 0;
    bool flags = true;
    for (int at = 0; at < count; at++) {
        if (flags && strcmp(arguments[at], "--") == 0)
            flags = false;
        else if (!flags || strncmp(arguments[at], "--", 2) != 0)
            arguments[operands++] = arguments[at];
        else if (!take_flag(manual, rows, count, arguments, &at, exit_code))
            return -1;
    }
    if (operands >= manual->operands_least && operands <= manual->operands_most)
        return operands;
    *exit_code = complain(
        manual, operands < manual->operands_least ? "too few arguments" : "too many arguments", "");
    return -1;
}
