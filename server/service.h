/* What the rooms of the running service share. Made once by serve.c, read only afterwards but for
 * the parts that lock for themselves. */
#ifndef BENCHLEDGER_SERVER_SERVICE_H
#define BENCHLEDGER_SERVER_SERVICE_H

#include <stdatomic.h>

#include "config/config.h"
#include "github/store.h"
#include "server/limits/address.h"
#include "server/limits/nonce.h"
#include "server/limits/ratelimit.h"
#include "server/receipt/ring.h"
#include "server/shared/shared.h"
#include "validator/validate.h"

struct asset_room;
struct boardview;
struct content;
struct handovers;
struct maintainers;
struct making;
struct metrics;
struct shelf;
struct waitroom;
struct watch;
struct watchdog;
struct webhook;

/* Runs published, quarantined and bytes, everybody together. */
struct budgets {
    struct budget *accepted, *quarantined, *bytes;
};

struct service {
    const struct config *config;
    struct store *store; /* NULL: none */
    bool unbound;        /* submit is closed, whether there is a store to read or not */
    struct boardview *board;
    struct shelf *files; /* by blob id */
    struct handovers *handovers;
    struct shelf *judgements; /* of committed files, see runs.h */
    struct shelf *run_pages;  /* by run file and state, see page_run.h */
    struct making *making;    /* of run pages */
    struct waitroom *waitroom;
    struct watchdog *watchdog;
    struct ratelimit *rates;
    struct shared *shared; /* rates and nonces of several instances; NULL: this one is alone */
    struct maintainers *maintainers; /* who may review; never NULL while it serves */
    struct watch *_Atomic watch;     /* of what the webhook is to be told; NULL without one */
    struct webhook *webhook;         /* NULL: nobody is told */
    struct budgets budgets;
    struct nonce_keys nonces;
    struct address_list trusted;
    bool any_origin;                    /* allowed_origins is * */
    struct policy policy;               /* what may be submitted, and what judges it */
    const struct answer_key *answers;   /* NULL: none */
    const struct receipt_key *receipts; /* NULL: none are given */
    struct ring_file receipt_file;      /* their public key, for the dataset */
    struct content *openapi;
    struct asset_room *assets;
    struct metrics *metrics;
    int64_t token_expires;   /* days since 1970; 0: not said */
    int64_t reminded;        /* the day of the last reminder, see ready.h */
    atomic_bool stopping;    /* answers close their connections */
    atomic_int requests;     /* in progress */
    atomic_llong body_bytes; /* held by them, see request_account */
};

#endif
