/* The dataset store: a git repository that is the database (spec 03, "Commits").
 *
 * One engine for every kind of store: a bare repository, made on first use, written by one thread
 * in group commits and fsynced before anybody is told. The remote kind adds a push behind the same
 * calls: its bare repository is the mirror of the remote and the durable queue at once, since what
 * its branch is ahead of the remote is pending.
 *
 * Threads: everything here may be called from any thread unless it says otherwise. The listener and
 * the done callbacks run on the writer thread (the listener for the first time within store_open,
 * on its caller's) and must not call back into the store. */
#ifndef BENCHLEDGER_GITHUB_STORE_H
#define BENCHLEDGER_GITHUB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "github/error.h"
#include "validator/buffer.h"
#include "validator/sha256.h"

enum { COMMIT_HEX = 40, BLOB_HEX = 40, RUN_ID_MAX = 64, RUN_PATH_MAX = 128 };

struct store;

/* Told what the index holds, so that the board is right before a submitter hears of his commit. */
struct store_listener {
    void *context;
    void (*reset)(void *context); /* all entries follow again (start, or somebody else's commit) */
    void (*entry)(void *context, const char *entry, size_t size); /* one index entry, JSON */
    /* The entry of RUN_ID, told before, is now ENTRY; NULL: it has none any more. */
    void (*replaced)(void *context, const char *run_id, const char *entry, size_t size);
    void (*settled)(void *context); /* the entries told so far are those of the tip */
    /* Adds index/leaderboard.json, made of what was told so far, to OUT; nothing: there is none. Any thread. */
    void (*leaderboard)(void *context, struct buffer *out);
};

/* How bad what the log is told is. */
enum store_level { STORE_ERROR, STORE_WARNING, STORE_INFO };
typedef void (*store_tell)(void *context, enum store_level level, const char *message);

/* A file that the dataset shall hold: when it is not there, the next commit adds it. */
struct store_file {
    const char *path, *bytes;
    size_t size;
};

/* The remote that a mirror is of. */
struct store_remote {
    const char *url;
    const char *token;   /* empty: none */
    const char *ca_file; /* empty: the system's certificates */
    bool shared;         /* other instances are known to push to it, too */
    bool read_only;      /* followed, never pushed to: store_claim answers CLAIM_CLOSED */
    int64_t timeout_ms, poll_ms;
    int64_t pushes_per_minute; /* 0: any number */
};

struct store_options {
    const char *path;                  /* bare repository; created when missing */
    const struct store_remote *remote; /* NULL: the repository is the dataset */
    const char *const *archives;       /* earlier bare repositories, NULL-terminated; NULL: none */
    const char *home; /* a folder of our own for the git program; NULL (without a remote): none, and
                         nobody packs or measures the repository */
    const struct store_file *files; /* that the dataset shall hold */
    size_t file_count;
    int64_t disk_quota; /* bytes of the repository, 0: any; past it claims are CLAIM_CLOSED */
    int64_t gc_days;    /* between two runs of `git gc`; 0: never */
    store_tell tell;    /* any thread; NULL: nobody listens */
    void *tell_context;
    const char *author_name, *author_email; /* author and committer of every commit */
    const char *licence;            /* of the data, named in the README of a new repository */
    size_t summary_limit;           /* bytes; index/summary.json is rewritten below it */
    int64_t refresh_every_s;        /* the summary past its limit, and the leaderboard; 0: never */
    size_t summary_most;            /* bytes; a larger summary is not refreshed any more */
    size_t queue_limit;             /* changes waiting; more are CHANGE_QUEUE_FULL */
    struct store_listener listener; /* functions may be NULL */
};

/* Opens for `serve`: takes the lifelong lock, reads ledger and index, tells the listener all
 * entries, starts the writer. False when the dataset cannot be served: another process serves it,
 * its index cannot be read whole or is missing where there are runs, its ledger chain is broken. */
bool store_open(const struct store_options *options, struct store **store,
                struct store_error *error);
/* Commits what is queued, then stops. What another process keeps from being committed for 5 s
 * fails. NULL is fine. */
void store_close(struct store *store);

/* What is wrong with the store, each line with a stable word and a colon first: the last commit
 * failed, somebody else's commit left an index or a ledger that cannot be read, the remote is away
 * or refuses us. WARNING: runs are taken all the same and nothing waits. Told on the caller's
 * thread. */
typedef void (*store_problem)(void *context, bool warning, const char *text);
void store_problems(struct store *store, store_problem tell, void *context);
/* True when one of them is no warning; the first such in REASON. */
bool store_unready(struct store *store, struct store_error *reason);

/* Figures for whoever watches the service. */
struct store_figures {
    uint64_t ledger_seq; /* of the dataset's last line */
    uint64_t queued;     /* runs that are durable here and not at the remote */
    uint64_t parked;     /* declined and conflicting ones that are kept */
    uint64_t commits;    /* made here since the start */
    uint64_t pushes, failed_pushes;
    uint64_t disk_bytes; /* of the repository, when last measured */
    int64_t push_ms;     /* the usual length of a push; 0: none yet */
};
void store_figures(struct store *store, struct store_figures *figures);

