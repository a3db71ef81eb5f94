#include "github/rebuild/redact.h"

#include <string.h>

#include "github/rebuild/hand.h"

enum { SUMMARY_ANY = 1 << 30 };

static enum redact_outcome commit_redaction(struct hand *hand, const struct redaction *redaction,
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
    if (hand_commit(hand, pending, error)) {
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
    struct hand hand HAND_SCOPE = {0};
    if (!hand_open(&hand, redaction->dataset, &redaction->author, SUMMARY_ANY, error))
        return REDACT_FAILED;
    return commit_redaction(&hand, redaction, path, commit, error);
}
