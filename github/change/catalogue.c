#include "github/change/catalogue_state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "validator/arena.h"
#include "validator/calendar.h"

enum { SWEEP_LEAST = 1024 };

char *record_copy(const char *text, size_t size)
{
    char *copy = memory_grow(NULL, size + 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

void record_set(char **field, const char *text, size_t size)
{
    free(*field);
    *field = record_copy(text, size);
}

void record_fix(char *field, size_t room, const char *text, size_t size)
{
    if (size >= room)
        size = room - 1;
    memcpy(field, text, size);
    field[size] = '\0';
}

void record_free_claim(struct claim_record *claim)
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
    record_free_claim(run->claim);
    free(run->run_id);
    free(run->path);
    free(run->flags);
    free(run->by);
    free(run->history);
    free(run->dropped);
    free(run->marks);
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
    free(catalogue->order);
    table_free(&catalogue->nonces);
    pthread_mutex_destroy(&catalogue->mutex);
    free(catalogue);
}

struct run_record *catalogue_run(struct catalogue *catalogue, const char *run_id)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, strlen(run_id), key);
    return (struct run_record *)table_find(&catalogue->runs, key);
}

struct run_record *catalogue_need_run(struct catalogue *catalogue, const char *run_id, size_t size)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, size, key);
    struct run_record *run = (struct run_record *)table_find(&catalogue->runs, key);
    if (run)
        return run;
    run = (struct run_record *)table_add(&catalogue->runs, key);
    run->run_id = record_copy(run_id, size);
    return run;
}

/* Whether what is known of RUN comes from before the telling, and is not to outlive it. */
static bool is_outdated(const struct catalogue *catalogue, const struct run_record *run)
{
    return run->telling != catalogue->telling && !(catalogue->listed_only && run->revision);
}

void record_clear(char **field)
{
    free(*field);
    *field = NULL;
}

static void forget_run(struct run_record *run)
{
    run->held = run->with_nonce = run->redacted = false;
    run->revision = run->accepted = 0;
    run->mark_count = 0;
    run->rules = 0;
    record_clear(&run->flags);
    record_clear(&run->by);
    record_clear(&run->history);
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

struct nonce_record *catalogue_need_nonce(struct catalogue *catalogue, const char *sha256,
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
    struct nonce_record *nonce = catalogue_need_nonce(catalogue, sha256, now_ms);
    nonce->expires_ms = accepted_ms + CATALOGUE_NONCE_MS;
    table_run_key(run->run_id, strlen(run->run_id), nonce->run_key);
    memcpy(nonce->submitted_digest, run->submitted_digest, sizeof nonce->submitted_digest);
}

/* ISO time with Z to ms; what is no time counts as just now, which never gives a nonce back. */
static double read_time(const char *text, size_t size, double now_ms)
{
    double ms;
    int year, month;
    return calendar_read((struct text){text, size}, &ms, &year, &month) ? ms : now_ms;
}

/* 0 for what is no version of the rules. */
static int read_rules(double number)
{
    return number >= 0 && number <= INT_MAX ? (int)number : 0;
}

static void copy_string(char *field, size_t room, const struct js_value *string)
{
    if (string)
        record_fix(field, room, string->text, string->size);
}

const char *record_or_empty(const char *text)
{
    return text ? text : "";
}

static void take_accept(struct catalogue *catalogue, struct run_record *run,
                        const struct ledger_line *line, double now_ms)
{
    catalogue->order_known = catalogue->order_known && !run->in_order; /* its place is another */
    run->accepted = line->seq;
    run->commit[0] = '\0';
    record_set(&run->run_id, line->run_id->text, line->run_id->size);
    copy_string(run->submitted_digest, sizeof run->submitted_digest, line->submitted_digest);
    copy_string(run->at, sizeof run->at, line->at);
    if (line->by)
        record_set(&run->by, line->by->text, line->by->size);
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
void record_add_line(char **lines, const char *line, size_t size)
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

static void add_mark(struct run_record *run, uint64_t mark)
{
    run->marks = memory_grow(run->marks, (run->mark_count + 1) * sizeof *run->marks);
    run->marks[run->mark_count++] = mark;
}

static void take_later(struct run_record *run, const struct ledger_line *line)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer text BUFFER_SCOPE = {0};
    js_print(line->document, &line->document->root, &text);
    record_add_line(&run->history, buffer_string(&text), strlen(buffer_string(&text)));
    run->redacted = js_equals(line->event, "redact");
    add_mark(run,
             ledger_mark(text_of_value(&arena, line->event), text_of_value(&arena, line->action),
                         text_of_value(&arena, line->by), text_of_value(&arena, line->at)));
}

void catalogue_line(struct catalogue *catalogue, const struct ledger_line *line, double now_ms)
{
    if (!line->known)
        return;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_need_run(catalogue, line->run_id->text, line->run_id->size);
    hold(catalogue, run);
    run->revision = catalogue->last_seq = line->seq;
    if (line->path)
        record_set(&run->path, line->path->text, line->path->size);
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
    catalogue_note_order(catalogue, run);
    pthread_mutex_unlock(&catalogue->mutex);
}

void record_set_optional(char **field, const char *text)
{
    record_clear(field);
    if (text)
        *field = record_copy(text, strlen(text));
}

static void record_accept(struct catalogue *catalogue, struct run_record *run,
                          const struct ledger_event *event, const char *commit, double now_ms)
{
    run->accepted = run->revision;
    run->rules = event->rules;
    record_set(&run->run_id, event->run_id, strlen(event->run_id));
    if (event->flags)
        record_set(&run->flags, event->flags, strlen(event->flags));
    const char *digest = record_or_empty(event->digest),
               *submitted = record_or_empty(event->submitted_digest),
               *withdraw = record_or_empty(event->withdraw_sha256);
    record_fix(run->digest, sizeof run->digest, digest, strlen(digest));
    record_fix(run->submitted_digest, sizeof run->submitted_digest, submitted, strlen(submitted));
    record_fix(run->withdraw_sha256, sizeof run->withdraw_sha256, withdraw, strlen(withdraw));
    record_fix(run->at, sizeof run->at, event->at, strlen(event->at));
    record_fix(run->commit, sizeof run->commit, commit, strlen(commit));
    record_set_optional(&run->by, event->by);
    run->with_nonce = event->nonce_sha256 != NULL;
    if (event->nonce_sha256)
        spend(catalogue, event->nonce_sha256, run, read_time(run->at, strlen(run->at), now_ms),
              now_ms);
}

void catalogue_event(struct catalogue *catalogue, const struct ledger_event *event, uint64_t seq,
                     const char *line, const char *commit, double now_ms)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_need_run(catalogue, event->run_id, strlen(event->run_id));
    hold(catalogue, run);
    run->revision = catalogue->last_seq = seq;
    if (event->path)
        record_set(&run->path, event->path, strlen(event->path));
    if (!strcmp(event->event, "accept")) {
        record_accept(catalogue, run, event, commit, now_ms);
    } else {
        record_add_line(&run->history, line, strlen(line));
        run->redacted = !strcmp(event->event, "redact");
        add_mark(run, ledger_mark(event->event, event->action, event->by, event->at));
    }
    catalogue_note_order(catalogue, run);
    pthread_mutex_unlock(&catalogue->mutex);
}

