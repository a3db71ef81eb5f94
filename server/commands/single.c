/* digest, scrub and entry: one file in, bytes out. */
#include <stdio.h>

#include "aggregate/entry.h"
#include "aggregate/publication.h"
#include "server/clock.h"
#include "server/command.h"
#include "server/commands/offline.h"
#include "server/commands/options.h"
#include "validator/scrub.h"

#define EXITS                                                      \
    "  0  output was made\n"                                       \
    "  2  the file is not a JSON object (entry: not a run file)\n" \
    "  3  the file cannot be read or is not JSON\n"                \
    "  64 wrong usage"

/* Opens the one operand; false with an exit code when the command is over. The root is an object. */
static bool open_operand(const struct manual *manual, const struct option_row *rows, int count,
                         char **arguments, struct offline_file *file, int *exit_code)
{
    if (options_parse(manual, rows, count, arguments, exit_code) < 0)
        return false;
    *exit_code = OFFLINE_UNREADABLE;
    if (offline_open(file, arguments[0])) {
        if (file->document.root.type == JS_OBJECT)
            return true;
        snprintf(file->problem, sizeof file->problem, "is not a JSON object");
        *exit_code = OFFLINE_REFUSED;
    }
    offline_complain(file->name, file->problem);
    offline_close(file);
    return false;
}

int digest_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "digest [--canonical] FILE",
        .summary = "Prints the digest that the file should carry: SHA-256 over its canonical form\n"
                   "without `digest` and `nonce`.",
        .exits = EXITS,
        .operands_least = 1,
        .operands_most = 1};
    bool canonical = false;
    const struct option_row rows[] = {
        {.name = "canonical", .flag = &canonical, .help = "print the bytes that are hashed"}, {0}};
    struct offline_file file;
    int exit_code;
    if (!open_operand(&manual, rows, count, arguments, &file, &exit_code))
        return exit_code;
    BUFFER_SCOPE struct buffer bytes = {0};
    char hex[SHA256_HEX + 1];
    digest_compute(&file.document, hex, &bytes);
    if (!canonical) {
        bytes.size = 0;
        buffer_format(&bytes, "%s\n", hex);
    }
    exit_code = offline_output(bytes.data, bytes.size);
    offline_close(&file);
    return exit_code;
}

int scrub_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "scrub FILE",
        .summary =
            "Prints the bytes that publication would store: without the nonce and without what\n"
            "could identify a device. What was removed is listed on stderr.",
        .exits = EXITS,
        .operands_least = 1,
        .operands_most = 1};
    static const struct option_row rows[] = {{0}};
    struct offline_file file;
    int exit_code;
    if (!open_operand(&manual, rows, count, arguments, &file, &exit_code))
        return exit_code;
    struct scrubbed scrubbed;
    BUFFER_SCOPE struct buffer bytes = {0};
    struct digest_check check = digest_verify(&file.document);
    if (check.status != DIGEST_OK && check.status != DIGEST_LEGACY)
        offline_complain(file.name, "the digest does not verify");
    scrub(&file.arena, &file.document, check.status, (double)clock_wall_ms(), &scrubbed);
    for (size_t i = 0; i < scrubbed.removed_count; i++) {
        BUFFER_SCOPE struct buffer line = {0};
        buffer_format(&line, "removed or changed: %s", scrubbed.removed[i]);
        offline_complain(file.name, buffer_string(&line));
    }
    js_print(&scrubbed.document, &scrubbed.document.root, &bytes);
    exit_code = offline_output(bytes.data, bytes.size);
    offline_close(&file);
    return exit_code;
}

/* The entry describes the file as given: flagged by today's rules, its path computed (spec 04). */
static int print_entry(struct offline_file *file, const struct answer_key *key)
{
    struct shape_errors errors;
    struct verdict verdict;
    struct policy policy = report_policy(true);
    if (!validate(&file->arena, &file->document, &policy, key, &verdict, &errors)) {
        offline_complain_shape(file->name, &errors);
        return OFFLINE_REFUSED;
    }
    BUFFER_SCOPE struct buffer entry = {0};
    char path[PUBLICATION_PATH_MAX];
    publication_path(&verdict, path);
    entry_write(&verdict, verdict.flagged, path, &entry);
    return offline_output(entry.data, entry.size);
}

int entry_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "entry [--mmlu-key FILE] FILE",
        .summary = "Prints the index entry of a run file, of every archived protocol.",
        .exits = EXITS,
        .operands_least = 1,
        .operands_most = 1};
    const char *key_path = NULL;
    const struct option_row rows[] = {{.name = "mmlu-key",
                                       .value = "FILE",
                                       .text = &key_path,
                                       .help = "answer key instead of the compiled-in one"},
                                      {0}};
    struct offline_file file;
    int exit_code;
    if (!open_operand(&manual, rows, count, arguments, &file, &exit_code))
        return exit_code;
    struct answer_key key;
    exit_code = OFFLINE_UNREADABLE;
    if (offline_key(&file.arena, key_path, &key))
        exit_code = print_entry(&file, &key);
    offline_close(&file);
    return exit_code;
}
