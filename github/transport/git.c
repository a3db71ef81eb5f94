#include "github/transport/git.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { OUTPUT_MOST = 256 << 10, GRACE_SECONDS = 2 };

/* Settings that hold for every call. Fetched objects stay in a pack; all that git writes is fsynced,
 * references that `git gc` packs above all: they are the queue. */
static const char *const settings[] = {
    "core.fsync=all",           "gc.auto=0",           "maintenance.auto=false",
    "core.hooksPath=/dev/null", "credential.helper=",  "push.followTags=false",
    "fetch.fsckObjects=true",   "fetch.unpackLimit=1", "http.followRedirects=false",
    "protocol.ext.allow=never", "pack.threads=1",
};

/* What a user of proxies, agents or other certificates has set. */
static const char *const inherited[] = {
    "PATH",     "http_proxy",    "https_proxy",   "HTTPS_PROXY",  "ALL_PROXY", "no_proxy",
    "NO_PROXY", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR"};

void git_word(struct git_call *call, const char *word)
{
    assert(call->word_count + 1 < GIT_WORDS);
    call->words[call->word_count++] = word;
    call->words[call->word_count] = NULL;
}

void git_variable(struct git_call *call, struct arena *arena, const char *name, const char *value)
{
    assert(call->variable_count + 1 < GIT_WORDS);
    if (!value)
        value = getenv(name);
    if (!value)
        return;
    call->environment[call->variable_count++] = arena_format(arena, "%s=%s", name, value);
    call->environment[call->variable_count] = NULL;
}

void git_begin(struct git_call *call, struct arena *arena, const char *mirror, const char *home)
{
    *call = (struct git_call){0};
    git_word(call, "timeout");
    git_word(call, "--signal=KILL");
    git_word(call, call->seconds);
    git_word(call, "git");
    git_word(call, "--git-dir");
    git_word(call, mirror);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        git_word(call, "-c");
        git_word(call, settings[i]);
    }
    for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++)
        git_variable(call, arena, inherited[i], NULL);
    git_variable(call, arena, "HOME", home);
    git_variable(call, arena, "LC_ALL", "C");
    git_variable(call, arena, "GIT_CONFIG_NOSYSTEM", "1");
    git_variable(call, arena, "GIT_TERMINAL_PROMPT", "0");
    git_variable(call, arena, "GIT_ASKPASS", "true");
    git_variable(call, arena, "GIT_SSH_COMMAND",
                 "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5");
}

bool git_run(struct git_call *call, int64_t timeout_ms, const atomic_bool *stop,
             struct child_result *result, struct store_error *error)
{
    snprintf(call->seconds, sizeof call->seconds, "%lld",
             (long long)(timeout_ms / 1000 + GRACE_SECONDS));
    struct child child = {.arguments = call->words,
                          .environment = call->environment,
                          .timeout_ms = timeout_ms,
                          .stop = stop,
                          .output_most = OUTPUT_MOST};
    return child_run(&child, result, error);
}
