#include "github/change/catalogue.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "github/change/table.h"
#include "github/repository/files.h"
#include "validator/arena.h"

enum { SWEEP_LEAST = 1024, DROPPED_MOST = 16 * 1024 };

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
    uint64_t revision, accepted, mark;
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
};

static char *copy_text(const char *text, size_t size)
{
    char *copy = memory_grow(NULL, size + 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

static void set_text(char **field, const char *text, size_t size)
{
    free(*field);
    *field = copy_text(text, size);
}

static void set_fixed(char *field, size_t room, const char *text, size_t size)
{
    if (size >= room)
        size = room - 1;
    memcpy(field, text, size);
    field[size] = '\0';
}

static void free_claim(struct claim_record *claim)
{
    if (!claim)
        return;
    free(claim->path);
    free(claim->flags);
    free(claim->waiters);
    free(claim);
}

static void free_run(struct table_item *item)
{
    struct run_record *run = (struct run_record *)item;
    free_claim(run->claim);
    free(run->run_id);
    free(run->path);
    free(run->flags);
    free(run->by);
    free(run->history);
    free(run->dropped);
}

struct catalogue *catalogue_new(void)
{
    struct catalogue *catalogue = memory_grow(NULL, sizeof *catalogue);
    *catalogue = (struct catalogue){.sweep_at = SWEEP_LEAST};
    pthread_mutex_init(&catalogue->mutex, NULL);
    table_begin(&catalogue->runs, sizeof(struct run_record), free_run);
    table_begin(&catalogue->nonces, sizeof(struct nonce_record), NULL);
    return catalogue;
}

void catalogue_free(struct catalogue *catalogue)
{
    if (!catalogue)
        return;
    table_free(&catalogue->runs);
    table_free(&catalogue->nonces);
    pthread_mutex_destroy(&catalogue->mutex);
    free(catalogue);
}

static struct run_record *find_run(struct catalogue *catalogue, const char *run_id)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, strlen(run_id), key);
    return (struct run_record *)table_find(&catalogue->runs, key);
}

static struct run_record *need_run(struct catalogue *catalogue, const char *run_id, size_t size)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, size, key);
    struct run_record *run = (struct run_record *)table_find(&catalogue->runs, key);
    if (run)
        return run;
    run = (struct run_record *)table_add(&catalogue->runs, key);
    run->run_id = copy_text(run_id, size);
    return run;
}

/* Whether what is known of RUN comes from before the telling, and is not to outlive it. */
static bool is_outdated(const struct catalogue *catalogue, const struct run_record *run)
{
    return run->telling != catalogue->telling && !(catalogue->listed_only && run->revision);
}

static void clear_text(char **field)
{
    free(*field);
    *field = NULL;
}

static void forget_run(struct run_record *run)
{
    run->held = run->with_nonce = run->redacted = false;
    run->revision = run->accepted = run->mark = 0;
    run->rules = 0;
    clear_text(&run->flags);
    clear_text(&run->by);
    clear_text(&run->history);
    run->commit[0] = run->digest[0] = run->submitted_digest[0] = run->at[0] =
        run->withdraw_sha256[0] = '\0';
}

static void hold(const struct catalogue *catalogue, struct run_record *run)
{
    if (is_outdated(catalogue, run))
        forget_run(run);
    run->telling = catalogue->telling;
    run->held = true;
}

static bool nonce_expired(const struct table_item *item, const void *context)
{
    const struct nonce_record *nonce = (const struct nonce_record *)item;
    return nonce->expires_ms > 0 && nonce->expires_ms < *(const double *)context;
}

/* What counts as now when nonces are forgotten: not the clock while it is ahead of everything that was accepted,
 * so that a start with a wrong clock forgets none that is still valid by the right one. */
static double forgetting_ms(const struct catalogue *catalogue, double now_ms)
{
    return catalogue->newest_ms < now_ms ? catalogue->newest_ms : now_ms;
}

static struct nonce_record *need_nonce(struct catalogue *catalogue, const char *sha256,
                                       double now_ms)
{
    struct table *nonces = &catalogue->nonces;
    struct table_item *found = table_find(nonces, sha256);
    if (found)
        return (struct nonce_record *)found;
    if (nonces->count >= catalogue->sweep_at) {
        double forgetting = forgetting_ms(catalogue, now_ms);
        table_sweep(nonces, nonce_expired, &forgetting);
        catalogue->sweep_at = nonces->count * 2 > SWEEP_LEAST ? nonces->count * 2 : SWEEP_LEAST;
    }
    return (struct nonce_record *)table_add(nonces, sha256);
}

