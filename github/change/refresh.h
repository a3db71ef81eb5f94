/* What commits past the summary's limit leave behind, brought up to date beside them: index/summary.json, and
 * index/leaderboard.json (spec 03, "Index").
 *
 * Two halves. Making it reads the whole index and takes seconds; it needs no lock, only a handle of its own. Committing
 * it looks whether the entries that it was made of are still there, unchanged, at the tip that it is put on: what came
 * behind them meanwhile does not matter. So whoever commits runs waits for the second half alone. */
#ifndef BENCHLEDGER_GITHUB_CHANGE_REFRESH_H
#define BENCHLEDGER_GITHUB_CHANGE_REFRESH_H

#include <git2.h>
#include <stdbool.h>

#include "github/repository/commit.h"

/* Blobs in the repository; zero: that file stays as it is. */
struct refresh {
    git_oid from; /* the commit whose index it was made of */
    git_oid summary, leaderboard;
    size_t summary_entries;
};

/* LEADERBOARD: the bytes of index/leaderboard.json (empty: it stays), made of the entries at TIP and at most of
 * others that follow them. SUMMARY_MOST: bytes; a summary that would be larger stays as it is. */
bool refresh_make(struct repository *repository, const git_oid *tip,
                  const struct buffer *leaderboard, size_t summary_most, struct refresh *refresh,
                  struct store_error *error);
bool refresh_is_empty(const struct refresh *refresh);

enum refresh_outcome {
    REFRESH_DONE,
    REFRESH_STALE, /* an entry was changed, or others have refreshed the files meanwhile: make it again */
    REFRESH_MOVED,  /* the branch is no longer at PARENT */
    REFRESH_FAILED, /* *ERROR says why */
};
/* One commit on PARENT; BRANCH: moves the branch to it, the caller holds the commit lock. */
enum refresh_outcome refresh_commit(struct repository *repository, const git_oid *parent,
                                    const struct refresh *refresh,
                                    const struct repository_author *author, bool branch,
                                    git_oid *commit, struct store_error *error);

#endif
