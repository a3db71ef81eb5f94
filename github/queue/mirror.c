#include "github/queue/mirror.h"

#include <string.h>

#include "github/queue/backlog.h"
#include "github/repository/commit.h"
#include "github/repository/lock.h"

enum { REPLAY_BATCH = 256 };

static bool is_zero(const git_oid *id)
{
    return git_oid_is_zero(id);
}

/* Another process may run a command on the mirror. */
static bool take_lock(const struct mirror *mirror, struct lock *lock, struct store_error *error)
{
    return lock_take(mirror->repository->path, LOCK_COMMIT, lock_wait_long, NULL, lock, error);
}

/* Readers know of it before anybody hears that his run is there. */
static void show_landed(struct mirror *mirror)
{
    mirror->landed_moved(mirror->context, &mirror->landed.tip);
}

/* Queues what the head is ahead of the landed dataset and the queue does not know, and claims it. */
static bool recall(struct mirror *mirror, bool *parked, struct store_error *error)
{
    struct pending *list = NULL;
    *parked = false;
    if (git_oid_equal(&mirror->head.tip, &mirror->landed.tip))
        return true;
    if (!backlog_read(&mirror->landed, &mirror->head.tip, &list, error))
        return false;
    struct queued *cursor = mirror->queue.first;
    for (struct pending *item = list; item; item = item->next) {
        const struct change *change = &item->change;
        *parked |= change->kind == CHANGE_RUN &&
                   park_find(mirror->park, change->run_id, change->submitted_digest, NULL, NULL);
        if (queue_find(&mirror->queue, &cursor, change->run_id))
            continue;
        queue_add(&mirror->queue, item);
        catalogue_reclaim(mirror->catalogue, change);
    }
    backlog_free(list);
    return true;
}

/* A branch that is not where we put it: a reference that was written although that failed, or a
 * command that committed here. Its runs are ours to push. */
static bool take_in_head(struct mirror *mirror, struct store_error *error)
{
    git_oid tip;
    bool parked;
    if (!mirror->open || mirror->outdated)
        return true;
    if (!repository_tip(mirror->repository, &tip, error))
        return false;
    return git_oid_equal(&tip, &mirror->head.tip) ||
           (dataset_follow(&mirror->head, &tip, error) && recall(mirror, &parked, error));
}

/* Killed between moving the branch and noting what it stands on: that was noted before. */
static void complete_move(struct mirror *mirror)
{
    git_oid tip, remote, next;
    if (!repository_tip(mirror->repository, &tip, NULL))
        return;
    bool noted =
        repository_reference(mirror->repository, MIRROR_REMOTE, &remote, NULL) == REPOSITORY_FOUND;
    if ((!noted || !repository_descends(mirror->repository, &tip, &remote)) &&
        repository_reference(mirror->repository, MIRROR_NEXT, &next, NULL) == REPOSITORY_FOUND &&
        repository_descends(mirror->repository, &tip, &next))
        (void)repository_point(mirror->repository, MIRROR_REMOTE, &next, NULL);
}

static bool open_datasets(struct mirror *mirror, struct store_error *error)
{
    git_oid tip;
    bool parked = false;
    complete_move(mirror);
    if (!dataset_open(&mirror->landed, error) || !repository_tip(mirror->repository, &tip, error))
        return false;
    if (!is_zero(&mirror->landed.tip) &&
        !repository_descends(mirror->repository, &tip, &mirror->landed.tip))
        return error_set(
            error,
            "the branch of %s stands neither on " MIRROR_REMOTE " nor on " MIRROR_NEXT
            ": it was changed by hand. Its queued runs are in it: find the commit of the "
            "remote that they stand on, and put " MIRROR_NEXT " there",
            mirror->repository->path);
    if (!park_open(mirror->repository, &mirror->park, error))
        return false;
    dataset_start_at(&mirror->head, &mirror->landed);
    if (!dataset_follow(&mirror->head, &tip, error) || !recall(mirror, &parked, error))
        return false;
    mirror->open = true;
    mirror->outdated = parked;
    show_landed(mirror);
    return true;
}

