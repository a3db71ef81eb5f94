#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregate/report.h"
#include "server/command.h"
#include "server/commands/judging.h"

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
    offline_print(&line);
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
    offline_print(&lines);
    if (!report->shaped)
        return;
    if (!report->verdict.answers_parsed)
        puts("    note   no answer key: quality answers were not parsed again");
}

int check_command(int count, char **arguments)
{
    bool json = false;
    struct judging judging = {0};
    const struct option_row rows[] = {
        {.name = "json", .flag = &json, .help = "print one JSON object a line and file"},
        JUDGING_PROTOCOLS(judging),
        JUDGING_RULES(judging),
        JUDGING_OPTIONS(judging),
        {0}};
    int exit_code;
    int files = options_parse(&manual, rows, count, arguments, &exit_code);
    if (files < 0)
        return exit_code;
    ARENA_SCOPE struct arena arena = {0};
    if ((exit_code = judging_begin(&judging, &arena)) != OFFLINE_OK)
        return exit_code;
    int worst = OFFLINE_OK;
    struct report *report = arena_take(&arena, sizeof *report);
    for (int i = 0; i < files; i++) {
        struct offline_file file;
        if (offline_open(&file, arguments[i]))
            report_judge(report, file.name, &file.arena, &file.document, &judging.policy,
                         judging.key);
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
    return offline_printed() ? worst : OFFLINE_UNREADABLE;
}
