#include "server/commands/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "server/clock.h"

enum { QUIET_MS = 500, BAR_EVERY_MS = 100, LINE_EVERY_MS = 5000, BAR_WIDTH = 30 };

static volatile sig_atomic_t stopped;

static struct {
    const char *what, *units;
    bool terminal, shown;
    size_t bytes;
    int64_t began, told; /* ms */
} progress;

static void note_signal(int number)
{
    (void)number;
    stopped = 1;
}

void progress_begin(const char *what)
{
    struct sigaction action = {.sa_handler = note_signal,
                               .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    progress.terminal = isatty(STDERR_FILENO);
    progress_next(what, "files");
}

void progress_next(const char *what, const char *units)
{
    progress_hide();
    progress.what = what;
    progress.units = units;
    progress.bytes = 0;
    progress.began = progress.told = clock_monotonic_ms();
}

/* How fast, where bytes were counted. */
static void add_rate(int64_t now, char *text, size_t room)
{
    double elapsed_ms = (double)(now - progress.began);
    *text = '\0';
    if (progress.bytes && elapsed_ms > 0)
        snprintf(text, room, ", %.0f MB/s", (double)progress.bytes / elapsed_ms / 1000);
}

static void draw_bar(size_t done, size_t count, const char *rate)
{
    char bar[BAR_WIDTH + 1] = {0};
    for (size_t i = 0; i < BAR_WIDTH; i++)
        bar[i] = i * count < done * BAR_WIDTH ? '#' : '.';
    fprintf(stderr, "\r%s [%s] %zu of %zu %s%s\033[K", progress.what, bar, done, count,
            progress.units, rate);
    fflush(stderr);
    progress.shown = done < count;
    if (!progress.shown)
        fputs("\r\033[K", stderr);
}

static void tell(size_t done, size_t count, int64_t now)
{
    char rate[40];
    add_rate(now, rate, sizeof rate);
    if (progress.terminal)
        draw_bar(done, count, rate);
    else
        fprintf(stderr, "%s: %zu of %zu %s%s\n", progress.what, done, count, progress.units, rate);
    progress.told = now;
}

bool progress_step(size_t done, size_t count, size_t size)
{
    int64_t now = clock_monotonic_ms();
    progress.bytes += size;
    bool due = progress.terminal
                   ? now - progress.began >= QUIET_MS && now - progress.told >= BAR_EVERY_MS
                   : now - progress.told >= LINE_EVERY_MS;
    if (due || (progress.shown && done == count))
        tell(done, count, now);
    return !stopped;
}

void progress_hide(void)
{
    if (!progress.shown)
        return;
    fputs("\r\033[K", stderr);
    progress.shown = false;
}
