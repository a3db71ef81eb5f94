/* What the figures of a protocol mean and what its runs are judged by, made from the tables that the
 * code itself uses. Pure. */
#ifndef BENCHLEDGER_PAGES_METHODOLOGY_H
#define BENCHLEDGER_PAGES_METHODOLOGY_H

#include "pages/html.h"
#include "validator/protocol.h"

/* PROTOCOL is FAMILY/N, RULES the set that runs are judged by, LICENCE that of the data; what goes between <main> and </main>. */
void methodology_write(struct buffer *out, const struct protocol *family, struct text protocol,
                       int rules, const char *licence);
/* How grave what RULE finds is: a mark, and a second one where it may be graver. */
void methodology_severity(struct buffer *out, const struct rule_text *rule);
/* Whether PROTOCOL is a version on record. */
bool methodology_knows(const char *protocol);
/* Links to the protocols, NULL-terminated. */
void methodology_list(struct buffer *out, const char *const *protocols);

#endif
