#include <string.h>

#include "github/queue/sync_state.h"
#include "validator/arena.h"

/* A read right after a write may be stale for half a minute. */
enum { STALE_MS = 35000, CONTRADICTIONS = 5 };

/* The reason of ANSWER under the word of its outcome. */
static void report(struct sync *sync, const struct remote_answer *answer)
{
    static const char *const words[] = {[REMOTE_FINE] = NULL,
                                        [REMOTE_MOVED] = NULL,
                                        [REMOTE_DECLINED] = NULL,
                                        [REMOTE_BRANCH] = NULL,
                                        [REMOTE_REFUSED] = "remote-auth",
                                        [REMOTE_ABSENT] = "remote-down",
                                        [REMOTE_AWAY] = "remote-down",
                                        [REMOTE_STOPPED] = NULL};
    if (words[answer->outcome])
        problems_set(sync->problems, PROBLEM_REMOTE, "%s: %s", words[answer->outcome],
                     answer->reason);
    if (answer->outcome != REMOTE_STOPPED)
        sync_fail(sync);
}

static void note_foreign(struct sync *sync)
{
    if (sync->shared || sync->mirror.landed.foreign == sync->foreign)
        return;
    sync->foreign = sync->mirror.landed.foreign;
    problems_set(sync->problems, PROBLEM_FOREIGN,
                 "another service accepts submissions for this dataset: let them share redis_url, "
                 "or their rates and nonces count apart");
}

/* The remote has COMMIT. */
static bool advance(struct sync *sync, const git_oid *commit)
{
    struct store_error error = {""};
    git_oid before = sync->mirror.landed.tip;
    bool fine = mirror_advance(&sync->mirror, commit, &error);
    if (!git_oid_equal(&before, &sync->mirror.landed.tip))
        sync->landed_ms = sync_now();
    if (fine) {
        problems_clear(sync->problems, PROBLEM_UNREADABLE);
        note_foreign(sync);
    } else {
        problems_set(sync->problems, PROBLEM_UNREADABLE, "%s", error.message);
    }
    return fine;
}

static void begin(struct sync *sync, const char *branch, const git_oid *tip)
{
    struct store_error error = {""};
    if (!mirror_begin(&sync->mirror, branch, tip, &error)) {
        problems_set(sync->problems, PROBLEM_NOT_CLONED, "%s", error.message);
        sync_fail(sync);
        return;
    }
    problems_clear(sync->problems, PROBLEM_NOT_CLONED);
    sync_say(
        sync, STORE_INFO,
        "cloned the remote: runs that an earlier state directory had queued or parked are not in "
        "it");
    sync_recover(sync);
}

/* The first sight: which branch, and whether there is anything at all. */
static void meet(struct sync *sync, const struct remote_answer *answer)
{
    static const git_oid nothing = {{0}};
    if (answer->empty) {
        begin(sync, REPOSITORY_MAIN, &nothing);
        return;
    }
    if (git_oid_is_zero(&answer->tip)) {
        problems_set(sync->problems, PROBLEM_BRANCH,
                     "the remote has branches, but its default branch does not exist: make it one "
                     "that does (git symbolic-ref HEAD refs/heads/NAME)");
        sync_fail(sync);
        return;
    }
    struct store_error error = {""};
    if (!repository_turn(sync->mirror.repository, answer->head, &error)) {
        problems_set(sync->problems, PROBLEM_NOT_CLONED, "%s", error.message);
        sync_fail(sync);
        return;
    }
    sync->fetch = true;
}

/* Our branch is not there any more. Whether the default branch goes on with it is seen once that has
 * been fetched. */
static void miss_branch(struct sync *sync, const struct remote_answer *answer)
{
    const char *ours = sync->mirror.repository->branch;
    if (answer->empty) {
        problems_set(sync->problems, PROBLEM_BRANCH,
                     "the remote is empty, and was not: nothing is pushed to it. Bring it back, or "
                     "move the state directory away to begin anew");
    } else {
        problems_set(
            sync->problems, PROBLEM_BRANCH,
            "%.200s is gone from the remote, whose HEAD points to %.200s: bring the branch "
            "back, or make one that goes on with its history the default branch",
            ours, *answer->head ? answer->head : "nothing");
        sync->fetch = *answer->head && strcmp(answer->head, ours) != 0;
        if (sync->fetch)
            memcpy(sync->turn, answer->head, sizeof sync->turn);
    }
    sync_fail(sync);
}

/* The default branch, fetched: goes over to it when it is ours under another name. */
static void turn_to(struct sync *sync, const git_oid *tip)
{
    struct arena arena ARENA_SCOPE = {0};
    struct store_error error = {""};
    const char *branch = arena_copy(&arena, sync->turn, strlen(sync->turn));
    *sync->turn = '\0';
    if (!git_oid_is_zero(&sync->mirror.landed.tip) &&
        !repository_descends(sync->mirror.repository, tip, &sync->mirror.landed.tip))
        return; /* the problem stands */
    if (!mirror_turn(&sync->mirror, branch, &error)) {
        problems_set(sync->problems, PROBLEM_BRANCH, "%s", error.message);
        return;
    }
    problems_clear(sync->problems, PROBLEM_BRANCH);
    sync_say(
        sync, STORE_WARNING,
        arena_format(&arena, "the remote's default branch goes on as %s: it is followed", branch));
    (void)advance(sync, tip);
}

