/* The parts of a run page, each a source of its own; private to them. */
#ifndef BENCHLEDGER_PAGES_RUN_PARTS_H
#define BENCHLEDGER_PAGES_RUN_PARTS_H

#include "pages/html.h"
#include "validator/bench_run.h"

/* What the parts look at. Past RUN_PAGE_MOST bytes a page goes on without pictures, derivations and details, past
 * twice as many it ends: the file has the rest. */
enum { RUN_PAGE_MOST = 2 << 20 };
struct run_view {
    struct buffer *out;
    const struct verdict *verdict;
    const struct bench_run *run;
    const struct summaries *summaries;
    struct text protocol;
    const char *address; /* of the run's page where this is another one, or NULL */
    bool on_board;       /* its ok cells are in rows of the board */
};

/* run_page.c: a flag with its evidence and what helps; ALIKE more of its code are not shown. */
struct flag;
void run_flag(const struct run_view *view, const struct flag *flag, size_t alike);

/* run_device.c: what the run was measured on, in a line. */
void run_device(const struct run_view *view);
/* The address of the board's row that CELL is in, for a quoted attribute; nothing where no row is. */
void run_row_address(struct buffer *out, const struct run_view *view,
                     const struct bench_cell *cell);
/* run_cells.c: all cells in one table with links, the geometric means, then each on its own. */
void run_overview(const struct run_view *view);
void run_cells(const struct run_view *view);
/* run_derive.c: how each figure of a cell was computed, with the values in it. */
void run_derive(const struct run_view *view, size_t cell);
/* Says that COUNT more of something are in the file; nothing when COUNT is 0. */
void run_more(struct buffer *out, size_t count, const char *of_what);
/* Whether OUT has no room left for details. */
bool run_is_full(const struct buffer *out);
/* run_facts.c: whatever an object of the file says, nested ones as lists under their names, as a list of at
 * most RUN_FACTS; OMIT (NULL-terminated, may be NULL) are members of the outermost object that are
 * shown elsewhere. */
enum { RUN_FACTS = 300 };
void run_facts(struct buffer *out, const struct js_value *object, const char *const *omit);
bool run_has_facts(const struct js_value *object, const char *const *omit);
/* An error as runtimes throw it: name, message, cause, stack. */
void run_error(struct buffer *out, const struct js_value *error);

#endif
