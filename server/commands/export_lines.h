/* The lines of each run, kept until the order of rows and the columns are known: in a file without a name in the
 * export's folder, since together they are as large as the export. */
#ifndef BENCHLEDGER_SERVER_COMMANDS_EXPORT_LINES_H
#define BENCHLEDGER_SERVER_COMMANDS_EXPORT_LINES_H

#include "server/commands/export_files.h"

struct kept_run {
    const char *created_at, *path; /* what runs are ordered by */
    uint64_t at;
    size_t sizes[EXPORT_FILES];
};
struct export_lines {
    struct arena arena;
    int fd;
    uint64_t size;         /* with what is pending */
    struct buffer pending; /* not yet written; later what was read */
    struct kept_run *runs;
    size_t count, room;
};

/* FOLDER is there. The lines are closed also where this fails. */
bool export_lines_open(struct export_lines *lines, const char *folder, struct store_error *error);
/* PARTS: of each file of the export. PATH must outlive the lines. */
bool export_lines_keep(struct export_lines *lines, struct text created_at, const char *path,
                       const struct text parts[EXPORT_FILES], struct store_error *error);
/* By creation time, then path. Nothing can be kept any more. */
bool export_lines_sort(struct export_lines *lines, struct store_error *error);
/* What was kept of run NUMBER; valid until the next one is read. */
bool export_lines_read(struct export_lines *lines, size_t number, struct text parts[EXPORT_FILES],
                       struct store_error *error);
void export_lines_close(struct export_lines *lines);

#endif