static void spend(struct catalogue *catalogue, const char *sha256, const struct run_record *run,
                  double accepted_ms, double now_ms)
{
    if (accepted_ms > catalogue->newest_ms)
        catalogue->newest_ms = accepted_ms;
    if (accepted_ms + CATALOGUE_NONCE_MS < forgetting_ms(catalogue, now_ms))
        return;
    struct nonce_record *nonce = need_nonce(catalogue, sha256, now_ms);
    nonce->expires_ms = accepted_ms + CATALOGUE_NONCE_MS;
    table_run_key(run->run_id, strlen(run->run_id), nonce->run_key);
    memcpy(nonce->submitted_digest, run->submitted_digest, sizeof nonce->submitted_digest);
}

/* ISO time with Z to ms; what is no time counts as just now, which never gives a nonce back. */
static double read_time(const char *text, size_t size, double now_ms)
{
    char copy[32];
    struct tm tm = {0};
    int ms = 0;
    set_fixed(copy, sizeof copy, text, size);
    if (sscanf(copy, "%4d-%2d-%2dT%2d:%2d:%2d.%3d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms) < 6)
        return now_ms;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (double)timegm(&tm) * 1e3 + ms;
}

/* 0 for what is no version of the rules. */
static int read_rules(double number)
{
    return number >= 0 && number <= INT_MAX ? (int)number : 0;
}

static void copy_string(char *field, size_t room, const struct js_value *string)
{
    if (string)
        set_fixed(field, room, string->text, string->size);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void take_accept(struct catalogue *catalogue, struct run_record *run,
                        const struct ledger_line *line, double now_ms)
{
    run->accepted = line->seq;
    run->commit[0] = '\0';
    set_text(&run->run_id, line->run_id->text, line->run_id->size);
    copy_string(run->submitted_digest, sizeof run->submitted_digest, line->submitted_digest);
    copy_string(run->at, sizeof run->at, line->at);
    if (line->by)
        set_text(&run->by, line->by->text, line->by->size);
    if (line->withdraw_sha256 && line->withdraw_sha256->size == SHA256_HEX)
        copy_string(run->withdraw_sha256, sizeof run->withdraw_sha256, line->withdraw_sha256);
    run->with_nonce = line->nonce_sha256 && line->nonce_sha256->size == SHA256_HEX;
    if (run->with_nonce) {
        char sha256[SHA256_HEX + 1];
        copy_string(sha256, sizeof sha256, line->nonce_sha256);
        spend(catalogue, sha256, run, read_time(run->at, strlen(run->at), now_ms), now_ms);
    }
}

/* SIZE bytes of a line, put behind what LINES holds. */
static void add_line(char **lines, const char *line, size_t size)
{
    size_t before = *lines ? strlen(*lines) : 0;
    *lines = memory_grow(*lines, before + size + 2);
    memcpy(*lines + before, line, size);
    memcpy(*lines + before + size, "\n", 2);
}

static char *text_of_value(struct arena *arena, const struct js_value *value)
{
    return value ? arena_copy(arena, value->text, value->size) : NULL;
}

static void take_later(struct run_record *run, const struct ledger_line *line)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer text BUFFER_SCOPE = {0};
    js_print(line->document, &line->document->root, &text);
    add_line(&run->history, buffer_string(&text), strlen(buffer_string(&text)));
    run->redacted = js_equals(line->event, "redact");
    run->mark = ledger_mark(text_of_value(&arena, line->event), text_of_value(&arena, line->action),
                            text_of_value(&arena, line->by), text_of_value(&arena, line->at));
}

void catalogue_line(struct catalogue *catalogue, const struct ledger_line *line, double now_ms)
{
    if (!line->known)
        return;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = need_run(catalogue, line->run_id->text, line->run_id->size);
    hold(catalogue, run);
    run->revision = line->seq;
    if (line->path)
        set_text(&run->path, line->path->text, line->path->size);
    copy_string(run->digest, sizeof run->digest, line->digest);
    if (line->rules)
        run->rules = read_rules(line->rules->number);
    if (line->flags) {
        struct buffer flags = {0};
        js_print(line->document, line->flags, &flags);
        free(run->flags);
        run->flags = buffer_take(&flags, NULL);
    }
    if (js_equals(line->event, "accept"))
        take_accept(catalogue, run, line, now_ms);
    else
        take_later(run, line);
    pthread_mutex_unlock(&catalogue->mutex);
}

static void set_optional(char **field, const char *text)
{
    clear_text(field);
    if (text)
        *field = copy_text(text, strlen(text));
}

static void record_accept(struct catalogue *catalogue, struct run_record *run,
                          const struct ledger_event *event, const char *commit, double now_ms)
{
    run->accepted = run->revision;
    run->rules = event->rules;
    set_text(&run->run_id, event->run_id, strlen(event->run_id));
    if (event->flags)
        set_text(&run->flags, event->flags, strlen(event->flags));
    const char *digest = or_empty(event->digest), *submitted = or_empty(event->submitted_digest),
               *withdraw = or_empty(event->withdraw_sha256);
    set_fixed(run->digest, sizeof run->digest, digest, strlen(digest));
    set_fixed(run->submitted_digest, sizeof run->submitted_digest, submitted, strlen(submitted));
    set_fixed(run->withdraw_sha256, sizeof run->withdraw_sha256, withdraw, strlen(withdraw));
    set_fixed(run->at, sizeof run->at, event->at, strlen(event->at));
    set_fixed(run->commit, sizeof run->commit, commit, strlen(commit));
    set_optional(&run->by, event->by);
    run->with_nonce = event->nonce_sha256 != NULL;
    if (event->nonce_sha256)
        spend(catalogue, event->nonce_sha256, run, read_time(run->at, strlen(run->at), now_ms),
              now_ms);
}

void catalogue_event(struct catalogue *catalogue, const struct ledger_event *event, uint64_t seq,
                     const char *line, const char *commit, double now_ms)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = need_run(catalogue, event->run_id, strlen(event->run_id));
    hold(catalogue, run);
    run->revision = seq;
    if (event->path)
        set_text(&run->path, event->path, strlen(event->path));
    if (!strcmp(event->event, "accept")) {
        record_accept(catalogue, run, event, commit, now_ms);
    } else {
        add_line(&run->history, line, strlen(line));
        run->mark = ledger_mark(event->event, event->action, event->by, event->at);
    }
    pthread_mutex_unlock(&catalogue->mutex);
}

void catalogue_listed(struct catalogue *catalogue, const char *run_id, size_t run_id_size,
                      const char *path, size_t path_size)
{
    if (!run_id_size || run_id_size > RUN_ID_MAX || path_size > RUN_PATH_MAX)
        return;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = need_run(catalogue, run_id, run_id_size);
    hold(catalogue, run);
    /* The ledger knows better; before it has spoken, the newest index does. */
    if (!run->revision)
        set_text(&run->path, path, path_size);
    pthread_mutex_unlock(&catalogue->mutex);
}

void catalogue_retell(struct catalogue *catalogue, bool listed_only)
{
    pthread_mutex_lock(&catalogue->mutex);
    catalogue->telling++;
    catalogue->listed_only = listed_only;
    pthread_mutex_unlock(&catalogue->mutex);
}

static bool is_gone(const struct table_item *item, const void *context)
{
    const struct run_record *run = (const struct run_record *)item;
    return !run->claim && is_outdated(context, run);
}

void catalogue_told(struct catalogue *catalogue)
{
    pthread_mutex_lock(&catalogue->mutex);
    table_sweep(&catalogue->runs, is_gone, catalogue);
    for (size_t i = 0; i < catalogue->runs.room; i++)
        for (struct table_item *item = catalogue->runs.slots[i]; item; item = item->next)
            if (is_outdated(catalogue, (struct run_record *)item))
                forget_run((struct run_record *)item); /* in flight once more */
    catalogue->listed_only = true; /* until the next one, nothing is outdated by being old */
    pthread_mutex_unlock(&catalogue->mutex);
}

bool catalogue_holds(struct catalogue *catalogue, const char *run_id)
{
    pthread_mutex_lock(&catalogue->mutex);
    const struct run_record *run = find_run(catalogue, run_id);
    bool holds = run && run->held;
    pthread_mutex_unlock(&catalogue->mutex);
    return holds;
}

static enum run_status status_of(const struct run_record *run)
{
    const char *path = or_empty(run->path);
    if (run->redacted)
        return RUN_WITHDRAWN;
    if (!strncmp(path, "quarantine/", 11))
        return RUN_QUARANTINED;
    return strncmp(path, "withdrawn/", 10) ? RUN_PUBLISHED : RUN_WITHDRAWN;
}

static void describe_claim(const struct claim_record *claim, struct run_state *state)
{
    state->durable = claim->durable;
    set_fixed(state->path, sizeof state->path, claim->path, strlen(claim->path));
    memcpy(state->submitted_digest, claim->submitted_digest, sizeof state->submitted_digest);
    memcpy(state->digest, claim->digest, sizeof state->digest);
    memcpy(state->at, claim->at, sizeof state->at);
    state->rules = claim->rules;
    if (claim->flags)
        state->flags = copy_text(claim->flags, strlen(claim->flags));
}

/* Release and keep are for what is in quarantine, withdraw for whatever can be seen. */
bool decision_fits(enum decision decision, enum run_status status)
{
    return status == RUN_QUARANTINED ||
           (status == RUN_PUBLISHED && decision == DECISION_WITHDRAW);
}

static void describe(const struct run_record *run, struct run_state *state)
{
    *state = (struct run_state){.status = RUN_QUEUED, .durable = run->held};
    set_fixed(state->run_id, sizeof state->run_id, run->run_id, strlen(run->run_id));
    if (!run->held) {
        describe_claim(run->claim, state);
        return;
    }
    const char *path = or_empty(run->path);
    set_fixed(state->path, sizeof state->path, path, strlen(path));
    state->status = status_of(run);
    memcpy(state->submitted_digest, run->submitted_digest, sizeof state->submitted_digest);
    memcpy(state->digest, run->digest, sizeof state->digest);
    memcpy(state->commit, run->commit, sizeof state->commit);
    memcpy(state->at, run->at, sizeof state->at);
    memcpy(state->withdraw_sha256, run->withdraw_sha256, sizeof state->withdraw_sha256);
    state->revision = run->revision;
    state->accepted = run->accepted;
    state->mark = run->mark;
    state->with_nonce = run->with_nonce;
    state->rules = run->rules;
    set_optional(&state->flags, run->flags);
    set_optional(&state->by, run->by);
    set_optional(&state->history, run->history);
    set_optional(&state->dropped, run->dropped);
}

static bool same_submission(const struct nonce_record *nonce, const char *run_id,
                            const char *submitted_digest)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, strlen(run_id), key);
    return !strcmp(key, nonce->run_key) && !strcmp(submitted_digest, nonce->submitted_digest);
}