void catalogue_listed(struct catalogue *catalogue, const char *run_id, size_t run_id_size,
                      const char *path, size_t path_size)
{
    if (!run_id_size || run_id_size > RUN_ID_MAX || path_size > RUN_PATH_MAX)
        return;
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_need_run(catalogue, run_id, run_id_size);
    hold(catalogue, run);
    /* Of one tip the index agrees with the files, also where somebody moved one by hand and had the
     * index rebuilt. */
    if (!run->redacted)
        record_set(&run->path, path, path_size);
    catalogue_note_order(catalogue, run);
    pthread_mutex_unlock(&catalogue->mutex);
}

void catalogue_retell(struct catalogue *catalogue, bool listed_only)
{
    pthread_mutex_lock(&catalogue->mutex);
    catalogue->telling++;
    catalogue->order_known = false;
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
    catalogue->order_known = false;
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
    const struct run_record *run = catalogue_run(catalogue, run_id);
    bool holds = run && run->held;
    pthread_mutex_unlock(&catalogue->mutex);
    return holds;
}

enum run_status record_status(const struct run_record *run)
{
    const char *path = record_or_empty(run->path);
    if (run->redacted)
        return RUN_WITHDRAWN;
    if (!strncmp(path, "quarantine/", 11))
        return RUN_QUARANTINED;
    return strncmp(path, "withdrawn/", 10) ? RUN_PUBLISHED : RUN_WITHDRAWN;
}

static void describe_claim(const struct claim_record *claim, struct run_state *state)
{
    state->durable = claim->durable;
    record_fix(state->path, sizeof state->path, claim->path, strlen(claim->path));
    memcpy(state->submitted_digest, claim->submitted_digest, sizeof state->submitted_digest);
    memcpy(state->digest, claim->digest, sizeof state->digest);
    memcpy(state->at, claim->at, sizeof state->at);
    state->rules = claim->rules;
    if (claim->flags)
        state->flags = record_copy(claim->flags, strlen(claim->flags));
}

void record_describe(const struct run_record *run, struct run_state *state)
{
    *state = (struct run_state){.status = RUN_QUEUED, .durable = run->held};
    record_fix(state->run_id, sizeof state->run_id, run->run_id, strlen(run->run_id));
    if (!run->held) {
        describe_claim(run->claim, state);
        return;
    }
    const char *path = record_or_empty(run->path);
    record_fix(state->path, sizeof state->path, path, strlen(path));
    state->status = record_status(run);
    memcpy(state->submitted_digest, run->submitted_digest, sizeof state->submitted_digest);
    memcpy(state->digest, run->digest, sizeof state->digest);
    memcpy(state->commit, run->commit, sizeof state->commit);
    memcpy(state->at, run->at, sizeof state->at);
    memcpy(state->withdraw_sha256, run->withdraw_sha256, sizeof state->withdraw_sha256);
    state->revision = run->revision;
    state->accepted = run->accepted;
    state->with_nonce = run->with_nonce;
    state->rules = run->rules;
    record_set_optional(&state->flags, run->flags);
    record_set_optional(&state->by, run->by);
    record_set_optional(&state->history, run->history);
    record_set_optional(&state->dropped, run->dropped);
}

bool catalogue_find(struct catalogue *catalogue, const char *run_id, struct run_state *state,
                    uint64_t *accepted)
{
    pthread_mutex_lock(&catalogue->mutex);
    const struct run_record *run = catalogue_run(catalogue, run_id);
    bool known = run && (run->held || run->claim);
    if (known) {
        record_describe(run, state);
        *accepted = run->held ? run->accepted : 0;
    }
    pthread_mutex_unlock(&catalogue->mutex);
    return known;
}

void catalogue_learn(struct catalogue *catalogue, const char *run_id, const char *commit,
                     const char *digest)
{
    pthread_mutex_lock(&catalogue->mutex);
    struct run_record *run = catalogue_run(catalogue, run_id);
    if (run && run->held && commit)
        record_fix(run->commit, sizeof run->commit, commit, strlen(commit));
    if (run && run->held && digest)
        record_fix(run->digest, sizeof run->digest, digest, strlen(digest));
    pthread_mutex_unlock(&catalogue->mutex);
}