enum run_status {
    RUN_QUEUED,
    RUN_PUBLISHED,
    RUN_QUARANTINED,
    RUN_WITHDRAWN,
    RUN_DECLINED, /* by the remote's host; kept aside */
    RUN_CONFLICT, /* another run with its id was published first; kept aside */
};

struct run_state {
    enum run_status status;
    bool durable;                /* not only claimed: it is in the repository here */
    char run_id[RUN_ID_MAX + 1]; /* as submitted; look-ups ignore case */
    char path[RUN_PATH_MAX + 1];
    char digest[SHA256_HEX + 1]; /* of the published file; empty between claim and store_commit */
    /* Empty for runs without a ledger line: the digest that the client sent, the commit that accepted it
     * (empty while queued, too), the time of acceptance in ISO with ms (empty between claim and
     * store_commit). */
    char submitted_digest[SHA256_HEX + 1];
    char commit[COMMIT_HEX + 1];
    char at[32];
    uint64_t revision; /* seq of the last ledger event; 0 without one */
    int rules;
    char *flags; /* JSON array of codes, malloc'ed; NULL when unknown, as between claim and
                    store_commit */
    size_t
        archive; /* 0; or it lies in that one of the archives, from 1, and nothing can be done to it */
    uint64_t accepted; /* seq of the line that accepted it; 0 without one */
    bool with_nonce;   /* that line has a nonce: a client sent it */
    char *by;          /* of that line: who imported it; NULL: nobody, or without a line */
    char withdraw_sha256[SHA256_HEX + 1]; /* of the code that takes it back; empty: there is none */
    /* What was decided about it since: the lines of the ledger, and those of decisions that another one
     * overtook on the way, which the ledger does not have (since the start). NULL: none. */
    char *history, *dropped;
};
/* False when the run is unknown. DIGEST, when not NULL, is that of the submission that is asked
 * about: other submissions of the id are then unknown. Without it a run of the dataset is found
 * before one that was declined. The first question after a restart looks up the commit in the
 * history (a binary search by the ledger's seq, milliseconds once the list of commits has been
 * walked), and for a run without a ledger line its digest in the file; the answers are kept. */
bool store_find(struct store *store, const char *run_id, const char *digest,
                struct run_state *state);
void run_state_free(struct run_state *state);

/* The quarantined runs, those that were accepted last first, unless OLDEST_FIRST. */
struct store_quarantine {
    uint64_t before, after; /* only those accepted by a line between these; 0: any */
    bool oldest_first;
    const char *flag; /* only those with this flag code; NULL: all */
    int kept;         /* 1: only those that were looked at and kept, -1: only the others, 0: all */
    size_t most;      /* of STATES */
};
/* Fills STATES, each to be freed, and says how many; *ALL receives how many there are in all, whatever
 * BEFORE and MOST say. Commits and digests that have to be looked up are left out. */
size_t store_quarantined(struct store *store, const struct store_quarantine *wanted,
                         struct run_state *states, size_t *all);

enum claim {
    CLAIM_GRANTED,
    CLAIM_NONCE_USED,
    CLAIM_DUPLICATE,
    CLAIM_DECLINED, /* this very submission was, earlier */
    CLAIM_CLOSED,   /* no run is taken now: the remote was never seen, the disk quota is used up */
};

/* Reserves a run id and a nonce for one submission, atomically and in the order of spec 04: a nonce
 * used by another submission first, then a known run id (STATE then describes the run; free it; so
 * with CLAIM_DECLINED).
 * In-flight runs count as known. A granted claim ends with store_commit or store_release. */
enum claim store_claim(struct store *store, const char *run_id, const char *path,
                       const char *submitted_digest, const char nonce_sha256[SHA256_HEX + 1],
                       struct run_state *state);
/* Gives run id and nonce back: the submission came to nothing. Tells those who joined it. */
void store_release(struct store *store, const char *run_id);

enum change_kind { CHANGE_RUN, CHANGE_DECISION };
/* DECISION_REDACT is never queued: see redact.h. */
enum decision { DECISION_RELEASE, DECISION_KEEP, DECISION_WITHDRAW, DECISION_REDACT, DECISIONS };
const char *decision_name(enum decision decision);
/* Where a decision puts the file that lies at PATH: there, elsewhere, or nowhere (empty). */
void decision_path(enum decision decision, const char *path, char out[RUN_PATH_MAX + 1]);

/* One submission, or one decision about a run, as a value that can be applied to any tip. All pointers
 * are copied by store_commit and store_decide. */