static struct claim_record *new_claim(const char *path, const char *submitted, const char *sha256)
{
    struct claim_record *claim = memory_grow(NULL, sizeof *claim);
    *claim = (struct claim_record){.path = copy_text(path, strlen(path))};
    set_fixed(claim->submitted_digest, sizeof claim->submitted_digest, submitted,
              strlen(submitted));
    set_fixed(claim->nonce, sizeof claim->nonce, sha256, strlen(sha256));
    return claim;
}

static struct run_record *claim_run(struct catalogue *catalogue, const char *run_id,
                                    const char *path, const char *submitted, const char *sha256,
                                    double now_ms)
{
    struct run_record *run = need_run(catalogue, run_id, strlen(run_id));
    if (!run->held)
        set_text(&run->run_id, run_id, strlen(run_id));
    run->claim = new_claim(path, submitted, sha256);
    if (*sha256) {
        struct nonce_record *nonce = need_nonce(catalogue, sha256, now_ms);
        table_run_key(run_id, strlen(run_id), nonce->run_key);
        set_fixed(nonce->submitted_digest, sizeof nonce->submitted_digest, submitted,
                  strlen(submitted));
    }
    return run;
}

enum claim catalogue_claim(struct catalogue *catalogue, const char *run_id, const char *path,
                           const char *submitted_digest, const char *nonce_sha256, double now_ms,
                           struct run_state *state)
{
    submitted_digest = or_empty(submitted_digest);
    nonce_sha256 = or_empty(nonce_sha256);
    enum claim result = CLAIM_GRANTED;
    pthread_mutex_lock(&catalogue->mutex);
    struct nonce_record *nonce = NULL;
    if (*nonce_sha256)
        nonce = (struct nonce_record *)table_find(&catalogue->nonces, nonce_sha256);
    struct run_record *run = find_run(catalogue, run_id);
    bool known = run && (run->held || run->claim);
    if (nonce && !(known && same_submission(nonce, run_id, submitted_digest))) {
        result = CLAIM_NONCE_USED;
    } else if (known) {
        result = CLAIM_DUPLICATE;
        describe(run, state);
    } else {
        claim_run(catalogue, run_id, path, submitted_digest, nonce_sha256, now_ms);
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return result;
}

static void fill_claim(struct claim_record *claim, const struct change *change)
{
    const char *digest = or_empty(change->digest), *at = or_empty(change->at);
    const char *flags = change->flags ? change->flags : "[]";
    set_fixed(claim->digest, sizeof claim->digest, digest, strlen(digest));
    set_fixed(claim->at, sizeof claim->at, at, strlen(at));
    set_text(&claim->flags, flags, strlen(flags));
    claim->rules = change->rules;
}

void catalogue_queued(struct catalogue *catalogue, const struct change *change)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = find_run(catalogue, change->run_id);
    if (run && run->claim)
        fill_claim(run->claim, change);
    pthread_mutex_unlock(&catalogue->mutex);
}

