#include "server/api/review.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/api/outcome.h"
#include "server/api/review_query.h"
#include "server/api/runs.h"
#include "server/clock.h"
#include "server/http/waitroom.h"
#include "server/limits/admission.h"
#include "server/log.h"
#include "validator/text.h"

enum { REASON_UNITS = 500, CODE_SIZE = 43, RETRY_SOON_S = 5, RETRY_DOWN_S = 30 };

/* Runs of a list, each of which may have to be judged for its evidence. */
enum { REVIEW_USUAL = 25, REVIEW_MOST = 50 };

/* One decision between its body and the store. */
struct review {
    struct request *request;
    struct answer *answer;
    struct arena arena;
    struct js_document document;
    char at[32];
    struct change change;
    struct run_state state;
};

static void review_end(struct review *review)
{
    run_state_free(&review->state);
    arena_free(&review->arena);
}
#define REVIEW_SCOPE __attribute__((cleanup(review_end)))

/* NULL: there is none. */
static const char *bearer_token(const struct request *request)
{
    const char *header = request_header(request, "Authorization");
    if (!header || strncasecmp(header, "Bearer ", 7) != 0)
        return NULL;
    return header + 7 + strspn(header + 7, " ");
}

/* DECISION_REDACT: none that may be asked for. */
static enum decision find_decision(const struct js_value *action)
{
    enum decision decision = 0;
    while (decision < DECISION_REDACT && !js_equals(action, decision_name(decision)))
        decision++;
    return decision;
}

/* What was asked for, as far as it can be read: "?" for what is no action; NULL: nothing was. */
static const char *asked_action(const struct review *review)
{
    const struct js_value *action = js_get(&review->document.root, "action");
    if (review->change.own)
        return decision_name(DECISION_WITHDRAW);
    enum decision decision = find_decision(action);
    return decision < DECISION_REDACT ? decision_name(decision) : action ? "?" : NULL;
}

static const char *asked_run(const struct review *review)
{
    if (review->change.run_id)
        return review->change.run_id;
    return js_get(&review->document.root, "runId") ? "?" : NULL;
}

/* Every attempt has its line; what is not known of it is left out. */
static void log_attempt(const struct request *request, const struct review *review,
                        const char *result)
{
    char client[ADDRESS_TEXT];
    address_print(&request->client, client);
    log_event(strcmp(result, "taken") != 0 ? LOG_WARN : LOG_INFO, "review",
              LOG_FIELDS({"id", request->id}, {"client", client},
                         {"by", *request->maintainer.name ? request->maintainer.name : NULL},
                         {"action", review ? asked_action(review) : NULL},
                         {"run", review ? asked_run(review) : NULL}, {"result", result}));
}

static void refuse(struct review *review, enum error error, const char *message)
{
    log_attempt(review->request, review, error_row(error)->code);
    answer_error(review->answer, error, message);
}

static bool admit_body(struct request *request, struct answer *answer)
{
    if (!request->service->store || request->service->unbound)
        answer_error(answer, ERROR_STORE_UNBOUND, "This service takes no decisions.");
    else if (admission_body(request, answer))
        return true;
    log_attempt(request, NULL, answer->error->code);
    return false;
}

void review_dropped(const struct request *request)
{
    log_attempt(request, NULL, request->answer.error->code);
}

/* Whether this address may try another secret. */
static bool admit_attempt(struct request *request, struct answer *answer)
{
    int64_t retry_s;
    if (admission_review(request, &retry_s))
        return true;
    log_attempt(request, NULL, "rate-limited");
    answer_error_retry(answer, ERROR_RATE_LIMITED, "Too many wrong attempts from this address.",
                       retry_s);
    return false;
}

bool review_admit(struct request *request, struct answer *answer)
{
    enum maintainer_refusal why;
    if (!admit_attempt(request, answer))
        return false;
    if (maintainers_find(request->service->maintainers, bearer_token(request),
                         clock_wall_ms() / 1000, &request->maintainer, &why))
        return admit_body(request, answer);
    admission_review_failed(request);
    log_attempt(request, NULL, why == MAINTAINER_EXPIRED ? "token-expired" : "unauthorized");
    answer_error(answer, ERROR_UNAUTHORIZED, NULL);
    return false;
}

bool review_admit_withdrawal(struct request *request, struct answer *answer)
{
    return admit_attempt(request, answer) && admit_body(request, answer);
}

static bool read_body(struct review *review)
{
    const struct buffer *body = &review->request->body.data;
    struct js_error error;
    clock_iso(clock_wall_ms(), review->at);
    review->change = (struct change){.kind = CHANGE_DECISION, .at = review->at};
    return js_read(&review->arena, body->data, body->size, &review->document, &error) &&
           review->document.root.type == JS_OBJECT;
}

