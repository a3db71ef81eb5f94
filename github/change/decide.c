#include "github/change/decide.h"

#include <string.h>

#include "github/repository/source.h"
#include "github/repository/tree.h"
#include "validator/arena.h"

/* OLD with the values that a release changes, in their places. */
static bool release_entry(const struct buffer *old, const char *path, struct buffer *out)
{
    int changed = 0;
    struct arena arena ARENA_SCOPE = {0};
    struct js_document document;
    struct js_error problem;
    if (!js_read(&arena, old->data, old->size, &document, &problem) ||
        document.root.type != JS_OBJECT)
        return false;
    struct js_writer writer = {.out = out};
    js_write_begin(&writer, '{');
    for (uint32_t i = 0; i < document.root.size; i++) {
        const struct js_member *member = &document.root.members[i];
        js_write_value(&writer, &member->key);
        buffer_byte(out, ':');
        bool flagged = js_equals(&member->key, "flagged"), place = js_equals(&member->key, "path");
        changed += flagged || place;
        if (flagged)
            buffer_text(out, "false");
        else if (place)
            js_write_text(&(struct js_writer){.out = out}, path);
        else
            js_print(&document, &member->value, out);
    }
    js_write_end(&writer, '}');
    return changed == 2;
}

/* The present file at PATH, unless the index holds what it is of. */
static bool read_file(struct dataset *dataset, bool held, const char *path, struct buffer *bytes,
                      struct store_error *error)
{
    struct source source = source_commit(dataset->repository, &dataset->tip);
    bytes->size = 0;
    return held || source_read(&source, path, bytes, error) != REPOSITORY_FAULT;
}

/* Looks for the run's entry, in the newest segments first: *SEGMENT is one past the last when there is
 * none. BYTES is that segment's file, if it is needed. */
static bool find_entry(struct dataset *dataset, const char *run_id, size_t *segment,
                       struct buffer *bytes, struct buffer *old, struct store_error *error)
{
    size_t count = index_segments(dataset->index);
    for (size_t i = count; i > 0; i--) {
        char path[INDEX_PATH_MAX];
        index_segment_path(i - 1, path);
        if (!read_file(dataset, index_holds_segment(dataset->index, i - 1), path, bytes, error))
            return false;
        *segment = i - 1;
        if (index_look(dataset->index, i - 1, bytes->data, bytes->size, run_id, old))
            return true;
    }
    *segment = count;
    return true;
}

static bool edit_index(struct dataset *dataset, const struct move *move, size_t segment,
                       const struct buffer *bytes, struct store_error *error)
{
    struct buffer summary BUFFER_SCOPE = {0};
    struct index_problem problem = {""};
    const char *entry = move->entry.size ? move->entry.data : NULL;
    index_save(dataset->index);
    bool fine = index_edit_segment(dataset->index, segment, bytes->data, bytes->size, move->run_id,
                                   entry, move->entry.size, &problem) == INDEX_EDITED &&
                read_file(dataset, index_holds_summary(dataset->index), INDEX_SUMMARY_PATH,
                          &summary, error) &&
                index_edit_summary(dataset->index, summary.size ? summary.data : NULL, summary.size,
                                   move->run_id, entry, move->entry.size, &problem) != INDEX_BROKEN;
    if (!fine && *problem.message)
        error_set(error, "the index cannot be read: %s", problem.message);
    return fine;
}

static void overtake(struct pending *item, const char *why)
{
    item->result.outcome = CHANGE_STALE;
    error_set(&item->result.error, "%s", why);
}

/* Whether the file can go where the decision says; false with an outcome when it cannot. */
static bool plan_move(struct dataset *dataset, struct pending *item, struct store_error *error,
                      bool *fine)
{
    struct move *move = &item->move;
    git_oid other;
    decision_path(item->change.decision, move->from, move->to);
    bool moves = *move->to && strcmp(move->from, move->to) != 0;
    enum tree_kind from =
        tree_look(dataset->repository, &dataset->root, move->from, &move->blob, error);
    enum tree_kind to = TREE_FREE;
    if (moves)
        to = tree_look(dataset->repository, &dataset->root, move->to, &other, error);
    *fine = from != TREE_FAULT && to != TREE_FAULT;
    if (*fine && from != TREE_FILE)
        overtake(item, "The run's file is not where it was.");
    else if (*fine && to != TREE_FREE)
        overtake(item, "Something else lies where the run's file should go.");
    return *fine && item->result.outcome != CHANGE_STALE;
}

/* The run as the dataset has it; false when the decision does not hold any more. */
static bool look_up(struct dataset *dataset, struct pending *item)
{
    struct run_state state = {0};
    uint64_t accepted;
    struct move *move = &item->move;
    buffer_free(&move->entry);
    buffer_free(&move->line);
    *move = (struct move){0};
    item->result = (struct change_result){.outcome = CHANGE_COMMITTED};
    bool holds = catalogue_holds(dataset->catalogue, item->change.run_id) &&
                 catalogue_find(dataset->catalogue, item->change.run_id, &state, &accepted);
    bool fits = holds && decision_fits(item->change.decision, state.status) &&
                (item->change.own || state.revision == item->change.revision);
    if (holds) {
        memcpy(move->run_id, state.run_id, sizeof move->run_id);
        memcpy(move->from, state.path, sizeof move->from);
        move->revision = state.revision;
        run_state_free(&state);
    }
    if (!fits)
        overtake(item, "");
    return fits;
}

bool decide_append(struct dataset *dataset, struct pending *item, struct store_error *error)
{
    struct buffer bytes BUFFER_SCOPE = {0}, old BUFFER_SCOPE = {0};
    struct move *move = &item->move;
    bool fine = true;
    size_t segment = 0;
    if (!look_up(dataset, item) || !plan_move(dataset, item, error, &fine))
        return fine;
    bool withdrawn =
        !strncmp(move->from, "withdrawn/", sizeof "withdrawn/" - 1); /* it has no entry */
    if (strcmp(move->from, move->to) != 0) {
        if (!find_entry(dataset, move->run_id, &segment, &bytes, &old, error))
            return false;
        move->edits = old.size > 0;
        bool ready = move->edits || withdrawn;
        if (ready && item->change.decision == DECISION_RELEASE)
            ready = release_entry(&old, move->to, &move->entry);
        if (!ready) {
            overtake(item, "The index does not list the run as this service writes it. "
                           "`benchledger index` makes it anew.");
            return true;
        }
        if (move->edits && !edit_index(dataset, move, segment, &bytes, error))
            return false;
    }
    struct ledger_event event = pending_event(item);
    item->result.seq = ledger_append(&dataset->ledger, &event, &move->line);
    return true;
}
