#include "server/api/runs.h"

#include <stdlib.h>
#include <string.h>

#include "server/api/handover.h"
#include "server/api/shelf.h"
#include "server/http/request.h"
#include "validator/calendar.h"

enum { HISTORY_MOST = 200 };

const char *runs_status_name(enum run_status status)
{
    static const char *const names[] = {
        [RUN_QUEUED] = "queued",           [RUN_PUBLISHED] = "published",
        [RUN_QUARANTINED] = "quarantined", [RUN_WITHDRAWN] = "withdrawn",
        [RUN_DECLINED] = "declined",       [RUN_CONFLICT] = "conflict"};
    return names[status];
}

void runs_judgement(const struct verdict *verdict, struct buffer *out)
{
    struct js_writer writer = {.out = out};
    verdict_write_flags(verdict, &writer);
    buffer_format(out, ",\"rulesVersion\":%d", verdict->rules_version);
}

bool runs_judge(struct arena *arena, const struct service *service, const struct run_state *state,
                const struct store_blob *blob, struct js_document *document,
                struct verdict *verdict)
{
    struct policy any = {.rules = rules_known(state->rules) ? state->rules : service->policy.rules,
                         .catalogue = service->policy.catalogue};
    int year, month;
    (void)calendar_read((struct text){state->at, strlen(state->at)}, &any.accepted_ms, &year,
                        &month);
    struct js_error where;
    struct shape_errors errors = {0};
    return js_read(arena, blob->data, blob->size, document, &where) &&
           validate(arena, document, &any, service->answers, verdict, &errors);
}

/* NULL when it is no run file. */
static struct content *judge(const struct request *request, const struct run_state *state,
                             const struct store_blob *blob)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct verdict verdict;
    struct buffer out = {0};
    size_t size;
    if (!runs_judge(&arena, request->service, state, blob, &document, &verdict))
        return NULL;
    runs_judgement(&verdict, &out);
    char *data = buffer_take(&out, &size);
    return content_new(data, size, blob->id);
}

bool runs_is_judged(const struct request *request, const struct run_state *state)
{
    struct service *service = request->service;
    struct store_blob blob = {0};
    struct store_error error = {0};
    if (!store_read_run(service->store, state, false, &blob, &error))
        return true; /* there is nothing to judge */
    struct content *content = shelf_find(service->judgements, blob.id);
    if (content)
        content_unref(content);
    return content != NULL;
}

static struct content *find_judgement(const struct request *request, const struct run_state *state)
{
    struct service *service = request->service;
    struct store_blob blob = {0};
    struct store_error error = {0};
    if (!store_read_run(service->store, state, false, &blob, &error))
        return NULL;
    struct content *content = shelf_find(service->judgements, blob.id);
    if (content || !store_read_run(service->store, state, true, &blob, &error))
        return content;
    content = judge(request, state, &blob);
    if (content)
        shelf_keep(service->judgements, blob.id, content);
    store_blob_free(&blob);
    return content;
}

/* The ledger keeps codes only: they stand in for a run whose file is gone (withdrawn). */
static void write_from_codes(const struct request *request, const struct run_state *state,
                             struct js_writer *writer)
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
    js_write_key(writer, "rulesVersion");
    js_write_number(writer, state->rules ? state->rules : request->service->policy.rules);
}

/* Finds the run, and in JUDGEMENT what only a run in flight has. One that has ended between the two
 * looks is looked up again. */
static bool find_run(const struct request *request, const char *id, struct run_state *state,
                     struct buffer *judgement)
{
    const struct service *service = request->service;
    const char *digest = request_query(request, "digest");
    for (int tries = 0; tries < 2; tries++) {
        *state = (struct run_state){0};
        if (!store_find(service->store, id, digest, state))
            return false;
        if (state->status != RUN_QUEUED || state->durable ||
            handovers_judgement(service->handovers, state->digest, judgement))
            return true;
        run_state_free(state);
    }
    return false; /* claimed, and not handed over yet */
}

/* The flags as objects and the version of their rules. */
static void write_judgement(const struct request *request, const struct run_state *state,
                            const struct buffer *own, struct js_writer *writer)
{
    if (own->size) {
        js_write_raw(writer, own->data, own->size);
        return;
    }
    struct content *content = find_judgement(request, state);
    if (!content) {
        write_from_codes(request, state, writer);
        return;
    }
    size_t size;
    const char *data = content_data(content, &size);
    js_write_raw(writer, data, size);
    content_unref(content);
}

