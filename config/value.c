#include "config/value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

enum { LIST_MOST = 256 };

/* Where KEY's field begins. Reading and writing share it, so it gives up the const of a reader. */
static void *field_of(const struct config *config, const struct config_key *key)
{
    union {
        const char *read;
        char *written;
    } place = {(const char *)config + key->offset};
    return place.written;
}

static char **text_field(const struct config *config, const struct config_key *key)
{
    return field_of(config, key);
}

static char ***list_field(const struct config *config, const struct config_key *key)
{
    return field_of(config, key);
}

static char *copy(const char *text, size_t size)
{
    char *made = memory_grow(NULL, size + 1);
    memcpy(made, text, size);
    made[size] = '\0';
    return made;
}

static void list_free(char **list)
{
    for (char **item = list; item && *item; item++)
        free(*item);
    free(list);
}

static bool set_list(struct config *config, const struct config_key *key, const char *text,
                     char problem[256])
{
    static const char breaks[] = ", \t\r\n";
    size_t count = 0;
    char **list = memory_grow(NULL, (LIST_MOST + 1) * sizeof *list);
    list[0] = NULL;
    for (const char *at = text + strspn(text, breaks); *at; at += strspn(at, breaks)) {
        size_t size = strcspn(at, breaks);
        if (count == LIST_MOST) {
            list_free(list);
            snprintf(problem, 256, "a list of more than %d items", LIST_MOST);
            return false;
        }
        list[count++] = copy(at, size);
        list[count] = NULL;
        at += size;
    }
    if (!config) {
        list_free(list);
        return true;
    }
    list_free(*list_field(config, key));
    *list_field(config, key) = list;
    return true;
}

static bool set_number(struct config *config, const struct config_key *key, const char *text,
                       char problem[256])
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool whole = (isdigit((unsigned char)*text) || *text == '-') && !*end;
    if (!whole || errno || number < key->least || number > key->most) {
        snprintf(problem, 256, "'%.40s' is not a whole number from %" PRId64 " to %" PRId64, text,
                 key->least, key->most);
        return false;
    }
    int64_t value = number;
    if (config)
        memcpy((char *)config + key->offset, &value, sizeof value);
    return true;
}

static bool set_choice(struct config *config, const struct config_key *key, const char *text,
                       char problem[256])
{
    int used = snprintf(problem, 256, "'%.40s' is not one of:", text);
    for (int64_t i = 0; key->choices[i]; i++) {
        if (!strcmp(key->choices[i], text)) {
            if (config)
                memcpy((char *)config + key->offset, &i, sizeof i);
            return true;
        }
        if (used > 0 && used < 200)
            used += snprintf(problem + used, 256 - (size_t)used, " %s", key->choices[i]);
    }
    return false;
}

void config_value_text(struct config *config, const struct config_key *key, const char *text)
{
    char **field = text_field(config, key);
    char *made = copy(text, strlen(text));
    config_value_clear(config, key);
    *field = made;
}

bool config_value_set(struct config *config, const struct config_key *key, const char *text,
                      char problem[256])
{
    switch (key->type) {
    case CONFIG_LIST:
        return set_list(config, key, text, problem);
    case CONFIG_NUMBER:
        return set_number(config, key, text, problem);
    case CONFIG_CHOICE:
        return set_choice(config, key, text, problem);
    case CONFIG_TEXT:
    case CONFIG_SECRET:
        for (const char *at = text; *at; at++)
            if (iscntrl((unsigned char)*at)) {
                snprintf(problem, 256, "holds a control character");
                return false;
            }
        if (config)
            config_value_text(config, key, text);
        return true;
    }
    return false;
}

const char *config_value_get(const struct config *config, const struct config_key *key)
{
    const char *text = *text_field(config, key);
    return text ? text : "";
}

char *const *config_value_list(const struct config *config, const struct config_key *key)
{
    return *list_field(config, key);
}

void config_value_clear(struct config *config, const struct config_key *key)
{
    if (key->type == CONFIG_LIST) {
        list_free(*list_field(config, key));
        *list_field(config, key) = NULL;
    } else if (key->type == CONFIG_TEXT || key->type == CONFIG_SECRET) {
        char **field = text_field(config, key);
        if (*field && key->type == CONFIG_SECRET)
            explicit_bzero(*field, strlen(*field));
        free(*field);
        *field = NULL;
    }
}
