#include "github/queue/problems.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

/* The stable word that a text begins with. */
static const struct row {
    const char *word;
    bool warning;
    enum store_level level;
} rows[PROBLEM_COUNT] = {
    [PROBLEM_COMMIT] = {"store-failed", false, STORE_ERROR},
    [PROBLEM_NOT_CLONED] = {"not-cloned", false, STORE_INFO},
    [PROBLEM_REMOTE] = {"", false, STORE_ERROR}, /* the text brings its own */
    [PROBLEM_BRANCH] = {"remote-branch", false, STORE_ERROR},
    [PROBLEM_CLOSED] = {"remote-declined", false, STORE_ERROR},
    [PROBLEM_UNREADABLE] = {"remote-unreadable", false, STORE_ERROR},
    [PROBLEM_DISK] = {"disk-quota", false, STORE_ERROR},
    [PROBLEM_FOREIGN] = {"foreign-writer", true, STORE_WARNING},
};

enum { TEXT_MOST = 640 };

struct problems {
    store_tell tell;
    void *tell_context;
    pthread_mutex_t mutex;
    char texts[PROBLEM_COUNT][TEXT_MOST]; /* empty: none */
};

struct problems *problems_new(store_tell tell, void *tell_context)
{
    struct problems *problems = memory_grow(NULL, sizeof *problems);
    *problems = (struct problems){.tell = tell, .tell_context = tell_context};
    pthread_mutex_init(&problems->mutex, NULL);
    return problems;
}

void problems_free(struct problems *problems)
{
    if (!problems)
        return;
    pthread_mutex_destroy(&problems->mutex);
    free(problems);
}

/* Sets a text and says whether it is another one. */
static bool replace(struct problems *problems, enum problem problem, const char *text)
{
    pthread_mutex_lock(&problems->mutex);
    bool changed = strcmp(problems->texts[problem], text) != 0;
    if (changed)
        snprintf(problems->texts[problem], TEXT_MOST, "%s", text);
    pthread_mutex_unlock(&problems->mutex);
    return changed;
}

void problems_set(struct problems *problems, enum problem problem, const char *format, ...)
{
    char text[TEXT_MOST];
    const struct row *row = &rows[problem];
    int size = snprintf(text, sizeof text, "%s%s", row->word, *row->word ? ": " : "");
    va_list values;
    va_start(values, format);
    vsnprintf(text + size, sizeof text - (size_t)size, format, values);
    va_end(values);
    if (replace(problems, problem, text) && problems->tell)
        problems->tell(problems->tell_context, row->level, text);
}

void problems_clear(struct problems *problems, enum problem problem)
{
    char earlier[TEXT_MOST], text[TEXT_MOST + 16];
    pthread_mutex_lock(&problems->mutex);
    memcpy(earlier, problems->texts[problem], sizeof earlier);
    problems->texts[problem][0] = '\0';
    pthread_mutex_unlock(&problems->mutex);
    if (!*earlier || !problems->tell)
        return;
    snprintf(text, sizeof text, "over: %s", earlier);
    problems->tell(problems->tell_context, STORE_INFO, text);
}

bool problems_has(struct problems *problems, enum problem problem)
{
    pthread_mutex_lock(&problems->mutex);
    bool has = *problems->texts[problem] != '\0';
    pthread_mutex_unlock(&problems->mutex);
    return has;
}

void problems_tell(struct problems *problems, store_problem tell, void *context)
{
    for (int i = 0; i < PROBLEM_COUNT; i++) {
        char text[TEXT_MOST];
        pthread_mutex_lock(&problems->mutex);
        memcpy(text, problems->texts[i], sizeof text);
        pthread_mutex_unlock(&problems->mutex);
        if (*text)
            tell(context, rows[i].warning, text);
    }
}
