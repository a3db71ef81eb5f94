/* Everything about one run as markup: identity, verdict, environment, cells with their statistics
 * and the pictures of their traces. The service puts it into the frame of /run/ID, the WebAssembly
 * module into /check: there is one way to show a run. Pure. */
#ifndef BENCHLEDGER_PAGES_RUN_PAGE_H
#define BENCHLEDGER_PAGES_RUN_PAGE_H

#include "validator/digest.h"
#include "validator/validate.h"

/* A section of the page that is made elsewhere: MARKUP goes under a heading. */
struct run_section {
    const char *id, *title;
    const struct buffer *markup;
};

/* What the dataset knows of the run beside its file. Texts may be NULL. */
struct run_place {
    const char *status; /* published, quarantined, queued ... */
    const char *path, *commit, *file_url;
    const char *submitted_at;        /* ISO */
    unsigned long long revision;     /* seq of its last ledger event; 0: none */
    const char *heading;             /* what the run's id follows; NULL: "Run" */
    const struct run_section *first; /* go before the verdict */
    size_t first_count;
    const struct run_section *history; /* goes before the record; NULL: none */
    bool on_board;                     /* published, and of a protocol that the board shows */
};

/* A verdict of a file. PLACE is NULL for one that is only looked at. The markup goes between
 * <main> and </main>, or into any element. */
void run_page_write(struct buffer *out, const struct verdict *verdict, enum digest_status digest,
                    const struct run_place *place);

/* What a window with the page is called: the device and the run, as plain text. */
void run_page_title(struct buffer *out, const struct verdict *verdict);

#endif
