#include "server/api/page_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pages/frame.h"
#include "pages/run_page.h"
#include "server/api/making.h"
#include "server/api/pages.h"
#include "server/api/run_history.h"
#include "server/api/runs.h"
#include "server/api/shelf.h"
#include "server/http/request.h"
#include "server/limits/admission.h"
#include "server/log.h"

enum { RETRY_S = 5 };

bool page_run_is_on_board(const struct service *service, const struct run_state *state,
                          const struct verdict *verdict)
{
    char *const *shown = service->config->board_protocols;
    if (state->status != RUN_PUBLISHED)
        return false;
    while (*shown && !js_equals(verdict->identity->protocol, *shown))
        shown++;
    return *shown;
}

/* The page of a file, or NULL when it is no run file by any rule of today. */
static struct content *make_page(const struct service *service, const struct run_state *state,
                                 const struct store_blob *blob)
{
    ARENA_SCOPE struct arena arena = {0};
    BUFFER_SCOPE struct buffer past = {0};
    struct js_document document;
    struct verdict verdict;
    struct history history;
    if (!runs_judge(&arena, service, state, blob, &document, &verdict))
        return NULL;
    run_history_read(&arena, state, text_of(verdict.identity->protocol), &history);
    history_write(&past, &history);
    const struct run_section section = {"history", "History", &past};
    const struct run_place place = {.status = runs_status_name(state->status),
                                    .path = state->path,
                                    .commit = state->commit,
                                    .file_url = arena_format(&arena, "/%s", state->path),
                                    .submitted_at = state->at,
                                    .revision = state->revision,
                                    .on_board = page_run_is_on_board(service, state, &verdict),
                                    .history = &section};
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
    bool first = making_begin(service->making, key);
    struct content *content = first ? NULL : shelf_find(service->run_pages, key);
    if (!content && store_read_run(service->store, state, true, &blob, error)) {
        content = make_page(service, state, &blob);
        if (content)
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
    snprintf(key, sizeof key, "%s;%d;%" PRIu64 ";%s;%zu", blob.id, (int)state->status,
             state->revision, state->commit, state->dropped ? strlen(state->dropped) : 0);
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
    [RUN_WITHDRAWN] =
        {410, "Withdrawn",
         "This run was taken back: it is not on the board, and its file is not shown. The "
         "dataset is a public git repository, though: its history keeps what was published "
         "once, and so do copies of it."},
    [RUN_DECLINED] = {404, "Declined",
                      "The dataset's host does not take this run: it was not published."},
    [RUN_CONFLICT] = {404, "Not published",
                      "Another run with its id or nonce was published first."},
};

/* The page of a run that was taken back, or removed for good (redact). */
static void send_withdrawn(struct answer *answer, const struct run_state *state)
{
    static const struct message redacted = {
        410, "Removed",
        "This run was removed from the dataset for good. Copies of the repository that others made "
        "before may still hold it."};
    ARENA_SCOPE struct arena arena = {0};
    struct history history;
    struct buffer page = {0};
    run_history_read(&arena, state, (struct text){0}, &history);
    const struct history_event *last = history_last(&history);
    bool removed = last && last->event.size == 6 && !memcmp(last->event.data, "redact", 6);
    const struct message *message = removed ? &redacted : &messages[RUN_WITHDRAWN];
    const struct frame frame = {.title = {message->title, strlen(message->title)}};
    frame_open(&page, &frame);
    html_put(&page, "<h1>{}: run <bdi>{}</bdi></h1><p>{}</p><h2>History</h2>",
             html_text(message->title), html_text(state->run_id), html_text(message->text));
    history_write(&page, &history);
    buffer_text(&page, "<p><a href=\"/\">To the board</a></p>");
    frame_close(&page);
    pages_send(answer, message->status, &page);
}

void page_run_message(struct request *request, struct answer *answer, const struct run_state *state,
                      const struct store_error *error)
{
    if (!state) {
        pages_message(answer, 404, "No such run", "No run with this id is known here.");
        return;
    }
    if (error->message[0]) {
        log_event(
            LOG_ERROR, "store cannot be read",
            LOG_FIELDS({"id", request->id}, {"path", state->path}, {"error", error->message}));
        pages_message(answer, 503, "The dataset cannot be read now", "Try again in a moment.");
        return;
    }
    const struct message *message = &messages[state->status];
    if (state->status == RUN_WITHDRAWN)
        send_withdrawn(answer, state);
    else
        pages_message(answer, message->status, message->title, message->text);
}

bool page_run_find(struct request *request, struct answer *answer, struct run_state *state)
{
    char id[RUN_ID_MAX + 1];
    struct service *service = request->service;
    const struct store_error none = {0};
    *state = (struct run_state){0};
    request_parameter(request, 0, id, sizeof id);
    if (!*id || !service->store || !store_find(service->store, id, NULL, state)) {
        page_run_message(request, answer, NULL, &none);
        return false;
    }
    if (state->status == RUN_PUBLISHED || state->status == RUN_QUARANTINED)
        return true;
    page_run_message(request, answer, state, &none);
    run_state_free(state);
    return false;
}

void page_run(struct request *request, struct answer *answer)
{
    struct run_state state;
    struct store_error error = {0};
    bool crowded = false;
    if (!page_run_find(request, answer, &state))
        return;
    struct content *page = find_page(request->service, &state, &crowded, &error);
    if (crowded)
        pages_refuse(answer, ERROR_BUSY, RETRY_S, "Too many readers", "Try again in a moment.");
    else if (page)
        pages_send_content(answer, 200, page);
    else
        page_run_message(request, answer, &state, &error);
    run_state_free(&state);
}
