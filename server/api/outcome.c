#include "server/api/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "server/http/waitroom.h"

enum { RETRY_SOON_S = 5, RETRY_DOWN_S = 30 };

void outcome_free(struct outcome *outcome)
{
    if (outcome)
        buffer_free(&outcome->judgement);
    free(outcome);
}

static void answer_duplicate(struct answer *answer, const char *path, bool same)
{
    struct js_writer writer = answer_error_open(
        answer, ERROR_DUPLICATE_RUN, same ? "This run has already been accepted." : NULL);
    js_write_key(&writer, "path");
    js_write_text(&writer, path);
    js_write_key(&writer, "same");
    js_write_bool(&writer, same);
    answer_end(&writer);
}

void outcome_duplicate(struct answer *answer, const struct run_state *state,
                       const char *submitted_digest)
{
    const char *accepted = *state->submitted_digest ? state->submitted_digest : state->digest;
    answer_duplicate(answer, state->path, *submitted_digest && !strcmp(accepted, submitted_digest));
}

void outcome_declined(struct answer *answer, const char *reason, const char *path)
{
    struct js_writer writer = answer_error_open(answer, ERROR_STORE_DECLINED, NULL);
    js_write_key(&writer, "reason");
    js_write_text(&writer, reason);
    js_write_key(&writer, "path");
    js_write_text(&writer, path);
    answer_end(&writer);
}

/* What 200 and 202 have in common. */
static void write_accepted(const struct outcome *outcome, struct js_writer *writer)
{
    js_write_key(writer, "flagged");
    js_write_bool(writer, outcome->flagged);
    js_write_key(writer, "flags");
    js_write_raw(writer, outcome->judgement.data, outcome->judgement.size);
    js_write_key(writer, "path");
    js_write_text(writer, outcome->path);
}

static bool answer_joined(const struct outcome *outcome, struct answer *answer,
                          const struct change_result *result)
{
    if (outcome->joined)
        answer_duplicate(answer, outcome->path,
                         !strcmp(result->submitted_digest, outcome->submitted_digest));
    return outcome->joined;
}

/* Durable here: a promise, though the dataset does not have it yet. */
static void answer_queued(const struct request *request, struct answer *answer,
                          const struct change_result *result)
{
    const struct outcome *outcome = request->outcome;
    if (answer_joined(outcome, answer, result))
        return;
    struct js_writer writer = answer_ok_open(answer, 202);
    js_write_key(&writer, "queued");
    js_write_bool(&writer, true);
    write_accepted(outcome, &writer);
    answer_end(&writer);
}

static void answer_committed(const struct request *request, struct answer *answer,
                             const struct change_result *result)
{
    const struct outcome *outcome = request->outcome;
    BUFFER_SCOPE struct buffer url = {0};
    if (answer_joined(outcome, answer, result))
        return;
    struct js_writer writer = answer_ok_open(answer, 200);
    write_accepted(outcome, &writer);
    js_write_key(&writer, "url");
    buffer_format(&url, "%s/%s", request->service->config->public_url, outcome->path);
    js_write_text(&writer, buffer_string(&url));
    js_write_key(&writer, "commit");
    js_write_text(&writer, result->commit);
    answer_end(&writer);
}

/* The run was known when its turn came, or is in flight no more. */
static void answer_overtaken(const struct request *request, struct answer *answer)
{
    struct run_state state = {0};
    bool known = store_find(request->service->store, request->outcome->run_id, NULL, &state);
    if (known && (state.status != RUN_QUEUED || state.durable)) /* else no promise */
        outcome_duplicate(answer, &state, request->outcome->submitted_digest);
    else
        answer_error_retry(answer, ERROR_STORE_UNAVAILABLE, NULL, RETRY_SOON_S);
    run_state_free(&state);
}

void outcome_answer(const struct request *request, struct answer *answer)
{
    const struct change_result *result = waiting_result(request->waiting);
    if (!result) {
        /* Not durable yet, so no promise is made. Submitting again finds out: 409 with `same`. */
        answer_error_retry(answer, ERROR_STORE_UNAVAILABLE,
                           "The run was not stored in time. Submit it again to learn its fate.",
                           RETRY_SOON_S);
        return;
    }
    switch (result->outcome) {
    case CHANGE_QUEUED:
        answer_queued(request, answer, result);
        return;
    case CHANGE_DECLINED:
        outcome_declined(answer, OUTCOME_BY_HOST, request->outcome->path);
        return;
    case CHANGE_COMMITTED:
        answer_committed(request, answer, result);
        return;
    case CHANGE_DUPLICATE:
        answer_overtaken(request, answer);
        return;
    case CHANGE_FAILED:
    case CHANGE_QUEUE_FULL:
        answer_error_retry(answer, ERROR_STORE_UNAVAILABLE, NULL, RETRY_DOWN_S);
        return;
    }
}
