/* Drives a webhook for webhook.test.mjs: `poster URL SECRET [NAME=NUMBER]...` sets options by their names,
 * then obeys lines on standard input: `post TEXT`, `fill COUNT SIZE`, `figures`, `stop`. Answers are lines
 * of JSON on standard output, the log is on standard error. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/clock.h"
#include "server/notify/webhook.h"
#include "validator/arena.h"

enum { LINE = 65536 };

static int64_t *field(struct webhook_options *options, const char *name, size_t size)
{
    const struct {
        const char *name;
        int64_t *value;
    } rows[] = {{"base_ms", &options->base_ms},       {"ceiling_ms", &options->ceiling_ms},
                {"give_up_ms", &options->give_up_ms}, {"connect_ms", &options->connect_ms},
                {"total_ms", &options->total_ms},     {"report_ms", &options->report_ms}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == size && !memcmp(rows[i].name, name, size))
            return rows[i].value;
    return NULL;
}

static struct webhook_options read_options(int count, char **arguments)
{
    struct webhook_options options = webhook_defaults(arguments[1], arguments[2]);
    for (int i = 3; i < count; i++) {
        const char *equals = strchr(arguments[i], '=');
        int64_t *value =
            equals ? field(&options, arguments[i], (size_t)(equals - arguments[i])) : NULL;
        if (!value) {
            fprintf(stderr, "poster: what is %s?\n", arguments[i]);
            exit(EXIT_FAILURE);
        }
        *value = strtoll(equals + 1, NULL, 10);
    }
    return options;
}

/* Bodies "0", "1", ... each with blanks up to SIZE. */
static void fill(struct webhook *webhook, unsigned count, size_t size, uint64_t *mark)
{
    char *body = memory_grow(NULL, size + 16);
    for (unsigned i = 0; i < count; i++) {
        memset(body, ' ', size + 16);
        int digits = snprintf(body, size + 16, "%u", i);
        body[digits] = ' ';
        char key[16];
        snprintf(key, sizeof key, "%u", i);
        webhook_post(webhook, &(struct webhook_message){
                                  .json = body,
                                  .size = (size_t)digits > size ? (size_t)digits : size,
                                  .key = key,
                                  .mark = ++*mark});
    }
    free(body);
}

static void print_figures(struct webhook *webhook)
{
    struct webhook_figures figures = webhook_figures(webhook);
    printf("{\"delivered\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"dropped\":%" PRIu64
           ",\"queued\":%zu,\"mark\":%" PRIu64 "}\n",
           figures.delivered, figures.failed, figures.dropped, figures.queued, figures.mark);
}

static void obey(struct webhook *webhook, char *line)
{
    static uint64_t mark; /* 1, 2, ... in the order of posts */
    unsigned count;
    size_t size;
    line[strcspn(line, "\n")] = '\0';
    if (!strncmp(line, "post ", 5)) {
        webhook_post(webhook, &(struct webhook_message){.json = line + 5,
                                                        .size = strlen(line + 5),
                                                        .key = line + 5,
                                                        .mark = ++mark});
    } else if (sscanf(line, "fill %u %zu", &count, &size) == 2) { /* NOLINT: of the test */
        int64_t begun = clock_monotonic_ms();
        fill(webhook, count, size, &mark);
        printf("{\"ms\":%" PRId64 "}\n", clock_monotonic_ms() - begun);
    } else if (!strcmp(line, "figures")) {
        print_figures(webhook);
    }
    fflush(stdout);
}

int main(int count, char **arguments)
{
    static char line[LINE];
    const char *problem;
    if (count < 3)
        return EXIT_FAILURE;
    struct webhook_options options = read_options(count, arguments);
    struct webhook *webhook = webhook_start(&options, &problem);
    if (!webhook) {
        fprintf(stderr, "poster: %s\n", problem);
        return 2;
    }
    while (fgets(line, sizeof line, stdin) && strcmp(line, "stop\n") != 0)
        obey(webhook, line);
    int64_t begun = clock_monotonic_ms();
    webhook_stop(webhook);
    printf("{\"ms\":%" PRId64 "}\n", clock_monotonic_ms() - begun);
    return EXIT_SUCCESS;
}
