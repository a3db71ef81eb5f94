#include <string.h>

#include "aggregate/neighbours.h"
#include "tests/support/suite.h"

static const char *const shown[] = {"localmode-bench/5", NULL};
static struct board *board;
static struct arena arena;
static struct neighbours found;

/* An entry of one cell with the figures FIGURES, JSON members. */
static char *entry_of(const char *id, const char *device, const char *runtime, bool flagged,
                      const char *figures)
{
    return arena_format(
        &arena,
        "{\"runId\":\"%s\",\"createdAt\":\"2026-01-01T00:00:00Z\",\"protocol\":"
        "\"localmode-bench/5\",\"deviceClass\":\"linux/x\",\"deviceSubclass\":\"%s\",\"flagged\":"
        "%s,\"cells\":[{\"cellId\":\"c-%s\",\"runtimeId\":\"%s\",\"benchModelId\":\"m\","
        "\"workloadId\":\"w\",%s}]}",
        id, device, flagged ? "true" : "false", id, runtime, figures);
}

static void add(const char *id, const char *device, const char *runtime, const char *figures)
{
    const char *entry = entry_of(id, device, runtime, false, figures);
    ck_assert(board_add(board, entry, strlen(entry)));
}

static const struct neighbour *look(const char *entry)
{
    ck_assert(board_neighbours(board, entry, strlen(entry), &arena, &found));
    ck_assert_uint_eq(found.count, 1);
    return found.cells[0].figures;
}

static void set_up(void)
{
    arena = (struct arena){0};
    board = board_new(shown);
    found = (struct neighbours){0};
    add("a", "d1", "r1", "\"ttftMs\":100,\"overallCharsPerSec\":10,\"streamIncremental\":true");
    add("b", "d1", "r1", "\"ttftMs\":200,\"overallCharsPerSec\":30,\"streamIncremental\":true");
    add("c", "d1", "r1", "\"ttftMs\":400,\"overallCharsPerSec\":20,\"streamIncremental\":true");
    add("d", "d1", "r1", "\"overallCharsPerSec\":40,\"streamIncremental\":false");
    add("e", "d2", "r1", "\"ttftMs\":1,\"overallCharsPerSec\":1,\"streamIncremental\":true");
    add("f", "d1", "r2", "\"singleLatencyMs\":5,\"batchTextsPerSec\":7");
}

static void tear_down(void)
{
    board_free(board);
    arena_free(&arena);
}

START_TEST(neighbours__are_those_of_the_same_row)
{
    const struct neighbour *figures =
        look(entry_of("q", "d1", "r1", true,
                      "\"ttftMs\":200,\"overallCharsPerSec\":35,\"streamIncremental\":true"));
    ck_assert_uint_eq(found.cells[0].count, 2);
    ck_assert(found.shown);
    ck_assert_int_eq(figures[0].figure, FIGURE_TTFT);
    ck_assert_double_eq(figures[0].value, 200);
    ck_assert_uint_eq(figures[0].count, 3);
    ck_assert_uint_eq(figures[0].below, 1); /* an equal one is not below */
    ck_assert_int_eq(figures[1].figure, FIGURE_OVERALL);
    ck_assert_uint_eq(figures[1].count, 4);
    ck_assert_uint_eq(figures[1].below, 3);
    ck_assert_double_eq(figures[1].min, 10);
    ck_assert_double_eq(figures[1].q25, 17.5);
    ck_assert_double_eq(figures[1].median, 25);
    ck_assert_double_eq(figures[1].q75, 32.5);
    ck_assert_double_eq(figures[1].max, 40);
    ck_assert_str_eq(arena_copy(&arena, found.cells[0].id.data, found.cells[0].id.size), "c-q");
}
END_TEST

START_TEST(neighbours__rank_reaches_from_none_to_all)
{
    ck_assert_uint_eq(look(entry_of("q", "d1", "r2", true, "\"singleLatencyMs\":5"))[0].below, 0);
    ck_assert_uint_eq(look(entry_of("q", "d1", "r2", true, "\"singleLatencyMs\":9"))[0].below, 1);
    ck_assert_uint_eq(look(entry_of("q", "d1", "r1", true, "\"overallCharsPerSec\":99"))[0].below,
                      4);
}
END_TEST

START_TEST(neighbours__of_a_row_that_is_not_there_are_none)
{
    const struct neighbour *figures =
        look(entry_of("q", "d3", "r1", true, "\"batchTextsPerSec\":3"));
    ck_assert_uint_eq(figures[0].count, 0);
    ck_assert_double_eq(figures[0].value, 3);
    ck_assert_int_eq(figures[0].figure, FIGURE_BATCH);
    figures = look(entry_of("q", "d1", "r1", true, "\"batchTextsPerSec\":3"));
    ck_assert_uint_eq(figures[0].count, 0); /* the row is, but without that figure */
    look(entry_of("q", "d1", "r1\\u0000", true, "\"overallCharsPerSec\":3"));
    ck_assert_uint_eq(found.cells[0].figures[0].count, 0);
}
END_TEST

START_TEST(neighbours__a_burst_has_no_ttft)
{
    look(entry_of("q", "d1", "r1", true,
                  "\"ttftMs\":200,\"overallCharsPerSec\":35,\"streamIncremental\":false"));
    ck_assert_uint_eq(found.cells[0].count, 1);
    ck_assert_int_eq(found.cells[0].figures[0].figure, FIGURE_OVERALL);
}
END_TEST

START_TEST(neighbours__a_run_on_the_board_is_not_its_own)
{
    const struct neighbour *figures =
        look(entry_of("b", "d1", "r1", false,
                      "\"ttftMs\":200,\"overallCharsPerSec\":30,\"streamIncremental\":true"));
    ck_assert_uint_eq(figures[0].count, 2);
    ck_assert_uint_eq(figures[0].below, 1);
    ck_assert_double_eq(figures[0].max, 400);
    ck_assert_uint_eq(figures[1].count, 3);
    ck_assert_double_eq(figures[1].median, 20);
}
END_TEST

START_TEST(neighbours__what_is_no_entry_has_none)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"cells\":[]}",
        "{\"protocol\":1,\"deviceSubclass\":\"d\",\"cells\":[]}",
        "{\"protocol\":\"p\",\"deviceSubclass\":\"d\",\"cells\":7}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert(!board_neighbours(board, texts[i], strlen(texts[i]), &arena, &found));
    const char *odd =
        "{\"protocol\":\"x/1\",\"deviceSubclass\":\"d\",\"cells\":[7,{\"ttftMs\":1}]}";
    ck_assert(board_neighbours(board, odd, strlen(odd), &arena, &found));
    ck_assert(!found.shown);
    ck_assert_uint_eq(found.count, 2);
    ck_assert_uint_eq(found.cells[0].count, 0);
    ck_assert_uint_eq(found.cells[1].figures[0].count, 0);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        neighbours__are_those_of_the_same_row,           neighbours__rank_reaches_from_none_to_all,
        neighbours__of_a_row_that_is_not_there_are_none, neighbours__a_burst_has_no_ttft,
        neighbours__a_run_on_the_board_is_not_its_own,   neighbours__what_is_no_entry_has_none,
    };
    return suite_of("neighbours", set_up, tear_down, tests, sizeof tests / sizeof *tests);
}
