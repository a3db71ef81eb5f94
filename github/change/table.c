#include "github/change/table.h"

#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

enum { FIRST_ROOM = 64 };

/* FNV-1a with a final mix. Clients choose run ids, but each costs them an accepted submission. */
static uint64_t hash_key(const char *key)
{
    uint64_t hash = 14695981039346656037u;
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 1099511628211u;
    hash ^= hash >> 32;
    return hash * 0x9e3779b97f4a7c15u;
}

static struct table_item **slot_of(const struct table *table, uint64_t hash)
{
    return &table->slots[(hash >> 20) & (table->room - 1)];
}

void table_run_key(const char *run_id, size_t size, char key[TABLE_KEY_MAX + 1])
{
    if (size > TABLE_KEY_MAX)
        size = TABLE_KEY_MAX;
    for (size_t i = 0; i < size; i++) {
        char c = run_id[i];
        key[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    key[size] = '\0';
}

void table_begin(struct table *table, size_t record_size,
                 void (*discard)(struct table_item *record))
{
    *table = (struct table){.record_size = record_size, .discard = discard};
}

static void free_record(struct table *table, struct table_item *record)
{
    if (table->discard)
        table->discard(record);
    free(record);
    table->count--;
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->room; i++)
        while (table->slots[i]) {
            struct table_item *record = table->slots[i];
            table->slots[i] = record->next;
            free_record(table, record);
        }
    free(table->slots);
    *table = (struct table){0};
}

struct table_item *table_find(const struct table *table, const char *key)
{
    if (!table->room)
        return NULL;
    uint64_t hash = hash_key(key);
    struct table_item *record = *slot_of(table, hash);
    while (record && (record->hash != hash || strcmp(record->key, key)))
        record = record->next;
    return record;
}

static void grow(struct table *table)
{
    struct table old = *table;
    table->room = old.room ? old.room * 2 : FIRST_ROOM;
    table->slots = memory_grow(NULL, table->room * sizeof(struct table_item *));
    memset(table->slots, 0, table->room * sizeof(struct table_item *));
    for (size_t i = 0; i < old.room; i++)
        while (old.slots[i]) {
            struct table_item *record = old.slots[i];
            old.slots[i] = record->next;
            struct table_item **slot = slot_of(table, record->hash);
            record->next = *slot;
            *slot = record;
        }
    free(old.slots);
}

struct table_item *table_add(struct table *table, const char *key)
{
    if (table->count >= table->room)
        grow(table);
    struct table_item *record = memory_grow(NULL, table->record_size);
    memset(record, 0, table->record_size);
    strncat(record->key, key, TABLE_KEY_MAX);
    record->hash = hash_key(record->key);
    struct table_item **slot = slot_of(table, record->hash);
    record->next = *slot;
    *slot = record;
    table->count++;
    return record;
}

void table_remove(struct table *table, struct table_item *record)
{
    struct table_item **link = slot_of(table, record->hash);
    while (*link && *link != record)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = record->next;
    free_record(table, record);
}

void table_sweep(struct table *table,
                 bool (*gone)(const struct table_item *record, const void *context),
                 const void *context)
{
    for (size_t i = 0; i < table->room; i++)
        for (struct table_item **link = &table->slots[i]; *link;) {
            struct table_item *record = *link;
            if (gone(record, context)) {
                *link = record->next;
                free_record(table, record);
            } else {
                link = &record->next;
            }
        }
}
