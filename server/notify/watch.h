/* Tells the webhook of runs that came into quarantine, whoever accepted them, and remembers in the state
 * directory up to where: what was told but not delivered when the service ends is told again. */
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
