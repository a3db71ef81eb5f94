/* Contents kept under a key up to a weight; what was used least lately goes first. Any thread. */
#ifndef BENCHLEDGER_SERVER_API_SHELF_H
#define BENCHLEDGER_SERVER_API_SHELF_H

#include <stddef.h>

struct content;
struct shelf;

/* MOST: bytes of all contents together, gzip forms counted. */
struct shelf *shelf_new(size_t most);
void shelf_free(struct shelf *shelf); /* NULL is fine */

enum { SHELF_KEY = 128 };

/* A reference for the caller, or NULL. */
struct content *shelf_find(struct shelf *shelf, const char *key);
/* Takes a reference of its own and copies KEY, shorter than SHELF_KEY. What is heavier than half the
 * shelf is not kept. */
void shelf_keep(struct shelf *shelf, const char *key, struct content *content);

/* Lets all of them go. */
void shelf_clear(struct shelf *shelf);
/* How many there are, SHELF_PLACES at most, and what they weigh together. */
enum { SHELF_PLACES = 512 };
size_t shelf_count(struct shelf *shelf, size_t *weight);

#endif
