#include "aggregate/reuse.h"

#include <math.h>
#include <stdlib.h>

/* Gaps are told apart by this share of the median one: far above what a shift or a multiplication rounds away, and
 * below the step of a timer that is fine enough. */
#define GAP_SHARE 1e-4
/* Gaps are kept as 2048ths of an octave; equal ones may differ by so many. */
#define OCTAVE 2048.0
enum { GAP_MIDDLE = 32768, GAP_LAST = 65535, GAP_SLACK = 4 };
/* Changes of a long window by two lengths or more: a stream without jitter of its own never makes one, however odd
 * the beat of its timer. */
enum { LEAPS_LEAST = REUSE_LONG_WINDOW / 8 };
enum {
    COMPARED_MOST = 64
}; /* different streams of one pattern, of which there is hardly ever a second */

/* Spreads patterns evenly (the last step of splitmix64): which are kept must not depend on what they mean. */
static uint64_t spread(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* The gaps between chunks that did not arrive together, at most REUSE_GAPS_MOST; 0: times go backwards. */
static size_t read_gaps(const struct bench_chunk *chunks, size_t count, double *gaps)
{
    size_t made = 0;
    for (size_t i = 1; i < count && made < REUSE_GAPS_MOST; i++) {
        double gap = chunks[i].t - chunks[i - 1].t;
        if (!(gap >= 0) || !isfinite(gap))
            return 0;
        if (gap > 0)
            gaps[made++] = gap;
    }
    return made;
}

/* For each gap of a window how many are shorter, 4 bits each; BITS: of the number of such orders, log2 of
 * 16! / (the orders within each set of equal gaps). */
static uint64_t order_pattern(const double *levels, double *bits)
{
    static const double log2_factorial[REUSE_WINDOW + 1] = {
        0,         0,         1,         2.584963,  4.584963,  6.906891,
        9.491853,  12.299208, 15.299208, 18.469133, 21.791061, 25.250493,
        28.835455, 32.535895, 36.343250, 40.250140, 44.250140};
    uint64_t pattern = 0;
    *bits = log2_factorial[REUSE_WINDOW];
    for (int i = 0; i < REUSE_WINDOW; i++) {
        unsigned shorter = 0, equal = 0;
        for (int j = 0; j < REUSE_WINDOW; j++) {
            shorter += levels[j] < levels[i];
            equal += levels[j] == levels[i];
        }
        pattern = pattern << 4 | shorter;
        *bits -= log2_factorial[equal] / equal;
    }
    return pattern;
}

/* The window's gaps as shares of its mean gap. False when the steps between them hold too little. */
static bool fill_feature(const double *gaps, struct reuse_feature *feature)
{
    double logs[REUSE_WINDOW], bits = 0;
    feature->total = 0;
    for (int i = 0; i < REUSE_WINDOW; i++)
        feature->total += gaps[i];
    for (int i = 0; i < REUSE_WINDOW; i++) {
        logs[i] = log2(gaps[i] / feature->total * REUSE_WINDOW);
        double level = floor(logs[i] * OCTAVE + GAP_MIDDLE + 0.5);
        feature->gaps[i] = (uint16_t)fmin(fmax(level, 0), GAP_LAST);
    }
    for (int i = 1; i < REUSE_WINDOW; i++)
        bits += log2(fmax(1, fabs(logs[i] - logs[i - 1]) * OCTAVE / (2 * GAP_SLACK)));
    return bits >= REUSE_STEP_BITS;
}

/* Keeps FEATURE when its place among the COUNT kept ones is one of the first; how many there are now. */
static size_t keep(struct reuse_feature *kept, size_t count, const struct reuse_feature *feature)
{
    size_t at = 0;
    uint64_t key = spread(feature->pattern);
    while (at < count && spread(kept[at].pattern) < key)
        at++;
    if (at == REUSE_KEPT || (at < count && kept[at].pattern == feature->pattern))
        return count;
    count += count < REUSE_KEPT;
    for (size_t i = count - 1; i > at; i--)
        kept[i] = kept[i - 1];
    kept[at] = *feature;
    return count;
}

/* What the changes from gap to gap hold, in bits: the length of a code that learns what follows on each two of
 * them. What it sees for the first time counts nothing, and beats of a timer and even ramps are soon foreseen. */
static double change_bits(const double *changes, int count)
{
    double kinds = 0, bits = 0;
    for (int i = 0; i < count; i++) {
        int j = 0;
        while (changes[j] != changes[i])
            j++;
        kinds += j == i;
    }
    for (int i = 2; i < count; i++) {
        double followed = 0, alike = 0;
        for (int j = 2; j < i; j++) {
            bool same = changes[j - 1] == changes[i - 1] && changes[j - 2] == changes[i - 2];
            followed += same;
            alike += same && changes[j] == changes[i];
        }
        if (followed > 0)
            bits += log2((followed + 1) / (alike + 1 / kinds));
    }
    return bits;
}

/* The pattern of a long window, of whose gaps many are equal: for each how many shorter lengths there are. */
static uint64_t level_pattern(const double *levels, double *bits)
{
    double lengths[REUSE_LONG_WINDOW], ranks[REUSE_LONG_WINDOW], changes[REUSE_LONG_WINDOW];
    uint64_t pattern = 0;
    int kinds = 0, leaps = 0;
    for (int i = 0; i < REUSE_LONG_WINDOW; i++) {
        int j = 0;
        while (j < kinds && lengths[j] != levels[i])
            j++;
        if (j == kinds)
            lengths[kinds++] = levels[i];
    }
    for (int i = 0; i < REUSE_LONG_WINDOW; i++) {
        ranks[i] = 0;
        for (int j = 0; j < kinds; j++)
            ranks[i] += lengths[j] < levels[i];
        pattern = spread(pattern * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)ranks[i] + 1);
    }
    for (int i = 1; i < REUSE_LONG_WINDOW; i++) {
        changes[i - 1] = ranks[i] - ranks[i - 1];
        leaps += fabs(changes[i - 1]) >= 2;
    }
    *bits = leaps >= LEAPS_LEAST ? change_bits(changes, REUSE_LONG_WINDOW - 1) : 0;
    return pattern;
}

