/* The figures of a board row in the order in which it prints them. */
#ifndef BENCHLEDGER_AGGREGATE_FIGURE_H
#define BENCHLEDGER_AGGREGATE_FIGURE_H

#include <stdbool.h>

enum figure {
    FIGURE_TTFT,
    FIGURE_DECODE,
    FIGURE_OVERALL,
    FIGURE_LATENCY,
    FIGURE_BATCH,
    FIGURE_LOAD_COLD,
    FIGURE_LOAD_WARM,
    FIGURE_QUALITY,
    FIGURE_PARSE_RATE,
    FIGURE_COUNT
};

/* As in files and columns: ttftMs ... */
const char *figure_name(enum figure figure);
/* FIGURE_COUNT when there is no figure NAME. */
enum figure figure_find(const char *name);
/* Whether it is a figure of incremental streams only (spec 02). */
bool figure_needs_stream(enum figure figure);

#endif