bool mirror_start(struct mirror *mirror, const struct mirror_options *options,
                  struct store_error *error)
{
    *mirror = (struct mirror){.repository = options->dataset->repository,
                              .catalogue = options->dataset->catalogue,
                              .licence = options->licence,
                              .landed_moved = options->landed_moved,
                              .context = options->context,
                              .landed = *options->dataset,
                              .head = *options->dataset};
    queue_begin(&mirror->queue);
    mirror->queue.tell = options->tell;
    mirror->queue.tell_context = options->tell_context;
    mirror->landed.reference = MIRROR_REMOTE;
    mirror->head.silent = true;
    git_oid tip, remote;
    enum repository_found branch =
        repository_reference(mirror->repository, mirror->repository->branch, &tip, error);
    enum repository_found seen =
        repository_reference(mirror->repository, MIRROR_REMOTE, &remote, error);
    if (branch == REPOSITORY_FAULT)
        return false;
    if (seen == REPOSITORY_FAULT) { /* half written: the remote knows it, too */
        if (!repository_forget(mirror->repository, MIRROR_REMOTE, error))
            return false;
        seen = REPOSITORY_ABSENT;
    }
    if (branch == REPOSITORY_ABSENT && seen == REPOSITORY_ABSENT)
        return true;
    if (branch == REPOSITORY_ABSENT && /* killed between the two */
        repository_move(mirror->repository, mirror->repository->branch, NULL, &remote, error) ==
            REPOSITORY_FAILED)
        return false;
    return open_datasets(mirror, error);
}

void mirror_stop(struct mirror *mirror)
{
    queue_free(&mirror->queue, mirror->catalogue);
    backlog_free(mirror->carried);
    park_close(mirror->park);
    dataset_close(&mirror->landed);
    dataset_close(&mirror->head);
}

bool mirror_begin(struct mirror *mirror, const char *branch, const git_oid *tip,
                  struct store_error *error)
{
    git_oid first = *tip;
    struct lock lock LOCK_SCOPE = {-1};
    if (!take_lock(mirror, &lock, error) || !repository_turn(mirror->repository, branch, error))
        return false;
    if (is_zero(tip)) {
        if (!repository_begin(mirror->repository, &mirror->head.author, mirror->licence, &first,
                              error))
            return false;
    } else if (!repository_point(mirror->repository, MIRROR_REMOTE, tip, error)) {
        return false;
    }
    return repository_point(mirror->repository, branch, &first, error) &&
           open_datasets(mirror, error);
}

enum landed { LANDED_NOT, LANDED_SAME, LANDED_OTHER };

/* Whether the landed dataset has a run with this id, and from the same submission. */
static enum landed find_landed(struct mirror *mirror, const char *run_id, const char *submitted,
                               const char *digest)
{
    struct run_state state = {0};
    uint64_t accepted;
    if (!catalogue_holds(mirror->catalogue, run_id) ||
        !catalogue_find(mirror->catalogue, run_id, &state, &accepted))
        return LANDED_NOT;
    /* A run without a ledger line has only the digest of its file. */
    const char *own = *state.submitted_digest ? submitted : digest;
    const char *known = *state.submitted_digest ? state.submitted_digest : state.digest;
    bool same = own && !strcmp(known, own);
    run_state_free(&state);
    return same ? LANDED_SAME : LANDED_OTHER;
}

/* Whether the landed dataset has that decision, or another one in its place. */
static enum landed find_decided(struct mirror *mirror, const char *run_id, uint64_t mark,
                                uint64_t revision, bool own)
{
    struct run_state state = {0};
    uint64_t accepted;
    if (!catalogue_holds(mirror->catalogue, run_id) ||
        !catalogue_find(mirror->catalogue, run_id, &state, &accepted))
        return LANDED_OTHER; /* the run is gone */
    bool same = catalogue_has_decision(mirror->catalogue, run_id, mark);
    bool open = own ? state.status != RUN_WITHDRAWN : state.revision == revision;
    run_state_free(&state);
    return same ? LANDED_SAME : open ? LANDED_NOT : LANDED_OTHER;
}

static enum landed find_item(struct mirror *mirror, const struct queued *item)
{
    return item->kind == CHANGE_RUN
               ? find_landed(mirror, item->run_id, item->submitted_digest, item->digest)
               : find_decided(mirror, item->run_id, item->mark, item->revision, item->own);
}

/* Ends ITEM as what the landed dataset says of it. False: it says nothing. */
static bool end_landed(struct mirror *mirror, struct queued *item, bool same_commit)
{
    struct change_result result = {0};
    enum landed landed = find_item(mirror, item);
    if (landed == LANDED_NOT)
        return false;
    result.outcome = landed == LANDED_SAME           ? CHANGE_COMMITTED
                     : item->kind == CHANGE_DECISION ? CHANGE_STALE
                                                     : CHANGE_DUPLICATE;
    /* Else it was applied again, by somebody else or by us, in another commit. */
    if (landed == LANDED_SAME && same_commit && *item->commit) {
        memcpy(result.commit, item->commit, sizeof result.commit);
        if (item->kind == CHANGE_RUN)
            catalogue_learn(mirror->catalogue, item->run_id, item->commit, NULL);
    }
    queue_end(&mirror->queue, item, mirror->catalogue, &result);
    return true;
}

