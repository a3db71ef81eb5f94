#include "server/runs.h"

#include <stdlib.h>
#include <string.h>

#include "server/request.h"

static const char *status_name(enum run_status status)
{
    static const char *const names[] = {[RUN_QUEUED] = "queued",
                                        [RUN_PUBLISHED] = "published",
                                        [RUN_QUARANTINED] = "quarantined",
                                        [RUN_WITHDRAWN] = "withdrawn"};
    return names[status];
}

/* The flags as objects, from the published file: it is judged again, by the same rules. */
static bool write_from_file(const struct request *request, const struct run_state *state,
                            struct js_writer *writer)
{
    static const struct policy any = {0};
    struct store_blob blob = {0};
    struct store_error error = {0};
    if (state->rules != RULES_VERSION ||
        !store_read(request->service->store, state->path, true, &blob, &error))
        return false;
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct js_error where;
    struct verdict verdict;
    struct shape_errors errors = {0};
    bool judged = js_read(&arena, blob.data, blob.size, &document, &where) &&
                  validate(&arena, &document, &any, request->service->answers, &verdict, &errors);
    if (judged)
        verdict_write_flags(&verdict, writer);
    store_blob_free(&blob);
    return judged;
}

/* The ledger keeps codes only: they stand in for a run that is not committed yet, or was judged by
 * other rules than today's. */
static void write_from_codes(const struct run_state *state, struct js_writer *writer)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct js_error where;
    const char *text = state->flags ? state->flags : "[]";
    js_write_begin(writer, '[');
    if (js_read(&arena, text, strlen(text), &document, &where) && document.root.type == JS_ARRAY)
        for (uint32_t i = 0; i < document.root.size; i++) {
            if (document.root.items[i].type != JS_STRING)
                continue;
            js_write_begin(writer, '{');
            js_write_key(writer, "code");
            js_write_value(writer, &document.root.items[i]);
            js_write_end(writer, '}');
        }
    js_write_end(writer, ']');
}

static void write_url(const struct request *request, const struct run_state *state,
                      struct js_writer *writer)
{
    BUFFER_SCOPE struct buffer url = {0};
    buffer_format(&url, "%s/%s", request->service->config->public_url, state->path);
    js_write_key(writer, "url");
    js_write_text(writer, buffer_string(&url));
}

static void write_state(const struct request *request, struct answer *answer,
                        const struct run_state *state)
{
    struct js_writer writer = answer_ok_open(answer, 200);
    js_write_key(&writer, "runId");
    js_write_text(&writer, state->run_id);
    js_write_key(&writer, "status");
    js_write_text(&writer, status_name(state->status));
    js_write_key(&writer, "path");
    js_write_text(&writer, state->path);
    if (state->commit[0]) {
        js_write_key(&writer, "commit");
        js_write_text(&writer, state->commit);
    }
    write_url(request, state, &writer);
    js_write_key(&writer, "flags");
    if (state->status == RUN_QUEUED || !write_from_file(request, state, &writer))
        write_from_codes(state, &writer);
    js_write_key(&writer, "rulesVersion");
    js_write_number(&writer, state->rules);
    if (state->at[0]) {
        js_write_key(&writer, "submittedAt");
        js_write_text(&writer, state->at);
    }
    js_write_key(&writer, "revision");
    js_write_number(&writer, (double)state->revision);
    answer_end(&writer);
}

void runs_status(struct request *request, struct answer *answer)
{
    char id[RUN_ID_MAX + 1];
    struct run_state state = {0};
    request_parameter(request, 0, id, sizeof id);
    const char *digest = request_query(request, "digest");
    if (!*id || !request->service->store || !store_find(request->service->store, id, &state)) {
        answer_error(answer, ERROR_UNKNOWN_RUN, NULL);
        return;
    }
    const char *accepted = *state.submitted_digest ? state.submitted_digest : state.digest;
    if (digest && strcmp(digest, accepted) != 0) /* the id is another submission's */
        answer_error(answer, ERROR_UNKNOWN_RUN, NULL);
    else
        write_state(request, answer, &state);
    run_state_free(&state);
}
