#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/command.h"
#include "server/commands/options.h"
#include "server/version.h"

static const struct command commands[] = {
    {"serve", "serve the HTTP API over a dataset", serve_command},
    {"check", "judge run files offline", check_command},
    {"digest", "print the digest of a run file", digest_command},
    {"scrub", "print a run file as it would be published", scrub_command},
    {"entry", "print the index entry of a run file", entry_command},
    {"index", "rebuild the index of a dataset from its run files", index_command},
    {"rows", "print the board rows of a dataset", rows_command},
    {"export", "write a dataset as tables", export_command},
    {"audit", "check a dataset against itself", audit_command},
    {"replay", "judge a dataset by another rule set", replay_command},
    {"import", "take exported runs into a dataset", import_command},
    {"redact", "take a run out of a dataset for good", redact_command},
    {"keygen", "make a key that signs receipts", keygen_command},
    {"verify-receipt", "verify a receipt offline", verify_receipt_command},
    {"token", "keep the maintainers who review, and their tokens", token_command},
};

static void print_usage(FILE *out)
{
    fputs("Usage: benchledger COMMAND [ARGUMENT]...\n\n", out);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-16s %s\n", commands[i].name, commands[i].summary);
    fputs("\n`benchledger COMMAND --help` says more; `--version` prints the version.\n", out);
}

/* A run takes several times its size for a few milliseconds. Keeping that memory between runs saves the kernel
 * from clearing the same pages again for each of them. */
enum { MEMORY_KEPT = 32 << 20 };

/* Where a standard stream was closed the next file would take its place, and complaints be written into that. Here
 * writing fails, as it did. */
static void fill_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int count, char **arguments)
{
    fill_streams();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error, as a full disk is */
    mallopt(M_MMAP_THRESHOLD, MEMORY_KEPT);
    mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
    const char *name = count > 1 ? arguments[1] : "";
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(commands[i].name, name))
            return commands[i].run(count - 2, arguments + 2);
    if (!strcmp(name, "--version")) {
        puts("benchledger " BENCHLEDGER_VERSION);
        return 0;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "help")) {
        print_usage(stdout);
        return 0;
    }
    if (*name)
        fprintf(stderr, "benchledger: unknown command '%.100s'\n", name);
    print_usage(stderr);
    return EXIT_USAGE;
}