/* Ends the queued runs that the landed dataset has. */
static void end_all_landed(struct mirror *mirror, bool same_commits)
{
    for (struct queued *item = mirror->queue.first; item;) {
        struct queued *next = item->next;
        (void)end_landed(mirror, item, same_commits);
        item = next;
    }
}

static bool keep_aside(struct mirror *mirror, const struct pending *item, enum run_status status,
                       struct store_error *error)
{
    return park_keep(mirror->park, mirror->repository, &mirror->head.author, item, status, error);
}

/* Whether a decision is to be applied again; the queue says whether the host has declined it. */
static bool stays(struct mirror *mirror, const struct change *change)
{
    struct queued *cursor = mirror->queue.first;
    const struct queued *item = queue_find(&mirror->queue, &cursor, change->run_id);
    return !(item && item->condemned) && find_decided(mirror, change->run_id, change_mark(change),
                                                      change->revision, change->own) == LANDED_NOT;
}

static bool is_declined(struct mirror *mirror, const struct change *change)
{
    struct run_state state;
    if (!park_find(mirror->park, change->run_id, change->submitted_digest, &state, NULL))
        return false;
    run_state_free(&state);
    return state.status == RUN_DECLINED;
}

/* Takes the first item out of *AT. */
static void drop(struct pending **at)
{
    struct pending *item = *at;
    *at = item->next;
    item->next = NULL;
    backlog_free(item);
}

/* Takes out of LIST what is not to be applied again: what the remote has, what is parked, and what
 * now has to be parked because another run got its id. */
static bool sift(struct mirror *mirror, struct pending **list, struct store_error *error)
{
    for (struct pending **at = list; *at;) {
        struct pending *item = *at;
        const struct change *change = &item->change;
        if (change->kind == CHANGE_DECISION) {
            if (stays(mirror, change))
                at = &item->next;
            else
                drop(at);
            continue;
        }
        enum landed landed =
            find_landed(mirror, change->run_id, change->submitted_digest, change->digest);
        bool conflict =
            landed == LANDED_OTHER ||
            (landed == LANDED_NOT &&
             catalogue_spent_elsewhere(mirror->catalogue, change->nonce_sha256, change->run_id));
        if (conflict && !keep_aside(mirror, item, RUN_CONFLICT, error))
            return false;
        if (landed == LANDED_NOT && !conflict && !is_declined(mirror, change)) {
            at = &item->next;
            continue;
        }
        drop(at);
    }
    return true;
}

/* Cuts a batch off the front of *LIST. */
static struct pending *cut(struct pending **list)
{
    struct pending *batch = *list, **end = list;
    for (int i = 0; *end && i < REPLAY_BATCH; i++)
        end = &(*end)->next;
    struct pending *rest = *end;
    *end = NULL;
    *list = rest;
    return batch;
}

/* The dataset that ends where the remote's does; an empty remote has its first commit to come. */
static bool start_on_landed(struct mirror *mirror, struct dataset *dataset,
                            struct store_error *error)
{
    *dataset = mirror->head;
    dataset->ledger = (struct ledger){0};
    dataset->index = NULL;
    dataset_start_at(dataset, &mirror->landed);
    dataset->detached = true;
    if (!is_zero(&dataset->tip))
        return true;
    return repository_begin(mirror->repository, &dataset->author, mirror->licence, &dataset->tip,
                            error) &&
           repository_root(mirror->repository, &dataset->tip, &dataset->root, error);
}

/* Applies LIST, which stays the caller's and in one piece, on DATASET. */
static bool replay(struct dataset *dataset, struct pending *list, struct store_error *error)
{
    bool fine = true;
    for (struct pending *rest = list; fine && rest;) {
        struct pending *batch = cut(&rest);
        fine = dataset_commit(dataset, batch, error);
        while (batch->next)
            batch = batch->next;
        batch->next = rest; /* one piece again */
    }
    return fine;
}

