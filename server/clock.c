#include "server/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_monotonic_ms(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

void clock_iso(int64_t wall_ms, char text[32])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    size_t size = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + size, 32 - size, ".%03dZ", (int)(wall_ms % 1000));
}
