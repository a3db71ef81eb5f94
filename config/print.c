#include <inttypes.h>
#include <string.h>

#include "config/config.h"
#include "config/value.h"

static const char *type_name(const struct config_key *key)
{
    static const char *const names[] = {"TEXT", "LIST", "N", "CHOICE", "SECRET"};
    return names[key->type];
}

static void print_choices(const struct config_key *key, const char *between, FILE *out)
{
    for (size_t i = 0; key->choices[i]; i++)
        fprintf(out, "%s%s", i ? between : "", key->choices[i]);
}

void config_print_help(FILE *out)
{
    fputs("Usage: benchledger serve [--config FILE] [--KEY VALUE]...\n\n"
          "Serves the HTTP API and the public files of a dataset.\n\n"
          "  --config FILE      INI file of `key = value` lines\n"
          "  --check-config     print the values in effect, secrets masked, and exit\n"
          "  --help             this text\n"
          "  --help-markdown    the same table as markdown\n\n"
          "Flags win over the environment, the environment over the file.\n\n",
          out);
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        char variable[64];
        config_environment_name(key, variable);
        if (key->type == CONFIG_SECRET)
            fprintf(out, "  (environment %s)\n      %s\n", variable, key->help);
        else
            fprintf(out, "  --%s %s  (environment %s)\n      %s\n", key->name, type_name(key),
                    variable, key->help);
        if (key->type == CONFIG_NUMBER)
            fprintf(out, "      %" PRId64 " to %" PRId64 "%s%s%s\n", key->least, key->most,
                    key->unit ? " " : "", key->unit ? key->unit : "",
                    key->zero_off ? "; 0: off" : "");
        if (key->type == CONFIG_CHOICE) {
            fputs("      one of: ", out);
            print_choices(key, ", ", out);
            fputc('\n', out);
        }
        if (*key->fallback)
            fprintf(out, "      default: %s\n", key->fallback);
    }
    fputs("\nExit codes: 0 stopped by a signal or nothing wrong, 1 could not start or stopped by a "
          "second signal, 2 bad configuration.\n",
          out);
}

void config_print_markdown(FILE *out)
{
    fputs("| key | environment | default | what it is |\n| --- | --- | --- | --- |\n", out);
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        char variable[64];
        config_environment_name(key, variable);
        fprintf(out, "| `%s` | `%s` | ", key->name, variable);
        if (*key->fallback)
            fprintf(out, "`%s`", key->fallback);
        fprintf(out, " | %s", key->help);
        if (key->type == CONFIG_CHOICE) {
            fputs(" (", out);
            print_choices(key, ", ", out);
            fputc(')', out);
        }
        if (key->unit)
            fprintf(out, " (%s)", key->unit);
        fprintf(out, "%s |\n", key->zero_off ? "; 0: off" : "");
    }
}

static void print_value(const struct config *config, const struct config_key *key, FILE *out)
{
    switch (key->type) {
    case CONFIG_LIST:
        for (char *const *item = config_value_list(config, key); *item; item++)
            fprintf(out, " %s", *item);
        break;
    case CONFIG_NUMBER:
        fprintf(out, " %" PRId64, config_number(config, key));
        break;
    case CONFIG_CHOICE:
        fprintf(out, " %s", key->choices[config_number(config, key)]);
        break;
    case CONFIG_TEXT:
        if (*config_value_get(config, key))
            fprintf(out, " %s", config_value_get(config, key));
        break;
    case CONFIG_SECRET:
        break;
    }
}

/* Where the authority of URL begins; NULL when it has none. */
static const char *authority_of(const char *url)
{
    const char *scheme = strstr(url, "://");
    return scheme ? scheme + 3 : NULL;
}

/* Whether URL has more than scheme, host and port: a password, or the path that a chat service tells its friends by. */
static bool holds_more(const char *url)
{
    const char *authority = authority_of(url);
    if (!*url)
        return false;
    if (!authority)
        return true;
    const char *end = authority + strcspn(authority, "/?#\\");
    return memchr(authority, '@', (size_t)(end - authority)) || (*end && strcmp(end, "/") != 0);
}

/* A comment, as a secret is: scheme and host, as the log shows them. */
static void print_guarded(const struct config_key *key, const char *url, FILE *out)
{
    const char *authority = authority_of(url);
    if (!authority) {
        fprintf(out, "; %s: set, not shown\n", key->name);
        return;
    }
    size_t size = strcspn(authority, "/?#\\");
    const char *host = authority;
    for (const char *at = authority; at < authority + size; at++)
        if (*at == '@')
            host = at + 1;
    size -= (size_t)(host - authority);
    size_t name = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    fprintf(out, "; %s: %.*s%.*s, the rest is not shown\n", key->name, (int)(authority - url), url,
            (int)(name < size ? name : size), host);
}

void config_print_values(const struct config *config, FILE *out)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        if (key->type == CONFIG_SECRET) {
            /* A comment, because a file may not carry it. Neither length nor content shows. */
            fprintf(out, "; %s: %s\n", key->name,
                    *config_value_get(config, key) ? "***" : "not set");
            continue;
        }
        if (key->guarded && holds_more(config_value_get(config, key))) {
            print_guarded(key, config_value_get(config, key), out);
            continue;
        }
        fprintf(out, "%s =", key->name);
        print_value(config, key, out);
        fputc('\n', out);
    }
}