/* What the queue knows of where its runs lie is that of the new branch. */
static void note_places(struct mirror *mirror, const struct pending *list)
{
    struct queued *cursor = mirror->queue.first;
    for (struct queued *item = mirror->queue.first; item; item = item->next)
        item->placed = false;
    for (const struct pending *item = list; item; item = item->next) {
        struct queued *queued = queue_find(&mirror->queue, &cursor, item->change.run_id);
        if (!queued)
            continue;
        queued->placed = true;
        queued->seq = item->result.seq;
        memcpy(queued->commit, item->result.commit, sizeof queued->commit);
    }
}

/* Takes those out of LIST at whose path a replay found a file that nobody told of, and decisions that
 * it could not apply: they cannot stay queued. */
static bool park_duplicates(struct mirror *mirror, struct pending **list, bool *any,
                            struct store_error *error)
{
    *any = false;
    for (struct pending **at = list; *at;) {
        struct pending *item = *at;
        bool stale = item->result.outcome == CHANGE_STALE;
        if (item->result.outcome != CHANGE_DUPLICATE && !stale) {
            at = &item->next;
            continue;
        }
        *any = true;
        if (!stale && !keep_aside(mirror, item, RUN_CONFLICT, error))
            return false;
        drop(at);
    }
    return true;
}

/* Ends what is parked, or was dropped, and therefore no longer on the branch. */
static void end_parked(struct mirror *mirror)
{
    for (struct queued *item = mirror->queue.first; item;) {
        struct queued *next = item->next;
        struct run_state state = {0};
        if (!item->placed && item->kind == CHANGE_DECISION) {
            struct change_result result = {.outcome =
                                               item->condemned ? CHANGE_DECLINED : CHANGE_STALE};
            queue_end(&mirror->queue, item, mirror->catalogue, &result);
        } else if (!item->placed &&
                   park_find(mirror->park, item->run_id, item->submitted_digest, &state, NULL)) {
            struct change_result result = {
                .outcome = state.status == RUN_DECLINED ? CHANGE_DECLINED : CHANGE_DUPLICATE};
            run_state_free(&state);
            queue_end(&mirror->queue, item, mirror->catalogue, &result);
        }
        item = next;
    }
}

/* Takes the queue off the branch; before the landed dataset moves, since it is what that is ahead. */
static bool carry(struct mirror *mirror, struct store_error *error)
{
    mirror->carrying = mirror->carrying ||
                       backlog_read(&mirror->landed, &mirror->head.tip, &mirror->carried, error);
    return mirror->carrying;
}

static void drop_carried(struct mirror *mirror)
{
    backlog_free(mirror->carried);
    mirror->carried = NULL;
    mirror->carrying = false;
}

/* Moves the branch to COMMIT, which stands on what the remote has; that is noted first. A commit that
 * somebody else made here meanwhile is left out: what it could be is made anew. */
static bool move_branch(struct mirror *mirror, const git_oid *commit, struct store_error *error)
{
    struct repository *repository = mirror->repository;
    git_oid tip;
    return (is_zero(&mirror->landed.tip) ||
            repository_point(repository, MIRROR_NEXT, &mirror->landed.tip, error)) &&
           repository_tip(repository, &tip, error) &&
           repository_move(repository, repository->branch, &tip, commit, error) ==
               REPOSITORY_COMMITTED;
}

/* Builds the branch again: what is carried, on what the remote has. */
static bool rebuild(struct mirror *mirror, struct store_error *error)
{
    struct dataset next;
    bool duplicates = true, fine = true;
    while (fine && duplicates) {
        if (!sift(mirror, &mirror->carried, error))
            return false;
        fine = start_on_landed(mirror, &next, error) && replay(&next, mirror->carried, error) &&
               park_duplicates(mirror, &mirror->carried, &duplicates, error);
        if (!fine || duplicates)
            dataset_close(&next);
    }
    if (!fine)
        return false;
    if (!move_branch(mirror, &next.tip, error)) {
        dataset_close(&next);
        return false;
    }
    next.detached = false;
    dataset_close(&mirror->head);
    mirror->head = next;
    note_places(mirror, mirror->carried);
    drop_carried(mirror);
    mirror->outdated = false;
    return true;
}

/* Not a fault when it fails: the remote says the same again when it is asked. */
static void remember_remote(struct mirror *mirror)
{
    (void)repository_point(mirror->repository, MIRROR_REMOTE, &mirror->landed.tip, NULL);
}

static bool settle(struct mirror *mirror, struct store_error *error)
{
    git_oid landed = mirror->landed.tip;
    if (!mirror->outdated)
        return true;
    /* What was read by half is read again before anything is built on it. */
    if (mirror->landed.stale && !dataset_follow(&mirror->landed, &landed, error))
        return false;
    if (!carry(mirror, error))
        return false;
    if (!rebuild(mirror, error))
        return false;
    remember_remote(mirror);
    show_landed(mirror);
    end_all_landed(mirror, false);
    end_parked(mirror);
    return true;
}

