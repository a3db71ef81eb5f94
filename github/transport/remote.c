#include "github/transport/remote.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "github/repository/files.h"
#include "github/transport/git.h"
#include "validator/arena.h"

enum { FETCH_TIMES = 10, LINES_MOST = 1000, SECRET_FORMS = 2 };

struct remote {
    struct arena arena; /* of the texts below */
    const char *url, *mirror, *home, *ca_file;
    const char *secrets[SECRET_FORMS]; /* forms of the token, "": none */
    const char *authorization;         /* the header's value; NULL: none is sent */
    int64_t timeout_ms;
    const atomic_bool *stop;
};

/* What git and hosts say when something is wrong: the first row whose words are all there decides.
 * REMEDY says what to do. */
static const struct saying {
    const char *words[2];
    enum remote_outcome outcome;
    const char *remedy;
} sayings[] = {
    {{"certificate", NULL},
     REMOTE_AWAY,
     "its certificate cannot be verified: set git_ca_file to the authority that signed it"},
    {{"Could not resolve host", NULL}, REMOTE_AWAY, "its host name cannot be resolved"},
    {{"redirect", NULL}, REMOTE_ABSENT, "it has moved: set store to its new address"},
    {{"error: 301", NULL}, REMOTE_ABSENT, "it has moved: set store to its new address"},
    {{"error: 302", NULL}, REMOTE_ABSENT, "it has moved: set store to its new address"},
    {{"error: 307", NULL}, REMOTE_ABSENT, "it has moved: set store to its new address"},
    {{"error: 308", NULL}, REMOTE_ABSENT, "it has moved: set store to its new address"},
    {{"Authentication failed", NULL},
     REMOTE_REFUSED,
     "the token is wrong or has expired: set BENCH_GITHUB_TOKEN to one that may push"},
    {{"could not read Username", NULL},
     REMOTE_REFUSED,
     "it asks for a token: set BENCH_GITHUB_TOKEN"},
    {{"could not read Password", NULL},
     REMOTE_REFUSED,
     "it asks for a token: set BENCH_GITHUB_TOKEN"},
    {{"error: 401", NULL},
     REMOTE_REFUSED,
     "the token is wrong or has expired: set BENCH_GITHUB_TOKEN to one that may push"},
    {{"error: 403", NULL},
     REMOTE_REFUSED,
     "the token may not do that: it needs permission to write contents"},
    {{"Permission denied", "publickey"},
     REMOTE_REFUSED,
     "its host does not know the SSH key of the service"},
    {{"ermission to", "denied"},
     REMOTE_REFUSED,
     "the token may not do that: it needs permission to write contents"},
    {{"Write access to repository not granted", NULL},
     REMOTE_REFUSED,
     "the token may not do that: it needs permission to write contents"},
    {{"couldn't find remote ref", NULL}, REMOTE_ABSENT, "its branch is gone"},
    {{"epository", "not found"},
     REMOTE_ABSENT,
     "there is no such repository, or the token does not show it"},
    {{"does not appear to be a git repository", NULL},
     REMOTE_ABSENT,
     "there is no such repository"},
};

/* What stands in the brackets of a refused push. The first that is in it decides. */
static const struct {
    const char *words;
    enum remote_outcome outcome;
} refusals[] = {
    {"stale info", REMOTE_MOVED},
    {"fetch first", REMOTE_MOVED},
    {"non-fast-forward", REMOTE_MOVED},
    {"needs force", REMOTE_MOVED},
    {"cannot lock ref", REMOTE_MOVED},
    {"failed to update ref", REMOTE_MOVED},
    {"incorrect old value", REMOTE_MOVED},
    {"reference already exists", REMOTE_MOVED},
    {"unpacker error", REMOTE_AWAY},
    {"remote failure", REMOTE_AWAY},
    {"failed to report status", REMOTE_AWAY},
    {"protected branch", REMOTE_BRANCH},
    {"branch is currently checked out", REMOTE_BRANCH},
    /* What was pushed is not taken. Another rejection (an error of the host) is tried again. */
    {"declined", REMOTE_DECLINED},
    {"violat", REMOTE_DECLINED},
    {"too large", REMOTE_DECLINED},
};

