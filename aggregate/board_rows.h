/* Rows of a board and what contributes to them; private to the board's sources. */
#ifndef BENCHLEDGER_AGGREGATE_BOARD_ROWS_H
#define BENCHLEDGER_AGGREGATE_BOARD_ROWS_H

#include "aggregate/figure.h"
#include "validator/js.h"
#include "validator/text.h"

/* A string that stands once in the board's memory, so that equal strings are equal pointers. */
struct name {
    struct js_value text;
    struct name *next; /* of its hash bucket */
    uint64_t hash;
    struct entry *run; /* the entry whose run id this is, or NULL */
    uint32_t number;   /* from 0, in order of appearance */
};

struct cell {
    const struct name *runtime, *model, *model_name, *workload, *backend; /* backend may be NULL */
    double figures[FIGURE_COUNT];                                         /* NAN: none */
    bool high_variance;
    signed char incremental; /* -1: no verdict */
};

struct entry {
    const struct name *device; /* stands for what tells its device from others */
    const struct name *id, *protocol, *device_class, *device_subclass, *browser, *created_at;
    double protocol_number, created_ms; /* ms since 1970; 0 when createdAt is no time */
    const char *head;                   /* JSON of the entry without its cells */
    uint32_t head_size, cell_count;
    struct cell *cells;
    uint64_t place; /* in the order of acceptance */
    bool shown;     /* unflagged and of a shown protocol; the rest is only counted */
};

/* Values in ascending order, but for a tail that was appended since they were sorted. */
struct series {
    double *values;
    size_t count, sorted, room;
};

/* Distinct names and how often each contributes. */
struct tally_item {
    const struct name *name;
    size_t count;
};
struct tally {
    struct tally_item *items;
    size_t count, room;
};

struct contribution {
    const struct entry *entry;
    const struct cell *cell;
};

/* What queries tell contributions of one row apart by, and how many are alike: there are few kinds, and many
 * contributions. Names may be NULL but for the class. */
struct kind {
    const struct name *device_class, *browser, *model_name, *backend;
    size_t count;
};

struct row {
    struct row *next; /* of its hash bucket */
    uint64_t hash;
    const struct name *protocol, *device_subclass, *runtime, *model, *workload;
    double protocol_number;
    bool by_devices;                    /* as rows have it */
    struct contribution *contributions; /* in order of acceptance */
    size_t count, room;
    struct kind *kinds;
    size_t kind_count, kind_room;
    struct series figures[FIGURE_COUNT];
    struct tally backends, browsers;
    struct tally devices; /* by number of the name: there may be thousands */
    size_t submissions, high_variance, incremental, burst;
    struct buffer json; /* as printed last; empty: to be printed again */
};

struct rows {
    struct row **buckets;
    size_t bucket_count;
    struct row **order; /* in board order once `ordered` */
    size_t count, room;
    bool ordered;
    bool by_devices; /* PROVISIONAL_BY_DEVICES; set before the first row */
};

void rows_add(struct rows *rows, const struct entry *entry, const struct cell *cell);
/* Takes out everything that ENTRY contributed; rows without contributions go. */
void rows_remove(struct rows *rows, const struct entry *entry);
/* The row that CELL of ENTRY counts in, by their names alone; NULL: there is none. */
struct row *rows_find(const struct rows *rows, const struct entry *entry, const struct cell *cell);
void rows_sort(struct rows *rows);
void rows_free(struct rows *rows);

/* The *COUNT values of a figure in ascending order; they stay until the row changes. */
const double *row_values(struct row *row, enum figure figure, size_t *count);
/* How many of COUNT sorted values are less than VALUE. */
size_t values_below(const double *values, size_t count, double value);
/* Median of a figure, NAN without values. */
double row_median(struct row *row, enum figure figure);
/* The names of a tally by UTF-16 code units. */
void tally_sort(struct tally *tally);

#endif