bool mirror_settle(struct mirror *mirror, struct store_error *error)
{
    struct lock lock LOCK_SCOPE = {-1};
    if (!take_in_head(mirror, error))
        return false;
    return !mirror->outdated || (take_lock(mirror, &lock, error) && settle(mirror, error));
}

bool mirror_advance(struct mirror *mirror, const git_oid *commit, struct store_error *error)
{
    struct lock lock LOCK_SCOPE = {-1};
    if (!take_lock(mirror, &lock, error))
        return false;
    if (git_oid_equal(commit, &mirror->landed.tip) && !mirror->landed.stale)
        return settle(mirror, error);
    /* A remote that was set back is no place on the way to the head: what was taken out stays out. */
    bool in_front = !mirror->outdated &&
                    repository_descends(mirror->repository, &mirror->head.tip, commit) &&
                    (is_zero(&mirror->landed.tip) ||
                     !repository_descends(mirror->repository, &mirror->landed.tip, commit));
    if (!in_front && !carry(mirror, error))
        return false;
    if (!dataset_follow(&mirror->landed, commit, error)) {
        mirror->outdated = mirror->outdated || mirror->landed.stale;
        if (!mirror->outdated) /* it stays where it was, and the queue grows on */
            drop_carried(mirror);
        return false;
    }
    mirror->outdated = !in_front;
    if (!in_front)
        return settle(mirror, error);
    remember_remote(mirror);
    show_landed(mirror);
    end_all_landed(mirror, true);
    return true;
}

bool mirror_aim(struct mirror *mirror, struct aim aim, git_oid *commit, struct store_error *error)
{
    queue_choose(&mirror->queue, aim);
    if (aim.kind == AIM_ALL) {
        *commit = mirror->head.tip;
        return true;
    }
    const char *prefix = aim.kind == AIM_PLAIN ? queue_prefix(&mirror->queue, aim.count) : "";
    if (*prefix) /* on its way along the branch as it is */
        return git_oid_fromstr(commit, prefix) == 0;
    struct pending *list = NULL;
    struct dataset next;
    struct lock lock LOCK_SCOPE = {-1};
    if (!take_lock(mirror, &lock, error) ||
        !backlog_read(&mirror->landed, &mirror->head.tip, &list, error))
        return false;
    struct queued *cursor = mirror->queue.first;
    for (struct pending **at = &list; *at;) {
        struct pending *item = *at;
        const struct queued *queued = queue_find(&mirror->queue, &cursor, item->change.run_id);
        if (queued && queued->chosen)
            at = &item->next;
        else
            drop(at);
    }
    bool fine = start_on_landed(mirror, &next, error) && replay(&next, list, error);
    if (fine && aim.kind == AIM_EMPTY)
        fine = repository_write(mirror->repository, &next.tip, NULL, 0, &next.author,
                                "bench: does the branch take a commit\n", &next.tip, error);
    if (fine)
        *commit = next.tip;
    dataset_close(&next);
    backlog_free(list);
    return fine;
}

bool mirror_park(struct mirror *mirror, struct store_error *error)
{
    struct pending *list = NULL;
    struct lock lock LOCK_SCOPE = {-1};
    if (!take_lock(mirror, &lock, error) ||
        !backlog_read(&mirror->landed, &mirror->head.tip, &list, error))
        return false;
    bool fine = true;
    struct queued *cursor = mirror->queue.first;
    for (struct pending *item = list; fine && item; item = item->next) {
        const struct queued *queued = queue_find(&mirror->queue, &cursor, item->change.run_id);
        if (queued && queued->condemned && item->change.kind == CHANGE_RUN)
            fine = keep_aside(mirror, item, RUN_DECLINED, error);
    }
    backlog_free(list);
    mirror->outdated = true; /* what is parked leaves the branch */
    return fine && settle(mirror, error);
}

bool mirror_turn(struct mirror *mirror, const char *branch, struct store_error *error)
{
    char old[REPOSITORY_BRANCH_MAX];
    struct lock lock LOCK_SCOPE = {-1};
    if (!take_lock(mirror, &lock, error))
        return false;
    memcpy(old, mirror->repository->branch, sizeof old);
    return repository_point(mirror->repository, branch, &mirror->head.tip, error) &&
           repository_turn(mirror->repository, branch, error) &&
           repository_forget(mirror->repository, old, error);
}
