#include "server/api/intake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/candidate.h"
#include "server/api/handover.h"
#include "server/api/outcome.h"
#include "server/api/review.h"
#include "server/api/runs.h"
#include "server/clock.h"
#include "server/http/waitroom.h"
#include "server/limits/admission.h"

enum { RETRY_SOON_S = 5, RETRY_DOWN_S = 30 };

/* One submission between two steps: what the earlier steps found for the later ones. */
struct submission {
    struct request *request;
    struct service *service;
    struct answer *answer;
    int64_t now_ms;
    char at[32]; /* the same in ISO: when the run is accepted */
    struct candidate candidate;
    char nonce_sha256[SHA256_HEX + 1];
    const char *withdraw_sha256;           /* a header; NULL: none */
    const char *run_id, *submitted_digest; /* in the arena */
    int64_t charged_ms;                    /* when the budgets were charged */
    struct shared_nonce shared_nonce;      /* with service->shared */
    bool suspect;                          /* the host of the dataset may decline it */
};

static void submission_end(struct submission *submission)
{
    candidate_free(&submission->candidate);
}
#define SUBMISSION_SCOPE __attribute__((cleanup(submission_end)))

/* Answers with what stopped the candidate. */
static bool refuse(struct submission *submission)
{
    const struct candidate *candidate = &submission->candidate;
    struct js_writer writer =
        answer_error_open(submission->answer, error_of_fault(candidate->fault),
                          *candidate->message ? candidate->message : NULL);
    candidate_write_fault(candidate, &writer);
    answer_end(&writer);
    return false;
}

/* Whoever means to be able to withdraw shall not learn afterwards that he cannot. */
static bool step_withdrawal(struct submission *submission)
{
    const char *hash = request_header(submission->request, WITHDRAW_HEADER);
    submission->withdraw_sha256 = hash;
    if (!hash || review_is_hash(hash))
        return true;
    answer_error(submission->answer, ERROR_BAD_REQUEST,
                 WITHDRAW_HEADER " is 64 lower-case hex digits: the SHA-256 of the code.");
    return false;
}

static bool step_parse(struct submission *submission)
{
    const struct buffer *text = &submission->request->body.data;
    return candidate_parse(&submission->candidate, text->data, text->size) || refuse(submission);
}

static bool step_nonce(struct submission *submission)
{
    static const char *const why[] = {
        [NONCE_EXPIRED] = "The nonce has expired. Fetch a new one and submit again.",
        [NONCE_FUTURE] = "The nonce is from the future.",
        [NONCE_FOREIGN] = "The nonce was not issued by this service.",
    };
    const struct js_value *nonce = js_get(&submission->candidate.document.root, "nonce");
    if (!nonce || nonce->type != JS_STRING) {
        answer_error(submission->answer, ERROR_INVALID_NONCE,
                     "The run has no nonce. Fetch one from /api/bench/nonce.");
        return false;
    }
    enum nonce_verdict verdict =
        nonce_check(&submission->service->nonces, nonce->text, nonce->size, submission->now_ms);
    if (verdict != NONCE_GOOD) {
        answer_error(submission->answer, ERROR_INVALID_NONCE, why[verdict]);
        return false;
    }
    sha256_hex(nonce->text, nonce->size, submission->nonce_sha256);
    return true;
}

static bool step_digest(struct submission *submission)
{
    return candidate_digest(&submission->candidate) || refuse(submission);
}

static bool step_judge(struct submission *submission)
{
    const struct service *service = submission->service;
    return candidate_judge(&submission->candidate, &service->policy, service->answers,
                           (double)submission->now_ms) ||
           refuse(submission);
}

static bool step_publish(struct submission *submission)
{
    return candidate_publish(&submission->candidate, (double)submission->now_ms) ||
           refuse(submission);
}

/* False when the published file holds what the dataset's host would decline. */
static bool look_for_bait(struct submission *submission)
{
    bool fine = candidate_bait(&submission->candidate);
    submission->suspect = submission->candidate.bait.level == BAIT_SUSPECT;
    return fine || refuse(submission);
}

