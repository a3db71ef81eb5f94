#include "server/api/page_review.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/entry.h"
#include "pages/frame.h"
#include "pages/quarantine_feed.h"
#include "pages/review_case.h"
#include "pages/review_list.h"
#include "pages/run_page.h"
#include "server/api/boardview.h"
#include "server/api/making.h"
#include "server/api/page_run.h"
#include "server/api/pages.h"
#include "server/api/review_query.h"
#include "server/api/run_history.h"
#include "server/api/runs.h"
#include "server/api/shelf.h"
#include "server/http/request.h"
#include "server/limits/admission.h"
#include "validator/digest.h"

enum { RETRY_S = 5, LIST_PAGE = 25 };

/* A page of a run that is being made. Texts live in ARENA. */
struct making_case {
    struct service *service;
    const struct run_state *state;
    struct arena arena;
    struct buffer history, neighbours, form;
};

static void put_neighbours(struct making_case *made, const struct verdict *verdict)
{
    BUFFER_SCOPE struct buffer entry = {0};
    struct neighbours neighbours;
    entry_write(verdict, made->state->status == RUN_QUARANTINED, made->state->path, &entry);
    if (boardview_neighbours(made->service->board, entry.data, entry.size, &made->arena,
                             &neighbours))
        review_put_neighbours(&made->neighbours, &neighbours);
}

static void put_state(struct making_case *made, struct text protocol)
{
    const struct run_state *state = made->state;
    const struct config *config = made->service->config;
    struct history history;
    run_history_read(&made->arena, state, protocol, &history);
    history_write(&made->history, &history);
    const struct review_form form = {.run_id = {state->run_id, strlen(state->run_id)},
                                     .revision = state->revision,
                                     .quarantined = state->status == RUN_QUARANTINED,
                                     .closed =
                                         !*config->maintainers_file || made->service->unbound};
    review_put_form(&made->form, &form);
}

/* The run's page with what a maintainer needs in front. */
static void write_whole(struct making_case *made, const struct verdict *verdict,
                        enum digest_status digest, struct buffer *page)
{
    const struct run_state *state = made->state;
    put_neighbours(made, verdict);
    put_state(made, text_of(verdict->identity->protocol));
    const struct run_section first[] = {{"history", "History", &made->history},
                                        {"neighbours", "Neighbours", &made->neighbours},
                                        {"decide", "Decide", &made->form}};
    const struct run_place place = {.status = runs_status_name(state->status),
                                    .path = state->path,
                                    .commit = state->commit,
                                    .file_url = arena_format(&made->arena, "/%s", state->path),
                                    .submitted_at = state->at,
                                    .revision = state->revision,
                                    .on_board = page_run_is_on_board(made->service, state, verdict),
                                    .heading = "Review of run",
                                    .first = first,
                                    .first_count = sizeof first / sizeof *first};
    run_page_write(page, verdict, digest, &place);
}

/* That of a run whose file the rules of today do not understand: it can be decided about all the same. */
static void write_bare(struct making_case *made, struct buffer *page)
{
    put_state(made, (struct text){0});
    html_put(
        page,
        "<h1>Review of run <bdi>{}</bdi></h1><p>Its <a href=\"/{}\">file</a> is not a run file "
        "by the rules of today.</p><section id=\"history\"><h2>History</h2>{}</section>"
        "<section id=\"decide\"><h2>Decide</h2>{}</section>",
        html_text(made->state->run_id), html_text(made->state->path), html_raw(&made->history),
        html_raw(&made->form));
}

static struct content *make_case(struct service *service, const struct run_state *state,
                                 const struct store_blob *blob)
{
    struct making_case made = {.service = service, .state = state};
    struct js_document document;
    struct verdict verdict;
    struct buffer page = {0};
    size_t size;
    bool judged = runs_judge(&made.arena, service, state, blob, &document, &verdict);
    char *title = arena_format(&made.arena, "Review of %s", state->run_id);
    const struct frame frame = {
        .title = {title, strlen(title)}, .here = "/review", .script = "review.js"};
    frame_open(&page, &frame);
    if (judged)
        write_whole(&made, &verdict, digest_verify(&document).status, &page);
    else
        write_bare(&made, &page);
    frame_close(&page);
    buffer_free(&made.history);
    buffer_free(&made.neighbours);
    buffer_free(&made.form);
    arena_free(&made.arena);
    char *data = buffer_take(&page, &size);
    return content_new(data, size, NULL);
}