static const struct js_value *string_member(const struct review *review, const char *name,
                                            size_t most)
{
    const struct js_value *value = js_get(&review->document.root, name);
    bool fits = value && value->type == JS_STRING && value->size && value->size <= most &&
                !memchr(value->text, '\0', value->size);
    return fits ? value : NULL;
}

static bool read_run(struct review *review)
{
    const struct js_value *id = string_member(review, "runId", RUN_ID_MAX);
    if (id)
        review->change.run_id = arena_copy(&review->arena, id->text, id->size);
    return id != NULL;
}

static bool read_review(struct review *review)
{
    const struct js_value *reason = js_get(&review->document.root, "reason"),
                          *expected = js_get(&review->document.root, "expectedRevision");
    struct change *change = &review->change;
    enum decision decision = find_decision(js_get(&review->document.root, "action"));
    bool names_run = read_run(review); /* first: a refusal is logged with it */
    if (decision == DECISION_REDACT || !reason || reason->type != JS_STRING || !expected ||
        expected->type != JS_NUMBER || !(expected->number >= 0) || expected->number > 9e15 ||
        expected->number != (double)(uint64_t)expected->number)
        return false;
    struct text line = text_reason(&review->arena, text_of(reason), REASON_UNITS);
    change->decision = decision;
    change->revision = (uint64_t)expected->number;
    change->by = review->request->maintainer.name;
    change->reason = arena_copy(&review->arena, line.data, line.size);
    return line.size > 0 && names_run;
}

/* A decision that the store has: what its end is told to, and what the log says of it. */
struct decided_record {
    struct waiting *waiting;
    char request_id[REQUEST_ID_MOST + 1], run_id[RUN_ID_MAX + 1], by[MAINTAINER_NAME + 1];
    enum decision decision;
};

static void log_end(const struct decided_record *record, const struct change_result *result)
{
    static const struct {
        enum log_level level;
        const char *message;
    } rows[] = {[CHANGE_COMMITTED] = {LOG_INFO, "decided"},
                [CHANGE_STALE] = {LOG_WARN, "a decision was dropped: another came before it"},
                [CHANGE_DECLINED] = {LOG_WARN, "a decision was declined by the dataset's host"},
                [CHANGE_DUPLICATE] = {LOG_ERROR, "a decision failed"},
                [CHANGE_FAILED] = {LOG_ERROR, "a decision failed"},
                [CHANGE_QUEUE_FULL] = {LOG_WARN, "a decision found the queue full"},
                [CHANGE_QUEUED] = {LOG_INFO, "a decision is queued"}};
    log_event(rows[result->outcome].level, rows[result->outcome].message,
              LOG_FIELDS({"id", record->request_id}, {"run", record->run_id},
                         {"action", decision_name(record->decision)},
                         {"by", *record->by ? record->by : NULL},
                         {"commit", *result->commit ? result->commit : NULL},
                         {"error", *result->error.message ? result->error.message : NULL}));
}

/* The store's callback, also long after the request has been answered. */
static void ended(void *context, const struct change_result *result)
{
    struct decided_record *record = context;
    bool more = result->outcome == CHANGE_QUEUED && result->more;
    log_end(record, result);
    waiting_done(record->waiting, result);
    if (!more)
        free(record);
}

static void put_revision(struct js_writer *writer, uint64_t revision)
{
    js_write_key(writer, "revision");
    js_write_number(writer, (double)revision);
}

/* A refusal, with what the run is now. */
static void put_current(struct answer *answer, enum error error, const char *message,
                        const struct run_state *state)
{
    struct js_writer writer = answer_error_open(answer, error, message);
    js_write_key(&writer, "status");
    js_write_text(&writer, runs_status_name(state->status));
    put_revision(&writer, state->revision);
    answer_end(&writer);
}

static void write_current(struct review *review, enum error error, const char *message,
                          const struct run_state *state)
{
    put_current(review->answer, error, message, state);
    log_attempt(review->request, review, error_row(error)->code);
}

/* Who asks what became of it has BY and REASON to know it by. */
static void answer_queued(const struct request *request, struct answer *answer)
{
    const struct buffer *reason = &request->outcome->reason;
    struct js_writer writer = answer_ok_open(answer, 202);
    js_write_key(&writer, "queued");
    js_write_bool(&writer, true);
    if (reason->size) {
        js_write_key(&writer, "by");
        js_write_text(&writer, request->maintainer.name);
        js_write_key(&writer, "reason");
        js_write_string(&writer, reason->data, reason->size);
    }
    answer_end(&writer);
}

