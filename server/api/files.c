#include "server/api/files.h"

#include <string.h>

#include "github/store.h"
#include "server/api/shelf.h"
#include "server/clock.h"
#include "server/http/request.h"
#include "server/log.h"

enum { RETRY_S = 5 };
static const int64_t DAY_MS = 24 * 3600 * 1000;

struct content *files_load(struct service *service, const char *path, struct store_error *error)
{
    struct store_blob blob = {0};
    if (!store_read(service->store, path, false, &blob, error))
        return NULL;
    struct content *content = shelf_find(service->files, blob.id);
    store_blob_free(&blob);
    if (content)
        return content;
    blob = (struct store_blob){0};
    if (!store_read(service->store, path, true, &blob, error))
        return NULL;
    content = content_new(blob.data, blob.size, blob.id);
    shelf_keep(service->files, blob.id, content);
    blob.data = NULL; /* the content's now */
    store_blob_free(&blob);
    return content;
}

/* False when there is no such file; the answer then says so. */
static bool answer_file(struct request *request, struct answer *answer, const char *path,
                        const char *cache_control)
{
    struct store_error error = {0};
    struct content *content =
        request->service->store ? files_load(request->service, path, &error) : NULL;
    if (content) {
        answer->status = 200;
        answer->content = content;
        answer->cache_control = cache_control;
        return true;
    }
    if (error.message[0]) {
        log_event(LOG_ERROR, "store cannot be read",
                  LOG_FIELDS({"id", request->id}, {"path", path}, {"error", error.message}));
        answer_error_retry(answer, ERROR_STORE_UNAVAILABLE, "The dataset cannot be read now.",
                           RETRY_S);
    } else {
        answer_error(answer, ERROR_NOT_FOUND, NULL);
    }
    return false;
}

void files_index(struct request *request, struct answer *answer)
{
    /* The route's pattern has let only safe names through, as in all that follows. */
    answer_file(request, answer, request->path + 1, "no-cache");
}

void files_ledger(struct request *request, struct answer *answer)
{
    /* An event of the last moment of a day may be committed after midnight, so yesterday may still
     * grow. */
    char yesterday[32];
    clock_iso(clock_wall_ms() - DAY_MS, yesterday);
    bool past = memcmp(request->match.parameters[0].text, yesterday, 10) < 0;
    answer->type = "application/x-ndjson"; /* a refusal sets its own */
    answer_file(request, answer, request->path + 1, past ? "public, max-age=86400" : "no-cache");
}

/* A run that was taken back is told from one that never was. */
void files_run(struct request *request, struct answer *answer)
{
    if (answer_file(request, answer, request->path + 1, "public, max-age=300") ||
        answer->status != 404 || !request->service->store)
        return;
    char name[RUN_ID_MAX + 8];
    request_parameter(request, 2, name, sizeof name);
    name[strlen(name) - strlen(".json")] = '\0';
    struct run_state state = {0};
    if (!store_find(request->service->store, name, NULL, &state))
        return;
    if (state.status == RUN_WITHDRAWN)
        answer_error(answer, ERROR_WITHDRAWN, NULL);
    run_state_free(&state);
}
