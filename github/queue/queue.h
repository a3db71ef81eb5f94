/* The runs, and decisions about runs, that are durable here and not at the remote yet, in the order of the branch: who waits
 * for each, and what is thought of it. What they are is in the repository (backlog.h). One thread. */
#ifndef BENCHLEDGER_GITHUB_QUEUE_QUEUE_H
#define BENCHLEDGER_GITHUB_QUEUE_QUEUE_H

#include "github/change/catalogue.h"
#include "github/change/change.h"
#include "github/queue/trial.h"

struct queued {
    struct queued *next;
    char run_id[RUN_ID_MAX + 1], submitted_digest[SHA256_HEX + 1];
    char digest[SHA256_HEX + 1]; /* of the published file */
    char commit[COMMIT_HEX + 1]; /* of the branch here */
    uint64_t seq;                /* of its ledger line there */
    enum change_kind kind;
    uint64_t mark, revision; /* of a decision */
    bool own;                /* a decision that holds whatever the revision */
    char *line;              /* of a decision, for when it comes to nothing; owned */
    bool suspect, doubted, condemned, chosen;
    bool placed;          /* on the branch, when that was last built again */
    bool gave_up_waiting; /* whoever waits knows that the remote is away */
    change_done done;     /* NULL: nobody waits */
    void *context;
};

struct queue {
    struct queued *first, **last;
    size_t count;
    store_tell tell; /* hears of dropped decisions that nobody waits for; may be NULL */
    void *tell_context;
};

void queue_begin(struct queue *queue);
/* Adds what PENDING, committed here, is to become; its done is taken over. */
struct queued *queue_add(struct queue *queue, const struct pending *pending);
struct trial_counts queue_count(const struct queue *queue);
/* The number of runs, COUNT or a few more, after which another commit begins. */
size_t queue_boundary(const struct queue *queue, size_t count);
/* The commit that ends with the COUNTth run, when all before it are plain and another commit follows;
 * "" otherwise. */
const char *queue_prefix(const struct queue *queue, size_t count);
/* Marks the runs that AIM means as chosen, and no others. */
void queue_choose(struct queue *queue, struct aim aim);
/* The chosen whose id stands in TEXT become suspects; how many there were. */
size_t queue_name(struct queue *queue, const char *text);
/* What is thought of the one that is chosen from now on. */
void queue_doubt_chosen(struct queue *queue);
void queue_condemn_chosen(struct queue *queue);
/* Whether the one that is chosen was doubted before. */
bool queue_chosen_doubted(const struct queue *queue);
void queue_forgive(struct queue *queue);
/* The queued run of PENDING; NULL when there is none. Fast when asked in the queue's order with the
 * same CURSOR, which begins as queue->first. */
struct queued *queue_find(struct queue *queue, struct queued **cursor, const char *run_id);
/* Tells whoever waits for a queued run that it is so; AWAY: that he need not wait for more. */
void queue_tell(struct queued *item, bool away);
/* Ends ITEM, which is taken out: claim, waiters, whoever waits. */
void queue_end(struct queue *queue, struct queued *item, struct catalogue *catalogue,
               const struct change_result *result);
/* The store is closed: those who wait hear that their runs are queued, and nothing more. */
void queue_free(struct queue *queue, struct catalogue *catalogue);

#endif
