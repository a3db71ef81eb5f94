/* What every page has: head, navigation, footer. Pure. */
#ifndef BENCHLEDGER_PAGES_FRAME_H
#define BENCHLEDGER_PAGES_FRAME_H

#include "pages/html.h"

struct frame {
    struct text title;
    const char *here;   /* path of the navigation item that is this page, or NULL */
    const char *script; /* a module of the assets, or NULL */
    const char *feed;   /* address of an Atom feed of what is shown, or NULL */
    const char
        *table; /* id of what people come for, behind much else: a link skips to it; or NULL */
};

/* Everything up to and with <main>, and everything from </main> on. */
void frame_open(struct buffer *out, const struct frame *frame);
void frame_close(struct buffer *out);
/* A whole page that says one thing, for addresses that hold nothing. */
void frame_message(struct buffer *out, const char *title, const char *message);

#endif
