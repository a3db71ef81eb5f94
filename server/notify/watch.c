#include "server/notify/watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/api/boardview.h"
#include "server/clock.h"
#include "server/file.h"
#include "server/log.h"
#include "server/notify/webhook.h"
#include "server/service.h"
#include "validator/arena.h"
#include "validator/js.h"

/* What may wait in the webhook: less than it holds, so that a page of large bodies does not push others out. */
enum {
    PAGE = 50,
    QUEUED_MOST = 500,
    BYTES_MOST = 2 << 20,
    CURSOR_MOST = 32,
    KEY_ROOM = 24,
    DIGITS_MOST = 15,
    TRY_MS = 60000
};

struct watch {
    struct service *service;
    uint64_t version; /* of the board, when last looked at */
    bool begun;       /* it is known from where on runs are new */
    bool behind;      /* there may be more than there was room for */
    uint64_t told;    /* seq of the last run that the webhook has been given */
    uint64_t kept;    /* what the file says */
    int64_t tried_ms; /* when it could not be written */
};

static char *cursor_path(struct arena *arena, const struct watch *watch, const char *ending)
{
    return arena_format(arena, "%s/webhook.seq%s", watch->service->config->state_dir, ending);
}

static bool read_cursor(const struct watch *watch, uint64_t *seq)
{
    ARENA_SCOPE struct arena arena = {0};
    BUFFER_SCOPE struct buffer text = {0};
    if (!file_read(cursor_path(&arena, watch, ""), CURSOR_MOST, &text))
        return false;
    size_t digits = strspn(buffer_string(&text), "0123456789");
    if (!digits || digits > DIGITS_MOST || digits + 1 != text.size || text.data[digits] != '\n') {
        log_event(LOG_WARN, "what the webhook was told is not known: from now on it is told anew",
                  LOG_FIELDS({"path", cursor_path(&arena, watch, "")}));
        return false;
    }
    *seq = strtoull(buffer_string(&text), NULL, 10);
    return true;
}

/* Not synced: after a crash of the machine some are told again, which a receiver must be able to take. They
 * have the same delivery id, unless something was decided about the run meanwhile. */
static void keep_cursor(struct watch *watch, uint64_t seq)
{
    ARENA_SCOPE struct arena arena = {0};
    const char *fresh = cursor_path(&arena, watch, ".new"), *path = cursor_path(&arena, watch, "");
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool fine = fd >= 0 && dprintf(fd, "%" PRIu64 "\n", seq) > 0;
    if (fd >= 0)
        fine = close(fd) == 0 && fine;
    watch->tried_ms = 0;
    if (fine && rename(fresh, path) == 0) {
        watch->kept = seq;
        return;
    }
    watch->tried_ms = clock_monotonic_ms();
    log_event(LOG_WARN, "cannot remember what the webhook was told", LOG_FIELDS({"path", path}));
}

static uint64_t newest_accepted(const struct service *service)
{
    struct run_state state = {0};
    size_t all;
    size_t count =
        store_quarantined(service->store, &(struct store_quarantine){.most = 1}, &state, &all);
    uint64_t accepted = count ? state.accepted : 0;
    run_state_free(&state);
    return accepted;
}

/* Without a file: what is there when the dataset is first seen is not new. A remote's may not be yet. */
static void begin(struct watch *watch)
{
    if (watch->begun || !boardview_version(watch->service->board))
        return;
    watch->begun = true;
    keep_cursor(watch, watch->told = newest_accepted(watch->service));
}

struct watch *watch_new(struct service *service)
{
    if (!service->webhook || !service->store)
        return NULL;
    struct watch *watch = memory_grow(NULL, sizeof *watch);
    *watch = (struct watch){.service = service, .version = UINT64_MAX};
    watch->begun = read_cursor(watch, &watch->told);
    watch->kept = watch->told;
    begin(watch);
    return watch;
}

void watch_free(struct watch *watch)
{
    free(watch);
}

static void write_address(struct js_writer *writer, const char *key, const char *public_url,
                          const char *folder, const char *name)
{
    BUFFER_SCOPE struct buffer url = {0};
    buffer_format(&url, "%s/%s%s", public_url, folder, name);
    js_write_key(writer, key);
    js_write_text(writer, buffer_string(&url));
}

static void post(const struct service *service, const struct run_state *state)
{
    BUFFER_SCOPE struct buffer body = {0};
    const char *url = service->config->public_url, *flags = state->flags ? state->flags : "[]";
    struct js_writer writer = {.out = &body};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "event");
    js_write_text(&writer, "quarantined");
    js_write_key(&writer, "runId");
    js_write_text(&writer, state->run_id);
    js_write_key(&writer, "path");
    js_write_text(&writer, state->path);
    write_address(&writer, "url", url, "", state->path);
    write_address(&writer, "page", url, "review/", state->run_id);
    js_write_key(&writer, "flags");
    js_write_raw(&writer, flags, strlen(flags));
    js_write_key(&writer, "rulesVersion");
    js_write_number(&writer, state->rules);
    js_write_key(&writer, "submittedAt");
    js_write_text(&writer, state->at);
    js_write_key(&writer, "revision");
    js_write_number(&writer, (double)state->revision);
    js_write_end(&writer, '}');
    char key[RUN_ID_MAX + KEY_ROOM];
    snprintf(key, sizeof key, "%s %" PRIu64, state->run_id, state->revision);
    webhook_post(service->webhook,
                 &(struct webhook_message){
                     .json = body.data, .size = body.size, .key = key, .mark = state->accepted});
}

static bool has_room(const struct watch *watch)
{
    struct webhook_figures figures = webhook_figures(watch->service->webhook);
    return figures.queued < QUEUED_MOST && figures.bytes < BYTES_MOST;
}

static void tell_new(struct watch *watch)
{
    struct run_state states[PAGE] = {0};
    size_t all, count = PAGE;
    while (count == PAGE && has_room(watch)) {
        const struct store_quarantine untold = {
            .most = PAGE, .after = watch->told, .oldest_first = true};
        count = store_quarantined(watch->service->store, &untold, states, &all);
        for (size_t i = 0; i < count; i++) {
            post(watch->service, &states[i]);
            watch->told = states[i].accepted;
            run_state_free(&states[i]);
        }
    }
    watch->behind = count == PAGE;
}

/* A branch that was set back counts its lines anew: what comes from now on is new. */
static void follow_back(struct watch *watch)
{
    struct store_figures figures;
    store_figures(watch->service->store, &figures);
    if (figures.ledger_seq < watch->told)
        keep_cursor(watch, watch->told = figures.ledger_seq);
}

void watch_look(struct watch *watch)
{
    if (!watch)
        return;
    begin(watch);
    if (!watch->begun)
        return;
    uint64_t version = boardview_version(watch->service->board);
    if (version != watch->version || watch->behind) {
        watch->version = version;
        follow_back(watch);
        tell_new(watch);
    }
    uint64_t settled = webhook_figures(watch->service->webhook).mark;
    bool may_try = !watch->tried_ms || clock_monotonic_ms() - watch->tried_ms >= TRY_MS;
    if (settled > watch->kept && settled <= watch->told && may_try)
        keep_cursor(watch, settled);
}
