#include "github/error.h"

#include <errno.h>
#include <git2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 0))) static void
write_message(struct store_error *error, const char *cause, const char *format, va_list values)
{
    if (!error)
        return;
    char text[sizeof error->message];
    vsnprintf(text, sizeof text, format, values);
    size_t used = strlen(text);
    if (cause)
        snprintf(text + used, sizeof text - used, ": %s", cause);
    memcpy(error->message, text, sizeof text);
}

bool error_set(struct store_error *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    write_message(error, NULL, format, values);
    va_end(values);
    return false;
}

bool error_git(struct store_error *error, const char *format, ...)
{
    const git_error *last = git_error_last();
    va_list values;
    va_start(values, format);
    write_message(error, last && last->message ? last->message : "unknown git error", format,
                  values);
    va_end(values);
    return false;
}

bool error_system(struct store_error *error, const char *format, ...)
{
    char text[128];
    const char *cause = strerror_r(errno, text, sizeof text);
    va_list values;
    va_start(values, format);
    write_message(error, cause, format, values);
    va_end(values);
    return false;
}
