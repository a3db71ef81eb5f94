/* Markup with values put in, each escaped for its place. Pure.
 *
 * Whatever comes from a run file goes through here: markup characters become references, characters
 * that play tricks on a reader (controls, direction marks) are spelled out as \u202e, a lone
 * surrogate becomes U+FFFD, and a text is cut where nobody reads on. The result is safe between
 * tags and inside double quotes; it is never put into a script, a style or an event handler. */
#ifndef BENCHLEDGER_PAGES_HTML_H
#define BENCHLEDGER_PAGES_HTML_H

#include "validator/js.h"
#include "validator/text.h"

/* Code points that are shown of a name, and of what is read as a text. */
enum { HTML_NAME_MOST = 200, HTML_TEXT_MOST = 4000 };

enum html_kind {
    HTML_SLICE,
    HTML_EXACT,
    HTML_NUMBER,
    HTML_ROUNDED,
    HTML_SHORT,
    HTML_RAW,
    HTML_QUERY
};
struct html_value {
    enum html_kind kind;
    struct text text;
    double number;
    size_t most;  /* code points of a slice */
    int decimals; /* of a rounded number */
};

/* Text of ours or of a file. NULL and other types than a string: nothing. */
struct html_value html_text(const char *text);
struct html_value html_string(const struct js_value *string);
struct html_value html_slice(struct text text, size_t most);
/* For the value of a form's field: all of it, only markup characters and controls below a space replaced, so that
 * it comes back as it is. */
struct html_value html_exact(struct text text);
/* As ECMAScript prints it; not finite: an en dash. */
struct html_value html_number(double number);
/* For reading: with DECIMALS (0 to 2), trailing zeros too, so that columns line up on the point. What would read
 * as zero and is none keeps two digits that count. */
struct html_value html_rounded(double number, int decimals);
/* For a scale: as many decimals as its size deserves, without zeros at the end (1200, 125, 12.5, 0.0012). */
struct html_value html_short(double number);
/* Markup that was made by code. */
struct html_value html_raw(const struct buffer *markup);
struct html_value html_markup(const char *markup);
/* A value of a query string: percent-encoded. */
struct html_value html_query(struct text text);

/* FORM with each {} replaced by the next value; there must be as many. */
void html_fill(struct buffer *out, const char *form, const struct html_value *values, size_t count);
#define html_put(out, form, ...)                                   \
    html_fill(out, form, (const struct html_value[]){__VA_ARGS__}, \
              sizeof((const struct html_value[]){__VA_ARGS__}) / sizeof(struct html_value))

#endif
