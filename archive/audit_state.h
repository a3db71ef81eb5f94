/* What the parts of an audit hand on to each other. */
#ifndef BENCHLEDGER_ARCHIVE_AUDIT_STATE_H
#define BENCHLEDGER_ARCHIVE_AUDIT_STATE_H

#include "archive/audit.h"
#include "github/change/catalogue.h"
#include "github/change/table.h"
#include "validator/sha256.h"

/* A run, by whatever names it: ledger, index or file. Keyed by its id in lower case. */
struct audited {
    struct table_item item;
    uint64_t accepted;                /* seq of its accept line; 0: none */
    bool accepted_flagged;            /* that line put it into quarantine */
    bool redacted;                    /* a gap in everything else is explained */
    const char *file;                 /* where a file of it lies; NULL: nowhere */
    const char *broken;               /* where one of its name lies that is none; NULL: nowhere */
    const char *entry_path;           /* as its entry says; NULL: it has no entry */
    const char *entry_segment;        /* the file that holds the entry */
    size_t entry_number;              /* from 0, in the order of the index */
    unsigned char entry[SHA256_SIZE]; /* of the entry's bytes */
};

struct ledger_file {
    const char *path;
    struct buffer bytes;
};

struct auditing {
    const struct audit_options *options;
    struct findings *findings;
    struct audit_counts *counts;
    struct store_error *error;
    struct arena arena; /* paths */
    struct table runs;
    struct catalogue *catalogue; /* what the ledger says of runs: any thread may ask */
    struct ledger_file *days;    /* of the ledger, in order */
    size_t day_count;
    bool has_ledger, has_index, has_archives;
    size_t decisions;              /* lines of the ledger that changed what is known of a run */
    size_t entries_with_line_from; /* number of the first entry whose run has an accept line */
};

/* The record of a run id, made when it is new. */
struct audited *audit_run(struct auditing *audit, const char *run_id, size_t size);
struct audited *audit_run_of_path(struct auditing *audit, const char *path);
/* The key of the run that the file at PATH is of, as lines name it. */
void audit_path_key(const char *path, char key[TABLE_KEY_MAX + 1]);
const char *audit_keep(struct auditing *audit, const char *text, size_t size);

/* In this order. False: it cannot go on, ERROR says why. */
bool audit_ledger(struct auditing *audit);
bool audit_index(struct auditing *audit);
bool audit_files(struct auditing *audit);
bool audit_history(struct auditing *audit);
/* Parts of the index: entries are told in their order. */
struct leaderboard;
struct leaderboard *audit_leaderboard_begin(struct auditing *audit);
void audit_leaderboard_entry(struct leaderboard *leaderboard, const char *entry, size_t size);
void audit_leaderboard_end(struct auditing *audit, struct leaderboard *leaderboard);
/* Of the commit that is audited: of a repository, or of the one that belongs to a work tree. */
bool audit_names(struct auditing *audit, struct repository *repository, const git_oid *commit);
/* A part of the history: the dataset's folder against COMMIT, the last one. */
bool audit_work_tree(struct auditing *audit, struct repository *repository, const git_oid *commit);

#endif