enum decided catalogue_decide(struct catalogue *catalogue, const struct change *change,
                              struct run_state *state)
{
    enum decided result = DECIDED_TAKEN;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = find_run(catalogue, change->run_id);
    if (!run || !(run->held || run->claim)) {
        result = DECIDED_UNKNOWN;
    } else {
        describe(run, state);
        if (!run->held)
            result = DECIDED_QUEUED;
        else if (run->claim || (!change->own && change->revision != run->revision))
            result = DECIDED_STALE;
        else if (!decision_fits(change->decision, state->status))
            result = DECIDED_STATE;
        else
            run->claim = new_claim(state->path, "", "");
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return result;
}

void catalogue_drop_decision(struct catalogue *catalogue, const char *run_id, const char *line)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = find_run(catalogue, run_id);
    if (run && (!run->dropped || strlen(run->dropped) < DROPPED_MOST))
        add_line(&run->dropped, line, strlen(line));
    pthread_mutex_unlock(&catalogue->mutex);
}

/* The last accepted first; runs without a ledger line come last, by their id. */
static int by_acceptance(const void *left, const void *right)
{
    const struct run_record *a = *(struct run_record *const *)left,
                            *b = *(struct run_record *const *)right;
    if (a->accepted != b->accepted)
        return a->accepted > b->accepted ? -1 : 1;
    return strcmp(a->item.key, b->item.key);
}

