/* GET /api/bench/key: the public keys that receipts of this dataset may be signed with, the present
 * one first, then those of the dataset's keys/KEYID.pub. */
#ifndef BENCHLEDGER_SERVER_RECEIPT_RING_H
#define BENCHLEDGER_SERVER_RECEIPT_RING_H

#include "github/store.h"
#include "server/receipt/key.h"

struct answer;
struct request;

/* The public key as a file that the dataset shall hold, so that receipts can be verified from the
 * dataset alone. Points into itself and into KEY. */
struct ring_file {
    char path[RECEIPT_KEY_ID + 16];
    struct store_file file;
};
void ring_file(const struct receipt_key *key, struct ring_file *out);

void ring_keys(struct request *request, struct answer *answer);

#endif
