/* The files of an export: written under temporary names, renamed together at the end. */
#ifndef BENCHLEDGER_SERVER_COMMANDS_EXPORT_FILES_H
#define BENCHLEDGER_SERVER_COMMANDS_EXPORT_FILES_H

#include "aggregate/export.h"
#include "github/error.h"

enum export_file {
    FILE_LEADERBOARD = EXPORT_TABLES, /* before it: the tables */
    FILE_TEXTS,
    FILE_VALIDATION,
    FILE_PACKAGE, /* last: who sees it sees what it describes */
    EXPORT_FILES
};

/* Zero-initialised is closed. */
struct export_files {
    struct arena arena;
    const char *folder;
    struct {
        const char *path, *temporary; /* temporary: NULL once it has its name */
        int fd;
        struct buffer pending;
    } items[EXPORT_FILES];
    size_t opened;
};

/* Makes FOLDER, which must outlive the files, and the temporary files in it. */
bool export_files_open(struct export_files *files, const char *folder, struct store_error *error);
/* What is to be written to FILE next. */
struct buffer *export_files_at(struct export_files *files, int file);
/* Writes what is pending where it is much. */
bool export_files_flush(struct export_files *files, struct store_error *error);
/* Makes everything durable, then gives the files their names. An earlier export is replaced. */
bool export_files_publish(struct export_files *files, struct store_error *error);
/* Removes what has not got its name. */
void export_files_close(struct export_files *files);

#define EXPORT_FILES_SCOPE __attribute__((cleanup(export_files_close)))

#endif
