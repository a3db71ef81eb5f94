/* The arguments and the environment that every call of the `git` program has in common.
 *
 * Nothing of the machine's or the user's configuration changes what it does: no system file, a home
 * of its own, no hooks, no prompts, no background work. */
#ifndef BENCHLEDGER_GITHUB_TRANSPORT_GIT_H
#define BENCHLEDGER_GITHUB_TRANSPORT_GIT_H

#include "github/transport/child.h"
#include "validator/arena.h"

enum { GIT_WORDS = 56, GIT_SECONDS = 32 };

struct git_call {
    char seconds[GIT_SECONDS];
    const char *words[GIT_WORDS]; /* arguments, NULL-terminated */
    const char *environment[GIT_WORDS];
    size_t word_count, variable_count;
};

/* `git --git-dir MIRROR` with HOME; texts must outlive the call, those made here live in ARENA. */
void git_begin(struct git_call *call, struct arena *arena, const char *mirror, const char *home);
void git_word(struct git_call *call, const char *word);
/* Adds NAME=VALUE; VALUE NULL: that of our own environment, if it is there. */
void git_variable(struct git_call *call, struct arena *arena, const char *name, const char *value);
/* Runs it, under `timeout`, which ends it also when we are killed before its time is up. */
bool git_run(struct git_call *call, int64_t timeout_ms, const atomic_bool *stop,
             struct child_result *result, struct store_error *error);

#endif
