/* One pass over the files of a dataset, on all cores and in order.
 *
 * Workers read files and look at them; the caller's thread takes what they made of each, one after the other, in
 * the order of the list. No more than a few files for each worker are in memory at once, however many there
 * are. */
#ifndef BENCHLEDGER_GITHUB_REBUILD_WALK_H
#define BENCHLEDGER_GITHUB_REBUILD_WALK_H

#include "github/repository/source.h"
#include "validator/arena.h"

/* Larger files cannot be read. A run file is of 4 MiB at most, a segment of little more than 1 MB; an older archive has
 * its whole index in one file. */
enum { WALK_FILE_MOST = 64 << 20 };

/* What is walked over. Zero-initialised is empty. */
struct walk_item {
    const char *path;
    git_oid blob; /* of a file in a repository */
};
struct walk_list {
    struct arena arena;
    struct walk_item *items;
    size_t count, room;
};
/* Adds the files below FOLDER (`runs`) whose names end in SUFFIX, in byte order; none when it is not there. */
bool walk_list_add(struct walk_list *list, const struct source *source, const char *folder,
                   const char *suffix, struct store_error *error);
/* The file at PATH, which must be there. */
bool walk_list_add_file(struct walk_list *list, const struct source *source, const char *path,
                        struct store_error *error);
void walk_list_free(struct walk_list *list);

/* A file on its way. All of it is gone after it was taken. */
struct walk_file {
    size_t number; /* in the list */
    const char *path;
    const char *bytes; /* NUL behind them; NULL: it cannot be read, and PROBLEM says why */
    size_t size;
    struct store_error problem;
    struct arena arena; /* for what look makes */
    void *result;       /* of look, for take */
};

struct walk {
    const struct source *source;
    const struct walk_list *list;
    size_t most; /* bytes of a file; 0: WALK_FILE_MOST */
    void *context;
    /* On a worker's thread, several at a time. */
    void (*look)(void *context, struct walk_file *file);
    /* On the caller's thread. False ends the walk, ERROR says why. */
    bool (*take)(void *context, struct walk_file *file, struct store_error *error);
};
/* False: take ended it, or there are no threads or repository handles to be had. */
bool walk_run(const struct walk *walk, struct store_error *error);

#endif
