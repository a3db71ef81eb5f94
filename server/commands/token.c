/* token add, list, revoke: who may review, by the file that `serve --maintainers-file` reads. */
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/clock.h"
#include "server/command.h"
#include "server/commands/offline.h"
#include "server/commands/options.h"
#include "server/expiry.h"
#include "server/maintainers/edit.h"

enum {
    EXIT_NONE_MATCHED = 1,
    TOKEN_BYTES = 32,
    TOKEN_SIZE = 43, /* base64url of them, without padding */
    BASE64_ROOM = 48,
    HASH_SHOWN = 8,
    DAY_TEXT = 16,
    DAY_S = 24 * 3600
};

static const char file_help[] = "the file of `serve --maintainers-file`";

static bool make_token(char token[TOKEN_SIZE + 1])
{
    unsigned char bytes[TOKEN_BYTES];
    char base64[BASE64_ROOM];
    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return false;
    EVP_EncodeBlock((unsigned char *)base64, bytes, sizeof bytes);
    for (size_t i = 0; i < TOKEN_SIZE; i++)
        token[i] = base64[i] == '+' ? '-' : base64[i] == '/' ? '_' : base64[i];
    token[TOKEN_SIZE] = '\0';
    explicit_bzero(bytes, sizeof bytes);
    explicit_bzero(base64, sizeof base64);
    return true;
}

static int wrong_usage(const struct manual *manual, const char *what)
{
    fprintf(stderr, "benchledger: %s\nUsage: benchledger %s\n", what, manual->usage);
    return EXIT_USAGE;
}

static bool still_to_come(const char *text)
{
    int64_t day;
    return expiry_parse(text, &day) && !maintainer_expired(day, clock_wall_ms() / 1000);
}

static bool append(struct maintainers_edit *edit, const char *name, const char *role,
                   const char *expires, const char *token)
{
    char hash[SHA256_HEX + 1];
    struct buffer *text = &edit->text;
    sha256_hex(token, TOKEN_SIZE, hash);
    if (text->size && text->data[text->size - 1] != '\n')
        buffer_byte(text, '\n');
    buffer_format(text, "%s %s %s", name, role, hash);
    if (expires)
        buffer_format(text, " %s", expires);
    buffer_byte(text, '\n');
    return edit_save(edit);
}

/* The line is durable by then: a token that nobody saw should not stay unnoticed. */
static int print_token(const char *token)
{
    if (printf("%s\n", token) == TOKEN_SIZE + 1 && fflush(stdout) == 0)
        return OFFLINE_OK;
    fputs("benchledger: the token was added but could not be printed: revoke it\n", stderr);
    return OFFLINE_UNREADABLE;
}

static int add(const char *file, const char *name, const char *role, const char *expires)
{
    struct maintainers_edit edit;
    char token[TOKEN_SIZE + 1];
    int exit_code = OFFLINE_UNREADABLE;
    if (!make_token(token)) {
        offline_complain(file, "the system has no randomness");
        return exit_code;
    }
    if (edit_begin(&edit, file) && append(&edit, name, role, expires, token))
        exit_code = print_token(token);
    else
        offline_complain(file, edit.problem);
    edit_end(&edit);
    explicit_bzero(token, sizeof token);
    return exit_code;
}

static int add_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "token add NAME --maintainers-file FILE [OPTION]...",
        .summary = "Makes a token for the maintainer NAME and prints it, once: FILE, which is "
                   "created with\n"
                   "mode 0600 when missing, receives its hash. A running service notices within "
                   "two seconds.\n"
                   "NAME is 1 to 64 of A-Z a-z 0-9 . _ - and may have several tokens.",
        .exits = "  0  the token was made\n"
                 "  3  FILE is malformed or cannot be read or replaced\n"
                 "  64 wrong usage",
        .operands_least = 1,
        .operands_most = 1};
    const char *file = NULL, *role = "reviewer", *expires = NULL;
    const struct option_row rows[] = {
        {.name = "maintainers-file", .value = "FILE", .text = &file, .help = file_help},
        {.name = "role", .value = "ROLE", .text = &role, .help = "reviewer (default) or admin"},
        {.name = "expires",
         .value = "DAY",
         .text = &expires,
         .help = "YYYY-MM-DD, its last day, UTC"},
        {0}};
    enum maintainer_role known;
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    if (!file || !*file)
        return wrong_usage(&manual, "--maintainers-file is needed");
    if (!maintainer_name_ok(arguments[0]))
        return wrong_usage(&manual, "NAME is not 1 to 64 of A-Z a-z 0-9 . _ -");
    if (!maintainer_role_parse(role, &known))
        return wrong_usage(&manual, "--role is neither reviewer nor admin");
    if (expires && !still_to_come(expires))
        return wrong_usage(&manual, "--expires is no day of the form YYYY-MM-DD from today on");
    return add(file, arguments[0], role, expires);
}

static void print_day(int64_t day, char text[DAY_TEXT])
{
    struct tm parts;
    time_t time = (time_t)(day * DAY_S);
    if (day == MAINTAINER_NEVER || !gmtime_r(&time, &parts) ||
        !strftime(text, DAY_TEXT, "%Y-%m-%d", &parts))
        strcpy(text, "-");
}

static void print_line(struct buffer *out, const struct maintainer_line *line, int64_t now_s)
{
    char hash[SHA256_HEX + 1], day[DAY_TEXT];
    hex_print(line->hash, SHA256_SIZE, hash);
    print_day(line->expires, day);
    buffer_format(out, "%-24s %-8s %.*s %s%s\n", line->name, maintainer_role_name(line->role),
                  HASH_SHOWN, hash, day,
                  maintainer_expired(line->expires, now_s) ? " expired" : "");
}

