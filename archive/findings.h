/* What an audit finds, in the order in which it was found. One thread at a time. */
#ifndef BENCHLEDGER_ARCHIVE_FINDINGS_H
#define BENCHLEDGER_ARCHIVE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "validator/arena.h"

/* What differs, each with its stable code (finding_code). */
enum finding {
    FINDING_LEDGER_MISSING,
    FINDING_LEDGER_LINE,
    FINDING_LEDGER_CHAIN,
    FINDING_LEDGER_EVENT,
    FINDING_DUPLICATE_NAME,
    FINDING_STRAY,
    FINDING_UNREADABLE,
    FINDING_NOT_JSON,
    FINDING_SHAPE,
    FINDING_FORM,
    FINDING_SCRUB,
    FINDING_PATH,
    FINDING_DUPLICATE_RUN,
    FINDING_DIGEST,
    FINDING_LEDGER_DIGEST,
    FINDING_VERDICT,
    FINDING_FOLDER,
    FINDING_LINE_WITHOUT_FILE,
    FINDING_FILE_WITHOUT_LINE,
    FINDING_INDEX_MISSING,
    FINDING_MANIFEST,
    FINDING_SEGMENT,
    FINDING_SUMMARY,
    FINDING_LEADERBOARD,
    FINDING_ARCHIVES,
    FINDING_ENTRY,
    FINDING_DUPLICATE_ENTRY,
    FINDING_ENTRY_WITHOUT_FILE,
    FINDING_FILE_WITHOUT_ENTRY,
    FINDING_HISTORY,
    FINDING_UNCOMMITTED,
    FINDINGS
};
const char *finding_code(enum finding finding);
/* What it means, in words. */
const char *finding_words(enum finding finding);

struct found {
    enum finding finding;
    bool note; /* worth knowing, and legal */
    const char *path, *text;
    size_t number; /* in the order of finding */
};

/* Kept of each code, differences and notes apart; those beyond are counted. */
enum { FINDINGS_KEPT = 10000 };

/* Zero-initialised is empty. */
struct findings {
    struct arena arena;
    struct found *items;
    size_t count, room;
    size_t differences, notes; /* all there are */
    size_t met[FINDINGS][2];   /* of each code: differences, notes */
};
void findings_add(struct findings *findings, enum finding finding, bool note, const char *path,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* By path; those of one path stay in their order. */
void findings_sort(struct findings *findings);
void findings_free(struct findings *findings);

#endif