static void looked(struct sync *sync, struct remote_answer *answer)
{
    if (answer->outcome != REMOTE_FINE) {
        report(sync, answer);
        return;
    }
    if (!sync->mirror.open) {
        problems_clear(sync->problems, PROBLEM_REMOTE);
        sync_recover(sync);
        meet(sync, answer);
        return;
    }
    bool was_empty = git_oid_is_zero(&sync->mirror.landed.tip);
    if (git_oid_is_zero(&answer->tip) && !(was_empty && answer->empty)) {
        miss_branch(sync, answer);
        return;
    }
    problems_clear(sync->problems, PROBLEM_BRANCH);
    if (*answer->head || answer->empty)
        problems_clear(sync->problems, PROBLEM_HEAD);
    else
        problems_set(
            sync->problems, PROBLEM_HEAD,
            "the remote's HEAD points to a branch that does not exist: clones of it check out "
            "nothing. Make ours its default branch (git symbolic-ref HEAD %s)",
            sync->mirror.repository->branch);
    sync->fetch = !git_oid_equal(&answer->tip, &sync->mirror.landed.tip);
    if (sync->fetch) /* whether all is well shows then */
        return;
    problems_clear(sync->problems, PROBLEM_REMOTE);
    problems_clear(sync->problems, PROBLEM_UNREADABLE); /* it was put back as we know it */
    sync_recover(sync);
}

/* Whether what was fetched is what the remote had before we last saw it move, and that was just now: a
 * stale read. Later it has been set back. */
static bool is_stale(struct sync *sync, const git_oid *tip)
{
    const git_oid *landed = &sync->mirror.landed.tip;
    return sync->landed_ms && sync_now() - sync->landed_ms < STALE_MS && !git_oid_is_zero(landed) &&
           !git_oid_equal(tip, landed) && repository_descends(sync->mirror.repository, landed, tip);
}

/* The push says it has moved, the fetch that it has not. One of them may have been answered from the past;
 * when that lasts, something holds its branch (a lock that was left behind). */
static void contradict(struct sync *sync)
{
    sync_fail(sync);
    if (sync->pace.failures >= CONTRADICTIONS)
        problems_set(
            sync->problems, PROBLEM_REMOTE,
            "remote-down: it refuses pushes as if its branch had moved, and it has not: look "
            "for a lock file beside the branch, or a rule that holds it");
}

/* Follows the remote to TIP, unless that is from the past, or of another repository. */
static void adopt(struct sync *sync, const git_oid *tip)
{
    const git_oid *landed = &sync->mirror.landed.tip;
    if (is_stale(sync, tip)) {
        problems_set(
            sync->problems, PROBLEM_REMOTE,
            "remote-down: it shows what it was before the last push; a stale read ends within "
            "half a minute, else it was set back and is followed");
        sync_fail(sync);
        return;
    }
    if (!git_oid_is_zero(landed) && !repository_related(sync->mirror.repository, landed, tip)) {
        problems_set(
            sync->problems, PROBLEM_UNREADABLE,
            "the remote's branch has nothing in common with what it was: another "
            "repository in its place is not filled with our runs. Bring the old one back, or "
            "move the state directory away to begin with the new one");
        sync_fail(sync);
        return;
    }
    if (git_oid_equal(tip, landed) && sync->mirror.queue.count) {
        contradict(sync);
        return;
    }
    if (!git_oid_is_zero(landed) && !repository_descends(sync->mirror.repository, tip, landed))
        sync_say(
            sync, STORE_WARNING,
            "the remote's branch was set back, or its history rewritten: it is followed, runs that "
            "are no longer in it are gone");
    if (!advance(sync, tip)) {
        sync_fail(sync);
        return;
    }
    problems_clear(sync->problems, PROBLEM_REMOTE);
    sync_recover(sync);
    if (sync->mirror.queue.count)
        pace_grew(&sync->pace, sync_now());
}

static void fetched(struct sync *sync, struct remote_answer *answer)
{
    struct store_error error = {""};
    git_oid tip;
    sync->fetch = false;
    sync->look_first = answer->outcome != REMOTE_FINE;
    if (answer->outcome != REMOTE_FINE) {
        *sync->turn = '\0';
        report(sync, answer);
        return;
    }
    if (repository_reference(sync->mirror.repository, REMOTE_FETCHED, &tip, &error) !=
        REPOSITORY_FOUND) {
        problems_set(sync->problems, PROBLEM_UNREADABLE, "%s", error.message);
        sync_fail(sync);
        return;
    }
    if (*sync->turn) {
        turn_to(sync, &tip);
        return;
    }
    if (!sync->mirror.open) {
        begin(sync, sync->mirror.repository->branch, &tip);
        return;
    }
    adopt(sync, &tip);
}

