#include "server/maintainers/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/expiry.h"
#include "validator/arena.h"

enum { DAY_S = 24 * 3600, FIELDS_LEAST = 3, FIELDS_MOST = 4, FIELD_ROOM = 72 };

static const char *const role_names[MAINTAINER_ROLES] = {"reviewer", "admin"};

bool maintainer_name_ok(const char *name)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t size = strnlen(name, MAINTAINER_NAME + 1);
    return size && size <= MAINTAINER_NAME && strspn(name, allowed) == size;
}

const char *maintainer_role_name(enum maintainer_role role)
{
    return role_names[role];
}

bool maintainer_role_parse(const char *text, enum maintainer_role *role)
{
    for (int i = 0; i < MAINTAINER_ROLES; i++)
        if (!strcmp(text, role_names[i])) {
            *role = (enum maintainer_role)i;
            return true;
        }
    return false;
}

bool maintainer_expired(int64_t expires, int64_t now_s)
{
    return now_s / DAY_S > expires;
}

static bool read_hash(const char *hex, unsigned char hash[SHA256_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(hex) != SHA256_HEX || strspn(hex, digits) != SHA256_HEX)
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++)
        hash[i] = (unsigned char)((strchr(digits, hex[2 * i]) - digits) << 4 |
                                  (strchr(digits, hex[2 * i + 1]) - digits));
    return true;
}

/* Copies the fields of TEXT; their number, or FIELDS_MOST + 1 when there are more. One that is too long
 * for any field is cut to something that is still too long. */
static size_t split(const char *text, size_t size, char fields[FIELDS_MOST][FIELD_ROOM])
{
    size_t count = 0, at = 0;
    for (;;) {
        while (at < size && (text[at] == ' ' || text[at] == '\t'))
            at++;
        if (at == size || count > FIELDS_MOST)
            return count;
        size_t from = at;
        while (at < size && text[at] != ' ' && text[at] != '\t')
            at++;
        size_t length = at - from < FIELD_ROOM ? at - from : FIELD_ROOM - 1;
        if (count < FIELDS_MOST) {
            memcpy(fields[count], text + from, length);
            fields[count][length] = '\0';
        }
        count++;
    }
}

/* What is wrong with a line, or NULL. */
static const char *read_line(const char *text, size_t size, struct maintainer_line *line)
{
    char fields[FIELDS_MOST][FIELD_ROOM];
    if (memchr(text, '\0', size))
        return "holds a NUL byte";
    size_t count = split(text, size, fields);
    if (count < FIELDS_LEAST || count > FIELDS_MOST)
        return "is not of the form NAME ROLE SHA256 [EXPIRES]";
    if (!maintainer_name_ok(fields[0]))
        return "the name is not 1 to 64 of A-Z a-z 0-9 . _ -";
    strcpy(line->name, fields[0]);
    if (!maintainer_role_parse(fields[1], &line->role))
        return "the role is neither reviewer nor admin";
    if (!read_hash(fields[2], line->hash))
        return "the hash is not 64 lower-case hex digits";
    line->expires = MAINTAINER_NEVER;
    if (count == FIELDS_MOST && !expiry_parse(fields[3], &line->expires))
        return "the last field is no day of the form YYYY-MM-DD";
    return NULL;
}

static bool passed_over(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size && (text[at] == ' ' || text[at] == '\t'))
        at++;
    return at == size || text[at] == '#';
}

bool maintainer_list_parse(const char *text, size_t size, struct maintainer_list *list,
                           char problem[MAINTAINERS_PROBLEM])
{
    size_t number = 0, next;
    if (size > MAINTAINERS_BYTES) {
        snprintf(problem, MAINTAINERS_PROBLEM, "is larger than %d bytes", MAINTAINERS_BYTES);
        return false;
    }
    for (size_t at = 0; at < size; at = next) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline ? (size_t)(newline - text) - at : size - at;
        const char *wrong = ++number > MAINTAINERS_LINES ? "is one too many" : NULL;
        next = at + length + (newline ? 1 : 0);
        if (!wrong && passed_over(text + at, length))
            continue;
        struct maintainer_line line = {.begin = at, .end = next};
        if (!wrong)
            wrong = read_line(text + at, length, &line);
        if (wrong) {
            snprintf(problem, MAINTAINERS_PROBLEM, "line %zu: %s", number, wrong);
            maintainer_list_free(list);
            return false;
        }
        if (!list->lines)
            list->lines = memory_grow(NULL, MAINTAINERS_LINES * sizeof *list->lines);
        list->lines[list->count++] = line;
    }
    return true;
}

void maintainer_list_free(struct maintainer_list *list)
{
    free(list->lines);
    *list = (struct maintainer_list){0};
}
