#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "tests/support/suite.h"

static char folder[64];
static struct config config;
static struct config_error error;
static enum config_outcome outcome;

static void begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/benchledger-config-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void end(void)
{
    char path[256];
    config_free(&config);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i ? "secret" : "file");
        unlink(path);
    }
    rmdir(folder);
}

static void write_named(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    fclose(stream);
}

/* FILE text NULL: none. ENVIRONMENT and FLAG: one entry or NULL. */
static bool load(const char *file, const char *environment, const char *flag)
{
    char path[256], variable[512], argument[512];
    char *arguments[3] = {NULL}, *variables[2] = {environment ? variable : NULL, NULL};
    int count = 0;
    snprintf(variable, sizeof variable, "%s", environment ? environment : "");
    snprintf(argument, sizeof argument, "%s", flag ? flag : "");
    config_free(&config);
    snprintf(path, sizeof path, "--config=%s/file", folder);
    if (file) {
        write_named("file", file);
        arguments[count++] = path;
    }
    if (flag)
        arguments[count++] = argument;
    return config_load(&config, count, arguments, variables, &outcome, &error);
}

START_TEST(config__defaults_are_those_of_the_table)
{
    ck_assert(load(NULL, NULL, NULL));
    ck_assert_int_eq(config.limits.rate_limit, 20);
    ck_assert_int_eq(config.limits.max_body, 4194304);
    ck_assert_int_eq(config.limits.drain_limit, 16777216);
    ck_assert_int_eq(config.limits.queue_limit, 10000);
    ck_assert_int_eq(config.limits.max_connections, 4096);
    ck_assert_int_eq(config.limits.max_connections_per_address, 64);
    ck_assert_int_eq(config.limits.submit_wait_ms, 20000);
    ck_assert_str_eq(config.store, "");
    ck_assert_str_eq(config.protocols[0], "localmode-bench/5");
    ck_assert_ptr_null(config.protocols[1]);
    ck_assert_str_eq(config.board_protocols[1], "localmode-bench/4");
}
END_TEST

START_TEST(config__flags_win_over_environment_over_file)
{
    const char *file = "rate_limit = 1\n";
    ck_assert(load(file, NULL, NULL));
    ck_assert_int_eq(config.limits.rate_limit, 1);
    ck_assert(load(file, "BENCHLEDGER_RATE_LIMIT=2", NULL));
    ck_assert_int_eq(config.limits.rate_limit, 2);
    ck_assert(load(file, "BENCHLEDGER_RATE_LIMIT=2", "--rate-limit=3"));
    ck_assert_int_eq(config.limits.rate_limit, 3);
    ck_assert(load("store = a\n", "BENCH_GITHUB_REPO=owner/name", NULL));
    ck_assert_str_eq(config.store, "owner/name");
}
END_TEST

START_TEST(config__every_key_can_be_set_from_every_source)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        char file[256], variable[300], flag[256], name[64], value[128];
        if (key->type == CONFIG_SECRET || strstr(key->name, "_file"))
            continue;
        if (key->type == CONFIG_NUMBER)
            snprintf(value, sizeof value, "%lld", (long long)key->least);
        else
            snprintf(value, sizeof value, "%s", key->choices ? key->choices[0] : "word");
        config_environment_name(key, name);
        snprintf(file, sizeof file, "%s = %s\n", key->name, value);
        snprintf(variable, sizeof variable, "%s=%s", name, value);
        snprintf(flag, sizeof flag, "--%s=%s", key->name, value);
        ck_assert_msg(load(file, NULL, NULL), "%s", error.message);
        ck_assert_msg(load(NULL, variable, NULL), "%s", error.message);
        ck_assert_msg(load(NULL, NULL, flag), "%s", error.message);
        ck_assert_ptr_nonnull(key->help);
    }
}
END_TEST

START_TEST(config__mistakes_are_named_with_their_place)
{
    static const struct {
        const char *file, *environment, *flag, *part;
    } table[] = {
        {"# note\nrate_limt = 3\n", NULL, NULL, "file:2: unknown key 'rate_limt'"},
        {"rate_limit = many\n", NULL, NULL, "file:1: rate_limit: 'many' is not a whole number"},
        {"[server]\nrate_limit = 3\n", NULL, NULL, "file:2: sections are not used"},
        {"listen\n", NULL, NULL, "file:1: not a `key = value` line"},
        {"log_format = xml\n", NULL, NULL, "is not one of: text json"},
        {"nonce_secret = hush\n", NULL, NULL, "BENCH_NONCE_SECRET"},
        {NULL, "BENCHLEDGER_MAX_BODY=-1", NULL, "BENCHLEDGER_MAX_BODY: '-1'"},
        {NULL, NULL, "--max-body=1e6", "--max-body: '1e6'"},
        {NULL, NULL, "--no-such=1", "unknown option '--no-such'"},
        {NULL, NULL, "--listen", "--listen needs a value"},
        {NULL, NULL, "stray", "unexpected argument 'stray'"},
        {NULL, NULL, "--nonce-secret=hush", "never given on the command line"},
        {NULL, NULL, "--config=/nonexistent/file", "/nonexistent/file: No such file"},
        {NULL, "BENCHLEDGER_NONCE_SECRET_FILE=/nonexistent", NULL, "nonce_secret_file: "},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert(!load(table[i].file, table[i].environment, table[i].flag));
        ck_assert_msg(strstr(error.message, table[i].part) != NULL, "%s", error.message);
        ck_assert_ptr_null(strstr(error.message, "hush"));
        ck_assert_ptr_null(strchr(error.message, '\n'));
    }
}
END_TEST