static char *copy_text(struct remote *remote, const char *text)
{
    return arena_copy(&remote->arena, text, strlen(text));
}

/* As GitHub takes a token over HTTPS; in base64. */
static const char *make_basic(struct remote *remote, const char *token)
{
    char *pair = arena_format(&remote->arena, "x-access-token:%s", token);
    size_t size = strlen(pair);
    char *base64 = arena_take(&remote->arena, size / 3 * 4 + 8);
    EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)pair, (int)size);
    return base64;
}

bool remote_new(const struct store_remote *options, const char *home, const char *mirror,
                const atomic_bool *stop, struct remote **out, struct store_error *error)
{
    if (!files_make_folders(home, error))
        return false;
    struct remote *remote = memory_grow(NULL, sizeof *remote);
    *remote = (struct remote){.timeout_ms = options->timeout_ms, .stop = stop};
    remote->url = copy_text(remote, options->url);
    remote->mirror = copy_text(remote, mirror);
    remote->home = copy_text(remote, home);
    remote->ca_file = copy_text(remote, options->ca_file);
    remote->secrets[0] = copy_text(remote, options->token);
    remote->secrets[1] = *options->token ? make_basic(remote, options->token) : "";
    if (*options->token && !strncmp(options->url, "http", 4))
        remote->authorization =
            arena_format(&remote->arena, "Authorization: Basic %s", remote->secrets[1]);
    *out = remote;
    return true;
}

void remote_free(struct remote *remote)
{
    if (!remote)
        return;
    arena_free(&remote->arena);
    free(remote);
}

void remote_answer_free(struct remote_answer *answer)
{
    buffer_free(&answer->text);
}

/* The header is for this URL only, whatever redirects say. */
static void begin(const struct remote *remote, struct git_call *call, struct arena *arena)
{
    git_begin(call, arena, remote->mirror, remote->home);
    if (*remote->ca_file)
        git_variable(call, arena, "GIT_SSL_CAINFO", remote->ca_file);
    if (!remote->authorization)
        return;
    git_variable(call, arena, "GIT_CONFIG_COUNT", "1");
    git_variable(call, arena, "GIT_CONFIG_KEY_0",
                 arena_format(arena, "http.%s.extraHeader", remote->url));
    git_variable(call, arena, "GIT_CONFIG_VALUE_0", remote->authorization);
}

/* One printable line: what git said last, without the words that are everywhere. */
static void say(struct remote_answer *answer, enum remote_outcome outcome, const char *what,
                const char *detail)
{
    answer->outcome = outcome;
    if (*detail)
        snprintf(answer->reason, sizeof answer->reason, "%s (%.200s)", what, detail);
    else
        snprintf(answer->reason, sizeof answer->reason, "%s", what);
    for (char *at = answer->reason; *at; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at > 0x7e)
            *at = ' ';
}

/* The line in which git itself says what was fatal; what a host says begins with "remote:". */
static const char *telling_line(const char *text, struct arena *arena)
{
    static const char *const beginnings[] = {"fatal: ", "error: "};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        for (const char *line = text; *line;) {
            size_t size = strcspn(line, "\n");
            if (!strncmp(line, beginnings[i], strlen(beginnings[i])))
                return arena_copy(arena, line, size);
            line += size + (line[size] == '\n');
        }
    return "";
}

static bool holds(const char *text, const struct saying *saying)
{
    return strstr(text, saying->words[0]) && (!saying->words[1] || strstr(text, saying->words[1]));
}

