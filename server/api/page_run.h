/* GET /run/ID: the page of one run.
 *
 * A page is made of the run's file and of what the dataset says of it, and is kept until one of them
 * changes: by the file's blob id, the run's status and its revision. */
#ifndef BENCHLEDGER_SERVER_API_PAGE_RUN_H
#define BENCHLEDGER_SERVER_API_PAGE_RUN_H

#include <stdbool.h>

#include "github/store.h"
#include "validator/validate.h"

struct answer;
struct request;
struct service;

void page_run(struct request *request, struct answer *answer);

/* Finds the run that the path names. False when it is none with a page; *ANSWER then says so, with the
 * history of a withdrawn one. Otherwise *STATE is to be freed. */
bool page_run_find(struct request *request, struct answer *answer, struct run_state *state);
/* Says why there is no page of the run. STATE NULL: there is no such run; ERROR: the dataset could not be
 * read, else empty. */
void page_run_message(struct request *request, struct answer *answer, const struct run_state *state,
                      const struct store_error *error);
/* Whether its cells are in rows of the board. */
bool page_run_is_on_board(const struct service *service, const struct run_state *state,
                          const struct verdict *verdict);

#endif
