/* Receipts (spec 04, "receipt"): what the service promised about a run, signed.
 *
 * {"payload": {keyId, runId, submittedDigest, digest, path, acceptedAt}, "signature"}: Ed25519 over
 * `benchledger-receipt-v1`, a newline and the payload's canonical JSON, in base64. Everything in it
 * stands in the run's ledger line, so a run has one receipt, whenever and by whomever it is asked
 * for. Pure; any thread. */
#ifndef BENCHLEDGER_SERVER_RECEIPT_RECEIPT_H
#define BENCHLEDGER_SERVER_RECEIPT_RECEIPT_H

#include "server/receipt/key.h"
#include "validator/js.h"

struct receipt_facts {
    const char *run_id, *submitted_digest, *digest, *path, *accepted_at;
};
/* Writes `"receipt": {...}` into the object that is open. Without KEY, or when a fact is empty (a run
 * without a ledger line), nothing. */
void receipt_write(const struct receipt_key *key, const struct receipt_facts *facts,
                   struct js_writer *writer);

/* A receipt that somebody brings. */
struct receipt {
    const struct js_value *payload; /* of its document */
    char key_id[RECEIPT_KEY_ID + 1];
    unsigned char signature[RECEIPT_SIGNATURE];
};
/* DOCUMENT is a receipt or an answer that holds one. False and *PROBLEM (static) when it is neither. */
bool receipt_read(const struct js_document *document, struct receipt *receipt,
                  const char **problem);
/* Whether KEY, whose id is that of the receipt, has signed it. */
bool receipt_verify(const struct js_document *document, const struct receipt *receipt,
                    const struct receipt_key *key);

#endif
