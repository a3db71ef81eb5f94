/* Rule trace-reuse of set 3: the same stream in two runs, whatever its cells are called, whenever it begins and
 * by whatever constant its times were multiplied. Pure.
 *
 * A stream is the gaps between the chunks of an iteration. Each REUSE_WINDOW gaps that follow one another make a
 * window; which of its gaps are longer than which, 64 bits in all, is the same in every copy. Of each iteration the
 * REUSE_KEPT windows are kept whose patterns come first in an order that has nothing to do with time, so that
 * copies keep the same ones, also when some chunks are missing or times were rounded again. Two windows with one
 * pattern are then compared by the lengths of their gaps, as shares of the window.
 *
 * Only windows that chance cannot repeat are kept: their order holds REUSE_ORDER_BITS at least (a coarse timer
 * makes equal gaps, and those have no order), and the steps from gap to gap REUSE_STEP_BITS (a stream that slows
 * down evenly has an order that many streams have). A stream without such a window is looked at in long ones, of
 * REUSE_LONG_WINDOW gaps: through a coarse timer gaps have few lengths, and in what order they come is what tells
 * streams apart, when their changes hold REUSE_CHANGE_BITS beyond what those before let expect. Iterations without
 * any window are not compared: fewer than REUSE_WINDOW + 1 chunks at different times, or too regular for the timer.
 *
 * Features may be made on any thread, a collector is used by one at a time. */
#ifndef BENCHLEDGER_AGGREGATE_REUSE_H
#define BENCHLEDGER_AGGREGATE_REUSE_H

#include "validator/bench_run.h"

enum {
    REUSE_WINDOW = 16,
    REUSE_LONG_WINDOW = 96,
    REUSE_KEPT = 3,
    REUSE_GAPS_MOST = 512,
    REUSE_ITERATIONS_MOST = 2000
};
#define REUSE_ORDER_BITS 40.0
#define REUSE_STEP_BITS 30.0
#define REUSE_CHANGE_BITS 64.0

/* One iteration of one cell of one run; numbers from 0. */
struct reuse_place {
    uint32_t run, cell, iteration;
};

/* A window. 64 bytes: 192 for each iteration of an archive. */
struct reuse_feature {
    uint64_t pattern;
    double total; /* of the gaps below, ms */
    struct reuse_place place;
    uint32_t chunks;             /* of the iteration */
    uint16_t gaps[REUSE_WINDOW]; /* its first ones, as shares of their sum */
};

struct reuse_features {
    struct reuse_feature *items;
    size_t count;
};

/* The windows of a stream that are kept, without a place; how many. */
size_t reuse_of_stream(const struct bench_chunk *chunks, size_t count,
                       struct reuse_feature kept[REUSE_KEPT]);
/* Those of all generating ok cells of a run, the first REUSE_ITERATIONS_MOST iterations, in ARENA. Their run is
 * set by reuse_add. */
struct reuse_features reuse_of_run(struct arena *arena, const struct bench_run *run);

/* Zero-initialised is empty. */
struct reuse {
    struct reuse_feature *items;
    size_t count, room;
};
/* In any order of runs. */
void reuse_add(struct reuse *reuse, uint32_t run, const struct reuse_features *features);
void reuse_free(struct reuse *reuse);

/* The stream at LATER is that at EARLIER, of a run before it, with times SCALE times as long. */
struct reuse_found {
    struct reuse_place earlier, later;
    double scale;
    uint32_t chunks; /* of LATER */
};
/* Tells each iteration that repeats one of another run, in the order of runs, cells and iterations. A stream that
 * stands in many runs is told as that of the first of them. */
typedef void (*reuse_tell)(void *context, const struct reuse_found *found);
void reuse_find(struct reuse *reuse, reuse_tell tell, void *context);

#endif
