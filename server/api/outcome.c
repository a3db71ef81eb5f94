#include "server/api/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "server/http/waitroom.h"
#include "server/log.h"
#include "server/receipt/receipt.h"

enum { RETRY_SOON_S = 5, RETRY_DOWN_S = 30 };

void outcome_free(struct outcome *outcome)
{
    if (outcome) {
        buffer_free(&outcome->judgement);
        buffer_free(&outcome->reason);
    }
    free(outcome);
}

/* Whoever brings the accepted run again gets the receipt that he may have missed: the ledger's facts
 * give the same one. */
static void write_receipt(const struct service *service, const struct run_state *state,
                          struct js_writer *writer)
{
    const struct receipt_facts facts = {.run_id = state->run_id,
                                        .submitted_digest = state->submitted_digest,
                                        .digest = state->digest,
                                        .path = state->path,
                                        .accepted_at = state->at};
    if (state->status != RUN_QUEUED || state->durable)
        receipt_write(service->receipts, &facts, writer);
}

void outcome_duplicate(const struct service *service, struct answer *answer,
                       const struct run_state *state, const char *submitted_digest)
{
    const char *accepted = *state->submitted_digest ? state->submitted_digest : state->digest;
    bool same = *submitted_digest && !strcmp(accepted, submitted_digest);
    struct js_writer writer = answer_error_open(
        answer, ERROR_DUPLICATE_RUN, same ? "This run has already been accepted." : NULL);
    js_write_key(&writer, "path");
    js_write_text(&writer, state->path);
    js_write_key(&writer, "same");
    js_write_bool(&writer, same);
    if (same)
        write_receipt(service, state, &writer);
    answer_end(&writer);
}

void outcome_declined(struct answer *answer, const char *reason, const char *path,
                      const char *message)
{
    struct js_writer writer = answer_error_open(answer, ERROR_STORE_DECLINED, message);
    js_write_key(&writer, "reason");
    js_write_text(&writer, reason);
    js_write_key(&writer, "path");
    js_write_text(&writer, path);
    answer_end(&writer);
}

/* What 200 and 202 have in common. */
static void write_accepted(const struct request *request, const struct receipt_facts *facts,
                           struct js_writer *writer)
{
    const struct outcome *outcome = request->outcome;
    js_write_key(writer, "flagged");
    js_write_bool(writer, outcome->flagged);
    js_write_key(writer, "flags");
    js_write_raw(writer, outcome->judgement.data, outcome->judgement.size);
    js_write_key(writer, "path");
    js_write_text(writer, outcome->path);
    receipt_write(request->service->receipts, facts, writer);
}

/* The run was known when its turn came, is in flight no more, or is that of an earlier submission. */
static void answer_overtaken(const struct request *request, struct answer *answer)
{
    struct run_state state = {0};
    bool known = store_find(request->service->store, request->outcome->run_id, NULL, &state);
    if (known && (state.status != RUN_QUEUED || state.durable)) /* else no promise */
        outcome_duplicate(request->service, answer, &state, request->outcome->submitted_digest);
    else
        answer_error_retry(answer, ERROR_STORE_UNAVAILABLE, NULL, RETRY_SOON_S);
    run_state_free(&state);
}

/* Durable here: a promise, though the dataset does not have it yet. */
static void answer_queued(const struct request *request, struct answer *answer)
{
    log_event(LOG_INFO, "queued",
              LOG_FIELDS({"id", request->id}, {"run", request->outcome->run_id},
                         {"path", request->outcome->path}));
    struct js_writer writer = answer_ok_open(answer, 202);
    js_write_key(&writer, "queued");
    js_write_bool(&writer, true);
    const struct receipt_facts facts = {
        request->outcome->run_id, request->outcome->submitted_digest, request->outcome->digest,
        request->outcome->path, request->outcome->at};
    write_accepted(request, &facts, &writer);
    answer_end(&writer);
}

/* A result without a commit: the run was applied again, or another instance brought the same submission,
 * whose ledger line then is the one that counts. */
static void answer_committed(const struct request *request, struct answer *answer,
                             const struct change_result *result)
{
    const struct outcome *outcome = request->outcome;
    struct run_state state = {0};
    struct receipt_facts facts = {outcome->run_id, outcome->submitted_digest, outcome->digest,
                                  outcome->path, outcome->at};
    const char *commit = result->commit;
    if (!*commit &&
        store_find(request->service->store, outcome->run_id, outcome->submitted_digest, &state)) {
        facts = (struct receipt_facts){state.run_id, state.submitted_digest, state.digest,
                                       state.path, state.at};
        commit = state.commit;
    }
    BUFFER_SCOPE struct buffer url = {0};
    struct js_writer writer = answer_ok_open(answer, 200);
    write_accepted(request, &facts, &writer);
    js_write_key(&writer, "url");
    buffer_format(&url, "%s/%s", request->service->config->public_url, facts.path);
    js_write_text(&writer, buffer_string(&url));
    js_write_key(&writer, "commit");
    js_write_text(&writer, commit);
    answer_end(&writer);
    run_state_free(&state);
}

void outcome_answer(const struct request *request, struct answer *answer)
{
    const struct change_result *result = waiting_result(request->waiting);
    if (request->outcome->answer) {
        request->outcome->answer(request, answer);
        return;
    }
    if (!result) {
        /* Not durable yet, so no promise is made. Submitting again finds out: 409 with `same`. */
        answer_error_retry(answer, ERROR_STORE_UNAVAILABLE,
                           "The run was not stored in time. Submit it again to learn its fate.",
                           RETRY_SOON_S);
        return;
    }
    switch (result->outcome) {
    case CHANGE_QUEUED:
        if (request->outcome->joined)
            answer_overtaken(request, answer);
        else
            answer_queued(request, answer);
        return;
    case CHANGE_DECLINED:
        outcome_declined(answer, OUTCOME_BY_HOST, request->outcome->path, NULL);
        return;
    case CHANGE_COMMITTED:
        if (request->outcome->joined)
            answer_overtaken(request, answer);
        else
            answer_committed(request, answer, result);
        return;
    case CHANGE_DUPLICATE:
        answer_overtaken(request, answer);
        return;
    case CHANGE_STALE: /* never of a run */
    case CHANGE_FAILED:
    case CHANGE_QUEUE_FULL:
        answer_error_retry(answer, ERROR_STORE_UNAVAILABLE, NULL, RETRY_DOWN_S);
        return;
    }
}