struct change {
    enum change_kind kind;
    const char *run_id, *path; /* path as in publication.h */
    const char *bytes;         /* the published file */
    size_t bytes_size;
    const char *entry; /* its index entry, JSON */
    size_t entry_size;
    bool flagged;
    const char *at; /* acceptance time, ISO with ms and Z */
    const char *digest, *submitted_digest;
    int rules;
    const char *flags;           /* JSON array of flag codes */
    const char *nonce_sha256;    /* hex, or NULL (import) */
    const char *by;              /* or NULL */
    const char *withdraw_sha256; /* hex, or NULL */
    bool suspect; /* a remote's host may decline it: it is pushed alone, after all others */

    /* Of a decision, which has only RUN_ID, AT, BY and these. */
    enum decision decision;
    bool own; /* the submitter's withdrawal: it holds whatever else was decided meanwhile */
    const char *reason; /* one line of ours, or NULL */
    uint64_t revision;  /* of the run, as it was decided on; OWN: unused */
};

/* Whatever the end, the claim has ended; the nonce is given back with CHANGE_FAILED and
 * CHANGE_QUEUE_FULL. */
enum change_outcome {
    CHANGE_QUEUED, /* durable here, the remote does not have it yet; the end only when the store is
                         closed meanwhile */
    CHANGE_COMMITTED, /* the dataset has it: the remote, if there is one */
    CHANGE_DUPLICATE, /* another writer published this run id meanwhile */
    CHANGE_STALE,     /* of a decision: something else was decided meanwhile; ERROR may say more */
    CHANGE_DECLINED,  /* the remote's host does not take it; kept aside */
    CHANGE_FAILED,    /* nothing was written; also when another process held the commit lock for
                         30 s */
    CHANGE_QUEUE_FULL,
};
struct change_result {
    enum change_outcome outcome;
    char commit[COMMIT_HEX + 1]; /* of CHANGE_COMMITTED; "": store_find knows it */
    uint64_t seq;
    char submitted_digest[SHA256_HEX + 1];
    bool more; /* with CHANGE_QUEUED: this is not the end */
    bool away; /* with CHANGE_QUEUED: the remote is known to be away, do not wait for the end */
    struct store_error error; /* of CHANGE_FAILED */
};
typedef void (*change_done)(void *context, const struct change_result *result);

/* Queues the change of a claimed run, or the decision about a reserved one, and returns at once; DONE
 * is called once with its end: from the writer thread after the commit is durable and the listener has settled, or before this returns
 * when the queue is full. Before that, with a remote, it may be called once with CHANGE_QUEUED and
 * MORE. */
void store_commit(struct store *store, const struct change *change, change_done done,
                  void *context);

enum decided {
    DECIDED_TAKEN,
    DECIDED_UNKNOWN,   /* no such run */
    DECIDED_QUEUED,    /* the run is not in the dataset yet */
    DECIDED_FORBIDDEN, /* OWN: WITHDRAW_SHA256 is not the run's, or it has none */
    DECIDED_STALE,     /* its revision is another, or another decision about it is on its way (OWN:
                       DECIDED_STATE) */
    DECIDED_STATE,     /* that cannot be done to a run in its state */
    DECIDED_CLOSED,    /* nothing is decided now: the remote was never seen, or is only read */
};
/* Reserves the run for CHANGE, a decision, which then ends with store_commit or store_release as a
 * claim does. Decisions about one run are taken one at a time. STATE describes the run; free it, but
 * for DECIDED_UNKNOWN and DECIDED_CLOSED. */
enum decided store_decide(struct store *store, const struct change *change,
                          struct run_state *state);

enum { JOIN_MAX = 64 };

/* Joins the submission of a run that is in flight, that is, claimed and not ended: DONE is called
 * from the same thread and with the same results as the done of store_commit, after it; with
 * CHANGE_QUEUED also before this returns. When the claim is released instead, it is called by
 * store_release's thread with CHANGE_FAILED.
 *
 * False, DONE is never called: the run is not in flight any more (store_find says what became of
 * it), or JOIN_MAX others have joined (store_find still says RUN_QUEUED). May be called between
 * store_claim and store_commit of the first. Whoever answers CLAIM_DUPLICATE with it compares
 * SUBMITTED_DIGEST (of change_result), which is that of the submission that was joined. */
bool store_join(struct store *store, const char *run_id, change_done done, void *context);

/* The file of the run that STATE describes, wherever it lies: also when it is queued or parked.
 * Otherwise as store_read. */
struct store_blob;
bool store_read_run(struct store *store, const struct run_state *state, bool with_data,
                    struct store_blob *blob, struct store_error *error);

struct store_blob {
    char id[BLOB_HEX + 1];
    char *data; /* malloc'ed; NULL when only the id was asked for */
    size_t size;
};
/* A file of the tip. False when there is none (or it cannot be read: then *ERROR is set, else
 * empty). WITH_DATA false looks up the id only. */
bool store_read(struct store *store, const char *path, bool with_data, struct store_blob *blob,
                struct store_error *error);
void store_blob_free(struct store_blob *blob);
/* Tells the names of the files below FOLDER at the tip. False when they cannot be read. */
typedef void (*store_name)(void *context, const char *path);
bool store_list(struct store *store, const char *folder, store_name tell, void *context);

#endif