static bool is_kept(const struct run_record *run)
{
    return run->history != NULL; /* in quarantine, keeping is all that can have been decided */
}

static bool is_wanted(const struct run_record *run, const struct store_quarantine *wanted)
{
    char needle[80];
    if (!run->held || status_of(run) != RUN_QUARANTINED)
        return false;
    if (wanted->kept && (wanted->kept > 0) != is_kept(run))
        return false;
    if (!wanted->flag)
        return true;
    snprintf(needle, sizeof needle, "\"%s\"", wanted->flag);
    return strstr(or_empty(run->flags), needle) != NULL;
}

size_t catalogue_quarantined(struct catalogue *catalogue, const struct store_quarantine *wanted,
                             struct run_state *states, size_t *all)
{
    struct run_record **found = NULL;
    size_t count = 0, room = 0, used = 0;
    pthread_mutex_lock(&catalogue->mutex);
    for (size_t i = 0; i < catalogue->runs.room; i++)
        for (struct table_item *item = catalogue->runs.slots[i]; item; item = item->next) {
            struct run_record *run = (struct run_record *)item;
            if (!is_wanted(run, wanted))
                continue;
            if (count == room) {
                room = room ? room * 2 : 64;
                found = memory_grow(found, room * sizeof(struct run_record *));
            }
            found[count++] = run;
        }
    if (count)
        qsort(found, count, sizeof *found, by_acceptance);
    for (size_t i = 0; i < count && used < wanted->most; i++)
        if (!wanted->before || found[i]->accepted < wanted->before)
            describe(found[i], &states[used++]);
    pthread_mutex_unlock(&catalogue->mutex);
    free(found);
    *all = count;
    return used;
}