static void judge_failure(const struct remote *remote, struct remote_answer *answer)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *text = buffer_string(&answer->text), *line = telling_line(text, &arena);
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++)
        if (holds(text, &sayings[i])) {
            bool none = sayings[i].outcome == REMOTE_REFUSED && remote->authorization == NULL &&
                        !strncmp(remote->url, "http", 4);
            say(answer, sayings[i].outcome,
                none ? "it asks for a token and none is set: set BENCH_GITHUB_TOKEN"
                     : sayings[i].remedy,
                line);
            return;
        }
    say(answer, REMOTE_AWAY, "it cannot be reached", line);
}

/* A host may say back to us what we told it (a hook that prints its environment): it does not get
 * further than here. */
static void mask(struct buffer *text, const char *secret)
{
    struct buffer masked = {0};
    const char *at = buffer_string(text);
    if (!*secret)
        return;
    for (const char *found; (found = strstr(at, secret)); at = found + strlen(secret)) {
        buffer_add(&masked, at, (size_t)(found - at));
        buffer_text(&masked, "***");
    }
    buffer_text(&masked, at);
    buffer_free(text);
    *text = masked;
}

/* Runs CALL; true when git ended well. Otherwise, and when it did not get that far, ANSWER says why;
 * RESULT is the caller's in either case. */
static bool run(const struct remote *remote, struct git_call *call, int times,
                struct child_result *result, struct remote_answer *answer)
{
    struct store_error error = {""};
    *answer = (struct remote_answer){0};
    if (!git_run(call, remote->timeout_ms * times, remote->stop, result, &error)) {
        say(answer, REMOTE_AWAY, "the git program is needed and does not start", error.message);
        return false;
    }
    answer->took_ms = result->took_ms;
    buffer_add(&answer->text, result->err.data, result->err.size);
    for (size_t i = 0; i < SECRET_FORMS; i++) {
        mask(&answer->text, remote->secrets[i]);
        mask(&result->out, remote->secrets[i]);
    }
    switch (result->end) {
    case CHILD_EXITED:
        if (result->status == 0)
            return true;
        judge_failure(remote, answer);
        return false;
    case CHILD_STOPPED:
        say(answer, REMOTE_STOPPED, "stopped", "");
        return false;
    case CHILD_LATE:
        say(answer, REMOTE_AWAY, "it did not answer in time", "");
        answer->late = true;
        return false;
    case CHILD_KILLED:
        say(answer, REMOTE_AWAY, "the git program was killed", "");
        return false;
    }
    return false;
}

/* A line of ls-remote: "ref: NAME\tHEAD" or "ID\tNAME". */
static void read_line(const char *line, size_t size, const char *branch,
                      struct remote_answer *answer)
{
    static const char symbolic[] = "ref: ";
    const char *tab = memchr(line, '\t', size);
    if (!tab)
        return;
    const char *name = tab + 1;
    size_t before = (size_t)(tab - line), after = size - before - 1;
    if (before > 5 && !memcmp(line, symbolic, 5)) {
        if (before - 5 < sizeof answer->head && after == 4 && !memcmp(name, "HEAD", 4)) {
            memcpy(answer->head, line + 5, before - 5);
            answer->head[before - 5] = '\0';
        }
        return;
    }
    if (before != GIT_OID_HEXSZ)
        return;
    answer->empty = false;
    const char *wanted = *branch ? branch : "HEAD";
    if (after == strlen(wanted) && !memcmp(name, wanted, after))
        (void)git_oid_fromstrn(&answer->tip, line, GIT_OID_HEXSZ);
}

/* Asks for the references that match the two patterns; the second may be "". */
static bool list_references(struct remote *remote, const char *first, const char *second,
                            struct child_result *result, struct remote_answer *answer)
{
    struct arena arena ARENA_SCOPE = {0};
    struct git_call call;
    begin(remote, &call, &arena);
    git_word(&call, "ls-remote");
    git_word(&call, "--symref");
    git_word(&call, "--");
    git_word(&call, remote->url);
    git_word(&call, first);
    if (*second)
        git_word(&call, second);
    return run(remote, &call, 1, result, answer);
}

