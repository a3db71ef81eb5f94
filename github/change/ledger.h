/* The ledger: one hash-chained line per event (spec 03, "Ledger").
 *
 * Pure: bytes in, bytes out. The owner reads the day files of a tip in order into it, appends
 * events and writes the day files that changed. What has been appended can be taken back until it
 * is settled. One thread at a time. */
#ifndef BENCHLEDGER_GITHUB_CHANGE_LEDGER_H
#define BENCHLEDGER_GITHUB_CHANGE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "github/error.h"
#include "validator/buffer.h"
#include "validator/js.h"
#include "validator/sha256.h"

enum { LEDGER_DAY = 10, LEDGER_LINE_MAX = 1 << 20, LEDGER_PATH_MAX = 40 };

/* An event to append. Strings are NUL-terminated; NULL ones are left out of the line. */
struct ledger_event {
    const char *at; /* ISO with ms and Z; also names the day file */
    const char *event, *run_id, *path, *digest, *submitted_digest;
    int rules;         /* 0: left out */
    const char *flags; /* JSON array of codes, without white space */
    const char *nonce_sha256, *by;
    const char *withdraw_sha256; /* of the code that takes the run back; hex */
    /* Of what is decided: what is done to the run whose last event was REVISION (0: there was none), and
     * why. */
    const char *action, *reason;
    const uint64_t *revision; /* NULL: left out */
};

/* A line that was read. Values are strings (rules a number, flags an array), NULL when absent or of
 * another type (REVISION is a number): later versions add events and keys, and what is not known is
 * passed over. When KNOWN, the event is one of ours: RUN_ID is then there, and it and PATH, if there, are such as a
 * run has. */
struct ledger_line {
    uint64_t seq;
    bool known;
    const struct js_document *document;
    const struct js_value *prev, *at, *event, *run_id, *path, *digest, *submitted_digest, *rules,
        *flags, *nonce_sha256, *by, *withdraw_sha256, *action, *reason, *revision;
};
/* A line by itself, without its newline and whatever its place in the chain. It lives in ARENA and shares TEXT. False and a
 * static *PROBLEM when it is no line of a ledger; LINE is then set as far as it could be read, if DOCUMENT is
 * not NULL. */
bool ledger_parse(struct arena *arena, const char *text, size_t size, struct ledger_line *line,
                  const char **problem);
typedef void (*ledger_tell)(void *context, const struct ledger_line *line);

struct ledger_day;
struct ledger {
    uint64_t seq;              /* of the last line; 0 without one */
    char last[SHA256_HEX + 1]; /* hex SHA-256 of the last line; zeros without one */
    struct ledger_day *days;   /* the newest day file, then those begun since it was settled */
    size_t day_count;
    /* where ledger_undo goes back to */
    uint64_t settled_seq;
    char settled_last[SHA256_HEX + 1];
    size_t settled_size; /* bytes of days[0] */
    size_t settled_days; /* 0 or 1 */
};

void ledger_begin(struct ledger *ledger);
void ledger_free(struct ledger *ledger);
/* Makes LEDGER, begun, know what OTHER, settled, knows. */
void ledger_copy(struct ledger *ledger, const struct ledger *other);

/* Reads a day file, or more of the newest one: BYTES is the whole file and must begin with what is
 * known of it. Lines that are new are told in order (TELL may be NULL) and settled. False when the
 * chain breaks, or a line of ours names no run. */
bool ledger_read(struct ledger *ledger, const char *day, const char *bytes, size_t size,
                 ledger_tell tell, void *context, struct store_error *error);
/* Whether BYTES, a newer form of the newest day file, begin with what is known of it. */
bool ledger_begins(const struct ledger *ledger, const char *bytes, size_t size);
/* The newest day, or "" without one. */
const char *ledger_day(const struct ledger *ledger);
/* Whether PATH is `ledger/YYYY-MM-DD.jsonl`; DAY receives its day. */
bool ledger_path_day(const char *path, char day[LEDGER_DAY + 1]);

/* The event as canonical JSON, without a place in the chain. */
void ledger_print_event(const struct ledger_event *event, struct buffer *out);
/* Tells a decision from every other one of its run: the same one applied to another tip has the same
 * mark, whatever its seq and revision. Values may be NULL. */
uint64_t ledger_mark(const char *event, const char *action, const char *by, const char *at);
/* Appends an event and returns its seq. The line goes to the newest day file, unless the event's
 * day is later. LINE, when not NULL, gets the line without its newline. */
uint64_t ledger_append(struct ledger *ledger, const struct ledger_event *event,
                       struct buffer *line);
/* The I-th day file that was changed since the last settling, from 0; false after the last. BYTES
 * stay with the ledger and valid until it is changed. */
bool ledger_changed(const struct ledger *ledger, size_t i, char path[LEDGER_PATH_MAX],
                    const char **bytes, size_t *size);
void ledger_settle(struct ledger *ledger); /* what was appended is in the dataset */
void ledger_undo(struct ledger *ledger);   /* it is not */

#endif
