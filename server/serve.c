/* The `serve` command: puts the rooms together, waits for a signal, takes them apart again. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/api/assets.h"
#include "server/api/boardview.h"
#include "server/api/handover.h"
#include "server/api/making.h"
#include "server/api/metrics.h"
#include "server/api/openapi.h"
#include "server/api/ready.h"
#include "server/api/shelf.h"
#include "server/attach.h"
#include "server/binding.h"
#include "server/command.h"
#include "server/embedded.h"
#include "server/expiry.h"
#include "server/file.h"
#include "server/http/http.h"
#include "server/http/listen.h"
#include "server/http/waitroom.h"
#include "server/http/watchdog.h"
#include "server/log.h"
#include "server/maintainers/maintainers.h"
#include "server/notify/watch.h"
#include "server/notify/webhook.h"
#include "server/service.h"
#include "validator/arena.h"
#include "validator/model_catalogue.h"

enum {
    EXIT_START = 1,
    EXIT_CONFIG = 2,
    KEY_FILE_MOST = 16 << 20,
    JUDGEMENT_BYTES = 4 << 20,
    PAGE_BYTES = 32 << 20,
    SECRET_LEAST = 32
};
#define HOUR_MS INT64_C(3600000)

static bool complain(const char *what, const char *why)
{
    fprintf(stderr, "benchledger: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    return false;
}

static bool complain_folder(const char *path)
{
    fprintf(stderr,
            "benchledger: state_dir: cannot make or write %s (%s): the user of the service must be "
            "able "
            "to\n",
            path, strerror(errno));
    return false;
}

/* mkdir -p. */
static bool make_folder(const char *path)
{
    char part[4096];
    size_t size = strlen(path);
    if (!size || size >= sizeof part)
        return complain("state_dir", "not a usable path");
    for (size_t i = 1; i <= size; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0750) != 0 && errno != EEXIST)
            return complain_folder(part);
    }
    return access(path, W_OK | X_OK) == 0 || complain_folder(path);
}

/* What files hold: answer key and catalogue with what they stand on, the key of receipts. */
struct key_room {
    struct buffer text, catalogue_text; /* empty: the built-in texts */
    struct arena arena;
    struct answer_key key;
    struct model_catalogue catalogue;
    struct receipt_key *receipts; /* NULL: none */
};

static void free_keys(struct key_room *room)
{
    buffer_free(&room->text);
    buffer_free(&room->catalogue_text);
    arena_free(&room->arena);
    receipt_key_free(room->receipts);
}
#define KEY_ROOM_SCOPE __attribute__((cleanup(free_keys)))

static bool load_receipt_key(struct key_room *room, const char *path)
{
    const char *problem = NULL;
    if (*path)
        room->receipts = receipt_key_load(path, &problem);
    return !problem || complain("receipt_key_file", problem);
}

/* The text of the file at PATH, kept in OWN, or the built-in one; NULL: it cannot be read (reported). */
static const char *load_text(const char *path, const char *(*built_in)(size_t *size),
                             struct buffer *own, size_t *size)
{
    if (!*path)
        return built_in(size);
    if (!file_read(path, KEY_FILE_MOST, own)) {
        complain(path, strerror(errno));
        return NULL;
    }
    *size = own->size;
    return buffer_string(own);
}

static bool load_answer_key(struct key_room *room, const char *path)
{
    const char *problem = NULL;
    size_t size;
    const char *text = load_text(path, embedded_mmlu_key, &room->text, &size);
    return text && (answer_key_read(&room->arena, text, size, &room->key, &problem) ||
                    complain(*path ? path : "built-in answer key", problem));
}

static bool load_catalogue(struct key_room *room, const char *path)
{
    const char *problem = NULL;
    size_t size;
    const char *text = load_text(path, embedded_model_catalogue, &room->catalogue_text, &size);
    return text && (model_catalogue_read(&room->arena, text, size, &room->catalogue, &problem) ||
                    complain(*path ? path : "built-in catalogue", problem));
}

static bool load_keys(struct key_room *room, const struct config *config)
{
    return load_answer_key(room, config->mmlu_key) &&
           load_catalogue(room, config->catalogue_file) &&
           load_receipt_key(room, config->receipt_key_file);
}

static bool check_webhook(const struct config *config)
{
    const char *key, *problem = webhook_problem(config->webhook_url, config->webhook_secret, &key);
    return !problem || complain(key, problem);
}

static bool open_maintainers(struct service *service)
{
    char problem[MAINTAINERS_PROBLEM];
    service->maintainers = maintainers_open(service->config->maintainers_file, problem);
    return service->maintainers || complain("maintainers_file", problem);
}

static bool start_webhook(struct service *service)
{
    const struct config *config = service->config;
    const char *problem = NULL;
    struct webhook_options options = webhook_defaults(config->webhook_url, config->webhook_secret);
    if (*options.url)
        service->webhook = webhook_start(&options, &problem);
    return !problem || complain("webhook", problem);
}

static bool check_store(const struct config *config)
{
    const char *key, *problem = attach_problem(config, &key);
    return !problem || complain(key, problem);
}

