/* A dataset as tables (spec 03, "CSV exports"): judged runs in, lines out.
 *
 * Each table is an array of columns; header, fields and the description in datapackage.json derive from it. Runs
 * are given one at a time, in the order of the rows. Pure; one thread at a time. */
#ifndef BENCHLEDGER_AGGREGATE_EXPORT_H
#define BENCHLEDGER_AGGREGATE_EXPORT_H

#include "aggregate/report.h"
#include "validator/text.h"

/* A run whose lines in one file of the export are longer is left out of it: names are repeated in every row, and a
 * name may be as long as a run file. */
enum { EXPORT_RUN_MOST = 64 << 20 };

enum export_table { EXPORT_ITERATIONS, EXPORT_CELLS, EXPORT_RUNS, EXPORT_TABLES };
/* Of the file, without `.csv`. */
const char *export_table_name(enum export_table table);

/* The runtime packages of all exported runs: a column of runs.csv each, sorted. Zero-initialised is empty. */
enum { EXPORT_PACKAGES_MAX = 2000 };
struct export_packages {
    struct arena arena;
    const char **names; /* of the columns */
    size_t count, room;
};
/* False when there are more than EXPORT_PACKAGES_MAX; those beyond have no column. */
bool export_packages_add(struct export_packages *packages, const struct verdict *verdict);
void export_packages_free(struct export_packages *packages);

/* A judged run that has its shape, prepared for its rows; it and what it points to live in ARENA. REPORT must outlive
 * it. */
struct export_run;
const struct export_run *export_prepare(struct arena *arena, const struct report *report);

/* The header line of a table. */
void export_write_header(enum export_table table, const struct export_packages *packages,
                         struct buffer *out);
/* The lines of one run, open where columns of packages go: these are known when all runs are. Until then the lines
 * are bytes to be kept, and no CSV. False: they are longer than EXPORT_RUN_MOST. */
bool export_write_run(enum export_table table, const struct export_run *run, struct buffer *out);
/* Writes LINES with a field for each of PACKAGES, which hold the run's own (but those beyond the limit). */
void export_close_lines(struct text lines, const struct export_packages *packages,
                        struct buffer *out);
/* The lines of one run in texts.jsonl (false as above), and in validation.txt. */
bool export_write_texts(const struct export_run *run, struct buffer *out);
void export_write_validation(const struct export_run *run, struct buffer *out);

/* datapackage.json (Frictionless Data Package): every file of the export, and what its columns mean. */
void export_write_package(const struct export_packages *packages, const char *licence,
                          struct buffer *out);

#endif