void remote_look(struct remote *remote, const char *branch, struct remote_answer *answer)
{
    struct child_result result CHILD_RESULT_SCOPE = {0}, all CHILD_RESULT_SCOPE = {0};
    if (!list_references(remote, "HEAD", branch, &result, answer))
        return;
    answer->empty = true;
    const char *text = buffer_string(&result.out), *end = text + result.out.size;
    for (int i = 0; text < end && i < LINES_MOST; i++) {
        size_t size = strcspn(text, "\n");
        read_line(text, size, branch, answer);
        text += size + 1;
    }
    if (!answer->empty)
        return;
    /* Neither is there. Is anything? There may be thousands; the first will do. */
    buffer_free(&answer->text);
    if (list_references(remote, "refs/heads/*", "", &all, answer))
        answer->empty = all.out.size == 0;
}

void remote_fetch(struct remote *remote, const char *branch, struct remote_answer *answer)
{
    struct arena arena ARENA_SCOPE = {0};
    struct git_call call;
    struct child_result result CHILD_RESULT_SCOPE = {0};
    begin(remote, &call, &arena);
    git_word(&call, "fetch");
    git_word(&call, "--quiet");
    git_word(&call, "--no-tags");
    git_word(&call, "--no-write-fetch-head");
    git_word(&call, "--");
    git_word(&call, remote->url);
    git_word(&call, arena_format(&arena, "+%s:" REMOTE_FETCHED, branch));
    (void)run(remote, &call, FETCH_TIMES, &result, answer);
}

/* The line of --porcelain about our one reference: its flag, and what stands behind the names. */
static bool find_status(const char *text, char *flag, const char **status)
{
    while (*text) {
        const char *tab = text[1] == '\t' ? strchr(text + 2, '\t') : NULL;
        size_t size = strcspn(text, "\n");
        if (tab && (size_t)(tab - text) < size && strchr(" *=!+-", *text)) {
            *flag = *text;
            *status = tab + 1;
            return true;
        }
        text += size + (text[size] == '\n');
    }
    return false;
}

/* The reason is public, so it is ours; what stands in the brackets goes to the text, for the log. */
static void judge_refusal(const char *status, struct remote_answer *answer)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *line = arena_copy(&arena, status, strcspn(status, "\n"));
    enum remote_outcome outcome = REMOTE_AWAY;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strstr(line, refusals[i].words)) {
            outcome = refusals[i].outcome;
            break;
        }
    buffer_format(&answer->text, "%s\n", line);
    say(answer, outcome,
        outcome == REMOTE_BRANCH ? "its branch takes no push: let the service push to it, or set "
                                   "store to a repository where it may"
                                 : "the push was refused",
        "");
}

void remote_push(struct remote *remote, const char *branch, const git_oid *expected,
                 const git_oid *commit, struct remote_answer *answer)
{
    struct arena arena ARENA_SCOPE = {0};
    struct git_call call;
    struct child_result result CHILD_RESULT_SCOPE = {0};
    char old[GIT_OID_HEXSZ + 1] = "", new[GIT_OID_HEXSZ + 1], flag = 0;
    const char *status = NULL;
    if (!git_oid_is_zero(expected))
        git_oid_tostr(old, sizeof old, expected);
    git_oid_tostr(new, sizeof new, commit);
    begin(remote, &call, &arena);
    git_word(&call, "push");
    git_word(&call, "--porcelain");
    git_word(&call, "--no-verify");
    git_word(&call, arena_format(&arena, "--force-with-lease=%s:%s", branch, old));
    git_word(&call, "--");
    git_word(&call, remote->url);
    git_word(&call, arena_format(&arena, "%s:%s", new, branch));
    bool fine = run(remote, &call, 1, &result, answer);
    if (fine || answer->outcome == REMOTE_STOPPED)
        return;
    if (find_status(buffer_string(&result.out), &flag, &status)) {
        if (flag == '!')
            judge_refusal(status, answer);
        else if (result.end == CHILD_EXITED) /* it is there, whatever failed afterwards */
            answer->outcome = REMOTE_FINE;
    }
}