/* Of a stream through a coarse timer. */
static size_t keep_coarse(const double *gaps, const double *levels, size_t gap_count,
                          struct reuse_feature *kept)
{
    size_t made = 0;
    double bits;
    for (size_t i = 0; i + REUSE_LONG_WINDOW <= gap_count; i++) {
        struct reuse_feature feature = {.pattern = level_pattern(levels + i, &bits)};
        if (bits < REUSE_CHANGE_BITS)
            continue;
        (void)fill_feature(gaps + i, &feature);
        made = keep(kept, made, &feature);
    }
    return made;
}

size_t reuse_of_stream(const struct bench_chunk *chunks, size_t count,
                       struct reuse_feature kept[REUSE_KEPT])
{
    double gaps[REUSE_GAPS_MOST], levels[REUSE_GAPS_MOST], bits;
    size_t gap_count = read_gaps(chunks, count, gaps), made = 0;
    if (gap_count < REUSE_WINDOW)
        return 0;
    memcpy(levels, gaps, gap_count * sizeof *levels);
    sort_numbers(levels, gap_count);
    double step = quantile(levels, gap_count, 0.5) * GAP_SHARE;
    for (size_t i = 0; i < gap_count; i++)
        levels[i] = floor(gaps[i] / step + 0.5);
    for (size_t i = 0; i + REUSE_WINDOW <= gap_count; i++) {
        struct reuse_feature feature = {.pattern = order_pattern(levels + i, &bits)};
        if (bits >= REUSE_ORDER_BITS && fill_feature(gaps + i, &feature))
            made = keep(kept, made, &feature);
    }
    if (!made)
        made = keep_coarse(gaps, levels, gap_count, kept);
    for (size_t i = 0; i < made; i++)
        kept[i].chunks = (uint32_t)count;
    return made;
}

