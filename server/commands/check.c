#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/command.h"
#include "server/commands/offline.h"
#include "server/commands/options.h"

static const struct manual manual = {
    .usage = "check [OPTION]... FILE...",
    .summary = "Judges run files offline exactly as the service does: digest, shape, recomputed\n"
               "statistics, plausibility rules. FILE `-` is standard input.",
    .exits = "  0  every file would be published\n"
             "  1  a file would be quarantined\n"
             "  2  a file would be refused (shape or digest)\n"
             "  3  a file cannot be read or is not JSON\n"
             "  64 wrong usage\n"
             "The worst file decides.",
    .operands_least = 1,
    .operands_most = INT_MAX,
};

/* What is found out about one file. */
struct report {
    struct offline_file file;
    bool parsed, shaped;
    struct digest_check digest;
    struct shape_errors errors;
    struct verdict verdict;
    enum offline_exit exit;
};

static void examine(struct report *report, const char *name, const struct policy *policy,
                    const struct answer_key *key)
{
    *report = (struct report){.digest.status = DIGEST_MISSING, .exit = OFFLINE_UNREADABLE};
    report->parsed = offline_open(&report->file, name);
    if (!report->parsed)
        return;
    if (report->file.document.root.type == JS_OBJECT)
        report->digest = digest_verify(&report->file.document);
    report->shaped = validate(&report->file.arena, &report->file.document, policy, key,
                              &report->verdict, &report->errors);
    bool digest = report->digest.status == DIGEST_OK || report->digest.status == DIGEST_LEGACY;
    report->exit = !report->shaped || !digest ? OFFLINE_REFUSED
                   : report->verdict.flagged  ? OFFLINE_QUARANTINED
                                              : OFFLINE_OK;
}

static void write_empty(struct js_writer *writer)
{
    js_write_begin(writer, '[');
    js_write_end(writer, ']');
}

static void print_json(const struct report *report)
{
    BUFFER_SCOPE struct buffer line = {0};
    struct js_writer writer = {.out = &line};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "file");
    js_write_text(&writer, report->file.name);
    js_write_key(&writer, "ok");
    js_write_bool(&writer, report->exit == OFFLINE_OK);
    if (!report->parsed) {
        js_write_key(&writer, "error");
        js_write_text(&writer, report->file.problem);
    } else {
        js_write_key(&writer, "digest");
        js_write_text(&writer, digest_status_name(report->digest.status));
        js_write_key(&writer, "shapeErrors");
        shape_errors_write(&report->errors, &writer);
        js_write_key(&writer, "flags");
        if (report->shaped)
            verdict_write_flags(&report->verdict, &writer);
        else
            write_empty(&writer);
        js_write_key(&writer, "summaries");
        if (report->shaped)
            verdict_write_summaries(&report->verdict, &writer);
        else
            write_empty(&writer);
        js_write_key(&writer, "rulesVersion");
        js_write_number(&writer, RULES_VERSION);
        if (report->shaped && !report->verdict.answers_parsed) {
            js_write_key(&writer, "answersParsed");
            js_write_bool(&writer, false);
        }
    }
    js_write_end(&writer, '}');
    buffer_byte(&line, '\n');
    fwrite(line.data, 1, line.size, stdout);
}

static void print_table(const struct report *report)
{
    static const char *const words[] = {"publishable", "quarantine", "refused", "unreadable"};
    printf("%-12s digest %-9s %s\n", words[report->exit],
           report->parsed ? digest_status_name(report->digest.status) : "-", report->file.name);
    if (!report->parsed) {
        offline_complain(report->file.name, report->file.problem);
        return;
    }
    BUFFER_SCOPE struct buffer lines = {0};
    for (size_t i = 0; i < report->errors.count; i++) {
        const struct shape_error *error = &report->errors.items[i];
        buffer_text(&lines, "    shape  ");
        offline_add_safely(&lines, error->path, error->path_size);
        buffer_format(&lines, " %s\n", error->message);
    }
    for (const struct flag *flag = report->shaped ? report->verdict.flags : NULL; flag;
         flag = flag->next) {
        buffer_format(&lines, "    %-6s %s", severity_name(flag->severity), flag->code);
        if (flag->cell_id)
            buffer_byte(&lines, ' ');
        if (flag->cell_id)
            offline_add_safely(&lines, flag->cell_id->text, flag->cell_id->size);
        buffer_format(&lines, ": %s ", flag->message);
        offline_add_safely(&lines, flag->evidence, flag->evidence_size);
        buffer_byte(&lines, '\n');
    }
    fwrite(lines.data, 1, lines.size, stdout);
    if (!report->shaped)
        return;
    if (!report->verdict.answers_parsed)
        puts("    note   no answer key: quality answers were not parsed again");
}

int check_command(int count, char **arguments)
{
    bool json = false, any_protocol = false, no_key = false;
    const char *key_path = NULL;
    const struct option_row rows[] = {
        {.name = "json", .flag = &json, .help = "print one JSON object a line and file"},
        {.name = "any-protocol",
         .flag = &any_protocol,
         .help = "accept every archived protocol and schema"},
        {.name = "mmlu-key",
         .value = "FILE",
         .text = &key_path,
         .help = "answer key instead of the compiled-in one"},
        {.name = "no-mmlu-key", .flag = &no_key, .help = "do not parse quality answers again"},
        {0}};
    int exit_code;
    int files = options_parse(&manual, rows, count, arguments, &exit_code);
    if (files < 0)
        return exit_code;
    ARENA_SCOPE struct arena arena = {0};
    struct answer_key key;
    if (!no_key && !offline_key(&arena, key_path, &key))
        return OFFLINE_UNREADABLE;
    struct policy policy = offline_policy(any_protocol);
    int worst = OFFLINE_OK;
    struct report *report = arena_take(&arena, sizeof *report);
    for (int i = 0; i < files; i++) {
        examine(report, arguments[i], &policy, no_key ? NULL : &key);
        if (json)
            print_json(report);
        else
            print_table(report);
        if ((int)report->exit > worst)
            worst = report->exit;
        offline_close(&report->file);
    }
    return fflush(stdout) == 0 ? worst : OFFLINE_UNREADABLE;
}
