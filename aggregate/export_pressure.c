#include <math.h>
#include <stdlib.h>

#include "aggregate/export_row.h"

/* From its moment on the device was in this state. */
struct pressure_change {
    double t;
    uint32_t order; /* in the file */
    int state;      /* below 0: none that is known */
};

static int state_of(const struct js_value *detail)
{
    static const char *const names[PRESSURE_STATES] = {"critical", "serious", "fair", "nominal"};
    for (int i = 0; i < PRESSURE_STATES; i++)
        if (js_equals(detail, names[i]))
            return i;
    return -1;
}

static int by_time(const void *left, const void *right)
{
    const struct pressure_change *a = left, *b = right;
    if (a->t != b->t)
        return a->t < b->t ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static size_t read_changes(const struct js_value *events, struct pressure_change *changes)
{
    size_t count = 0;
    for (uint32_t i = 0; i < events->size; i++) {
        const struct js_value *event = &events->items[i], *t = js_get(event, "t");
        if (t && js_equals(js_get(event, "type"), "pressure-change"))
            changes[count++] =
                (struct pressure_change){t->number, i, state_of(js_get(event, "detail"))};
    }
    if (count)
        qsort(changes, count, sizeof *changes, by_time);
    return count;
}

/* Math.round(share * 10000) / 10000. */
static double round4(double share)
{
    double scaled = share * 10000, whole = floor(scaled);
    return (scaled - whole >= 0.5 ? whole + 1 : whole) / 10000;
}

static void add_span(double *spans, int state, double ms)
{
    if (state >= 0)
        spans[state] += ms;
}

struct pressure export_pressure(const struct export_run *run)
{
    ARENA_SCOPE struct arena arena = {0};
    const struct js_value *events = run->run->events;
    struct pressure_change *changes = arena_clear_take(&arena, events->size, sizeof *changes);
    struct pressure pressure = {.samples = read_changes(events, changes),
                                .shares = {NAN, NAN, NAN, NAN}};
    double spans[PRESSURE_STATES] = {0}, from = run->suite_start, whole = run->suite_end - from;
    int state = -1;
    if (!pressure.samples || !(whole > 0))
        return pressure;
    for (size_t i = 0; i < pressure.samples && changes[i].t < run->suite_end; i++) {
        if (changes[i].t > from) {
            add_span(spans, state, changes[i].t - from);
            from = changes[i].t;
        }
        state = changes[i].state;
    }
    add_span(spans, state, run->suite_end - from);
    for (int i = 0; i < PRESSURE_STATES; i++)
        pressure.shares[i] = round4(spans[i] / whole);
    return pressure;
}