/* What the host says stands in the log and nowhere else. */
static void tell_host(const struct sync *sync, struct buffer *text)
{
    struct arena arena ARENA_SCOPE = {0};
    sync_say(sync, STORE_WARNING,
             arena_format(&arena, "a push was declined: %.2000s", buffer_string(text)));
}

static void declined(struct sync *sync, struct remote_answer *answer)
{
    tell_host(sync, &answer->text);
    size_t named =
        sync->aim.count > 1 ? queue_name(&sync->mirror.queue, buffer_string(&answer->text)) : 0;
    switch (
        trial_declined(&sync->trial, sync->aim, named, queue_chosen_doubted(&sync->mirror.queue))) {
    case TRIAL_DOUBT:
        queue_doubt_chosen(&sync->mirror.queue);
        break;
    case TRIAL_CONDEMN:
        queue_condemn_chosen(&sync->mirror.queue);
        break;
    case TRIAL_FORGIVE:
        queue_forgive(&sync->mirror.queue);
        break;
    case TRIAL_GO_ON:
        break;
    }
    if (!sync->trial.closed) {
        pace_ended(&sync->pace, sync_now(), true);
        sync->pace.hurry = PACE_HURRIED;
        return;
    }
    problems_set(
        sync->problems, PROBLEM_CLOSED,
        "the remote's branch declines every push, also an empty one: look at its rules and "
        "hooks, and for its words in the log; runs are queued");
    sync_fail(sync);
}

/* The next refresh comes in time, so that one which fails is no problem. */
static void refreshed(struct sync *sync, const struct errand *errand,
                      const struct remote_answer *answer)
{
    sync->refreshing = false;
    atomic_fetch_add(answer->outcome == REMOTE_FINE ? &sync->pushes : &sync->failed_pushes, 1);
    if (answer->outcome == REMOTE_FINE)
        sync->fetch = !advance(sync, &errand->commit);
    else if (answer->outcome == REMOTE_MOVED)
        sync->fetch = true;
    else if (answer->outcome != REMOTE_STOPPED)
        sync_say(sync, STORE_WARNING,
                 "the refresh of the summary was not taken by the remote: it is tried again with "
                 "the next one");
}

static void pushed(struct sync *sync, const struct errand *errand, struct remote_answer *answer)
{
    int64_t now = sync_now();
    atomic_fetch_add(answer->outcome == REMOTE_FINE ? &sync->pushes : &sync->failed_pushes, 1);
    if (answer->outcome == REMOTE_FINE || answer->outcome == REMOTE_DECLINED)
        problems_clear(sync->problems, PROBLEM_REMOTE);
    switch (answer->outcome) {
    case REMOTE_FINE:
        trial_taken(&sync->trial, sync->aim);
        if (sync->aim.count >= sync->runs_most && sync->runs_most < SYNC_PUSH_RUNS)
            sync->runs_most *= 2;
        problems_clear(sync->problems, PROBLEM_CLOSED);
        problems_clear(sync->problems, PROBLEM_BRANCH);
        if (!advance(sync, &errand->commit))
            sync->fetch = true;
        sync_recover(sync);
        pace_ended(&sync->pace, now, sync->mirror.queue.count > 0);
        sync->pace.hurry = sync->trial.active ? PACE_HURRIED : PACE_CALM;
        return;
    case REMOTE_MOVED: /* the sooner the next try, the better its chance */
        pace_ended(&sync->pace, now, true);
        sync->pace.hurry = PACE_PROMPT;
        sync->fetch = true;
        return;
    case REMOTE_DECLINED:
        declined(sync, answer);
        return;
    case REMOTE_BRANCH:
        tell_host(sync, &answer->text);
        trial_close(&sync->trial);
        queue_forgive(&sync->mirror.queue);
        problems_set(sync->problems, PROBLEM_CLOSED, "%s", answer->reason);
        sync_fail(sync);
        return;
    case REMOTE_AWAY:
        if (answer->late && sync->aim.count > 1)
            sync->runs_most = sync->aim.count / 2;
        report(sync, answer);
        return;
    case REMOTE_REFUSED:
    case REMOTE_ABSENT:
    case REMOTE_STOPPED:
        report(sync, answer);
        return;
    }
}

void news_take(struct sync *sync, const struct errand *errand, struct remote_answer *answer)
{
    switch (errand->kind) {
    case ERRAND_LOOK:
        looked(sync, answer);
        return;
    case ERRAND_FETCH:
        fetched(sync, answer);
        return;
    case ERRAND_PUSH:
        if (sync->refreshing)
            refreshed(sync, errand, answer);
        else
            pushed(sync, errand, answer);
        return;
    }
}
