#include <stdlib.h>
#include <string.h>

#include "server/api/run_history.h"
#include "tests/support/suite.h"

static struct arena arena;
static struct buffer out;
static struct history history;
static struct run_state state;

static void give(char **field, const char *text)
{
    *field = text ? arena_copy(&arena, text, strlen(text)) : NULL;
}

static void set_up(void)
{
    arena = (struct arena){0};
    out = (struct buffer){0};
    state = (struct run_state){.status = RUN_QUARANTINED,
                               .at = "2026-11-30T10:00:00.000Z",
                               .accepted = 7,
                               .with_nonce = true,
                               .rules = 2};
    give(&state.flags, "[\"text-chunk-mismatch\"]");
}

static void tear_down(void)
{
    arena_free(&arena);
    buffer_free(&out);
}

/* The page's words about STATE. */
static const char *words(void)
{
    run_history_read(&arena, &state, (struct text){0}, &history);
    out.size = 0;
    history_write(&out, &history);
    return buffer_string(&out);
}

static void says(const char *text)
{
    ck_assert_msg(strstr(words(), text) != NULL, "%s is not in %s", text, buffer_string(&out));
}

START_TEST(history__tells_how_a_run_came_in)
{
    says("<b>Accepted</b>, sent by a client, with a nonce. <small class=\"soft\">ledger event 7<");
    state.with_nonce = false;
    says("imported, without a nonce");
    give(&state.by, "a<b");
    says("imported by <bdi>a&lt;b</bdi>, without a nonce");
    state.accepted = 0;
    says("before the dataset had a ledger, or by hand");
}
END_TEST

START_TEST(history__tells_what_the_rules_said_when_it_came_in)
{
    static const struct {
        enum run_status status;
        const char *flags, *history, *says;
    } table[] = {
        {RUN_QUARANTINED, "[\"odd\"]", NULL, "<b>Quarantined</b> by rule set 2: <code>odd</code>."},
        {RUN_PUBLISHED, "[]", NULL, "<b>Published</b>: rule set 2 had nothing to say."},
        {RUN_PUBLISHED, "[\"a\",\"b\"]", NULL, "<b>Published</b> with warnings of rule set 2:"},
        {RUN_PUBLISHED, "[\"a\"]", "{\"event\":\"decide\",\"action\":\"release\"}\n",
         "<b>Quarantined</b>"},
        {RUN_WITHDRAWN, "[\"a\"]", "{\"event\":\"decide\",\"action\":\"keep\"}\n",
         "<b>Quarantined</b>"},
        {RUN_WITHDRAWN, "[\"text-chunk-mismatch\"]", NULL, "<b>Quarantined</b>"},
        {RUN_WITHDRAWN, "[]", NULL, "<b>Published</b>"},
        {RUN_WITHDRAWN, "[\"of-another-time\"]", NULL, "<b>Judged</b> by rule set 2"},
        {RUN_PUBLISHED, "{", NULL, "<b>Published</b>: rule set 2 had nothing to say."},
        {RUN_PUBLISHED, "[1,{}]", NULL, "<b>Published</b>: rule set 2 had nothing to say."},
    };
    state.status = table[_i].status;
    give(&state.flags, table[_i].flags);
    give(&state.history, table[_i].history);
    says(table[_i].says);
}
END_TEST

START_TEST(history__decisions_that_came_to_nothing_stand_where_they_belong)
{
    give(&state.history, "{\"event\":\"decide\",\"action\":\"keep\",\"by\":\"ada\",\"seq\":8,"
                         "\"at\":\"2026-11-30T11:00:00.000Z\",\"reason\":\"one\"}\n"
                         "{\"event\":\"decide\",\"action\":\"release\",\"by\":\"ada\",\"seq\":9,"
                         "\"at\":\"2026-11-30T13:00:00.000Z\",\"reason\":\"three\"}\n");
    give(&state.dropped, "{\"event\":\"decide\",\"action\":\"withdraw\",\"by\":\"eve\",\"seq\":0,"
                         "\"at\":\"2026-11-30T12:00:00.000Z\",\"reason\":\"two\"}\n");
    says(
        "<span class=\"mark warn\">overtaken</span> <b>Withdrawn</b> by <bdi>eve</bdi>. It came to "
        "nothing");
    ck_assert_uint_eq(history.event_count, 3);
    ck_assert(history.events[1].overtaken);
    ck_assert_uint_eq(history.events[1].seq, 0);
    const struct history_event *last = history_last(&history);
    ck_assert_uint_eq(last->seq, 9);
    state.history = NULL;
    words();
    ck_assert_ptr_null(history_last(&history));
}
END_TEST

START_TEST(history__tells_each_kind_of_event)
{
    give(&state.history, "{\"event\":\"withdraw\",\"action\":\"withdraw\"}\n");
    says("<b>Withdrawn</b> by whoever submitted it.");
    give(&state.history, "{\"event\":\"redact\",\"by\":\"ada\"}\n");
    says("<b>Redacted</b> by <bdi>ada</bdi>.");
    give(&state.history, "{\"event\":\"paint<>\",\"action\":\"red\",\"by\":\"ada\"}\n");
    says("<b>paint&lt;&gt;</b> red by <bdi>ada</bdi>.");
    give(&state.history, "{\"event\":\"decide\",\"action\":\"dance\",\"reason\":\"<i>\"}\n");
    says("<b>decide</b> dance.<blockquote>&lt;i&gt;</blockquote>");
}
END_TEST

START_TEST(history__takes_whatever_stands_in_the_ledger)
{
    give(
        &state.history,
        "not JSON\n[]\n7\n{}\n{\"event\":5,\"action\":[],\"at\":true,\"by\":{},\"seq\":\"x\"}\n"
        "{\"event\":\"decide\",\"action\":\"keep\",\"at\":\"2026-99-\xC3\xA9xT11:00\",\"seq\":-4}\n"
        "{\"event\":\"decide\"}");
    says("Looked at and kept in quarantine");
    ck_assert_uint_eq(history.event_count, 3);
    ck_assert_uint_eq(history.events[2].at.size, 0);
    ck_assert_uint_eq(history.events[2].seq, 0);
}
END_TEST

START_TEST(history__of_many_events_tells_the_last)
{
    struct buffer lines = {0};
    for (int i = 1; i <= RUN_HISTORY_MOST + 50; i++)
        buffer_format(&lines, "{\"event\":\"decide\",\"action\":\"keep\",\"seq\":%d}\n", i);
    state.history = state.dropped = buffer_take(&lines, NULL);
    words();
    ck_assert_uint_eq(history.event_count, 2 * RUN_HISTORY_MOST);
    ck_assert_uint_eq(history.events[0].seq, 51);
    free(state.history);
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("run_history");
    TCase *tests = tcase_create("run_history");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, history__tells_how_a_run_came_in);
    tcase_add_loop_test(tests, history__tells_what_the_rules_said_when_it_came_in, 0, 10);
    tcase_add_test(tests, history__decisions_that_came_to_nothing_stand_where_they_belong);
    tcase_add_test(tests, history__tells_each_kind_of_event);
    tcase_add_test(tests, history__takes_whatever_stands_in_the_ledger);
    tcase_add_test(tests, history__of_many_events_tells_the_last);
    suite_add_tcase(suite, tests);
    return suite;
}
