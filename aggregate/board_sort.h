/* Rows by a column; private to the board's sources. */
#ifndef BENCHLEDGER_AGGREGATE_BOARD_SORT_H
#define BENCHLEDGER_AGGREGATE_BOARD_SORT_H

#include "aggregate/board_rows.h"

/* Orders COUNT rows by SORT, which board_can_sort takes; equal ones stay as they were. */
void board_sort(struct row **rows, size_t count, const char *sort);

#endif
