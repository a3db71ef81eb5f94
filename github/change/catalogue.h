/* What is known of runs and nonces, in memory: from the ledger, from the index, and in flight.
 *
 * The catalogue decides who gets a run id and a nonce, atomically. Its own mutex guards it: any
 * thread may call. Run ids are compared without case (spec 03, "Paths"). */
#ifndef BENCHLEDGER_GITHUB_CHANGE_CATALOGUE_H
#define BENCHLEDGER_GITHUB_CHANGE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "github/change/change.h"
#include "github/change/ledger.h"
#include "github/store.h"

/* A nonce is valid for 24 h after its issue, so an acceptance that old cannot be repeated; the
 * slack covers clocks that differ. */
#define CATALOGUE_NONCE_MS (25.0 * 3600e3)

struct catalogue;

struct catalogue *catalogue_new(void);
void catalogue_free(struct catalogue *catalogue); /* NULL is fine */

/* A ledger line, in the order of the ledger. NOW_MS (since 1970): spent nonces that are too old to
 * be presented again are passed over. A run keeps what the last line that had it said. Events that
 * are not known are passed over. */
void catalogue_line(struct catalogue *catalogue, const struct ledger_line *line, double now_ms);
/* The same for an event that was appended by ourselves; LINE is it as JSON (unused for `accept`). */
void catalogue_event(struct catalogue *catalogue, const struct ledger_event *event, uint64_t seq,
                     const char *line, const char *commit, double now_ms);
/* A run that the index lists; nothing new when the ledger has it. Passed over when nobody could ask
 * for its id. */
void catalogue_listed(struct catalogue *catalogue, const char *run_id, size_t run_id_size,
                      const char *path, size_t path_size);
/* The runs follow again, all of them, or LISTED_ONLY those that no ledger line names; once they are
 * told, those that were not are gone. Until then each stays known as it was. Claims and spent nonces
 * stay. */
void catalogue_retell(struct catalogue *catalogue, bool listed_only);
void catalogue_told(struct catalogue *catalogue);
/* Whether the dataset holds the run (claims do not count). */
bool catalogue_holds(struct catalogue *catalogue, const char *run_id);

enum claim catalogue_claim(struct catalogue *catalogue, const char *run_id, const char *path,
                           const char *submitted_digest, const char *nonce_sha256, double now_ms,
                           struct run_state *state);
/* Whether a decision can be taken about a run of that status. */
bool decision_fits(enum decision decision, enum run_status status);
/* Reserves a run for one decision, atomically; it ends as a claim does. STATE as of store_decide, with
 * DECIDED_TAKEN, too. */
enum decided catalogue_decide(struct catalogue *catalogue, const struct change *change,
                              struct run_state *state);
/* The seq of the dataset's last line. */
uint64_t catalogue_last_seq(struct catalogue *catalogue);
/* Whether the dataset has the decision with that mark about the run, whatever came after it. */
bool catalogue_has_decision(struct catalogue *catalogue, const char *run_id, uint64_t mark);
/* A decision came to nothing: LINE says which. */
void catalogue_drop_decision(struct catalogue *catalogue, const char *run_id, const char *line);
size_t catalogue_quarantined(struct catalogue *catalogue, const struct store_quarantine *wanted,
                             struct run_state *states, size_t *all);
/* Whether the run is in flight or queued. */
bool catalogue_is_claimed(struct catalogue *catalogue, const struct js_value *run_id);
/* Whether the dataset has spent the nonce on another run. */
bool catalogue_spent_elsewhere(struct catalogue *catalogue, const char *nonce_sha256,
                               const char *run_id);
/* Claims a run that was queued before the last start, and its nonce. */
void catalogue_reclaim(struct catalogue *catalogue, const struct change *change);
/* A claimed run is in the repository here. Returns a copy of those who joined it, for the caller to
 * tell and free; NULL when nobody did. */
struct waiters *catalogue_durable(struct catalogue *catalogue, const char *run_id)
    __attribute__((warn_unused_result));
/* What a claimed run is to become, for those who ask meanwhile. */
void catalogue_queued(struct catalogue *catalogue, const struct change *change);
/* Adds a waiter to a claim; DURABLE: the run is in the repository already. False when there is no
 * claim, or JOIN_MAX wait already. */
bool catalogue_join(struct catalogue *catalogue, const char *run_id, change_done done,
                    void *context, bool *durable);
/* Ends a claim: the run came to nothing (SPENT false: the nonce is given back), or the dataset
 * holds it or has refused it. Returns those who joined it, for the caller to tell; NULL when nobody did. */
struct waiters *catalogue_end_claim(struct catalogue *catalogue, const char *run_id, bool spent)
    __attribute__((warn_unused_result));

/* ACCEPTED receives the seq of the line that accepted the run, 0 without one. */
bool catalogue_find(struct catalogue *catalogue, const char *run_id, struct run_state *state,
                    uint64_t *accepted);
/* Keeps what had to be looked up; COMMIT or DIGEST may be NULL. */
void catalogue_learn(struct catalogue *catalogue, const char *run_id, const char *commit,
                     const char *digest);

#endif
