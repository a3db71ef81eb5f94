/* What happened to a run, in words: how it came in, what the rules said, who decided what and why. Pure. */
#ifndef BENCHLEDGER_PAGES_HISTORY_H
#define BENCHLEDGER_PAGES_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "pages/html.h"

/* A decision about a run, or whatever else the ledger says of it. Texts may be empty; they are anybody's who may
 * write to the dataset. */
struct history_event {
    struct text event, action; /* "decide" and "release"; "withdraw" alone is the submitter's own */
    struct text at, by, reason;
    unsigned long long seq; /* of the ledger; 0: it is not in it */
    bool overtaken;         /* another one was faster: it came to nothing */
};

enum history_verdict { HISTORY_PUBLISHED, HISTORY_QUARANTINED, HISTORY_UNSURE };

struct history {
    bool
        in_ledger; /* false: the run was there before it, or came by hand; only EVENTS is told then */
    struct text accepted_at, by; /* BY: who imported it; empty: nobody, or he has no name */
    bool with_nonce;             /* a client sent it */
    unsigned long long seq;
    struct text protocol;         /* whose methodology explains the codes; empty: not known */
    enum history_verdict verdict; /* of the rules when it came in */
    int rules;
    const struct text *codes; /* of its flags then */
    size_t code_count;
    const struct history_event *events; /* oldest first */
    size_t event_count;
};

/* A list in order of time. */
void history_write(struct buffer *out, const struct history *history);
/* The last decision that holds, NULL: there was none. */
const struct history_event *history_last(const struct history *history);
/* What EVENT was, when, by whom and why, as the inside of a paragraph and a quotation behind it. */
void history_put_event(struct buffer *out, const struct history_event *event);

#endif
