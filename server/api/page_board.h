/* The board as data and as pages: GET /api/bench/leaderboard, / and /row. */
#ifndef BENCHLEDGER_SERVER_API_PAGE_BOARD_H
#define BENCHLEDGER_SERVER_API_PAGE_BOARD_H

#include "server/http/request.h"

void board_data(struct request *request, struct answer *answer);
void board_page(struct request *request, struct answer *answer);
void board_row(struct request *request, struct answer *answer);

#endif