static void answer_stale(const struct request *request, struct answer *answer,
                         const struct change_result *result)
{
    const char *why = *result->error.message ? result->error.message : NULL;
    struct run_state state = {0};
    /* A submitter gave no revision: only that the run is gone can have come before him. */
    enum error error = request->outcome->own ? ERROR_WRONG_STATE : ERROR_STALE_REVIEW;
    if (store_find(request->service->store, request->outcome->run_id, NULL, &state))
        put_current(answer, error, why, &state);
    else
        answer_error(answer, error, why);
    run_state_free(&state);
}

/* Of this decision: others may have followed it by now. */
static void answer_committed(const struct request *request, struct answer *answer,
                             const struct change_result *result)
{
    struct js_writer writer = answer_ok_open(answer, 200);
    js_write_key(&writer, "path");
    js_write_text(&writer, request->outcome->path);
    if (*result->commit) {
        js_write_key(&writer, "commit");
        js_write_text(&writer, result->commit);
    }
    put_revision(&writer, result->seq);
    answer_end(&writer);
}

/* What became of a decision that was waited for. */
static void answer_decided(const struct request *request, struct answer *answer)
{
    const struct change_result *result = waiting_result(request->waiting);
    switch (result ? result->outcome : CHANGE_FAILED) {
    case CHANGE_QUEUED:
        answer_queued(request, answer);
        return;
    case CHANGE_COMMITTED:
        answer_committed(request, answer, result);
        return;
    case CHANGE_STALE:
        answer_stale(request, answer, result);
        return;
    case CHANGE_DECLINED:
        answer_error(answer, ERROR_STORE_DECLINED,
                     "The dataset's host does not take this decision. Nothing has changed.");
        return;
    case CHANGE_DUPLICATE: /* never of a decision */
    case CHANGE_FAILED:
    case CHANGE_QUEUE_FULL:
        answer_error_retry(answer, ERROR_STORE_UNAVAILABLE,
                           "The decision could not be stored now. Look whether it was, then try "
                           "again.",
                           result ? RETRY_DOWN_S : RETRY_SOON_S);
        return;
    }
}

static struct decided_record *make_record(const struct review *review)
{
    struct decided_record *record = memory_grow(NULL, sizeof *record);
    *record = (struct decided_record){.waiting = review->request->waiting,
                                      .decision = review->change.decision};
    snprintf(record->request_id, sizeof record->request_id, "%s", review->request->id);
    snprintf(record->run_id, sizeof record->run_id, "%s", review->state.run_id);
    snprintf(record->by, sizeof record->by, "%s", review->change.by ? review->change.by : "");
    return record;
}

/* PATH is where the decision puts the run: known before it is made, and with a later one of somebody else it would
 * not be found any more. */
static struct outcome *make_outcome(const struct review *review)
{
    const char *reason = review->change.reason;
    struct outcome *outcome = memory_grow(NULL, sizeof *outcome);
    *outcome = (struct outcome){.answer = answer_decided, .own = review->change.own};
    snprintf(outcome->run_id, sizeof outcome->run_id, "%s", review->state.run_id);
    decision_path(review->change.decision, review->state.path, outcome->path);
    if (reason)
        buffer_add(&outcome->reason, reason, strlen(reason));
    return outcome;
}

/* The run is reserved: hands the decision to the store, the connection asleep before that. */
static void commit(struct review *review)
{
    struct request *request = review->request;
    int64_t wait_ms = request->service->config->limits.submit_wait_ms;
    if (!request_wait(request, clock_monotonic_ms() + wait_ms)) {
        store_release(request->service->store, review->change.run_id);
        log_attempt(request, review, error_row(ERROR_STORE_UNAVAILABLE)->code);
        answer_error_retry(review->answer, ERROR_STORE_UNAVAILABLE, NULL, RETRY_SOON_S);
        return;
    }
    request->outcome = make_outcome(review);
    log_attempt(request, review, "taken");
    store_commit(request->service->store, &review->change, ended, make_record(review));
}

static void decide(struct review *review)
{
    struct store *store = review->request->service->store;
    run_state_free(&review->state);
    switch (store_decide(store, &review->change, &review->state)) {
    case DECIDED_TAKEN:
        commit(review);
        return;
    case DECIDED_UNKNOWN:
        refuse(review, ERROR_UNKNOWN_RUN, NULL);
        return;
    case DECIDED_FORBIDDEN:
        admission_review_failed(review->request);
        refuse(review, ERROR_FORBIDDEN,
               "That is not the code that the run was submitted with, or it was submitted without "
               "one.");
        return;
    case DECIDED_QUEUED:
        write_current(review, ERROR_WRONG_STATE,
                      "The run is not in the dataset yet. Try again when it is.", &review->state);
        return;
    case DECIDED_STALE:
        write_current(review, ERROR_STALE_REVIEW, NULL, &review->state);
        return;
    case DECIDED_STATE:
        write_current(review, ERROR_WRONG_STATE, NULL, &review->state);
        return;
    case DECIDED_CLOSED:
        log_attempt(review->request, review, "store-unavailable");
        answer_error_retry(review->answer, ERROR_STORE_UNAVAILABLE,
                           "Nothing can be decided now. Try again later.", RETRY_DOWN_S);
        return;
    }
}

