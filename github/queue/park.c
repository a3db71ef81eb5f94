#include "github/queue/park.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "github/change/ledger.h"
#include "github/change/table.h"
#include "github/repository/commit.h"
#include "validator/arena.h"
#include "validator/js.h"

#define EVENT_PATH "event.json"
static const char parked_prefix[] = "refs/parked/";

static const struct kind {
    enum run_status status;
    const char *name;
} kinds[] = {{RUN_DECLINED, "declined"}, {RUN_CONFLICT, "conflict"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The runs of one id, the last one parked first. */
struct parked {
    struct parked *next;
    struct run_state state; /* owns its flags */
    git_oid blob;
};
struct parked_id {
    struct table_item item; /* keyed by the run id */
    struct parked *first;
};

struct park {
    pthread_mutex_t mutex;
    struct table ids;
    size_t count;
};

static void free_id(struct table_item *item)
{
    struct parked *parked = ((struct parked_id *)item)->first;
    while (parked) {
        struct parked *next = parked->next;
        run_state_free(&parked->state);
        free(parked);
        parked = next;
    }
}

static void set_text(char *field, size_t room, const char *text)
{
    snprintf(field, room, "%s", text ? text : "");
}

/* Of a run that was imported, which nobody submitted: that of its file. */
static const char *own_digest(const struct change *change)
{
    return change->submitted_digest ? change->submitted_digest : change->digest;
}

static void note(struct park *park, const struct change *change, enum run_status status,
                 const git_oid *blob)
{
    struct parked *parked = memory_grow(NULL, sizeof *parked);
    *parked = (struct parked){.blob = *blob};
    struct run_state *state = &parked->state;
    state->status = status;
    state->durable = true;
    state->rules = change->rules;
    set_text(state->run_id, sizeof state->run_id, change->run_id);
    set_text(state->path, sizeof state->path, change->path);
    set_text(state->digest, sizeof state->digest, change->digest);
    set_text(state->submitted_digest, sizeof state->submitted_digest, own_digest(change));
    set_text(state->at, sizeof state->at, change->at);
    state->flags = strdup(change->flags ? change->flags : "[]");
    char key[TABLE_KEY_MAX + 1];
    table_run_key(change->run_id, strlen(change->run_id), key);
    pthread_mutex_lock(&park->mutex);
    struct table_item *found = table_find(&park->ids, key);
    struct parked_id *id = (struct parked_id *)(found ? found : table_add(&park->ids, key));
    parked->next = id->first;
    id->first = parked;
    park->count++;
    pthread_mutex_unlock(&park->mutex);
}

static char *string_of(struct arena *arena, const struct js_value *root, const char *name)
{
    const struct js_value *value = js_get(root, name);
    return value && value->type == JS_STRING ? arena_copy(arena, value->text, value->size) : NULL;
}

/* False when COMMIT is nothing that we parked. */
static bool read_parked(struct park *park, struct repository *repository, const git_oid *commit,
                        enum run_status status, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer bytes BUFFER_SCOPE = {0}, flags BUFFER_SCOPE = {0};
    struct js_document document;
    struct js_error problem;
    git_oid blob;
    if (repository_content(repository, commit, EVENT_PATH, NULL, &bytes, error) !=
            REPOSITORY_FOUND ||
        !js_read(&arena, buffer_string(&bytes), bytes.size, &document, &problem))
        return false;
    const struct js_value *root = &document.root, *codes = js_get(root, "flags"),
                          *rules = js_get(root, "rules");
    struct change change = {.run_id = string_of(&arena, root, "runId"),
                            .path = string_of(&arena, root, "path"),
                            .digest = string_of(&arena, root, "digest"),
                            .submitted_digest = string_of(&arena, root, "submittedDigest"),
                            .at = string_of(&arena, root, "at"),
                            .rules = rules && rules->type == JS_NUMBER ? (int)rules->number : 0};
    if (codes && codes->type == JS_ARRAY) {
        js_print(&document, codes, &flags);
        change.flags = buffer_string(&flags);
    }
    if (!change.run_id || !change.path || !change.digest ||
        repository_find(repository, commit, change.path, &blob, error) != REPOSITORY_FOUND)
        return false;
    note(park, &change, status, &blob);
    return true;
}

static bool read_all(struct park *park, struct repository *repository, const struct kind *kind,
                     struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    git_reference_iterator *iterator = NULL;
    git_reference *reference = NULL;
    const char *glob = arena_format(&arena, "%s%s/*", parked_prefix, kind->name);
    if (git_reference_iterator_glob_new(&iterator, repository->git, glob))
        return error_git(error, "cannot list what is parked in %s", repository->path);
    while (git_reference_next(&reference, iterator) == 0) {
        const git_oid *commit = git_reference_target(reference);
        if (commit) /* what somebody else put there is his */
            (void)read_parked(park, repository, commit, kind->status, error);
        git_reference_free(reference);
    }
    git_reference_iterator_free(iterator);
    return true;
}

bool park_open(struct repository *repository, struct park **out, struct store_error *error)
{
    struct park *park = memory_grow(NULL, sizeof *park);
    *park = (struct park){0};
    pthread_mutex_init(&park->mutex, NULL);
    table_begin(&park->ids, sizeof(struct parked_id), free_id);
    for (size_t i = 0; i < KINDS; i++)
        if (!read_all(park, repository, &kinds[i], error)) {
            park_close(park);
            return false;
        }
    *out = park;
    return true;
}

void park_close(struct park *park)
{
    if (!park)
        return;
    table_free(&park->ids);
    pthread_mutex_destroy(&park->mutex);
    free(park);
}

static const char *name_of(enum run_status status)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].status == status)
            return kinds[i].name;
    return "";
}

