#include "github/rebuild/redact.h"

#include <string.h>

#include "github/change/dataset.h"
#include "github/queue/mirror.h"
#include "github/repository/lock.h"

enum { SUMMARY_ANY = 1 << 30 };

/* What the mirror of a remote is ahead of it by is pushed, and nothing else: the remote is the place. */
static bool check_no_mirror(struct repository *repository, struct store_error *error)
{
    git_oid tip;
    enum repository_found found = repository_reference(repository, MIRROR_REMOTE, &tip, error);
    if (found == REPOSITORY_FOUND)
        return error_set(error,
                         "%s is the mirror of a remote: redact a bare clone of the remote "
                         "and push it",
                         repository->path);
    return found == REPOSITORY_ABSENT;
}

static enum redact_outcome commit_redaction(struct dataset *dataset,
                                            const struct redaction *redaction,
                                            char path[RUN_PATH_MAX + 1],
                                            char commit[COMMIT_HEX + 1], struct store_error *error)
{
    const struct change change = {.kind = CHANGE_DECISION,
                                  .decision = DECISION_REDACT,
                                  .own = true,
                                  .run_id = redaction->run_id,
                                  .at = redaction->at,
                                  .by = redaction->by,
                                  .reason = redaction->reason};
    struct pending *pending = pending_new(&change, NULL, NULL);
    enum redact_outcome outcome = REDACT_FAILED;
    if (dataset_commit(dataset, pending, error)) {
        outcome = pending->result.outcome == CHANGE_COMMITTED ? REDACT_DONE : REDACT_REFUSED;
        memcpy(path, pending->move.from, sizeof pending->move.from);
        memcpy(commit, pending->result.commit, sizeof pending->result.commit);
    }
    if (outcome == REDACT_REFUSED)
        error_set(error, "there is no run %s that could be redacted: %s", redaction->run_id,
                  pending->result.error.message);
    pending_free(pending);
    return outcome;
}

enum redact_outcome redact(const struct redaction *redaction, char path[RUN_PATH_MAX + 1],
                           char commit[COMMIT_HEX + 1], struct store_error *error)
{
    struct repository *repository REPOSITORY_SCOPE = NULL;
    struct lock lock LOCK_SCOPE = {-1};
    enum redact_outcome outcome = REDACT_FAILED;
    if (!repository_open(redaction->dataset, &repository, error) ||
        !check_no_mirror(repository, error) ||
        !lock_take(repository->path, LOCK_COMMIT, lock_wait_long, NULL, &lock, error))
        return REDACT_FAILED;
    struct dataset dataset = {.repository = repository,
                              .catalogue = catalogue_new(),
                              .author = redaction->author,
                              .summary_limit = SUMMARY_ANY};
    if (dataset_open(&dataset, error))
        outcome = commit_redaction(&dataset, redaction, path, commit, error);
    dataset_close(&dataset);
    catalogue_free(dataset.catalogue);
    return outcome;
}