static struct outcome *make_outcome(const struct submission *submission, const char *path)
{
    struct outcome *outcome = memory_grow(NULL, sizeof *outcome);
    *outcome = (struct outcome){.flagged = submission->candidate.publication.flagged};
    snprintf(outcome->path, sizeof outcome->path, "%s", path);
    snprintf(outcome->run_id, sizeof outcome->run_id, "%s", submission->run_id);
    snprintf(outcome->submitted_digest, sizeof outcome->submitted_digest, "%s",
             submission->submitted_digest);
    snprintf(outcome->digest, sizeof outcome->digest, "%s",
             submission->candidate.publication.digest);
    snprintf(outcome->at, sizeof outcome->at, "%s", submission->at);
    return outcome;
}

/* Sends the connection to sleep. False when the service ends and waits for nobody: the request has
 * its answer. */
static bool sleep_on(struct submission *submission, const char *path, bool joined)
{
    struct request *request = submission->request;
    int64_t wait_ms = submission->service->config->limits.submit_wait_ms;
    if (!request_wait(request, clock_monotonic_ms() + wait_ms)) {
        answer_error_retry(submission->answer, ERROR_STORE_UNAVAILABLE, NULL, RETRY_SOON_S);
        return false;
    }
    request->outcome = make_outcome(submission, path);
    request->outcome->joined = joined;
    return true;
}

/* The body is not needed while its run waits. */
static void forget_body(struct request *request)
{
    body_drain(&request->body);
    request_account(request);
}

/* The same submission is on its way: it is not accepted before it is durable, so this one waits for
 * the same commit. */
static void join(struct submission *submission, const struct run_state *state)
{
    static const struct change_result gone = {.outcome = CHANGE_DUPLICATE};
    struct request *request = submission->request;
    if (!sleep_on(submission, state->path, true))
        return;
    if (!store_join(submission->service->store, submission->run_id, waiting_done, request->waiting))
        waiting_done(request->waiting, &gone);
    forget_body(request);
}

/* Other instances are asked first: what they hold is not in this store yet. */
static bool reserve(struct submission *submission)
{
    struct service *service = submission->service;
    if (!service->shared)
        return true;
    shared_nonce_of(submission->nonce_sha256, submission->run_id, submission->submitted_digest,
                    &submission->shared_nonce);
    switch (shared_reserve(service->shared, &submission->shared_nonce)) {
    case SHARED_YES:
        return true;
    case SHARED_NO:
        answer_error(submission->answer, ERROR_NONCE_USED, NULL);
        return false;
    case SHARED_AWAY:
        break;
    }
    answer_error_retry(submission->answer, ERROR_STORE_UNAVAILABLE, NULL, RETRY_SOON_S);
    return false;
}

static void unreserve(struct submission *submission)
{
    if (submission->service->shared)
        shared_release(submission->service->shared, &submission->shared_nonce, false);
}

/* The claimed run comes to nothing. */
static void release(struct submission *submission)
{
    store_release(submission->service->store, submission->run_id);
    unreserve(submission);
}

static bool claim(struct submission *submission)
{
    struct run_state state = {0};
    switch (store_claim(submission->service->store, submission->run_id,
                        submission->candidate.publication.path, submission->submitted_digest,
                        submission->nonce_sha256, &state)) {
    case CLAIM_GRANTED:
        return true;
    case CLAIM_NONCE_USED:
        answer_error(submission->answer, ERROR_NONCE_USED, NULL);
        return false;
    case CLAIM_DUPLICATE:
        if (state.status == RUN_QUEUED && !state.durable &&
            !strcmp(state.submitted_digest, submission->submitted_digest))
            join(submission, &state);
        else
            outcome_duplicate(submission->service, submission->answer, &state,
                              submission->submitted_digest);
        run_state_free(&state);
        return false;
    case CLAIM_DECLINED:
        outcome_declined(submission->answer, OUTCOME_BY_HOST, state.path, NULL);
        run_state_free(&state);
        return false;
    case CLAIM_CLOSED:
        answer_error_retry(submission->answer, ERROR_STORE_UNAVAILABLE, NULL, RETRY_DOWN_S);
        return false;
    }
    return false;
}

static bool step_claim(struct submission *submission)
{
    const struct js_value *id = submission->candidate.verdict.identity->run_id;
    const struct js_value *digest = js_get(&submission->candidate.document.root, "digest");
    submission->run_id = arena_copy(&submission->candidate.arena, id->text, id->size);
    submission->submitted_digest =
        arena_copy(&submission->candidate.arena, digest->text, digest->size);
    if (!reserve(submission))
        return false;
    if (claim(submission))
        return true;
    unreserve(submission);
    return false;
}

