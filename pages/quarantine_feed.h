/* The runs that came into quarantine last as an Atom feed (RFC 4287). Pure. */
#ifndef BENCHLEDGER_PAGES_QUARANTINE_FEED_H
#define BENCHLEDGER_PAGES_QUARANTINE_FEED_H

#include "pages/history.h"

struct feed_entry {
    struct text run_id;
    struct history history; /* its accepted_at and the times of its events are ISO or empty */
};

/* BASE: the service's public address without a slash at its end, "" when it is not known: ids are then made of run
 * ids, and links are relative. ENTRIES: newest first. */
void quarantine_feed_write(struct buffer *out, const char *base, const struct feed_entry *entries,
                           size_t count);

#endif
