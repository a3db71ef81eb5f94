#include "server/commands/offline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "aggregate/report.h"
#include "server/commands/progress.h"
#include "server/embedded.h"
#include "server/file.h"
#include "validator/text.h"

enum { FILE_SIZE_MAX = 256 << 20 };

static bool read_file(const char *name, struct buffer *text)
{
    return strcmp(name, "-") == 0 ? file_read_all(STDIN_FILENO, FILE_SIZE_MAX, text)
                                  : file_read(name, FILE_SIZE_MAX, text);
}

bool offline_read(const char *name, struct buffer *text)
{
    if (read_file(name, text))
        return true;
    offline_complain(name, strerror(errno));
    return false;
}

bool offline_open(struct offline_file *file, const char *name)
{
    struct js_error error;
    *file = (struct offline_file){.name = name};
    if (!read_file(name, &file->text)) {
        snprintf(file->problem, sizeof file->problem, "cannot be read: %s", strerror(errno));
        return false;
    }
    if (!js_read(&file->arena, file->text.data, file->text.size, &file->document, &error)) {
        report_json_problem(&error, file->problem);
        return false;
    }
    return true;
}

void offline_close(struct offline_file *file)
{
    arena_free(&file->arena);
    buffer_free(&file->text);
}

static void add_ascii(struct buffer *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer_byte(out, text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
}

void offline_add_safely(struct buffer *out, const char *text, size_t size)
{
    if (!text_is_formed((struct text){text, size})) {
        add_ascii(out, text, size);
        return;
    }
    for (const char *at = text, *next = text, *end = text + size; at < end; at = next) {
        if (text_is_control(text_next(&next, end)))
            buffer_byte(out, '?');
        else
            buffer_add(out, at, (size_t)(next - at));
    }
}

void offline_write_member(struct js_writer *writer, const char *key, const char *text)
{
    BUFFER_SCOPE struct buffer safe = {0};
    js_write_key(writer, key);
    if (text_is_formed((struct text){text, strlen(text)})) {
        js_write_text(writer, text);
        return;
    }
    offline_add_safely(&safe, text, strlen(text));
    js_write_string(writer, safe.data, safe.size);
}

void offline_complain(const char *file, const char *message)
{
    BUFFER_SCOPE struct buffer line = {0};
    buffer_text(&line, "benchledger: ");
    offline_add_safely(&line, file, strlen(file));
    buffer_text(&line, ": ");
    offline_add_safely(&line, message, strlen(message));
    buffer_byte(&line, '\n');
    progress_hide();
    fwrite(line.data, 1, line.size, stderr);
}

void offline_complain_shape(const char *file, const struct shape_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        BUFFER_SCOPE struct buffer line = {0};
        buffer_format(&line, "%s %s", *errors->items[i].path ? errors->items[i].path : "the file",
                      errors->items[i].message);
        offline_complain(file, buffer_string(&line));
    }
}

const char *offline_line(struct arena *arena, const char *given, size_t units)
{
    const struct text text = {given, strlen(given)};
    if (!text_is_formed(text))
        return NULL;
    struct text line = text_reason(arena, text, units);
    return line.size ? arena_copy(arena, line.data, line.size) : NULL;
}

void offline_print(const struct buffer *lines)
{
    progress_hide();
    if (lines->size)
        fwrite(lines->data, 1, lines->size, stdout);
}

bool offline_printed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    offline_complain("standard output", strerror(errno));
    return false;
}

int offline_output(const char *bytes, size_t size)
{
    bool terminal = isatty(STDOUT_FILENO); /* which sets errno */
    fwrite(bytes, 1, size, stdout);
    if (terminal)
        fputc('\n', stdout);
    return offline_printed() ? OFFLINE_OK : OFFLINE_UNREADABLE;
}

bool offline_rules(const char *text, int *rules)
{
    size_t size = strlen(text);
    int version = size == 1 && *text > '0' && *text <= '9' ? *text - '0' : 0;
    if (!rules_known(version)) {
        offline_complain("--rules", "names no rule set: there are 2, and 3 as a draft");
        return false;
    }
    *rules = version;
    return true;
}

/* The file at PATH, or the compiled-in text when PATH is NULL. NULL: it cannot be read (reported). */
static const char *read_text(struct arena *arena, const char *path,
                             const char *(*built_in)(size_t *size), size_t *size)
{
    BUFFER_SCOPE struct buffer own = {0};
    if (!path)
        return built_in(size);
    if (!read_file(path, &own)) {
        offline_complain(path, strerror(errno));
        return NULL;
    }
    *size = own.size;
    return arena_copy(arena, own.data, own.size);
}

bool offline_key(struct arena *arena, const char *path, struct answer_key *key)
{
    const char *problem = NULL;
    size_t size;
    const char *text = read_text(arena, path, embedded_mmlu_key, &size);
    if (!text || answer_key_read(arena, text, size, key, &problem))
        return text;
    offline_complain(path ? path : "the compiled-in answer key", problem);
    return false;
}

bool offline_catalogue(struct arena *arena, const char *path, struct model_catalogue *catalogue)
{
    const char *problem = NULL;
    size_t size;
    const char *text = read_text(arena, path, embedded_model_catalogue, &size);
    if (!text || model_catalogue_read(arena, text, size, catalogue, &problem))
        return text;
    offline_complain(path ? path : "the compiled-in catalogue", problem);
    return false;
}