/* What the host would refuse never becomes part of a commit: there it would hold up everybody's. The
 * nonce is given back, as with every refusal that comes before the store has the run. */
static bool step_bait(struct submission *submission)
{
    struct request *request = submission->request;
    if (!look_for_bait(submission)) {
        release(submission);
        admission_fine(submission->service, &request->client);
        return false;
    }
    submission->suspect |= admission_suspects(submission->service, &request->client);
    return true;
}

static bool step_budget(struct submission *submission)
{
    int64_t retry_s = 0;
    submission->charged_ms = clock_monotonic_ms();
    if (admission_charge(submission->service, submission->candidate.publication.flagged,
                         submission->candidate.publication.bytes.size, submission->charged_ms,
                         &retry_s))
        return true;
    release(submission);
    answer_error_retry(submission->answer, ERROR_BUSY, NULL, retry_s);
    return false;
}

static void commit(struct submission *submission)
{
    struct request *request = submission->request;
    const struct publication *publication = &submission->candidate.publication;
    struct buffer codes BUFFER_SCOPE = {0}, judgement BUFFER_SCOPE = {0};
    struct js_writer writer = {.out = &codes};
    verdict_write_codes(&submission->candidate.verdict, &writer);
    runs_judgement(&submission->candidate.verdict, &judgement);
    buffer_add(&request->outcome->judgement, judgement.data, judgement.size);
    const struct change change = {
        .run_id = submission->run_id,
        .path = publication->path,
        .bytes = publication->bytes.data,
        .bytes_size = publication->bytes.size,
        .entry = publication->entry.data,
        .entry_size = publication->entry.size,
        .flagged = publication->flagged,
        .at = submission->at,
        .digest = publication->digest,
        .submitted_digest = submission->submitted_digest,
        .rules = submission->candidate.verdict.rules_version,
        .flags = buffer_string(&codes),
        .nonce_sha256 = submission->nonce_sha256,
        .withdraw_sha256 = submission->withdraw_sha256,
        .suspect = submission->suspect,
    };
    const struct handover_facts facts = {.request_id = request->id,
                                         .judgement = &judgement,
                                         .charged_ms = submission->charged_ms,
                                         .client = request->client,
                                         .nonce = submission->shared_nonce};
    handovers_commit(submission->service->handovers, &change, request->waiting, &facts);
}

/* Hands the run to the store and the connection to sleep; that first, because the store may be done
 * before it returns. */
static bool step_commit(struct submission *submission)
{
    if (sleep_on(submission, submission->candidate.publication.path, false)) {
        commit(submission);
        forget_body(submission->request);
        return true;
    }
    release(submission);
    admission_refund(submission->service, submission->candidate.publication.flagged,
                     submission->candidate.publication.bytes.size, submission->charged_ms);
    return false;
}

static bool step_describe(struct submission *submission)
{
    struct js_writer writer = answer_ok_open(submission->answer, 200);
    candidate_write_result(&submission->candidate, &writer);
    answer_end(&writer);
    return true;
}

typedef bool step(struct submission *submission);

static step *const submit_steps[] = {step_withdrawal, step_parse,   step_nonce, step_digest,
                                     step_judge,      step_publish, step_claim, step_bait,
                                     step_budget,     step_commit};
static step *const validate_steps[] = {step_parse,   step_digest,   step_judge,
                                       step_publish, look_for_bait, step_describe};

static void take(struct request *request, struct answer *answer, step *const *steps, size_t count)
{
    SUBMISSION_SCOPE struct submission submission = {.request = request,
                                                     .service = request->service,
                                                     .answer = answer,
                                                     .now_ms = clock_wall_ms()};
    clock_iso(submission.now_ms, submission.at);
    for (size_t i = 0; i < count; i++)
        if (!steps[i](&submission))
            return;
}

void intake_submit(struct request *request, struct answer *answer)
{
    take(request, answer, submit_steps, sizeof submit_steps / sizeof *submit_steps);
}

void intake_validate(struct request *request, struct answer *answer)
{
    take(request, answer, validate_steps, sizeof validate_steps / sizeof *validate_steps);
}