static struct shared_options shared_options(const struct service *service)
{
    const struct config *config = service->config;
    return (struct shared_options){config->redis_url, config->redis_prefix, config->redis_password,
                                   &service->nonces};
}

static bool check_shared(const struct service *service)
{
    struct shared_options options = shared_options(service);
    const char *problem = *options.url ? shared_problem(&options) : NULL;
    return !problem || complain("redis_url", problem);
}

static bool read_expiry(struct service *service)
{
    const char *text = service->config->token_expires;
    return !*text || expiry_parse(text, &service->token_expires) ||
           complain("token_expires", "is no day of the form YYYY-MM-DD");
}

/* Redis that is away may come; one that would forget nonces, or does not let us in, is a mistake. */
static bool open_shared(struct service *service)
{
    struct shared_options options = shared_options(service);
    char problem[LINK_PROBLEM];
    if (!*options.url)
        return true;
    switch (shared_open(&options, &service->shared, problem)) {
    case LINK_UP:
        return true;
    case LINK_AWAY:
        log_event(LOG_WARN, "redis is away: no run is taken", LOG_FIELDS({"error", problem}));
        return true;
    case LINK_REFUSED:
        break;
    }
    bool password = strstr(problem, "NOAUTH") || strstr(problem, "WRONGPASS");
    return complain(password ? "redis_password" : "redis_url", problem);
}

static bool trust_proxies(struct service *service)
{
    const char *bad = NULL;
    if (address_list_parse(service->config->trusted_proxies, &service->trusted, &bad))
        return true;
    fprintf(stderr, "benchledger: trusted_proxies: '%.60s' is no address and no CIDR block\n", bad);
    return false;
}

static bool has_item(char *const *list, const char *text)
{
    for (; *list; list++)
        if (!strcmp(*list, text))
            return true;
    return false;
}

static void tick(void *context, int64_t now_ms)
{
    struct service *service = context;
    waitroom_expire(service->waitroom, now_ms);
    ready_remind(service);
    maintainers_refresh(service->maintainers, now_ms);
    watch_look(atomic_load(&service->watch));
}

static void fill(struct service *service)
{
    const struct config *config = service->config;
    const struct limits *limits = &config->limits;
    const int64_t rates[RATE_CLASSES] = {[RATE_SUBMIT] = limits->rate_limit,
                                         [RATE_VALIDATE] = limits->validate_rate_limit,
                                         [RATE_VIEW] = limits->view_rate_limit,
                                         [RATE_REVIEW] = limits->review_rate_limit};
    bool local = binding_of(config->store) == BINDING_LOCAL;
    bool hosted = binding_of(config->store) == BINDING_HOSTED;
    service->unbound = !*config->store || attach_is_read_only(config);
    service->board =
        boardview_new(config->board_protocols, (enum board_provisional)config->provisional_by,
                      hosted ? config->store : NULL);
    service->files = shelf_new((size_t)limits->cache_bytes);
    service->handovers = handovers_new(service);
    service->judgements = shelf_new(JUDGEMENT_BYTES);
    service->run_pages = shelf_new(PAGE_BYTES);
    service->making = making_new();
    service->waitroom = waitroom_new(http_suspend, http_resume);
    service->rates = ratelimit_new((size_t)limits->address_table, rates);
    service->budgets.accepted = budget_new(limits->accepted_per_hour, HOUR_MS);
    service->budgets.quarantined = budget_new(limits->quarantined_per_hour, HOUR_MS);
    service->budgets.bytes = budget_new(limits->bytes_per_day, 24 * HOUR_MS);
    nonce_keys_init(&service->nonces, config->nonce_secret, config->nonce_secret_previous, local);
    if (local && !*config->nonce_secret)
        log_event(LOG_WARN, "no nonce secret: development nonces are issued, which prove nothing",
                  NULL);
    else if (*config->nonce_secret && strlen(config->nonce_secret) < SECRET_LEAST)
        log_event(LOG_WARN, "the nonce secret is shorter than 32 bytes", NULL);
    service->policy.protocols = (const char *const *)config->protocols;
    service->policy.rules = (int)config->rules;
    service->any_origin = has_item(config->allowed_origins, "*") ||
                          (!*config->allowed_origins && (local || !*config->store));
    service->openapi = openapi_make(config);
    service->assets = assets_open();
    service->metrics = metrics_new();
    service->watchdog = watchdog_new(limits, &service->trusted, tick, service);
}

static void empty(struct service *service)
{
    if (service->watchdog)
        watchdog_stop(service->watchdog);
    store_close(service->store); /* commits what is queued */
    watch_free(atomic_load(&service->watch));
    webhook_stop(service->webhook); /* which may still have been told of something */
    shared_close(service->shared);
    maintainers_close(service->maintainers);
    watchdog_free(service->watchdog);
    handovers_free(service->handovers);
    shelf_free(service->judgements);
    shelf_free(service->run_pages);
    making_free(service->making);
    waitroom_free(service->waitroom);
    boardview_free(service->board);
    shelf_free(service->files);
    ratelimit_free(service->rates);
    budget_free(service->budgets.accepted);
    budget_free(service->budgets.quarantined);
    budget_free(service->budgets.bytes);
    content_unref(service->openapi);
    assets_close(service->assets);
    metrics_free(service->metrics);
    address_list_free(&service->trusted);
}

