/* redact: what a court, or the law, asks for. */
#include <stdio.h>
#include <string.h>

#include "github/rebuild/redact.h"
#include "server/clock.h"
#include "server/command.h"
#include "server/commands/offline.h"
#include "server/commands/options.h"

enum { REASON_UNITS = 500, NAME_UNITS = 64 };

/* The history still holds the file: whoever was asked to remove it is told what is left to do. */
static void print_next(const struct redaction *redaction, const char *path, const char *commit)
{
    static const char *const folders[] = {"runs", "quarantine", "withdrawn"};
    const char *rest = strchr(path, '/');
    printf("redacted %s (%s) in commit %s\n", redaction->run_id, path, commit);
    fputs("The history still holds it. README, \"Redaction\", has the steps to rewrite it; the "
          "second one is:\n"
          "git filter-repo --force --invert-paths --path index/",
          stdout);
    for (size_t i = 0; rest && i < sizeof folders / sizeof *folders; i++)
        printf(" --path %s%s", folders[i], rest);
    putchar('\n');
}

int redact_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "redact [OPTION]... DATASET RUNID",
        .summary = "Removes the file of a run and its index entry, and appends a `redact` line to "
                   "the ledger.\n"
                   "DATASET is a bare repository: the store of a service, which follows while it "
                   "runs, or a\n"
                   "bare clone of a remote, to be pushed. History is left as it is: see README, "
                   "\"Redaction\".",
        .exits = "  0  the run is gone from the tip\n"
                 "  2  refused: there is no such run, or it was redacted before\n"
                 "  3  the dataset cannot be read or written\n"
                 "  64 wrong usage",
        .operands_least = 2,
        .operands_most = 2};
    ARENA_SCOPE struct arena arena = {0};
    struct redaction redaction = {.author = {"benchledger", "benchledger@localhost"}};
    const char *reason = "", *by = NULL;
    const struct option_row rows[] = {
        {.name = "reason", .value = "TEXT", .text = &reason, .help = "why, for the ledger; needed"},
        {.name = "by", .value = "NAME", .text = &by, .help = "who decided it"},
        {.name = "author-name",
         .value = "NAME",
         .text = &redaction.author.name,
         .help = "of the commit"},
        {.name = "author-email",
         .value = "MAIL",
         .text = &redaction.author.email,
         .help = "of the commit"},
        {0}};
    char at[32], path[RUN_PATH_MAX + 1], commit[COMMIT_HEX + 1];
    struct store_error error = {""};
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    redaction.reason = offline_line(&arena, reason, REASON_UNITS);
    redaction.by = by ? offline_line(&arena, by, NAME_UNITS) : NULL;
    if (!redaction.reason || (by && !redaction.by)) {
        offline_complain(arguments[0], "--reason TEXT is needed; it and --by NAME are UTF-8");
        return EXIT_USAGE;
    }
    clock_iso(clock_wall_ms(), at);
    redaction.at = at;
    redaction.dataset = arguments[0];
    redaction.run_id = arguments[1];
    switch (redact(&redaction, path, commit, &error)) {
    case REDACT_DONE:
        print_next(&redaction, path, commit);
        return OFFLINE_OK;
    case REDACT_REFUSED:
        offline_complain(arguments[0], error.message);
        return OFFLINE_REFUSED;
    case REDACT_FAILED:
        break;
    }
    offline_complain(arguments[0], error.message);
    return OFFLINE_UNREADABLE;
}
