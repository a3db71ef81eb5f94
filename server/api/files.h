/* The dataset's files as committed: index, ledger, runs, quarantine (spec 04). ETag = blob id.
 *
 * The tip is asked for the id at every request; bodies and their gzip forms are kept by id on a
 * shelf of cache_bytes. */
#ifndef BENCHLEDGER_SERVER_API_FILES_H
#define BENCHLEDGER_SERVER_API_FILES_H

struct answer;
struct content;
struct request;
struct service;
struct store_error;

/* A file of the tip from the shelf or the store, a reference for the caller. NULL when there is none
 * (or it cannot be read: then *ERROR is set). The service has a store. */
struct content *files_load(struct service *service, const char *path, struct store_error *error);

void files_index(struct request *request, struct answer *answer);
void files_ledger(struct request *request, struct answer *answer);
void files_run(struct request *request, struct answer *answer);

#endif