bool park_keep(struct park *park, struct repository *repository,
               const struct repository_author *author, const struct pending *pending,
               enum run_status status, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer event BUFFER_SCOPE = {0};
    const struct change *change = &pending->change;
    struct ledger_event line = pending_event(pending);
    ledger_print_event(&line, &event);
    struct repository_file files[] = {
        {.path = change->path, .blob = &pending->blob},
        {.path = EVENT_PATH, .bytes = event.data, .size = event.size},
    };
    const char *name =
        arena_format(&arena, "%s%s/%s", parked_prefix, name_of(status), own_digest(change));
    const char *message =
        arena_format(&arena, "bench: park run %s (%s)\n", change->run_id, name_of(status));
    git_oid commit;
    if (park_find(park, change->run_id, own_digest(change), NULL, NULL))
        return true;
    if (!repository_write(repository, NULL, files, 2, author, message, &commit, error) ||
        repository_move(repository, name, NULL, &commit, error) == REPOSITORY_FAILED)
        return false;
    note(park, change, status, &pending->blob);
    return true;
}

bool park_find(struct park *park, const char *run_id, const char *digest, struct run_state *state,
               git_oid *blob)
{
    char key[TABLE_KEY_MAX + 1];
    table_run_key(run_id, strlen(run_id), key);
    pthread_mutex_lock(&park->mutex);
    const struct parked_id *id = (const struct parked_id *)table_find(&park->ids, key);
    const struct parked *parked = id ? id->first : NULL;
    while (parked && digest && strcmp(parked->state.submitted_digest, digest))
        parked = parked->next;
    if (parked && state) {
        *state = parked->state;
        state->flags = strdup(parked->state.flags);
    }
    if (parked && blob)
        *blob = parked->blob;
    pthread_mutex_unlock(&park->mutex);
    return parked != NULL;
}

size_t park_count(struct park *park)
{
    pthread_mutex_lock(&park->mutex);
    size_t count = park->count;
    pthread_mutex_unlock(&park->mutex);
    return count;
}
