#include "server/http/match.h"

#include <stdio.h>
#include <string.h>

static bool digits(const char *text, size_t size, size_t count)
{
    if (size != count)
        return false;
    for (size_t i = 0; i < size; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

static bool plain_name(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return size > 0;
}

static bool is_month(const char *text, size_t size)
{
    return digits(text, size, 2) && memcmp(text, "01", 2) >= 0 && memcmp(text, "12", 2) <= 0;
}

static bool is_year(const char *text, size_t size)
{
    return digits(text, size, 4);
}

/* A name without dots and the suffix: nothing can leave its folder. */
static bool has_suffix(const char *text, size_t size, const char *suffix)
{
    size_t tail = strlen(suffix);
    return size > tail && !memcmp(text + size - tail, suffix, tail) &&
           plain_name(text, size - tail);
}

static bool is_file(const char *text, size_t size)
{
    return size <= 64 + 5 && has_suffix(text, size, ".json");
}

static bool is_segment(const char *text, size_t size)
{
    return size <= 16 + 5 && has_suffix(text, size, ".json") && digits(text, size - 5, size - 5);
}

static bool is_day(const char *text, size_t size)
{
    return size == 16 && !memcmp(text + 10, ".jsonl", 6) && digits(text, 4, 4) && text[4] == '-' &&
           is_month(text + 5, 2) && text[7] == '-' && digits(text + 8, 2, 2);
}

/* Any one segment: what is no run id is answered as an unknown run. */
static bool is_run(const char *text, size_t size)
{
    (void)text;
    return size > 0 && size <= 256;
}

/* NAME.EXTENSION */
static bool is_asset(const char *text, size_t size)
{
    const char *dot = memchr(text, '.', size);
    return dot && size <= 64 && plain_name(text, (size_t)(dot - text)) &&
           plain_name(dot + 1, size - 1 - (size_t)(dot - text));
}

static bool is_family(const char *text, size_t size)
{
    return size <= 64 && plain_name(text, size);
}

static bool is_version(const char *text, size_t size)
{
    return size <= 6 && size > 0 && digits(text, size, size) && *text != '0';
}

static const struct {
    const char *name;
    bool (*fits)(const char *text, size_t size);
} classes[] = {{"year", is_year},   {"month", is_month},     {"day", is_day},
               {"file", is_file},   {"segment", is_segment}, {"run", is_run},
               {"asset", is_asset}, {"family", is_family},   {"version", is_version}};

/* PATTERN is one segment `{name}` or `{name:class}`; the class is the name when it has none. */
static bool class_fits(const char *pattern, size_t size, const char *text, size_t length)
{
    const char *colon = memchr(pattern, ':', size);
    const char *name = colon ? colon + 1 : pattern + 1;
    size_t name_size = (size_t)(pattern + size - 1 - name);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].name) == name_size && !memcmp(classes[i].name, name, name_size))
            return classes[i].fits(text, length);
    return false;
}

static bool path_fits(const char *pattern, const char *path, struct route_match *match)
{
    size_t found = 0;
    while (*pattern == '/' && *path == '/') {
        pattern++;
        path++;
        size_t wanted = strcspn(pattern, "/"), given = strcspn(path, "/");
        if (*pattern == '{') {
            if (found == ROUTE_PARAMETERS || !class_fits(pattern, wanted, path, given))
                return false;
            match->parameters[found].text = path;
            match->parameters[found++].size = given;
        } else if (wanted != given || memcmp(pattern, path, wanted) != 0) {
            return false;
        }
        pattern += wanted;
        path += given;
    }
    return !*pattern && !*path;
}

static void allow(struct route_match *match, const char *method)
{
    size_t used = strlen(match->allow);
    if (!strstr(match->allow, method))
        snprintf(match->allow + used, sizeof match->allow - used, "%s%s", used ? ", " : "", method);
}

void routes_match(const struct route *table, size_t count, enum method method, const char *path,
                  struct route_match *match)
{
    *match = (struct route_match){0};
    enum method wanted = method == METHOD_HEAD ? METHOD_GET : method;
    for (size_t i = 0; i < count; i++) {
        struct route_match found = {0};
        if (!path_fits(table[i].path, path, &found))
            continue;
        if (!match->first)
            match->first = &table[i];
        if (table[i].method == METHOD_GET) {
            allow(match, "GET");
            allow(match, "HEAD");
        } else {
            allow(match, "POST");
        }
        if (table[i].method == wanted && !match->route) {
            match->route = &table[i];
            memcpy(match->parameters, found.parameters, sizeof match->parameters);
        }
    }
    if (match->first)
        allow(match, "OPTIONS");
}

enum method method_parse(const char *text)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "OPTIONS"};
    for (int i = 0; i < METHOD_OTHER; i++)
        if (!strcmp(names[i], text))
            return (enum method)i;
    return METHOD_OTHER;
}
