/* From markup to an answer: what all pages share. */
#ifndef BENCHLEDGER_SERVER_API_PAGES_H
#define BENCHLEDGER_SERVER_API_PAGES_H

#include <stdint.h>

#include "server/api/errors.h"
#include "validator/buffer.h"

struct answer;
struct content;

/* Sends PAGE, which is empty afterwards, with STATUS. */
void pages_send(struct answer *answer, unsigned status, struct buffer *page);
/* Sends a kept page; takes the reference. */
void pages_send_content(struct answer *answer, unsigned status, struct content *content);
/* A page that says one thing. */
void pages_message(struct answer *answer, unsigned status, const char *title, const char *message);
/* A page that says why there is none now, with the status of ERROR and Retry-After. */
void pages_refuse(struct answer *answer, enum error error, int64_t retry_s, const char *title,
                  const char *message);

#endif
