#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/value.h"
#include "validator/arena.h"

enum { KEYS_MOST = 128 };
enum source { SOURCE_DEFAULT, SOURCE_FILE, SOURCE_ENVIRONMENT, SOURCE_FLAG };

/* One load: which source has set each key so far. */
struct loading {
    struct config *config;
    enum source sources[KEYS_MOST];
    const char *file;
    FILE *stream;
    int line;
    struct config_error *error;
};

static bool fail(struct loading *loading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool fail(struct loading *loading, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): set by va_start just above */
    vsnprintf(loading->error->message, sizeof loading->error->message, format, values);
    va_end(values);
    for (char *at = loading->error->message; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?'; /* one line, whatever a file or a flag held */
    return false;
}

/* Sets KEY unless a stronger source has done so; ORIGIN names the place for messages. A value is
 * checked even when it loses: a mistake in a file should not wait for a flag to go away. */
static bool set(struct loading *loading, const struct config_key *key, const char *text,
                enum source source, const char *origin)
{
    size_t count, index = (size_t)(key - config_keys(&count));
    char problem[256];
    bool wins = source >= loading->sources[index];
    if (!config_value_set(wins ? loading->config : NULL, key, text, problem))
        return fail(loading, "%s: %s", origin, problem);
    if (wins)
        loading->sources[index] = source;
    return true;
}

static int file_pair(void *context, const char *section, const char *name, const char *text)
{
    struct loading *loading = context;
    char origin[320];
    snprintf(origin, sizeof origin, "%.200s:%d", loading->file, loading->line);
    if (loading->error->message[0])
        return 0;
    if (*section)
        return fail(loading, "%s: sections are not used, found [%.64s]", origin, section);
    const struct config_key *key = config_find(name, strlen(name));
    if (!key)
        return fail(loading, "%s: unknown key '%.64s'", origin, name);
    if (key->type == CONFIG_SECRET) {
        char variable[64];
        config_environment_name(key, variable);
        return fail(loading, "%s: %s: a secret comes from the environment (%s) or from %s_file",
                    origin, key->name, variable, key->name);
    }
    char place[400];
    snprintf(place, sizeof place, "%s: %s", origin, key->name);
    return set(loading, key, text, SOURCE_FILE, place);
}

/* inih cuts long lines silently and takes indented lines as more of the value before; both would
 * give another configuration than the file shows, so lines are looked at on their way in. */
static char *file_line(char *line, int size, void *context)
{
    struct loading *loading = context;
    if (loading->error->message[0] || !fgets(line, size, loading->stream))
        return NULL;
    loading->line++;
    size_t length = strlen(line);
    if (length + 1 == (size_t)size && line[length - 1] != '\n') {
        fail(loading, "%.200s:%d: line is longer than %d bytes", loading->file, loading->line,
             size - 2);
        return NULL;
    }
    char *start = line;
    while (*start && isspace((unsigned char)*start))
        start++;
    memmove(line, start, strlen(start) + 1);
    return line;
}

static bool read_file(struct loading *loading, const char *path)
{
    loading->file = path;
    loading->stream = fopen(path, "re");
    if (!loading->stream)
        return fail(loading, "%.300s: %s", path, strerror(errno));
    int bad = ini_parse_stream(file_line, loading, file_pair, loading);
    bool broken = ferror(loading->stream) != 0;
    fclose(loading->stream);
    if (loading->error->message[0])
        return false;
    if (broken)
        return fail(loading, "%.300s: cannot be read", path);
    if (bad > 0)
        return fail(loading, "%.300s:%d: not a `key = value` line", path, bad);
    return true;
}

/* Unknown BENCHLEDGER_ variables are left alone: scripts around the service have their own. */
static bool read_environment(struct loading *loading, char *const *environment)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (; *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        if (!equals)
            continue;
        size_t size = (size_t)(equals - *environment);
        for (size_t i = 0; i < count; i++) {
            char name[64];
            config_environment_name(&keys[i], name);
            if (strlen(name) != size || memcmp(name, *environment, size) != 0)
                continue;
            if (!set(loading, &keys[i], equals + 1, SOURCE_ENVIRONMENT, name))
                return false;
        }
    }
    return true;
}

struct flag {
    char name[64];     /* as a key, with underscores */
    const char *value; /* NULL: the next argument */
};

static bool split_flag(struct loading *loading, const char *argument, struct flag *flag)
{
    if (strncmp(argument, "--", 2) != 0 || !argument[2])
        return fail(loading, "unexpected argument '%.100s'", argument);
    const char *equals = strchr(argument, '=');
    size_t size = (equals ? (size_t)(equals - argument) : strlen(argument)) - 2;
    if (size >= sizeof flag->name)
        return fail(loading, "unknown option '%.100s'", argument);
    for (size_t i = 0; i < size; i++)
        flag->name[i] = argument[2 + i] == '-' ? '_' : argument[2 + i];
    flag->name[size] = '\0';
    flag->value = equals ? equals + 1 : NULL;
    return true;
}