static int list_command(int count, char **arguments)
{
    static const struct manual manual = {.usage = "token list --maintainers-file FILE",
                                         .summary = "Prints a line for every token: name, role, "
                                                    "the first digits of its hash, its last day,\n"
                                                    "and \"expired\" when that is over.",
                                         .exits =
                                             "  0  printed\n"
                                             "  3  FILE is missing, malformed or cannot be read\n"
                                             "  64 wrong usage"};
    const char *file = NULL;
    const struct option_row rows[] = {
        {.name = "maintainers-file", .value = "FILE", .text = &file, .help = file_help}, {0}};
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    if (!file || !*file)
        return wrong_usage(&manual, "--maintainers-file is needed");
    struct maintainers_edit edit;
    struct buffer out BUFFER_SCOPE = {0};
    exit_code = OFFLINE_UNREADABLE;
    if (edit_look(&edit, file)) {
        int64_t now_s = clock_wall_ms() / 1000;
        for (size_t i = 0; i < edit.list.count; i++)
            print_line(&out, &edit.list.lines[i], now_s);
        exit_code = offline_output(out.data, out.size);
    } else {
        offline_complain(file, edit.problem);
    }
    edit_end(&edit);
    return exit_code;
}

static bool line_matches(const struct maintainer_line *line, const char *name, const char *prefix)
{
    char hash[SHA256_HEX + 1];
    hex_print(line->hash, SHA256_SIZE, hash);
    return !strcmp(line->name, name) && strncmp(hash, prefix, strlen(prefix)) == 0;
}

/* Leaves the matching lines out of the text; their number. */
static size_t take_out(struct maintainers_edit *edit, const char *name, const char *prefix)
{
    struct buffer kept = {0};
    size_t matched = 0, at = 0;
    for (size_t i = 0; i < edit->list.count; i++) {
        const struct maintainer_line *line = &edit->list.lines[i];
        if (!line_matches(line, name, prefix))
            continue;
        buffer_add(&kept, edit->text.data + at, line->begin - at);
        at = line->end;
        matched++;
    }
    if (edit->text.size > at)
        buffer_add(&kept, edit->text.data + at, edit->text.size - at);
    buffer_free(&edit->text);
    edit->text = kept;
    return matched;
}

static int revoke_from(struct maintainers_edit *edit, const char *name, const char *prefix,
                       const char **problem)
{
    *problem = "does not exist";
    if (!edit->exists)
        return OFFLINE_UNREADABLE;
    size_t matched = take_out(edit, name, prefix ? prefix : "");
    *problem = "no line matches";
    if (!matched)
        return EXIT_NONE_MATCHED;
    *problem = "several hashes begin so: give more of the one that is meant";
    if (prefix && matched > 1)
        return EXIT_NONE_MATCHED;
    *problem = edit->problem;
    return edit_save(edit) ? OFFLINE_OK : OFFLINE_UNREADABLE;
}

static int revoke(const char *file, const char *name, const char *prefix)
{
    struct maintainers_edit edit;
    const char *problem = edit.problem;
    int exit_code = OFFLINE_UNREADABLE;
    if (edit_begin(&edit, file))
        exit_code = revoke_from(&edit, name, prefix, &problem);
    if (exit_code != OFFLINE_OK)
        offline_complain(file, problem);
    edit_end(&edit);
    return exit_code;
}

static int revoke_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "token revoke NAME --maintainers-file FILE [--hash PREFIX]",
        .summary =
            "Removes the lines of NAME from FILE, or the one whose hash begins with PREFIX (as\n"
            "`token list` shows it). A running service notices within two seconds.",
        .exits = "  0  removed\n"
                 "  1  no line matched, or several begin with PREFIX; FILE is as it was\n"
                 "  3  FILE is missing, malformed or cannot be read or replaced\n"
                 "  64 wrong usage",
        .operands_least = 1,
        .operands_most = 1};
    const char *file = NULL, *prefix = NULL;
    const struct option_row rows[] = {
        {.name = "maintainers-file", .value = "FILE", .text = &file, .help = file_help},
        {.name = "hash", .value = "PREFIX", .text = &prefix, .help = "of one of his tokens"},
        {0}};
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    if (!file || !*file)
        return wrong_usage(&manual, "--maintainers-file is needed");
    if (!maintainer_name_ok(arguments[0]))
        return wrong_usage(&manual, "NAME is not 1 to 64 of A-Z a-z 0-9 . _ -");
    size_t size = prefix ? strlen(prefix) : 1;
    if (prefix && (!size || size > SHA256_HEX || strspn(prefix, "0123456789abcdef") != size))
        return wrong_usage(&manual, "--hash is not 1 to 64 lower-case hex digits");
    return revoke(file, arguments[0], prefix);
}

static void print_usage(FILE *out)
{
    fputs("Usage: benchledger token COMMAND --maintainers-file FILE [ARGUMENT]...\n\n"
          "Keeps the file of maintainers, who may review what is in quarantine.\n\n"
          "  add NAME         make a token and print it\n"
          "  list             print names, roles, hashes and last days\n"
          "  revoke NAME      remove his tokens\n\n"
          "`benchledger token COMMAND --help` says more.\n",
          out);
}

int token_command(int count, char **arguments)
{
    static const struct command commands[] = {
        {"add", NULL, add_command}, {"list", NULL, list_command}, {"revoke", NULL, revoke_command}};
    const char *name = count > 0 ? arguments[0] : "";
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(commands[i].name, name))
            return commands[i].run(count - 1, arguments + 1);
    if (!strcmp(name, "--help")) {
        print_usage(stdout);
        return OFFLINE_OK;
    }
    if (*name)
        fprintf(stderr, "benchledger: unknown command 'token %.100s'\n", name);
    print_usage(stderr);
    return EXIT_USAGE;
}
