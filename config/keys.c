#include <ctype.h>
#include <string.h>

#include "config/config.h"

static const char *const log_formats[] = {"text", "json", NULL};
/* As enum board_provisional. */
static const char *const provisional_by[] = {"submissions", "devices", NULL};
static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};

#define AT(field) offsetof(struct config, field)
#define LIMIT(field) offsetof(struct config, limits.field)

#define MIB INT64_C(1048576)
#define BYTES_MOST INT64_C(1099511627776)

/* clang-format off */
static const struct config_key table[] = {
    {.name = "listen", .type = CONFIG_TEXT, .offset = AT(listen), .fallback = "127.0.0.1:8080",
     .help = "address and port to listen on; port 0 picks a free one"},
    {.name = "store", .type = CONFIG_TEXT, .offset = AT(store), .fallback = "",
     .environment = "BENCH_GITHUB_REPO",
     .help = "dataset: path of a local bare repository (a relative a/b needs ./ or .git), created when missing; owner/name on a git host; or a git URL (https, ssh, file); empty: submit is closed"},
    {.name = "archives", .type = CONFIG_LIST, .offset = AT(archives), .fallback = "",
     .help = "earlier bare repositories of the dataset, the oldest first: read at the start, shown with it, never written"},
    {.name = "state_dir", .type = CONFIG_TEXT, .offset = AT(state_dir),
     .fallback = "benchledger-state", .help = "the service's own folder, created when missing: mirror and queue of a remote store (a local one needs nothing in it)"},
    {.name = "git_host", .type = CONFIG_TEXT, .offset = AT(git_host), .fallback = "https://github.com",
     .help = "where owner/name is looked up"},
    {.name = "git_ca_file", .type = CONFIG_TEXT, .offset = AT(git_ca_file), .fallback = "",
     .help = "certificates that an https store is checked against; empty: the system's"},
    {.name = "public_url", .type = CONFIG_TEXT, .offset = AT(public_url), .fallback = "",
     .help = "what the url of an answer begins with; empty: urls are paths"},
    {.name = "allowed_origins", .type = CONFIG_LIST, .offset = AT(allowed_origins), .fallback = "",
     .help = "origins that may submit from a page, * for all, none for none; "
             "empty: * with a local store"},
    {.name = "trusted_proxies", .type = CONFIG_LIST, .offset = AT(trusted_proxies), .fallback = "",
     .help = "addresses or CIDR blocks whose X-Forwarded-For is believed"},
    {.name = "protocols", .type = CONFIG_LIST, .offset = AT(protocols),
     .fallback = "localmode-bench/5", .help = "protocols that may be submitted"},
    {.name = "board_protocols", .type = CONFIG_LIST, .offset = AT(board_protocols),
     .fallback = "localmode-bench/5 localmode-bench/4", .help = "protocols that the board shows"},
    {.name = "provisional_by", .type = CONFIG_CHOICE, .offset = AT(provisional_by), .fallback = "submissions",
     .choices = provisional_by, .help = "what makes a row of the board provisional: fewer than 3 runs, or also runs of fewer than 3 devices"},
    {.name = "mmlu_key", .type = CONFIG_TEXT, .offset = AT(mmlu_key), .fallback = "",
     .help = "answer key file of the tinymmlu quality task; empty: the built-in one"},
    {.name = "catalogue_file", .type = CONFIG_TEXT, .offset = AT(catalogue_file), .fallback = "",
     .help = "known runtimes, models and workloads: rule set 3 holds runs with others for review; empty: the built-in ones"},
    {.name = "rules", .type = CONFIG_NUMBER, .offset = AT(rules), .fallback = "2", .least = 2, .most = 3,
     .help = "rule set that submissions are judged by; 3 is a draft"},
    {.name = "author_name", .type = CONFIG_TEXT, .offset = AT(author_name),
     .fallback = "benchledger", .help = "author and committer of every commit"},
    {.name = "author_email", .type = CONFIG_TEXT, .offset = AT(author_email),
     .fallback = "benchledger@localhost", .help = "and their address"},
    {.name = "licence", .type = CONFIG_TEXT, .offset = AT(licence), .fallback = "CC0-1.0",
     .help = "licence of the data, named in the README of a new dataset"},
    {.name = "summary_limit", .type = CONFIG_NUMBER, .offset = AT(summary_limit),
     .fallback = "20000000", .least = 0, .most = BYTES_MOST, .unit = "bytes",
     .help = "index/summary.json is rewritten with every commit while it is below this"},
    {.name = "threads", .type = CONFIG_NUMBER, .offset = AT(threads), .fallback = "0",
     .least = 0, .most = 64, .help = "threads that serve requests; 0: one per core"},
    {.name = "log_format", .type = CONFIG_CHOICE, .offset = AT(log_format), .fallback = "text",
     .choices = log_formats, .help = "form of the log on standard error"},
    {.name = "log_level", .type = CONFIG_CHOICE, .offset = AT(log_level), .fallback = "info",
     .choices = log_levels, .help = "least level that is logged"},

    {.name = "nonce_secret", .type = CONFIG_SECRET, .offset = AT(nonce_secret), .fallback = "",
     .environment = "BENCH_NONCE_SECRET",
     .help = "keys the nonces; without it a local store issues development nonces"},
    {.name = "nonce_secret_file", .type = CONFIG_TEXT, .offset = AT(nonce_secret_file),
     .fallback = "", .help = "file that holds nonce_secret"},
    {.name = "nonce_secret_previous", .type = CONFIG_SECRET, .offset = AT(nonce_secret_previous),
     .fallback = "", .environment = "BENCH_NONCE_SECRET_PREVIOUS",
     .help = "the secret before a rotation: its nonces stay valid"},
    {.name = "nonce_secret_previous_file", .type = CONFIG_TEXT,
     .offset = AT(nonce_secret_previous_file), .fallback = "",
     .help = "file that holds nonce_secret_previous"},
    {.name = "github_token", .type = CONFIG_SECRET, .offset = AT(github_token), .fallback = "",
     .environment = "BENCH_GITHUB_TOKEN", .help = "token of a remote store"},
    {.name = "github_token_file", .type = CONFIG_TEXT, .offset = AT(github_token_file),
     .fallback = "", .help = "file that holds github_token"},
    {.name = "token_expires", .type = CONFIG_TEXT, .offset = AT(token_expires), .fallback = "",
     .help = "day the token expires, YYYY-MM-DD: warned of from 14 days before"},
    {.name = "receipt_key_file", .type = CONFIG_TEXT, .offset = AT(receipt_key_file),
     .fallback = "", .help = "private key that signs receipts, made by `benchledger keygen`; empty: no receipts"},
    {.name = "maintainers_file", .type = CONFIG_TEXT, .offset = AT(maintainers_file),
     .fallback = "", .help = "maintainers who may review, and hashes of their tokens, kept by `benchledger token`; empty: nobody"},
    {.name = "webhook_url", .type = CONFIG_TEXT, .offset = AT(webhook_url), .fallback = "", .guarded = true,
     .help = "http or https URL that is told of quarantined runs; empty: none"},
    {.name = "webhook_secret", .type = CONFIG_SECRET, .offset = AT(webhook_secret), .fallback = "",
     .help = "signs what is sent there, 16 characters or more"},
    {.name = "webhook_secret_file", .type = CONFIG_TEXT, .offset = AT(webhook_secret_file),
     .fallback = "", .help = "file that holds webhook_secret"},
    {.name = "redis_url", .type = CONFIG_TEXT, .offset = AT(redis_url), .fallback = "",
     .help = "Redis that several instances share rates and nonces by: redis://host:port/db or unix:///path; empty: one instance"},
    {.name = "redis_prefix", .type = CONFIG_TEXT, .offset = AT(redis_prefix), .fallback = "benchledger:",
     .help = "what our keys in it begin with"},
    {.name = "redis_password", .type = CONFIG_SECRET, .offset = AT(redis_password), .fallback = "",
     .help = "password of that Redis"},
    {.name = "redis_password_file", .type = CONFIG_TEXT, .offset = AT(redis_password_file),
     .fallback = "", .help = "file that holds redis_password"},

    {.name = "rate_limit", .type = CONFIG_NUMBER, .offset = LIMIT(rate_limit), .fallback = "20",
     .least = 0, .most = 60000, .unit = "an hour", .limit = true, .zero_off = true,
     .help = "submissions tried per client address; 0 also lifts the next two"},
    {.name = "validate_rate_limit", .type = CONFIG_NUMBER, .offset = LIMIT(validate_rate_limit),
     .fallback = "60", .least = 0, .most = 60000, .unit = "an hour", .limit = true,
     .zero_off = true, .help = "dry runs per client address, one at a time"},
    {.name = "view_rate_limit", .type = CONFIG_NUMBER, .offset = LIMIT(view_rate_limit),
     .fallback = "1200", .least = 0, .most = 60000, .unit = "an hour", .limit = true,
     .zero_off = true,
     .help = "views of the board or the quarantine that are not kept and have to be made, per client address"},
    {.name = "review_rate_limit", .type = CONFIG_NUMBER, .offset = LIMIT(review_rate_limit),
     .fallback = "10", .least = 0, .most = 60000, .unit = "an hour", .limit = true,
     .zero_off = true, .help = "attempts to review with a wrong token or to withdraw with a wrong code, per client address"},
    {.name = "accepted_per_hour", .type = CONFIG_NUMBER, .offset = LIMIT(accepted_per_hour),
     .fallback = "0", .least = 0, .most = 1000000, .unit = "an hour", .limit = true,
     .zero_off = true, .help = "runs published, everybody together"},
    {.name = "quarantined_per_hour", .type = CONFIG_NUMBER, .offset = LIMIT(quarantined_per_hour),
     .fallback = "0", .least = 0, .most = 1000000, .unit = "an hour", .limit = true,
     .zero_off = true, .help = "runs quarantined, everybody together"},
    {.name = "bytes_per_day", .type = CONFIG_NUMBER, .offset = LIMIT(bytes_per_day),
     .fallback = "0", .least = 0, .most = BYTES_MOST, .unit = "bytes a day", .limit = true,
     .zero_off = true, .help = "published bytes, everybody together"},
    {.name = "max_body", .type = CONFIG_NUMBER, .offset = LIMIT(max_body), .fallback = "4194304",
     .least = 1024, .most = 256 * MIB, .unit = "bytes", .limit = true,
     .help = "largest request body, before and after decompression"},
    {.name = "body_memory", .type = CONFIG_NUMBER, .offset = LIMIT(body_memory),
     .fallback = "268435456", .least = 0, .most = BYTES_MOST, .unit = "bytes", .limit = true,
     .zero_off = true, .help = "bodies held while they arrive, everybody together"},
    {.name = "drain_limit", .type = CONFIG_NUMBER, .offset = LIMIT(drain_limit),
     .fallback = "16777216", .least = 0, .most = BYTES_MOST, .unit = "bytes", .limit = true,
     .help = "how much of a refused body is read and dropped before the answer"},
    {.name = "max_connections", .type = CONFIG_NUMBER, .offset = LIMIT(max_connections),
     .fallback = "4096", .least = 0, .most = 1000000, .limit = true, .zero_off = true,
     .help = "connections in all"},
    {.name = "max_connections_per_address", .type = CONFIG_NUMBER,
     .offset = LIMIT(max_connections_per_address), .fallback = "64", .least = 0, .most = 1000000,
     .limit = true, .zero_off = true,
     .help = "connections per peer, loopback and trusted proxies not counted"},
    {.name = "idle_timeout_s", .type = CONFIG_NUMBER, .offset = LIMIT(idle_timeout_s),
     .fallback = "15", .least = 0, .most = 86400, .unit = "seconds", .limit = true,
     .zero_off = true, .help = "a connection that sends nothing for so long is dropped"},
    {.name = "header_timeout_s", .type = CONFIG_NUMBER, .offset = LIMIT(header_timeout_s),
     .fallback = "30", .least = 0, .most = 86400, .unit = "seconds", .limit = true,
     .zero_off = true, .help = "time for the whole header of a request"},
    {.name = "min_body_rate", .type = CONFIG_NUMBER, .offset = LIMIT(min_body_rate),
     .fallback = "1024", .least = 0, .most = BYTES_MOST, .unit = "bytes a second", .limit = true,
     .zero_off = true, .help = "a body that comes slower is dropped"},
    {.name = "body_rate_window_s", .type = CONFIG_NUMBER, .offset = LIMIT(body_rate_window_s),
     .fallback = "30", .least = 1, .most = 86400, .unit = "seconds", .limit = true,
     .help = "time over which min_body_rate is measured"},
    {.name = "queue_limit", .type = CONFIG_NUMBER, .offset = LIMIT(queue_limit),
     .fallback = "10000", .least = 1, .most = 1000000, .limit = true,
     .help = "submissions that wait for their commit; more are refused"},
    {.name = "submit_wait_ms", .type = CONFIG_NUMBER, .offset = LIMIT(submit_wait_ms),
     .fallback = "20000", .least = 1, .most = 3600000, .unit = "ms", .limit = true,
     .help = "longest wait of a submission for commit and push; then 202 when it is durable here"},
    {.name = "stop_wait_ms", .type = CONFIG_NUMBER, .offset = LIMIT(stop_wait_ms),
     .fallback = "20000", .least = 0, .most = 3600000, .unit = "ms", .limit = true,
     .help = "longest wait for requests in progress when the service stops"},
    {.name = "address_table", .type = CONFIG_NUMBER, .offset = LIMIT(address_table),
     .fallback = "16384", .least = 64, .most = 1048576, .limit = true,
     .help = "client addresses whose attempts are remembered"},
    {.name = "cache_bytes", .type = CONFIG_NUMBER, .offset = LIMIT(cache_bytes),
     .fallback = "67108864", .least = 0, .most = BYTES_MOST, .unit = "bytes", .limit = true,
     .help = "dataset files kept in memory"},
    {.name = "pushes_per_minute", .type = CONFIG_NUMBER, .offset = LIMIT(pushes_per_minute),
     .fallback = "60", .least = 0, .most = 6000, .limit = true, .zero_off = true,
     .help = "pushes to a remote store in any minute; many runs share one"},
    {.name = "remote_timeout_ms", .type = CONFIG_NUMBER, .offset = LIMIT(remote_timeout_ms),
     .fallback = "60000", .least = 100, .most = 3600000, .unit = "ms", .limit = true,
     .help = "deadline of one push or look; a fetch has ten times as long"},
    {.name = "remote_poll_ms", .type = CONFIG_NUMBER, .offset = LIMIT(remote_poll_ms),
     .fallback = "30000", .least = 100, .most = 86400000, .unit = "ms", .limit = true,
     .help = "how often others' commits are looked for while nothing is pushed"},
    {.name = "refresh_every_s", .type = CONFIG_NUMBER, .offset = LIMIT(refresh_every_s),
     .fallback = "86400", .least = 0, .most = 86400 * 366, .unit = "seconds", .limit = true, .zero_off = true,
     .help = "how often index/leaderboard.json, and the summary past its limit, are brought up to date by a commit of their own"},
    {.name = "summary_most", .type = CONFIG_NUMBER, .offset = LIMIT(summary_most),
     .fallback = "95000000", .least = 0, .most = BYTES_MOST, .unit = "bytes", .limit = true,
     .help = "a summary that would be larger is left as it is then: git hosts refuse files above 100 MB"},
    {.name = "disk_quota", .type = CONFIG_NUMBER, .offset = LIMIT(disk_quota),
     .fallback = "21474836480", .least = 0, .most = BYTES_MOST, .unit = "bytes", .limit = true,
     .zero_off = true, .help = "what mirror, queue and parked runs may take; past it runs are refused"},
    {.name = "gc_days", .type = CONFIG_NUMBER, .offset = LIMIT(gc_days), .fallback = "7",
     .least = 0, .most = 3650, .unit = "days", .limit = true, .zero_off = true,
     .help = "how often `git gc` runs beside the service; loose objects are packed as needed"},
};
/* clang-format on */

enum { COUNT = sizeof table / sizeof *table };

const struct config_key *config_keys(size_t *count)
{
    *count = COUNT;
    return table;
}

const struct config_key *config_find(const char *name, size_t size)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strlen(table[i].name) == size && !memcmp(table[i].name, name, size))
            return &table[i];
    return NULL;
}

void config_environment_name(const struct config_key *key, char name[64])
{
    if (key->environment) {
        snprintf(name, 64, "%s", key->environment);
        return;
    }
    snprintf(name, 64, "BENCHLEDGER_%s", key->name);
    for (char *at = name; *at; at++)
        *at = (char)toupper((unsigned char)*at);
}

int64_t config_number(const struct config *config, const struct config_key *key)
{
    int64_t number;
    memcpy(&number, (const char *)config + key->offset, sizeof number);
    return number;
}