struct reuse_features reuse_of_run(struct arena *arena, const struct bench_run *run)
{
    size_t left = REUSE_ITERATIONS_MOST, room = 0;
    for (size_t i = 0; i < run->cell_count; i++)
        room += run->cells[i].llm ? run->cells[i].iteration_count : 0;
    room = room < left ? room : left;
    struct reuse_features features = {
        arena_clear_take(arena, room * REUSE_KEPT, sizeof *features.items), 0};
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct bench_cell *cell = &run->cells[i];
        for (size_t j = 0;
             left && cell->llm && cell->status == CELL_OK && j < cell->iteration_count;
             j++, left--) {
            struct reuse_feature *made = features.items + features.count;
            size_t count =
                reuse_of_stream(cell->iterations[j].chunks, cell->iterations[j].chunk_count, made);
            for (size_t k = 0; k < count; k++)
                made[k].place = (struct reuse_place){0, (uint32_t)i, (uint32_t)j};
            features.count += count;
        }
    }
    return features;
}

void reuse_add(struct reuse *reuse, uint32_t run, const struct reuse_features *features)
{
    if (reuse->room - reuse->count < features->count) {
        reuse->room = 2 * reuse->room + features->count;
        reuse->items = memory_grow(reuse->items, reuse->room * sizeof *reuse->items);
    }
    for (size_t i = 0; i < features->count; i++) {
        struct reuse_feature *item = &reuse->items[reuse->count++];
        *item = features->items[i];
        item->place.run = run;
    }
}

void reuse_free(struct reuse *reuse)
{
    free(reuse->items);
    *reuse = (struct reuse){0};
}

static int compare_places(const struct reuse_place *a, const struct reuse_place *b)
{
    if (a->run != b->run)
        return a->run < b->run ? -1 : 1;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return a->iteration < b->iteration ? -1 : a->iteration > b->iteration;
}

static int by_pattern(const void *left, const void *right)
{
    const struct reuse_feature *a = left, *b = right;
    if (a->pattern != b->pattern)
        return a->pattern < b->pattern ? -1 : 1;
    return compare_places(&a->place, &b->place);
}

static int by_place(const void *left, const void *right)
{
    const struct reuse_found *a = left, *b = right;
    int order = compare_places(&a->later, &b->later);
    return order ? order : compare_places(&a->earlier, &b->earlier);
}

static bool is_copy(const struct reuse_feature *a, const struct reuse_feature *b)
{
    for (int i = 0; i < REUSE_WINDOW; i++)
        if (abs(a->gaps[i] - b->gaps[i]) > GAP_SLACK)
            return false;
    return true;
}

/* The windows of one pattern, by place: each against the first of every stream before it. */
static size_t compare(const struct reuse_feature *items, size_t count, struct reuse_found *found)
{
    const struct reuse_feature *first[COMPARED_MOST];
    size_t streams = 0, made = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < streams && !is_copy(first[at], &items[i]))
            at++;
        if (at == streams && streams < COMPARED_MOST)
            first[streams++] = &items[i];
        else if (at < streams && first[at]->place.run != items[i].place.run)
            found[made++] = (struct reuse_found){.earlier = first[at]->place,
                                                 .later = items[i].place,
                                                 .scale = items[i].total / first[at]->total,
                                                 .chunks = items[i].chunks};
    }
    return made;
}

void reuse_find(struct reuse *reuse, reuse_tell tell, void *context)
{
    size_t count = 0;
    if (!reuse->count)
        return;
    struct reuse_found *found = memory_grow(NULL, reuse->count * sizeof *found);
    qsort(reuse->items, reuse->count, sizeof *reuse->items, by_pattern);
    for (size_t from = 0, to; from < reuse->count; from = to) {
        for (to = from + 1; to < reuse->count; to++)
            if (reuse->items[to].pattern != reuse->items[from].pattern)
                break;
        count += compare(reuse->items + from, to - from, found + count);
    }
    if (count)
        qsort(found, count, sizeof *found, by_place);
    for (size_t i = 0; i < count; i++) /* the windows of an iteration may say the same */
        if (!i || by_place(&found[i - 1], &found[i]))
            tell(context, &found[i]);
    free(found);
}
