/* State of a catalogue; private to its sources. */
#ifndef BENCHLEDGER_GITHUB_CHANGE_CATALOGUE_STATE_H
#define BENCHLEDGER_GITHUB_CHANGE_CATALOGUE_STATE_H

#include <pthread.h>

#include "github/change/catalogue.h"
#include "github/change/table.h"

/* A submission in flight. */
struct claim_record {
    char *path;
    char submitted_digest[SHA256_HEX + 1];
    char nonce[SHA256_HEX + 1]; /* empty: none */
    struct waiters *waiters;
    char *flags; /* this and what follows: once the change is queued */
    char digest[SHA256_HEX + 1], at[32];
    int rules;
    bool durable; /* in the repository here */
};

struct run_record {
    struct table_item item; /* keyed by the run id in lower case */
    bool held;              /* by the dataset */
    uint64_t telling;       /* that last told of it, catalogue_retell */
    struct claim_record *claim;
    char *run_id, *path, *flags, *by;
    char digest[SHA256_HEX + 1], submitted_digest[SHA256_HEX + 1];
    char withdraw_sha256[SHA256_HEX + 1];
    char commit[COMMIT_HEX + 1], at[32];
    uint64_t revision, accepted;
    uint64_t *marks; /* of its decisions, see ledger_mark */
    size_t mark_count;
    bool in_order; /* stands in the catalogue's list of quarantined runs */
    int rules;
    bool with_nonce, redacted;
    char *history; /* the ledger's lines about it but the first */
    char *dropped; /* decisions that came to nothing, as such lines without a place in the chain */
};

/* A spent or claimed nonce, and who may present it again: the same submission, to hear what became
 * of it. */
struct nonce_record {
    struct table_item item; /* keyed by nonceSha256 */
    double expires_ms;      /* 0 while it is claimed */
    char run_key[TABLE_KEY_MAX + 1];
    char submitted_digest[SHA256_HEX + 1];
};

struct catalogue {
    pthread_mutex_t mutex;
    struct table runs, nonces;
    uint64_t telling;
    bool listed_only; /* this telling is of the index, the ledger's runs stay as they are */
    size_t sweep_at;  /* nonces are swept when there are so many */
    double newest_ms; /* newest acceptance that carried a nonce */
    /* The quarantined runs in order of acceptance, those without a ledger line first; made again when
     * somebody asks and ORDER_KNOWN is not set. */
    struct run_record **order;
    size_t order_count, order_room;
    bool order_known;
    uint64_t last_seq; /* of the line that was told last */
};

/* Texts of a record, malloc'ed or of a fixed size, and which a longer text is cut to. */
char *record_copy(const char *text, size_t size);
void record_set(char **field, const char *text, size_t size);
void record_set_optional(char **field, const char *text);
void record_clear(char **field);
void record_fix(char *field, size_t room, const char *text, size_t size);
const char *record_or_empty(const char *text);
/* SIZE bytes of a line, put behind what LINES holds. */
void record_add_line(char **lines, const char *line, size_t size);

/* All of these: the mutex is held. NULL when there is none. */
struct run_record *catalogue_run(struct catalogue *catalogue, const char *run_id);
/* A new one when there is none. */
struct run_record *catalogue_need_run(struct catalogue *catalogue, const char *run_id, size_t size);
struct nonce_record *catalogue_need_nonce(struct catalogue *catalogue, const char *sha256,
                                          double now_ms);
struct claim_record *record_new_claim(const char *path, const char *submitted, const char *sha256);
void record_free_claim(struct claim_record *claim);
/* After RUN was told of: keeps the list of quarantined runs, or gives it up. */
void catalogue_note_order(struct catalogue *catalogue, struct run_record *run);
enum run_status record_status(const struct run_record *run);
void record_describe(const struct run_record *run, struct run_state *state);

#endif
