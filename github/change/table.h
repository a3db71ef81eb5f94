/* A hash table of records that begin with a table_item, keyed by a string. The table owns the
 * records. Not thread-safe. */
#ifndef BENCHLEDGER_GITHUB_CHANGE_TABLE_H
#define BENCHLEDGER_GITHUB_CHANGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TABLE_KEY_MAX = 64 };

/* The key of a run: its id in lower case, since ids are compared without case (spec 03, "Paths").
 * They are ASCII (spec 02, shape); what else an archive may hold is compared byte by byte. What is
 * beyond TABLE_KEY_MAX bytes is cut off. */
void table_run_key(const char *run_id, size_t size, char key[TABLE_KEY_MAX + 1]);

struct table_item {
    struct table_item *next; /* in the same slot */
    uint64_t hash;
    char key[TABLE_KEY_MAX + 1];
};

struct table {
    struct table_item **slots;
    size_t room, count; /* room is a power of two, or 0 */
    size_t record_size;
    void (*discard)(struct table_item *record); /* frees what a record owns; may be NULL */
};

void table_begin(struct table *table, size_t record_size,
                 void (*discard)(struct table_item *record));
void table_free(struct table *table);
/* NULL when there is none. Keys of at most TABLE_KEY_MAX bytes. */
struct table_item *table_find(const struct table *table, const char *key);
/* A new record, cleared but for its key, which must not be there yet. */
struct table_item *table_add(struct table *table, const char *key);
void table_remove(struct table *table, struct table_item *record);
/* Removes the records that GONE says. */
void table_sweep(struct table *table,
                 bool (*gone)(const struct table_item *record, const void *context),
                 const void *context);

#endif
