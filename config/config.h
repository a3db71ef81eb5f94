/* Configuration of `serve`: one table of keys (keys.c) drives file, environment, flags, help and
 * tests.
 *
 * Flags win over the environment, that over the file, that over the defaults (spec 04,
 * "Configuration"). Secrets come from the environment or from files named by `*_file` keys, never
 * from flags. */
#ifndef BENCHLEDGER_CONFIG_CONFIG_H
#define BENCHLEDGER_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Every limit of spec 04. Zero switches a limit off where the table allows it. */
struct limits {
    int64_t rate_limit, validate_rate_limit;         /* an hour and address */
    int64_t view_rate_limit, review_rate_limit;      /* an hour and address */
    int64_t accepted_per_hour, quarantined_per_hour; /* runs an hour, everybody together */
    int64_t bytes_per_day;                           /* published bytes, everybody together */
    int64_t max_body, body_memory, drain_limit;      /* bytes */
    int64_t max_connections, max_connections_per_address;
    int64_t idle_timeout_s, header_timeout_s;  /* seconds */
    int64_t min_body_rate, body_rate_window_s; /* bytes a second, over seconds */
    int64_t queue_limit;                       /* submissions waiting for a commit */
    int64_t submit_wait_ms, stop_wait_ms;      /* milliseconds */
    int64_t address_table;                     /* addresses whose attempts are counted */
    int64_t cache_bytes;                       /* of dataset files kept in memory */
    int64_t pushes_per_minute;
    int64_t remote_timeout_ms, remote_poll_ms; /* milliseconds */
    int64_t disk_quota;                        /* bytes */
    int64_t gc_days;
    int64_t refresh_every_s, summary_most;
};

enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/* Texts are never NULL, an empty one is "not set". Lists are NULL-terminated. */
struct config {
    char *listen, *store, *state_dir, *public_url, *mmlu_key, *catalogue_file, *author_name,
        *author_email, *licence;
    char *git_host, *git_ca_file, *token_expires;
    char *maintainers_file, *receipt_key_file, *redis_url, *redis_prefix, *webhook_url;
    char *nonce_secret, *nonce_secret_previous, *github_token, *redis_password, *webhook_secret;
    char *nonce_secret_file, *nonce_secret_previous_file, *github_token_file, *redis_password_file;
    char *webhook_secret_file;
    char **allowed_origins, **trusted_proxies, **archives, **protocols, **board_protocols;
    int64_t summary_limit, threads;
    int64_t rules;                                 /* version of the rule set */
    int64_t provisional_by, log_format, log_level; /* index into the row's choices */
    struct limits limits;
};

enum config_type {
    CONFIG_TEXT,
    CONFIG_LIST,   /* items parted by commas or white space */
    CONFIG_NUMBER, /* decimal integer */
    CONFIG_CHOICE,
    CONFIG_SECRET, /* environment only; its `_file` row names a file that holds it */
};

struct config_key {
    const char *name;
    size_t offset;        /* of the field in struct config */
    const char *fallback; /* default, as it would stand in a file */
    int64_t least, most;  /* CONFIG_NUMBER */
    const char *const *choices;
    const char *environment; /* NULL: BENCHLEDGER_<NAME> */
    const char *unit;        /* NULL: none */
    const char *help;
    enum config_type type;
    bool limit;    /* a limit of spec 04 */
    bool zero_off; /* 0 lifts it */
    bool
        guarded; /* a URL: of one with user, password, path or query only scheme and host are shown */
};
/* The table, read only; *COUNT rows. */
const struct config_key *config_keys(size_t *count);
const struct config_key *config_find(const char *name, size_t size);
/* The variable that sets KEY. */
void config_environment_name(const struct config_key *key, char name[64]);
/* A number or choice by its row, for tables derived from it. */
int64_t config_number(const struct config *config, const struct config_key *key);

enum config_outcome { CONFIG_RUN, CONFIG_CHECK, CONFIG_HELP, CONFIG_HELP_MARKDOWN };

struct config_error {
    char message[512]; /* one line, names the file and line, the variable or the flag */
};

/* Reads flags (ARGUMENTS after the command's name), ENVIRONMENT (as environ) and the file that
 * `--config` names. False and *ERROR on the first problem. CONFIG must be freed in either case. */
bool config_load(struct config *config, int count, char *const *arguments, char *const *environment,
                 enum config_outcome *outcome, struct config_error *error);
void config_free(struct config *config);
/* The name of the I-th variable in ENVIRONMENT that looks like one of ours and is none, NUL-terminated
 * in NAME; false after the last. */
bool config_stray_variable(char *const *environment, size_t i, char name[64]);

/* `--help`: flags with defaults and ranges. `--help-markdown`: the README's table. */
void config_print_help(FILE *out);
void config_print_markdown(FILE *out);
/* `--check-config`: the values in effect as a file that could be read again, secrets masked. */
void config_print_values(const struct config *config, FILE *out);

#define CONFIG_SCOPE __attribute__((cleanup(config_free)))

#endif
