/* Pictures of traces as SVG, drawn to be read without colour and without JavaScript. Pure. */
#ifndef BENCHLEDGER_PAGES_PICTURE_H
#define BENCHLEDGER_PAGES_PICTURE_H

#include "validator/bench_run.h"

/* Characters over time of iteration I of an LLM cell, with TTFT and decode window marked where the
 * stream has them. A trace without a length in time gives a sentence instead. */
void picture_stream(struct buffer *out, const struct bench_cell *cell, size_t i, bool incremental);
/* The durations of the iterations of an embedding cell as bars, at most PICTURE_BARS of them. */
enum { PICTURE_BARS = 50 };
void picture_durations(struct buffer *out, const struct bench_cell *cell);
/* Events between two times: those of one type on one line, at most PICTURE_LANES types. EVENTS is an
 * array of {t, type} as the shape lets it through. */
enum { PICTURE_LANES = 16, PICTURE_EVENTS = 2000 };
void picture_events(struct buffer *out, const struct js_value *events);

#endif
