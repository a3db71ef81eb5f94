/* What the figures and marks on the pages mean: one table for headings, tool tips, formulas and the
 * methodology, whose anchors every figure links to (spec 02, 03). Pure. */
#ifndef BENCHLEDGER_PAGES_TERMS_H
#define BENCHLEDGER_PAGES_TERMS_H

#include <stddef.h>

#include "pages/html.h"

enum term_kind {
    TERM_FIGURE,    /* measured or computed of one cell */
    TERM_STATISTIC, /* of several values of a figure */
    TERM_MARK,      /* a word or sign beside a figure */
};

struct term {
    enum term_kind kind;
    const char *key;     /* as in files and columns; the anchor */
    const char *label;   /* of a heading */
    const char *unit;    /* "" without */
    int better;          /* of a figure: -1 less is better, 1 more is, 0 neither */
    int decimals;        /* of a figure, wherever people read it */
    const char *meaning; /* a sentence or two */
    const char *formula; /* NULL: none */
};

const struct term *terms(size_t *count);
/* The term KEY, which must exist. */
const struct term *term(const char *key);
/* A link to the definition of KEY under the methodology of PROTOCOL (FAMILY/N), with its label. */
void term_link(struct buffer *out, const char *key, struct text protocol);
/* A value of the figure KNOWN, or a spread of such values, for reading. */
struct html_value term_value(const struct term *known, double value);
/* A cell of a table with a value of KNOWN, empty for NAN; a card says what it is (style/base.css). */
void term_cell(struct buffer *out, const struct term *known, double value);

#endif
