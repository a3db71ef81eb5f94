#include "github/queue/problems.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

/* The stable word that a text begins with; empty: the text brings its own. */
static const struct row {
    const char *word;
    bool warning;
    enum store_level level;
} rows[PROBLEM_COUNT] = {
    [PROBLEM_COMMIT] = {"", false, STORE_ERROR},
    [PROBLEM_NOT_CLONED] = {"not-cloned", false, STORE_INFO},
    [PROBLEM_REMOTE] = {"", false, STORE_ERROR},
    [PROBLEM_BRANCH] = {"remote-branch", false, STORE_ERROR},
    [PROBLEM_HEAD] = {"remote-head", true, STORE_WARNING},
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

/* Apart from numbers: ports and times change with every try. */
static bool says_the_same(const char *a, const char *b)
{
    while (*a && *b) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b)
            return false;
        a += *a != '\0';
        b += *b != '\0';
    }
    return *a == *b;
}

/* Sets a text and says whether it is another one. */
static bool replace(struct problems *problems, enum problem problem, const char *text)
{
    pthread_mutex_lock(&problems->mutex);
    bool changed = !says_the_same(problems->texts[problem], text);
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

void problems_commit_failed(struct problems *problems, const struct store_error *error)
{
    static const int full[] = {ENOSPC, EDQUOT};
    const char *word = "store-failed";
    for (size_t i = 0; i < sizeof full / sizeof *full; i++)
        if (strstr(error->message, strerror(full[i])))
            word = "disk-full";
    problems_set(problems, PROBLEM_COMMIT, "%s: %s", word, error->message);
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