START_TEST(config__long_and_indented_lines_are_not_misread)
{
    char file[600];
    memset(file, 'x', sizeof file);
    memcpy(file, "listen = ", 9);
    file[598] = '\n';
    file[599] = '\0';
    ck_assert(!load(file, NULL, NULL));
    ck_assert_ptr_nonnull(strstr(error.message, "file:1: line is longer"));
    ck_assert(load("rate_limit = 1\n  queue_limit = 7\n", NULL, NULL));
    ck_assert_int_eq(config.limits.queue_limit, 7);
}
END_TEST

START_TEST(config__secrets_come_from_environment_or_file_and_stay_hidden)
{
    char line[300];
    write_named("secret", "from-file\n");
    snprintf(line, sizeof line, "nonce_secret_file = %s/secret\n", folder);
    ck_assert(load(line, NULL, NULL));
    ck_assert_str_eq(config.nonce_secret, "from-file");
    ck_assert(load(line, "BENCH_NONCE_SECRET=from-environment", NULL));
    ck_assert_str_eq(config.nonce_secret, "from-environment");
    char *shown = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&shown, &size);
    config_print_values(&config, stream);
    fclose(stream);
    ck_assert_ptr_null(strstr(shown, "from-environment"));
    ck_assert_ptr_nonnull(strstr(shown, "nonce_secret: ***"));
    free(shown);
}
END_TEST

START_TEST(config__a_url_with_a_password_stays_hidden)
{
    static const struct {
        const char *file, *shown;
    } rows[] = {
        {"webhook_url = https://user:hush@example.org/\n",
         "; webhook_url: https://example.org, the rest is not shown\n"},
        {"webhook_url = https://example.org/a\n",
         "; webhook_url: https://example.org, the rest is not shown\n"},
        {"webhook_url = https://example.org:8443/\n", "webhook_url = https://example.org:8443/\n"},
        {"webhook_url = hush\n", "; webhook_url: set, not shown\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *shown = NULL;
        size_t size = 0;
        ck_assert(load(rows[i].file, NULL, NULL));
        FILE *stream = open_memstream(&shown, &size);
        config_print_values(&config, stream);
        fclose(stream);
        ck_assert_ptr_null(strstr(shown, "hush"));
        ck_assert_ptr_nonnull(strstr(shown, rows[i].shown));
        free(shown);
    }
}
END_TEST

START_TEST(config__printed_values_read_back_the_same)
{
    char *first = NULL, *second = NULL;
    size_t size;
    ck_assert(load(NULL, "BENCHLEDGER_TRUSTED_PROXIES=10.0.0.0/8,192.168.0.0/16", "--threads=3"));
    for (int i = 0; i < 2; i++) {
        FILE *stream = open_memstream(i ? &second : &first, &size);
        config_print_values(&config, stream);
        fclose(stream);
        if (!i)
            ck_assert_msg(load(first, NULL, NULL), "%s", error.message);
    }
    ck_assert_str_eq(first, second);
    free(first);
    free(second);
}
END_TEST

START_TEST(config__help_names_every_key)
{
    char *help = NULL, *markdown = NULL;
    size_t size;
    FILE *stream = open_memstream(&help, &size);
    config_print_help(stream);
    fclose(stream);
    stream = open_memstream(&markdown, &size);
    config_print_markdown(stream);
    fclose(stream);
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        char name[64];
        config_environment_name(&keys[i], name);
        ck_assert_ptr_nonnull(strstr(help, name));
        ck_assert_ptr_nonnull(strstr(markdown, name));
    }
    free(help);
    free(markdown);
    ck_assert(load(NULL, NULL, "--help"));
    ck_assert_int_eq(outcome, CONFIG_HELP);
    ck_assert(load(NULL, NULL, "--check-config"));
    ck_assert_int_eq(outcome, CONFIG_CHECK);
}
END_TEST

START_TEST(config__variables_that_name_no_key_are_found)
{
    char path[] = "PATH=/bin", one[] = "BENCHLEDGER_RATELIMIT=5", ours[] = "BENCHLEDGER_LISTEN=a:1",
         two[] = "BENCHLEDGER_RATE_LIMIT_=1";
    char *environment[] = {path, one, ours, two, NULL};
    char name[64];
    ck_assert(config_stray_variable(environment, 0, name));
    ck_assert_str_eq(name, "BENCHLEDGER_RATELIMIT");
    ck_assert(config_stray_variable(environment, 1, name));
    ck_assert_str_eq(name, "BENCHLEDGER_RATE_LIMIT_");
    ck_assert(!config_stray_variable(environment, 2, name));
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("config");
    TCase *cases = tcase_create("config");
    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_test(cases, config__defaults_are_those_of_the_table);
    tcase_add_test(cases, config__flags_win_over_environment_over_file);
    tcase_add_test(cases, config__every_key_can_be_set_from_every_source);
    tcase_add_test(cases, config__mistakes_are_named_with_their_place);
    tcase_add_test(cases, config__long_and_indented_lines_are_not_misread);
    tcase_add_test(cases, config__secrets_come_from_environment_or_file_and_stay_hidden);
    tcase_add_test(cases, config__a_url_with_a_password_stays_hidden);
    tcase_add_test(cases, config__printed_values_read_back_the_same);
    tcase_add_test(cases, config__help_names_every_key);
    tcase_add_test(cases, config__variables_that_name_no_key_are_found);
    suite_add_tcase(suite, cases);
    return suite;
}