/* Everything that the page of a run depends on, digested. */
static bool key_of_case(struct service *service, const struct run_state *state, char key[SHELF_KEY],
                        struct store_error *error)
{
    BUFFER_SCOPE struct buffer parts = {0};
    struct store_blob blob = {0};
    char hex[SHA256_HEX + 1];
    if (!store_read_run(service->store, state, false, &blob, error))
        return false;
    buffer_format(&parts, "%s;%d;%" PRIu64 ";%s;%zu;%" PRIu64, blob.id, (int)state->status,
                  state->revision, state->commit, state->dropped ? strlen(state->dropped) : 0,
                  boardview_version(service->board));
    sha256_hex(buffer_string(&parts), parts.size, hex);
    snprintf(key, SHELF_KEY, "review;%s", hex);
    return true;
}

/* Whether something that is not kept may be made for this client now; else *ANSWER says so. */
static bool may_make(struct request *request, struct answer *answer)
{
    int64_t retry_s = RETRY_S;
    if (!admission_memory(request->service))
        pages_refuse(answer, ERROR_BUSY, retry_s, "Too many readers", "Try again in a moment.");
    else if (!admission_view(request, &retry_s))
        pages_refuse(answer, ERROR_RATE_LIMITED, retry_s, "Too many views at once",
                     "More runs were asked for than can be looked at now. Try again in a moment.");
    else
        return true;
    return false;
}

typedef struct content *(*maker)(struct service *service, const struct run_state *state,
                                 const struct store_blob *blob);

/* What is kept under KEY when another thread has made it meanwhile, or made of the run's file and kept. */
static struct content *make_once(struct service *service, const struct run_state *state,
                                 const char *key, maker make, struct store_error *error)
{
    struct store_blob blob = {0};
    bool first = making_begin(service->making, key);
    struct content *content = first ? NULL : shelf_find(service->run_pages, key);
    if (!content && store_read_run(service->store, state, true, &blob, error)) {
        content = make(service, state, &blob);
        shelf_keep(service->run_pages, key, content);
        store_blob_free(&blob);
    }
    if (first)
        making_end(service->making, key);
    return content;
}

void page_review_run(struct request *request, struct answer *answer)
{
    struct service *service = request->service;
    struct run_state state;
    struct store_error error = {0};
    char key[SHELF_KEY];
    if (!page_run_find(request, answer, &state))
        return;
    bool found = key_of_case(service, &state, key, &error);
    struct content *page = found ? shelf_find(service->run_pages, key) : NULL;
    if (found && !page && may_make(request, answer))
        page = make_once(service, &state, key, make_case, &error);
    if (page)
        pages_send_content(answer, 200, page);
    else if (!answer->status)
        page_run_message(request, answer, &state, &error);
    run_state_free(&state);
}

static struct content *make_card(struct service *service, const struct run_state *state,
                                 const struct store_blob *blob)
{
    ARENA_SCOPE struct arena arena = {0};
    BUFFER_SCOPE struct buffer text = {0};
    struct js_document document, entry;
    struct js_error where;
    struct verdict verdict;
    struct buffer card = {0};
    size_t size;
    if (runs_judge(&arena, service, state, blob, &document, &verdict)) {
        entry_write(&verdict, true, state->path, &text);
        if (js_read(&arena, text.data, text.size, &entry, &where))
            review_card_write(&card, &verdict, &entry.root);
    } else {
        struct history history;
        run_history_read(&arena, state, (struct text){0}, &history);
        review_card_codes(&card, &history);
    }
    char *data = buffer_take(&card, &size);
    return content_new(data, size, NULL);
}

/* One page of the quarantine. */
struct listing {
    struct request *request;
    struct answer *answer;
    struct arena arena;
    struct run_state states[LIST_PAGE + 1]; /* one more than is shown: whether there are more */
    struct content *cards[LIST_PAGE];
    struct review_item items[LIST_PAGE];
    struct review_list list;
    size_t found;
    bool counted; /* as a view */
};