/* Every connection is a descriptor: take what the system allows. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void ending_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
}

/* Who ends the service waits for these signals; a closed socket is no reason to die. */
static void block_signals(void)
{
    sigset_t signals;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP,
           SIG_IGN); /* nor is a closed terminal; blocked, it can be waited for all the same */
    ending_signals(&signals);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/* The signal that came, or 0. */
static int wait_for_signal(void)
{
    sigset_t signals;
    int number = 0;
    ending_signals(&signals);
    return sigwait(&signals, &number) == 0 ? number : 0;
}

/* Serves until a signal ends it, which is returned; SIGHUP only asks for the maintainers to be read again. */
static int serve_until_signal(struct service *service)
{
    sigset_t signals;
    int number = 0;
    ending_signals(&signals);
    sigaddset(&signals, SIGHUP);
    while (sigwait(&signals, &number) == 0 && number == SIGHUP)
        maintainers_reread(service->maintainers);
    return number;
}

/* Whoever asks twice does not want to wait: every acknowledged run is durable, so nothing is lost. */
static void *end_at_once(void *context)
{
    (void)context;
    int number = wait_for_signal();
    log_event(LOG_WARN, "stopped by a second signal", LOG_FIELDS({"signal", strsignal(number)}));
    _exit(EXIT_START);
}

static void watch_second_signal(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
        pthread_detach(thread);
}

static int run(struct service *service)
{
    int socket;
    char bound[128], problem[256];
    block_signals();
    fill(service);
    if (!open_shared(service))
        return EXIT_CONFIG;
    if (!start_webhook(service))
        return EXIT_START;
    struct store_error error = {0};
    if (!attach_open(service, &error)) {
        complain("store", error.message);
        return EXIT_START;
    }
    atomic_store(&service->watch, watch_new(service));
    if (!listen_open(service->config->listen, &socket, bound, problem)) {
        complain(problem, NULL);
        return EXIT_START;
    }
    struct http *http = http_start(service, socket);
    if (!http) {
        complain("the HTTP library does not start", NULL);
        return EXIT_START;
    }
    fprintf(stderr, "listening on %s\n", bound);
    int number = serve_until_signal(service);
    log_event(LOG_INFO, "stopping", LOG_FIELDS({"signal", strsignal(number)}));
    watch_second_signal();
    http_stop(http);
    return 0;
}

/* A name that is misspelt would otherwise change nothing, and nobody would know. */
static void warn_of_variables(void)
{
    char name[64];
    for (size_t i = 0; config_stray_variable(environ, i, name); i++)
        log_event(LOG_WARN, "an environment variable names no key", LOG_FIELDS({"name", name}));
}

static int serve(const struct config *config)
{
    struct service service = {.config = config};
    KEY_ROOM_SCOPE struct key_room keys = {0};
    int code = EXIT_CONFIG;
    log_configure(config->log_format == LOG_FORMAT_JSON, (enum log_level)config->log_level);
    warn_of_variables();
    if (check_store(config) && check_shared(&service) && check_webhook(config) &&
        read_expiry(&service) && trust_proxies(&service) && load_keys(&keys, config) &&
        open_maintainers(&service)) {
        service.answers = &keys.key;
        service.policy.catalogue = &keys.catalogue;
        service.receipts = keys.receipts;
        raise_descriptors();
        code = make_folder(config->state_dir) ? run(&service) : EXIT_START;
    }
    empty(&service);
    if (!code)
        log_event(LOG_INFO, "stopped", NULL);
    return code;
}

/* What `serve` would refuse to start with, without starting. */
static int check(const struct config *config)
{
    struct service service = {.config = config};
    KEY_ROOM_SCOPE struct key_room keys = {0};
    if (!check_shared(&service))
        return EXIT_CONFIG; /* and what may be a password is not printed */
    bool good = check_store(config) && check_webhook(config) && read_expiry(&service) &&
                trust_proxies(&service) && load_keys(&keys, config) && open_maintainers(&service);
    if (good) /* what is wrong may hold a secret in the wrong place */
        config_print_values(config, stdout);
    maintainers_close(service.maintainers);
    address_list_free(&service.trusted);
    return good ? 0 : EXIT_CONFIG;
}

int serve_command(int count, char **arguments)
{
    CONFIG_SCOPE struct config config;
    struct config_error error;
    enum config_outcome outcome;
    if (!config_load(&config, count, arguments, environ, &outcome, &error)) {
        complain(error.message, NULL);
        return EXIT_CONFIG;
    }
    switch (outcome) {
    case CONFIG_HELP:
        config_print_help(stdout);
        return 0;
    case CONFIG_HELP_MARKDOWN:
        config_print_markdown(stdout);
        return 0;
    case CONFIG_CHECK:
        return check(&config);
    case CONFIG_RUN:
        return serve(&config);
    }
    return EXIT_CONFIG;
}