static void write_url(const struct request *request, const struct run_state *state,
                      struct js_writer *writer)
{
    BUFFER_SCOPE struct buffer url = {0};
    buffer_format(&url, "%s/%s", request->service->config->public_url, state->path);
    js_write_key(writer, "url");
    js_write_text(writer, buffer_string(&url));
}

/* The last HISTORY_MOST of LINES, those of the ledger, each an object; how many were left out. */
static size_t write_lines(const char *lines, struct js_writer *writer)
{
    size_t all = 0, left_out = 0;
    for (const char *at = lines; at && (at = strchr(at, '\n')); at++)
        all++;
    for (; lines && all - left_out > HISTORY_MOST; left_out++)
        lines = strchr(lines, '\n') + 1;
    while (lines && *lines) {
        size_t size = strcspn(lines, "\n");
        js_write_raw(writer, lines, size);
        lines += size + (lines[size] == '\n');
    }
    return left_out;
}

/* How it came in, as the first event of its history. */
static void write_accepted(const struct run_state *state, struct js_writer *writer)
{
    js_write_begin(writer, '{');
    js_write_key(writer, "event");
    js_write_text(writer, "accept");
    js_write_key(writer, "at");
    js_write_text(writer, state->at);
    if (state->by) {
        js_write_key(writer, "by");
        js_write_text(writer, state->by);
    }
    js_write_key(writer, "nonce");
    js_write_bool(writer, state->with_nonce);
    js_write_key(writer, "rules");
    js_write_number(writer, state->rules);
    js_write_key(writer, "flags");
    js_write_raw(writer, state->flags ? state->flags : "[]",
                 strlen(state->flags ? state->flags : "[]"));
    js_write_key(writer, "seq");
    js_write_number(writer, (double)state->accepted);
    js_write_end(writer, '}');
}

static void write_history(const struct run_state *state, struct js_writer *writer)
{
    js_write_key(writer, "history");
    js_write_begin(writer, '[');
    if (state->accepted)
        write_accepted(state, writer);
    size_t left_out = write_lines(state->history, writer);
    js_write_end(writer, ']');
    if (left_out) { /* the ledger has them */
        js_write_key(writer, "historyLeftOut");
        js_write_number(writer, (double)left_out);
    }
    if (!state->dropped)
        return;
    js_write_key(writer, "overtaken");
    js_write_begin(writer, '[');
    (void)write_lines(state->dropped, writer);
    js_write_end(writer, ']');
}

static void write_run(const struct request *request, const struct run_state *state,
                      const struct buffer *judgement, struct js_writer *writer)
{
    js_write_key(writer, "runId");
    js_write_text(writer, state->run_id);
    js_write_key(writer, "status");
    js_write_text(writer, runs_status_name(state->status));
    js_write_key(writer, "path");
    js_write_text(writer, state->path);
    if (state->commit[0]) {
        js_write_key(writer, "commit");
        js_write_text(writer, state->commit);
    }
    if (state->status != RUN_DECLINED && state->status != RUN_CONFLICT)
        write_url(request, state, writer);
    js_write_key(writer, "flags");
    write_judgement(request, state, judgement, writer);
    if (state->at[0]) {
        js_write_key(writer, "submittedAt");
        js_write_text(writer, state->at);
    }
    js_write_key(writer, "revision");
    js_write_number(writer, (double)state->revision);
    write_history(state, writer);
}

void runs_write(const struct request *request, const struct run_state *state,
                struct js_writer *writer)
{
    static const struct buffer none;
    write_run(request, state, &none, writer);
}

void runs_status(struct request *request, struct answer *answer)
{
    char id[RUN_ID_MAX + 1];
    struct run_state state;
    BUFFER_SCOPE struct buffer judgement = {0};
    request_parameter(request, 0, id, sizeof id);
    if (!*id || !request->service->store || !find_run(request, id, &state, &judgement)) {
        answer_error(answer, ERROR_UNKNOWN_RUN, NULL);
        return;
    }
    struct js_writer writer = answer_ok_open(answer, 200);
    write_run(request, &state, &judgement, &writer);
    answer_end(&writer);
    run_state_free(&state);
}