static void listing_close(struct listing *listing)
{
    for (size_t i = 0; i < listing->found; i++)
        run_state_free(&listing->states[i]);
    for (size_t i = 0; i < listing->list.count; i++)
        content_unref(listing->cards[i]);
    arena_free(&listing->arena);
}

/* False and an answer when it would have to be made and may not be now. */
static bool get_card(struct listing *listing, size_t i)
{
    struct service *service = listing->request->service;
    const struct run_state *state = &listing->states[i];
    struct store_blob blob = {0};
    struct store_error error = {0};
    char key[SHELF_KEY];
    if (store_read_run(service->store, state, false, &blob, &error)) {
        snprintf(key, sizeof key, "card;%s", blob.id);
        listing->cards[i] = shelf_find(service->run_pages, key);
        if (!listing->cards[i] && !listing->counted && !may_make(listing->request, listing->answer))
            return false;
        if (!listing->cards[i]) {
            listing->counted = true;
            listing->cards[i] = make_once(service, state, key, make_card, &error);
        }
    }
    if (!listing->cards[i] && error.message[0])
        page_run_message(listing->request, listing->answer, state, &error);
    return !error.message[0];
}

static bool fill_item(struct listing *listing, size_t i)
{
    const struct run_state *state = &listing->states[i];
    struct history *history = arena_clear_take(&listing->arena, 1, sizeof *history);
    struct review_item *item = &listing->items[i];
    listing->list.count = i + 1;
    if (!get_card(listing, i))
        return false;
    run_history_read(&listing->arena, state, (struct text){0}, history);
    *item = (struct review_item){.run_id = {state->run_id, strlen(state->run_id)},
                                 .accepted_at = history->accepted_at,
                                 .last_decided = history_last(history)};
    if (listing->cards[i])
        item->card.data = content_data(listing->cards[i], &item->card.size);
    return true;
}

static void send_list(struct listing *listing, const struct store_quarantine *wanted)
{
    struct review_list *list = &listing->list;
    struct store *store = listing->request->service->store;
    struct buffer page = {0};
    bool fine = true;
    if (store)
        listing->found = store_quarantined(store, wanted, listing->states, &list->all);
    size_t shown = listing->found < LIST_PAGE ? listing->found : LIST_PAGE;
    for (size_t i = 0; fine && i < shown; i++)
        fine = fill_item(listing, i);
    if (!fine)
        return;
    list->items = listing->items;
    if (listing->found > LIST_PAGE)
        list->next = listing->states[LIST_PAGE - 1].accepted;
    review_list_write(&page, list);
    pages_send(listing->answer, 200, &page);
}

void page_review_list(struct request *request, struct answer *answer)
{
    struct listing listing = {.request = request, .answer = answer};
    struct review_query query;
    if (review_query_read(request, LIST_PAGE + 1, 0, &query)) {
        listing.list.flag = query.flag;
        listing.list.decision = query.decision;
        listing.list.rules = request->service->policy.rules;
        listing.list.first = !query.wanted.before;
        send_list(&listing, &query.wanted);
    } else {
        pages_message(answer, 400, "Not a filter",
                      "No flag, decision or place in the list is called that.");
    }
    listing_close(&listing);
}

void page_review_feed(struct request *request, struct answer *answer)
{
    ARENA_SCOPE struct arena arena = {0};
    const struct service *service = request->service;
    const struct store_quarantine wanted = {.most = LIST_PAGE};
    struct run_state states[LIST_PAGE] = {0};
    struct feed_entry entries[LIST_PAGE] = {0};
    struct buffer feed = {0};
    size_t all, size,
        count = service->store ? store_quarantined(service->store, &wanted, states, &all) : 0;
    for (size_t i = 0; i < count; i++) {
        entries[i].run_id = (struct text){states[i].run_id, strlen(states[i].run_id)};
        run_history_read(&arena, &states[i], (struct text){0}, &entries[i].history);
    }
    quarantine_feed_write(&feed, service->config->public_url, entries, count);
    for (size_t i = 0; i < count; i++)
        run_state_free(&states[i]);
    char *data = buffer_take(&feed, &size);
    answer->status = 200;
    answer->type = "application/atom+xml; charset=utf-8";
    answer->content = content_new(data, size, NULL);
    answer->cache_control = "no-cache";
}
