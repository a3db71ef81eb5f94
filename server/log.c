#include "server/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/clock.h"
#include "validator/buffer.h"
#include "validator/js.h"

enum { VALUE_MOST = 1024 };

static struct {
    bool json;
    enum log_level least;
} settings = {.least = LOG_INFO};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_configure(bool json, enum log_level least)
{
    settings.json = json;
    settings.least = least;
}

bool log_wanted(enum log_level level)
{
    return level <= settings.least;
}

/* Printable ASCII as it is, all else as \xNN: bidi controls and broken UTF-8 cannot show either. */
static void add_value(struct buffer *line, const char *value, bool quote)
{
    size_t size = strnlen(value, VALUE_MOST);
    if (quote)
        buffer_byte(line, '"');
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)value[i];
        if (byte < 0x20 || byte > 0x7e)
            buffer_format(line, settings.json ? "\\u%04x" : "\\x%02x", byte);
        else if (byte == '"' || byte == '\\')
            buffer_format(line, "\\%c", byte);
        else
            buffer_byte(line, (char)byte);
    }
    if (quote)
        buffer_byte(line, '"');
}

static void add_field(struct buffer *line, const char *name, const char *value)
{
    if (settings.json) {
        buffer_format(line, ",\"%s\":", name);
        add_value(line, value, true);
    } else {
        bool plain = *value && !strpbrk(value, " \"=\\");
        buffer_format(line, " %s=", name);
        add_value(line, value, !plain);
    }
}

/* One write a line keeps the lines of threads apart. A full pipe or disk loses log, not runs: a pipe that is ready
 * takes PIPE_BUF bytes without waiting, and who reads it may have stopped. */
static void print_line(struct buffer *line)
{
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (line->size > PIPE_BUF) {
        line->size = PIPE_BUF;
        line->data[PIPE_BUF - 1] = '\n';
    }
    static pthread_mutex_t mutex =
        PTHREAD_MUTEX_INITIALIZER; /* nobody writes between look and write */
    pthread_mutex_lock(&mutex);
    if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT)) {
        ssize_t written;
        do
            written = write(STDERR_FILENO, line->data, line->size);
        while (written < 0 && errno == EINTR);
    }
    pthread_mutex_unlock(&mutex);
}

void log_event(enum log_level level, const char *message, const struct log_field *fields)
{
    if (!log_wanted(level))
        return;
    BUFFER_SCOPE struct buffer line = {0};
    char now[32];
    clock_iso(clock_wall_ms(), now);
    if (settings.json) {
        buffer_format(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"message\":", now,
                      level_names[level]);
        add_value(&line, message, true);
    } else {
        buffer_format(&line, "%s %-5s ", now, level_names[level]);
        add_value(&line, message, false);
    }
    for (; fields && fields->name; fields++)
        if (fields->value)
            add_field(&line, fields->name, fields->value);
    buffer_text(&line, settings.json ? "}\n" : "\n");
    print_line(&line);
}
