/* The columns of runtime packages, and lines that are open where these go. */
#include <stdlib.h>

#include "aggregate/csv.h"
#include "aggregate/export_row.h"

/* Bytes that UTF-8 does not have, in an open line: each version is OPEN_PACKAGE, its column, OPEN_VERSION, its field;
 * OPEN_END comes after the last one. */
enum { OPEN_PACKAGE = 0xff, OPEN_VERSION = 0xfe, OPEN_END = 0xfd };

/* The column of a package: rv_ and its name, lower-cased, other than letters and digits one `_`, trimmed. */
static const char *package_column(struct arena *arena, const struct js_value *package)
{
    BUFFER_SCOPE struct buffer name = {0};
    struct text lower = text_lower(arena, text_of(package));
    bool gap = false;
    buffer_text(&name, "rv_");
    for (size_t i = 0; i < lower.size; i++) {
        char c = lower.data[i];
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) {
            gap = true;
            continue;
        }
        if (gap && name.size > 3)
            buffer_byte(&name, '_');
        gap = false;
        buffer_byte(&name, c);
    }
    return arena_copy(arena, name.data, name.size);
}

/* Where NAME stands among the names, or has to. */
static size_t find_package(const struct export_packages *packages, const char *name, bool *found)
{
    size_t low = 0, high = packages->count;
    *found = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int way = strcmp(packages->names[middle], name);
        *found = *found || way == 0;
        if (way < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_package(struct export_packages *packages, const char *name)
{
    bool found;
    size_t at = find_package(packages, name, &found);
    if (found)
        return true;
    if (packages->count == EXPORT_PACKAGES_MAX)
        return false;
    if (packages->count == packages->room) {
        packages->room = packages->room ? packages->room * 2 : 32;
        packages->names =
            memory_grow((void *)packages->names, packages->room * sizeof *packages->names);
    }
    memmove((void *)(packages->names + at + 1), (void *)(packages->names + at),
            (packages->count - at) * sizeof *packages->names);
    packages->names[at] = arena_copy(&packages->arena, name, strlen(name));
    packages->count++;
    return true;
}

bool export_packages_add(struct export_packages *packages, const struct verdict *verdict)
{
    ARENA_SCOPE struct arena arena = {0};
    const struct js_value *versions = bench_run_of(verdict->run)->runtime_versions;
    bool fine = true;
    for (uint32_t i = 0; versions && i < versions->size; i++)
        fine = add_package(packages, package_column(&arena, &versions->members[i].key)) && fine;
    return fine;
}

void export_packages_free(struct export_packages *packages)
{
    free((void *)packages->names);
    arena_free(&packages->arena);
    *packages = (struct export_packages){0};
}

void export_open_versions(const struct bench_run *run, struct buffer *out)
{
    ARENA_SCOPE struct arena arena = {0};
    const struct js_value *versions = run->runtime_versions;
    for (uint32_t i = 0; versions && i < versions->size; i++) {
        const struct js_value *version = &versions->members[i].value;
        buffer_byte(out, (char)OPEN_PACKAGE);
        buffer_text(out, package_column(&arena, &versions->members[i].key));
        buffer_byte(out, (char)OPEN_VERSION);
        csv_text(out, version->text, version->size);
    }
    buffer_byte(out, (char)OPEN_END);
}

/* What stands between OPEN and CLOSE as one field for each column. Of two packages with one column the later one counts,
 * as of two equal keys. */
static void close_versions(const struct export_packages *packages, const char *open,
                           const char *close, struct buffer *out)
{
    ARENA_SCOPE struct arena arena = {0};
    struct text *fields = arena_clear_take(&arena, packages->count, sizeof *fields);
    while (open < close) {
        bool found;
        const char *column = open + 1;
        const char *field =
            (const char *)memchr(column, OPEN_VERSION, (size_t)(close - column)) + 1;
        const char *name = arena_copy(&arena, column, (size_t)(field - 1 - column));
        open = memchr(field, OPEN_PACKAGE, (size_t)(close - field));
        open = open ? open : close;
        size_t at = find_package(packages, name, &found);
        if (found)
            fields[at] = (struct text){field, (size_t)(open - field)};
    }
    for (size_t i = 0; i < packages->count; i++) {
        buffer_add(out, fields[i].data, fields[i].size);
        buffer_byte(out, ',');
    }
}

void export_close_lines(struct text lines, const struct export_packages *packages,
                        struct buffer *out)
{
    const char *at = lines.data, *end = at + lines.size, *close;
    while (at < end && (close = memchr(at, OPEN_END, (size_t)(end - at)))) {
        const char *open = memchr(at, OPEN_PACKAGE, (size_t)(close - at));
        open = open ? open : close;
        buffer_add(out, at, (size_t)(open - at));
        close_versions(packages, open, close, out);
        at = close + 1;
    }
    buffer_add(out, at, (size_t)(end - at));
}
