#include "server/commands/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "server/clock.h"

enum { QUIET_MS = 500, BAR_EVERY_MS = 100, LINE_EVERY_MS = 5000, BAR_WIDTH = 30 };

static volatile sig_atomic_t stopped;

static struct {
    const char *what;
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
    progress.what = what;
    progress.terminal = isatty(STDERR_FILENO);
    progress.bytes = 0;
    progress.began = progress.told = clock_monotonic_ms();
}

static void draw_bar(size_t done, size_t count, double mb_per_sec)
{
    char bar[BAR_WIDTH + 1] = {0};
    for (size_t i = 0; i < BAR_WIDTH; i++)
        bar[i] = i * count < done * BAR_WIDTH ? '#' : '.';
    fprintf(stderr, "\r%s [%s] %zu of %zu files, %.0f MB/s\033[K", progress.what, bar, done, count,
            mb_per_sec);
    fflush(stderr);
    progress.shown = done < count;
    if (!progress.shown)
        fputs("\r\033[K", stderr);
}

static void tell(size_t done, size_t count, int64_t now)
{
    double elapsed_ms = (double)(now - progress.began);
    double mb_per_sec = elapsed_ms > 0 ? (double)progress.bytes / elapsed_ms / 1000 : 0;
    if (progress.terminal)
        draw_bar(done, count, mb_per_sec);
    else
        fprintf(stderr, "%s: %zu of %zu files, %.0f MB/s\n", progress.what, done, count,
                mb_per_sec);
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

bool progress_stopped(void)
{
    return stopped;
}

void progress_hide(void)
{
    if (!progress.shown)
        return;
    fputs("\r\033[K", stderr);
    progress.shown = false;
}
