/* What a maintainer needs beside a run's own page: how its figures lie among those of accepted runs, and the form
 * that decides. Pure. */
#ifndef BENCHLEDGER_PAGES_REVIEW_CASE_H
#define BENCHLEDGER_PAGES_REVIEW_CASE_H

#include "aggregate/neighbours.h"
#include "validator/buffer.h"

/* Each writes the inside of a section. */
enum { REVIEW_CELLS_MOST = 40 };
void review_put_neighbours(struct buffer *out, const struct neighbours *neighbours);

struct review_form {
    struct text run_id;
    unsigned long long revision; /* that is decided on */
    bool quarantined;            /* otherwise published: it can be withdrawn only */
    bool closed;                 /* the service has no maintainers, or no dataset it may write to */
};
enum { REVIEW_REASON_MOST = 500 };
void review_put_form(struct buffer *out, const struct review_form *form);

#endif
