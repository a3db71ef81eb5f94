#include "server/attach.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "server/api/boardview.h"
#include "server/binding.h"
#include "server/log.h"
#include "server/service.h"
#include "validator/arena.h"

static bool is_remote(const struct config *config)
{
    enum binding binding = binding_of(config->store);
    return binding == BINDING_HOSTED || binding == BINDING_URL;
}

/* Without a token such a store can be read and no more. */
bool attach_is_read_only(const struct config *config)
{
    return binding_needs_token(config->store) && !*config->github_token;
}

const char *attach_problem(const struct config *config, const char **key)
{
    *key = "store";
    if (binding_is_doubtful(config->store))
        return "is neither owner/name nor a folder that exists: a new local repository is named "
               "./PATH, /PATH or PATH.git";
    if (!is_remote(config))
        return NULL;
    if (binding_has_password(config->store))
        return "the URL has a password or token in it: give it by BENCH_GITHUB_TOKEN or "
               "github_token_file";
    const char *host =
        binding_of(config->store) == BINDING_HOSTED ? config->git_host : config->store;
    if (*config->github_token && !strncmp(host, "http://", 7))
        return "the token would travel in the clear: use https://";
    *key = "nonce_secret";
    if (!attach_is_read_only(config) && !*config->nonce_secret)
        return "a remote store needs one: set BENCH_NONCE_SECRET to 32 random bytes or more";
    *key = "git_ca_file";
    if (*config->git_ca_file && access(config->git_ca_file, R_OK) != 0)
        return strerror(errno);
    *key = "git_host";
    if (strncmp(config->git_host, "https://", 8) && strncmp(config->git_host, "http://", 7))
        return "is no https:// address";
    if (binding_has_password(config->git_host))
        return "has a password in it: give the token by BENCH_GITHUB_TOKEN or github_token_file";
    return NULL;
}

/* What the store has to say goes to the log. */
static void tell_log(void *context, enum store_level level, const char *message)
{
    static const enum log_level levels[] = {
        [STORE_ERROR] = LOG_ERROR, [STORE_WARNING] = LOG_WARN, [STORE_INFO] = LOG_INFO};
    (void)context;
    log_event(levels[level], "store", LOG_FIELDS({"said", message}));
}

/* The store's options and the texts that they point to. */
struct store_room {
    struct arena arena;
    struct store_remote remote;
    struct store_options options;
};

static void describe_remote(const struct config *config, struct store_room *room)
{
    const struct limits *limits = &config->limits;
    const char *url = config->store;
    if (binding_of(url) == BINDING_HOSTED) {
        size_t size = strlen(config->git_host);
        while (size && config->git_host[size - 1] == '/')
            size--;
        url = arena_format(&room->arena, "%.*s/%s.git", (int)size, config->git_host, url);
    }
    room->remote = (struct store_remote){
        .url = url,
        .token = config->github_token,
        .ca_file = config->git_ca_file,
        .shared = *config->redis_url != '\0',
        .read_only = attach_is_read_only(config),
        .timeout_ms = limits->remote_timeout_ms,
        .poll_ms = limits->remote_poll_ms,
        .pushes_per_minute = limits->pushes_per_minute,
    };
    room->options.remote = &room->remote;
    room->options.path = arena_format(&room->arena, "%s/mirror.git", config->state_dir);
}

bool attach_open(struct service *service, struct store_error *error)
{
    const struct config *config = service->config;
    struct store_room room = {.options = {
                                  .path = config->store,
                                  .archives = (const char *const *)config->archives,
                                  .author_name = config->author_name,
                                  .author_email = config->author_email,
                                  .licence = config->licence,
                                  .summary_limit = (size_t)config->summary_limit,
                                  .refresh_every_s = config->limits.refresh_every_s,
                                  .summary_most = (size_t)config->limits.summary_most,
                                  .queue_limit = (size_t)config->limits.queue_limit,
                                  .listener = boardview_listener(service->board),
                                  .disk_quota = config->limits.disk_quota,
                                  .gc_days = config->limits.gc_days,
                                  .tell = tell_log,
                              }};
    if (!*config->store) {
        log_event(LOG_WARN, "no store is configured: submissions are refused", NULL);
        return true;
    }
    if (service->receipts) {
        ring_file(service->receipts, &service->receipt_file);
        room.options.files = &service->receipt_file.file;
        room.options.file_count = 1;
    }
    if (is_remote(config))
        describe_remote(config, &room);
    if (room.remote.read_only)
        log_event(LOG_WARN, "no token: the dataset is read, submissions are refused", NULL);
    room.options.home = arena_format(&room.arena, "%s/home", config->state_dir);
    bool fine = store_open(&room.options, &service->store, error);
    if (fine)
        log_event(LOG_INFO, "serving",
                  LOG_FIELDS({room.options.remote ? "remote" : "local",
                              room.options.remote ? room.remote.url : config->store}));
    arena_free(&room.arena);
    return fine;
}