bool catalogue_is_claimed(struct catalogue *catalogue, const struct js_value *run_id)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id->text, run_id->size, key);
    pthread_mutex_lock(&catalogue->mutex);
    const struct run_record *run = (struct run_record *)table_find(&catalogue->runs, key);
    bool claimed = run && run->claim;
    pthread_mutex_unlock(&catalogue->mutex);
    return claimed;
}

bool catalogue_spent_elsewhere(struct catalogue *catalogue, const char *nonce_sha256,
                               const char *run_id)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, strlen(run_id), key);
    pthread_mutex_lock(&catalogue->mutex);
    const struct nonce_record *nonce =
        (struct nonce_record *)table_find(&catalogue->nonces, or_empty(nonce_sha256));
    bool elsewhere = nonce && nonce->expires_ms > 0 && strcmp(nonce->run_key, key) != 0;
    pthread_mutex_unlock(&catalogue->mutex);
    return elsewhere;
}

void catalogue_reclaim(struct catalogue *catalogue, const struct change *change)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = find_run(catalogue, change->run_id);
    if (!run || !run->claim)
        run = claim_run(catalogue, change->run_id, or_empty(change->path),
                        or_empty(change->submitted_digest),
                        or_empty(change->nonce_sha256), files_wall_ms());
    fill_claim(run->claim, change);
    run->claim->durable = true;
    pthread_mutex_unlock(&catalogue->mutex);
}

struct waiters *catalogue_durable(struct catalogue *catalogue, const char *run_id)
{
    struct waiters *waiters = NULL;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = find_run(catalogue, run_id);
    if (run && run->claim) {
        run->claim->durable = true;
        if (run->claim->waiters)
            waiters =
                memcpy(memory_grow(NULL, sizeof *waiters), run->claim->waiters, sizeof *waiters);
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return waiters;
}

bool catalogue_join(struct catalogue *catalogue, const char *run_id, change_done done,
                    void *context, bool *durable)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = find_run(catalogue, run_id);
    struct claim_record *claim = run ? run->claim : NULL;
    if (claim && !claim->waiters) {
        claim->waiters = memory_grow(NULL, sizeof *claim->waiters);
        claim->waiters->count = 0;
    }
    bool joined = claim && claim->waiters->count < JOIN_MAX;
    *durable = claim && claim->durable;
    if (joined)
        claim->waiters->list[claim->waiters->count++] = (struct waiter){done, context};
    pthread_mutex_unlock(&catalogue->mutex);
    return joined;
}

struct waiters *catalogue_end_claim(struct catalogue *catalogue, const char *run_id, bool spent)
{
    struct waiters *waiters = NULL;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = find_run(catalogue, run_id);
    if (run && run->claim) {
        struct claim_record *claim = run->claim;
        run->claim = NULL;
        struct nonce_record *nonce = NULL;
        if (*claim->nonce)
            nonce = (struct nonce_record *)table_find(&catalogue->nonces, claim->nonce);
        /* One that the ledger spent meanwhile has an expiry and stays spent. */
        if (nonce && !spent && nonce->expires_ms <= 0)
            table_remove(&catalogue->nonces, &nonce->item);
        else if (nonce && nonce->expires_ms <= 0)
            nonce->expires_ms = files_wall_ms() + CATALOGUE_NONCE_MS;
        waiters = claim->waiters;
        claim->waiters = NULL;
        free_claim(claim);
        if (!run->held)
            table_remove(&catalogue->runs, &run->item);
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return waiters;
}

bool catalogue_find(struct catalogue *catalogue, const char *run_id, struct run_state *state,
                    uint64_t *accepted)
{
    pthread_mutex_lock(&catalogue->mutex);
    const struct run_record *run = find_run(catalogue, run_id);
    bool known = run && (run->held || run->claim);
    if (known) {
        describe(run, state);
        *accepted = run->held ? run->accepted : 0;
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return known;
}

void catalogue_learn(struct catalogue *catalogue, const char *run_id, const char *commit,
                     const char *digest)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = find_run(catalogue, run_id);
    if (run && run->held && commit)
        set_fixed(run->commit, sizeof run->commit, commit, strlen(commit));
    if (run && run->held && digest)
        set_fixed(run->digest, sizeof run->digest, digest, strlen(digest));
    pthread_mutex_unlock(&catalogue->mutex);
}
