/* The runs in quarantine as a page: what each is, what the rules say of it, what was decided. Pure. */
#ifndef BENCHLEDGER_PAGES_REVIEW_LIST_H
#define BENCHLEDGER_PAGES_REVIEW_LIST_H

#include "pages/history.h"
#include "validator/validate.h"

/* What a run's file says: device, browser, time and its flags, one of each code with its evidence. ENTRY is
 * its index entry. It stays good as long as the file and the rules do. */
void review_card_write(struct buffer *out, const struct verdict *verdict,
                       const struct js_value *entry);
/* The same of a run whose file is none by the rules of today. */
void review_card_codes(struct buffer *out, const struct history *history);

struct review_item {
    struct text run_id, accepted_at;          /* ACCEPTED_AT may be empty */
    struct text card;                         /* markup */
    const struct history_event *last_decided; /* NULL: nobody has looked at it */
};

struct review_list {
    const struct review_item *items; /* newest first */
    size_t count, all;               /* ALL: that the filters leave, on all pages */
    const char *flag, *decision;     /* what was asked for, "" for any */
    int rules;                       /* the set whose codes are offered as filters */
    bool first;                      /* the newest are shown */
    unsigned long long next;         /* what the next page is before; 0: there is none */
};

enum review_decision { REVIEW_ANY, REVIEW_OPEN, REVIEW_KEPT, REVIEW_DECISIONS };
/* As in the address. REVIEW_DECISIONS when NAME is none. */
enum review_decision review_decision_find(const char *name);

void review_list_write(struct buffer *out, const struct review_list *list);

#endif