/* A body can take its time: whose token it is counts when it is there. */
static bool still_known(struct request *request)
{
    return maintainers_find(request->service->maintainers, bearer_token(request),
                            clock_wall_ms() / 1000, &request->maintainer, NULL);
}

void review_decide(struct request *request, struct answer *answer)
{
    REVIEW_SCOPE struct review review = {.request = request, .answer = answer};
    if (!still_known(request)) {
        refuse(&review, ERROR_UNAUTHORIZED, NULL);
        return;
    }
    if (!read_body(&review) || !read_review(&review)) {
        refuse(&review, ERROR_INVALID_REVIEW, NULL);
        return;
    }
    if (review.change.decision == DECISION_WITHDRAW &&
        request->maintainer.role != MAINTAINER_ADMIN) {
        refuse(&review, ERROR_FORBIDDEN, "Only an admin withdraws runs.");
        return;
    }
    decide(&review);
}

bool review_is_hash(const char *text)
{
    return strlen(text) == SHA256_HEX && strspn(text, "0123456789abcdef") == SHA256_HEX;
}

void review_withdraw(struct request *request, struct answer *answer)
{
    REVIEW_SCOPE struct review review = {.request = request, .answer = answer};
    const struct js_value *code = NULL;
    if (read_body(&review) && read_run(&review))
        code = string_member(&review, "code", SIZE_MAX);
    review.change.decision = DECISION_WITHDRAW;
    review.change.own = true;
    if (!code) {
        refuse(&review, ERROR_BAD_REQUEST, "A withdrawal has runId and code.");
        return;
    }
    char hash[SHA256_HEX + 1];
    sha256_hex(code->text, code->size, hash);
    review.change.withdraw_sha256 = code->size == CODE_SIZE ? hash : NULL;
    decide(&review);
}

static void write_runs(struct request *request, struct js_writer *writer,
                       const struct run_state *states, size_t count)
{
    js_write_key(writer, "runs");
    js_write_begin(writer, '[');
    for (size_t i = 0; i < count; i++) {
        js_write_begin(writer, '{');
        runs_write(request, &states[i], writer);
        js_write_end(writer, '}');
    }
    js_write_end(writer, ']');
}

/* Whether all that are not kept may be judged for this client now; else *ANSWER says so. Each is charged. */
static bool may_judge(struct request *request, const struct run_state *states, size_t count,
                      struct answer *answer)
{
    int64_t retry_s = RETRY_SOON_S;
    for (size_t i = 0; i < count; i++) {
        if (runs_is_judged(request, &states[i]))
            continue;
        if (!admission_memory(request->service)) {
            answer_error_retry(answer, ERROR_BUSY, NULL, retry_s);
            return false;
        }
        if (!admission_view(request, &retry_s)) {
            answer_error_retry(answer, ERROR_RATE_LIMITED, NULL, retry_s);
            return false;
        }
    }
    return true;
}

static void write_list(struct request *request, struct answer *answer,
                       const struct run_state *states, size_t shown, bool more, size_t all)
{
    struct js_writer writer = answer_ok_open(answer, 200);
    write_runs(request, &writer, states, shown);
    js_write_key(&writer, "total");
    js_write_number(&writer, (double)all);
    js_write_key(&writer, "next");
    /* Runs without a ledger line have no place to go on from. */
    if (more && states[shown - 1].accepted)
        js_write_number(&writer, (double)states[shown - 1].accepted);
    else
        js_write_null(&writer);
    answer_end(&writer);
    answer->cache_control = "no-cache";
}

void review_list(struct request *request, struct answer *answer)
{
    struct review_query query;
    ARENA_SCOPE struct arena arena = {0};
    size_t all = 0, count = 0;
    if (!review_query_read(request, REVIEW_USUAL, REVIEW_MOST, &query)) {
        answer_error(answer, ERROR_BAD_REQUEST, "The query is not understood.");
        return;
    }
    size_t most = query.wanted.most++; /* one more shows whether there are more */
    struct run_state *states = arena_clear_take(&arena, query.wanted.most, sizeof *states);
    if (request->service->store)
        count = store_quarantined(request->service->store, &query.wanted, states, &all);
    size_t shown = count > most ? most : count;
    if (may_judge(request, states, shown, answer))
        write_list(request, answer, states, shown, count > most, all);
    for (size_t i = 0; i < count; i++)
        run_state_free(&states[i]);
}
