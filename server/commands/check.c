#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregate/report.h"
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

/* The exit codes are the ends of a report. */
static const enum offline_exit exits[] = {[REPORT_PUBLISHABLE] = OFFLINE_OK,
                                          [REPORT_QUARANTINE] = OFFLINE_QUARANTINED,
                                          [REPORT_REFUSED] = OFFLINE_REFUSED,
                                          [REPORT_UNREADABLE] = OFFLINE_UNREADABLE};

static void print_json(const struct report *report)
{
    BUFFER_SCOPE struct buffer line = {0};
    report_write(report, &line);
    fwrite(line.data, 1, line.size, stdout);
}

static void print_table(const struct report *report)
{
    static const char *const words[] = {"publishable", "quarantine", "refused", "unreadable"};
    printf("%-12s digest %-9s %s\n", words[report->end],
           report->problem ? "-" : digest_status_name(report->digest.status), report->name);
    if (report->problem) {
        offline_complain(report->name, report->problem);
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
    const char *key_path = NULL, *rules = NULL, *catalogue_path = NULL;
    const struct option_row rows[] = {
        {.name = "json", .flag = &json, .help = "print one JSON object a line and file"},
        {.name = "any-protocol",
         .flag = &any_protocol,
         .help = "accept every archived protocol and schema"},
        {.name = "mmlu-key",
         .value = "FILE",
         .text = &key_path,
         .help = "answer key instead of the compiled-in one"},
        {.name = "rules",
         .value = "N",
         .text = &rules,
         .help = "rule set to judge by: 2, what is served, or 3, a draft (default 2)"},
        {.name = "catalogue",
         .value = "FILE",
         .text = &catalogue_path,
         .help = "known names (rule set 3) instead of the compiled-in ones"},
        {.name = "no-mmlu-key", .flag = &no_key, .help = "do not parse quality answers again"},
        {0}};
    int exit_code;
    int files = options_parse(&manual, rows, count, arguments, &exit_code);
    if (files < 0)
        return exit_code;
    ARENA_SCOPE struct arena arena = {0};
    struct answer_key key;
    struct model_catalogue catalogue;
    struct policy policy = report_policy(any_protocol);
    if (rules && !offline_rules(rules, &policy.rules))
        return EXIT_USAGE;
    if ((!no_key && !offline_key(&arena, key_path, &key)) ||
        !offline_catalogue(&arena, catalogue_path, &catalogue))
        return OFFLINE_UNREADABLE;
    policy.catalogue = &catalogue;
    int worst = OFFLINE_OK;
    struct report *report = arena_take(&arena, sizeof *report);
    for (int i = 0; i < files; i++) {
        struct offline_file file;
        if (offline_open(&file, arguments[i]))
            report_judge(report, file.name, &file.arena, &file.document, &policy,
                         no_key ? NULL : &key);
        else
            *report = report_unreadable(file.name, file.problem);
        if (json)
            print_json(report);
        else
            print_table(report);
        if ((int)exits[report->end] > worst)
            worst = exits[report->end];
        offline_close(&file);
    }
    return fflush(stdout) == 0 ? worst : OFFLINE_UNREADABLE;
}
