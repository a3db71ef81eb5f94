#include "server/api/page_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pages/frame.h"
#include "pages/run_page.h"
#include "server/api/files.h"
#include "server/api/making.h"
#include "server/api/pages.h"
#include "server/api/runs.h"
#include "server/api/shelf.h"
#include "server/http/request.h"
#include "server/limits/admission.h"
#include "server/log.h"

enum { NEEDLE_ROOM = RUN_ID_MAX + 16, RETRY_S = 5 };

/* Reads the run's `accept` line in a day of the ledger. */
static bool find_acceptance(struct arena *arena, const char *day, size_t size, const char *run_id,
                            struct js_document *line)
{
    char needle[NEEDLE_ROOM];
    snprintf(needle, sizeof needle, "\"runId\":\"%s\"", run_id);
    const char *at = day, *end = day + size;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((next ? next : end) - at);
        struct js_error error;
        if (memmem(at, length, needle, strlen(needle)) &&
            js_read(arena, at, length, line, &error) &&
            js_equals(js_get(&line->root, "event"), "accept"))
            return true;
        at += length + 1;
    }
    return false;
}

/* How the run came in, as the ledger has it. *FOR_NOW: the ledger could not be read. */
static char *describe_origin(struct arena *arena, struct service *service,
                             const struct run_state *state, bool *for_now)
{
    char path[48];
    struct store_error error = {0};
    struct js_document line;
    if (!state->at[0])
        return arena_format(arena, "before the dataset had a ledger, or by hand");
    snprintf(path, sizeof path, "ledger/%.10s.jsonl", state->at);
    struct content *day = files_load(service, path, &error);
    char *origin = arena_format(arena, "its ledger line is not at hand");
    *for_now = !day;
    size_t size;
    const char *bytes = day ? content_data(day, &size) : NULL;
    if (bytes && find_acceptance(arena, bytes, size, state->run_id, &line)) {
        struct text by = text_of(js_get(&line.root, "by"));
        origin = js_get(&line.root, "nonceSha256")
                     ? arena_format(arena, "sent by a client, with a nonce")
                 : by.size ? arena_format(arena, "imported by %.*s, without a nonce", (int)by.size,
                                          by.data)
                           : arena_format(arena, "imported, without a nonce");
    }
    content_unref(day);
    return origin;
}

static bool is_on_board(const struct service *service, const struct run_state *state,
                        const struct verdict *verdict)
{
    char *const *shown = service->config->board_protocols;
    if (state->status != RUN_PUBLISHED)
        return false;
    while (*shown && !js_equals(verdict->identity->protocol, *shown))
        shown++;
    return *shown;
}

/* The page of a file, or NULL when it is no run file by any rule of today. *FOR_NOW: it is not to be
 * kept. */
static struct content *make_page(struct service *service, const struct run_state *state,
                                 const struct store_blob *blob, bool *for_now)
{
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct verdict verdict;
    if (!runs_judge(&arena, service, blob, &document, &verdict))
        return NULL;
    const struct run_place place = {.status = runs_status_name(state->status),
                                    .path = state->path,
                                    .commit = state->commit,
                                    .file_url = arena_format(&arena, "/%s", state->path),
                                    .submitted_at = state->at,
                                    .origin = describe_origin(&arena, service, state, for_now),
                                    .revision = state->revision,
                                    .on_board = is_on_board(service, state, &verdict)};
    BUFFER_SCOPE struct buffer title = {0};
    run_page_title(&title, &verdict);
    const struct frame frame = {.title = {title.data, title.size}};
    struct buffer page = {0};
    frame_open(&page, &frame);
    run_page_write(&page, &verdict, digest_verify(&document).status, &place);
    frame_close(&page);
    size_t size;
    char *data = buffer_take(&page, &size);
    return content_new(data, size, NULL);
}

/* The page under KEY when another thread has made it meanwhile, or made of the file and kept. */
static struct content *read_page(struct service *service, const struct run_state *state,
                                 const char *key, struct store_error *error)
{
    struct store_blob blob = {0};
    bool for_now = false, first = making_begin(service->making, key);
    struct content *content = first ? NULL : shelf_find(service->run_pages, key);
    if (!content && store_read_run(service->store, state, true, &blob, error)) {
        content = make_page(service, state, &blob, &for_now);
        if (content && !for_now)
            shelf_keep(service->run_pages, key, content);
        store_blob_free(&blob);
    }
    if (first)
        making_end(service->making, key);
    return content;
}

static struct content *find_page(struct service *service, const struct run_state *state,
                                 bool *crowded, struct store_error *error)
{
    struct store_blob blob = {0};
    char key[SHELF_KEY];
    if (!store_read_run(service->store, state, false, &blob, error))
        return NULL;
    snprintf(key, sizeof key, "%s;%d;%" PRIu64 ";%s", blob.id, (int)state->status, state->revision,
             state->commit);
    struct content *content = shelf_find(service->run_pages, key);
    *crowded = !content && !admission_memory(service);
    return content || *crowded ? content : read_page(service, state, key, error);
}

/* What stands in place of a run that is not public, or has no file that could be shown (spec 04: a queued run
 * shows only at /api/bench/runs/ID). */
static const struct message {
    unsigned status;
    const char *title, *text;
} messages[] = {
    [RUN_QUEUED] = {200, "On its way",
                    "This run has been accepted and will be shown when it is in the dataset. "
                    "Reload the page in a "
                    "moment."},
    [RUN_PUBLISHED] =
        {404, "No page for this run",
         "Its file is not a run file by the rules of today, or it is not in the dataset."},
    [RUN_QUARANTINED] =
        {404, "No page for this run",
         "Its file is not a run file by the rules of today, or it is not in the dataset."},
    [RUN_WITHDRAWN] = {410, "Withdrawn", "This run was taken back and is not on the board."},
    [RUN_DECLINED] = {404, "Declined",
                      "The dataset's host does not take this run: it was not published."},
    [RUN_CONFLICT] = {404, "Not published",
                      "Another run with its id or nonce was published first."},
};

static void answer_without_page(struct request *request, struct answer *answer,
                                const struct run_state *state, const struct store_error *error)
{
    if (error->message[0]) {
        log_event(
            LOG_ERROR, "store cannot be read",
            LOG_FIELDS({"id", request->id}, {"path", state->path}, {"error", error->message}));
        pages_message(answer, 503, "The dataset cannot be read now", "Try again in a moment.");
        return;
    }
    const struct message *message = &messages[state->status];
    pages_message(answer, message->status, message->title, message->text);
}

void page_run(struct request *request, struct answer *answer)
{
    char id[RUN_ID_MAX + 1];
    struct service *service = request->service;
    struct run_state state = {0};
    struct store_error error = {0};
    request_parameter(request, 0, id, sizeof id);
    if (!*id || !service->store || !store_find(service->store, id, NULL, &state)) {
        pages_message(answer, 404, "No such run", "No run with this id is known here.");
        return;
    }
    bool public = state.status == RUN_PUBLISHED || state.status == RUN_QUARANTINED, crowded = false;
    struct content *page = public ? find_page(service, &state, &crowded, &error) : NULL;
    if (crowded)
        pages_refuse(answer, ERROR_BUSY, RETRY_S, "Too many readers", "Try again in a moment.");
    else if (page)
        pages_send_content(answer, 200, page);
    else
        answer_without_page(request, answer, &state, &error);
    run_state_free(&state);
}