static bool outcome_flag(const char *name, enum config_outcome *outcome)
{
    static const struct {
        const char *name;
        enum config_outcome outcome;
    } table[] = {{"help", CONFIG_HELP},
                 {"check_config", CONFIG_CHECK},
                 {"help_markdown", CONFIG_HELP_MARKDOWN}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name)) {
            *outcome = table[i].outcome;
            return true;
        }
    return false;
}

static bool key_flag(struct loading *loading, const struct flag *flag)
{
    const struct config_key *key = config_find(flag->name, strlen(flag->name));
    char origin[80];
    snprintf(origin, sizeof origin, "--%s", flag->name);
    for (char *at = origin; *at; at++)
        if (*at == '_')
            *at = '-';
    if (!key)
        return fail(loading, "unknown option '%s'", origin);
    if (key->type == CONFIG_SECRET)
        return fail(loading, "%s: a secret is never given on the command line", origin);
    return set(loading, key, flag->value, SOURCE_FLAG, origin);
}

static bool read_flags(struct loading *loading, int count, char *const *arguments,
                       const char **file, enum config_outcome *outcome)
{
    for (int i = 0; i < count; i++) {
        struct flag flag = {.value = NULL};
        if (!split_flag(loading, arguments[i], &flag))
            return false;
        if (!flag.value && outcome_flag(flag.name, outcome)) {
            if (*outcome == CONFIG_HELP || *outcome == CONFIG_HELP_MARKDOWN)
                return true; /* help is given whatever else is wrong */
            continue;
        }
        if (!flag.value) {
            bool known = !strcmp(flag.name, "config") || config_find(flag.name, strlen(flag.name));
            if (known && i + 1 == count)
                return fail(loading, "%.80s needs a value", arguments[i]);
            flag.value = known ? arguments[++i] : "";
        }
        if (!strcmp(flag.name, "config"))
            *file = flag.value;
        else if (!key_flag(loading, &flag))
            return false;
    }
    return true;
}

static bool read_secret(struct loading *loading, const struct config_key *key, const char *path)
{
    char text[1024];
    FILE *stream = fopen(path, "re");
    if (!stream)
        return fail(loading, "%s_file: %.300s: %s", key->name, path, strerror(errno));
    size_t size = fread(text, 1, sizeof text - 1, stream);
    bool whole = !ferror(stream) && fgetc(stream) == EOF;
    fclose(stream);
    while (size && isspace((unsigned char)text[size - 1]))
        size--;
    text[size] = '\0';
    bool good = whole && size && strlen(text) == size;
    if (good)
        config_value_text(loading->config, key, text);
    explicit_bzero(text, sizeof text);
    return good ||
           fail(loading, "%s_file: %.300s: holds no secret of 1 to 1022 bytes", key->name, path);
}

/* The stronger source of a secret and of its `_file` key wins; of two alike the secret itself. */
static bool read_secrets(struct loading *loading)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        if (key->type != CONFIG_SECRET)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s_file", key->name);
        const struct config_key *row = config_find(name, strlen(name));
        const char *path = row ? config_value_get(loading->config, row) : "";
        bool set_itself = *config_value_get(loading->config, key) != '\0';
        if (!*path || (set_itself && loading->sources[i] >= loading->sources[row - keys]))
            continue;
        if (!read_secret(loading, key, path))
            return false;
    }
    return true;
}

static bool is_ours(const char *variable, size_t size)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        char name[64];
        config_environment_name(&keys[i], name);
        if (strlen(name) == size && !memcmp(name, variable, size))
            return true;
    }
    return false;
}

bool config_stray_variable(char *const *environment, size_t i, char name[64])
{
    static const char prefix[] = "BENCHLEDGER_";
    for (; *environment; environment++) {
        size_t size = strcspn(*environment, "=");
        if (strncmp(*environment, prefix, sizeof prefix - 1) || is_ours(*environment, size) || i--)
            continue;
        snprintf(name, 64, "%.*s", (int)(size < 63 ? size : 63), *environment);
        return true;
    }
    return false;
}

bool config_load(struct config *config, int count, char *const *arguments, char *const *environment,
                 enum config_outcome *outcome, struct config_error *error)
{
    *config = (struct config){0};
    *error = (struct config_error){0};
    *outcome = CONFIG_RUN;
    struct loading loading = {.config = config, .error = error};
    size_t key_count;
    const struct config_key *keys = config_keys(&key_count);
    if (key_count > KEYS_MOST)
        abort();
    for (size_t i = 0; i < key_count; i++)
        if (!set(&loading, &keys[i], keys[i].fallback, SOURCE_DEFAULT, "default"))
            return false;
    const char *file = NULL;
    if (!read_flags(&loading, count, arguments, &file, outcome))
        return false;
    if (*outcome == CONFIG_HELP || *outcome == CONFIG_HELP_MARKDOWN)
        return true;
    if (file && !read_file(&loading, file))
        return false;
    return read_environment(&loading, environment) && read_secrets(&loading);
}

void config_free(struct config *config)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++)
        config_value_clear(config, &keys[i]);
}
