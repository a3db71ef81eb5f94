/* Tells the webhook of runs that came into quarantine, whoever accepted them, and remembers in the state
 * directory up to where it had delivered or dropped them: all after that are told again when the service
 * starts. A backlog waits in the dataset; the webhook's queue gets no more than it has room for.
 *
 * A known limit: a place is the seq of a ledger line. When the dataset's history was set back, seqs are given
 * once more, and runs that get one below what is remembered are never told. Whoever sets a history back
 * removes STATE_DIR/webhook.seq, with the service stopped: what is there at the next start counts as told. */
#ifndef BENCHLEDGER_SERVER_NOTIFY_WATCH_H
#define BENCHLEDGER_SERVER_NOTIFY_WATCH_H

struct service;
struct watch;

/* NULL when the service has no webhook. SERVICE outlives it; its store is open. Runs that were there before
 * the first start with a webhook are not told. */
struct watch *watch_new(struct service *service);
void watch_free(struct watch *watch); /* NULL is fine */
/* Looks whether there is anything new; cheap when the board has not changed. One thread. */
void watch_look(struct watch *watch);

#endif
