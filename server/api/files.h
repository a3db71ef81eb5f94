/* The dataset's files as committed: index, ledger, runs, quarantine (spec 04). ETag = blob id.
 *
 * The tip is asked for the id at every request; bodies and their gzip forms are kept by id on a
 * shelf of cache_bytes. */
#ifndef BENCHLEDGER_SERVER_API_FILES_H
#define BENCHLEDGER_SERVER_API_FILES_H

struct answer;
struct request;

void files_summary(struct request *request, struct answer *answer);
void files_manifest(struct request *request, struct answer *answer);
void files_segment(struct request *request, struct answer *answer);
void files_ledger(struct request *request, struct answer *answer);
void files_run(struct request *request, struct answer *answer);

#endif
