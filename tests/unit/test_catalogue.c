#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "github/change/catalogue.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static struct catalogue *catalogue;
static struct run_state state;
static uint64_t accepted;
static const double now = 1790000000000;

static void begin(void)
{
    catalogue = catalogue_new();
}

static void end(void)
{
    catalogue_free(catalogue);
}

static enum claim claim(const char *run_id, const char *submitted, const char *nonce, double at)
{
    enum claim result =
        catalogue_claim(catalogue, run_id, "runs/2026/09/x.json", submitted, nonce, at, &state);
    if (result == CLAIM_DUPLICATE)
        run_state_free(&state);
    return result;
}

/* The dataset gains a run at AT. */
static void accept(const char *run_id, const char *nonce, double at, uint64_t seq)
{
    char time[32];
    scratch_time(at, time);
    struct ledger_event event = {.at = time,
                                 .event = "accept",
                                 .run_id = run_id,
                                 .path = "runs/2026/09/x.json",
                                 .digest = "d",
                                 .submitted_digest = "s",
                                 .rules = 2,
                                 .flags = "[]",
                                 .nonce_sha256 = nonce};
    catalogue_event(catalogue, &event, seq, "", "0123", at);
    ck_assert_ptr_null(catalogue_end_claim(catalogue, run_id, true));
}

START_TEST(catalogue__answers_nonce_before_run_id)
{
    ck_assert_int_eq(claim("run-1", "s", "n1", now), CLAIM_GRANTED);
    ck_assert_int_eq(claim("RUN-1", "s", "n1", now), CLAIM_DUPLICATE);  /* one's own, in flight */
    ck_assert_int_eq(claim("run-1", "t", "n1", now), CLAIM_NONCE_USED); /* other content */
    ck_assert_int_eq(claim("run-2", "s", "n1", now), CLAIM_NONCE_USED); /* other run */
    ck_assert_int_eq(claim("run-1", "s", "n2", now), CLAIM_DUPLICATE);  /* other nonce */
    accept("run-1", "n1", now, 1);
    ck_assert_int_eq(claim("run-1", "s", "n1", now), CLAIM_DUPLICATE);
    ck_assert_int_eq(claim("run-2", "s", "n1", now), CLAIM_NONCE_USED);
    ck_assert_int_eq(claim("run-2", "s", NULL, now), CLAIM_GRANTED);
}
END_TEST

START_TEST(catalogue__gives_back_a_claim_that_came_to_nothing)
{
    ck_assert_int_eq(claim("run-1", "s", "n1", now), CLAIM_GRANTED);
    ck_assert_ptr_null(catalogue_end_claim(catalogue, "RUN-1", false));
    ck_assert(!catalogue_find(catalogue, "run-1", &state, &accepted));
    ck_assert_int_eq(claim("run-2", "s", "n1", now), CLAIM_GRANTED);
    /* somebody else's ledger spends the nonce while the claim stands */
    accept("run-3", "n1", now, 1);
    ck_assert_ptr_null(catalogue_end_claim(catalogue, "run-2", false));
    ck_assert_int_eq(claim("run-4", "s", "n1", now), CLAIM_NONCE_USED);
}
END_TEST

START_TEST(catalogue__forgets_nonces_that_can_no_longer_be_presented)
{
    char run_id[32], nonce[32];
    accept("run-old", "n-old", now - CATALOGUE_NONCE_MS - 1000, 1);
    accept("run-new", "n-new", now - CATALOGUE_NONCE_MS + 60000, 2);
    accept("run-now", "n-now", now, 3);
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(run_id, sizeof run_id, "fill-%u", i);
        snprintf(nonce, sizeof nonce, "nonce-%u", i);
        ck_assert_int_eq(claim(run_id, "s", nonce, now), CLAIM_GRANTED);
    }
    ck_assert_int_eq(claim("run-5", "s", "n-new", now), CLAIM_NONCE_USED);
    ck_assert_int_eq(claim("run-5", "s", "n-old", now), CLAIM_GRANTED);
}
END_TEST

static void tell_line_at(const char *text, uint64_t seq, double clock_ms)
{
    struct arena arena ARENA_SCOPE = {0};
    struct js_document document;
    struct js_error problem;
    ck_assert(js_read(&arena, text, strlen(text), &document, &problem));
    const struct js_value *root = &document.root;
    struct ledger_line line = {.seq = seq,
                               .known = js_get(root, "runId") != NULL,
                               .document = &document,
                               .at = js_get(root, "at"),
                               .event = js_get(root, "event"),
                               .run_id = js_get(root, "runId"),
                               .path = js_get(root, "path"),
                               .digest = js_get(root, "digest"),
                               .submitted_digest = js_get(root, "submittedDigest"),
                               .rules = js_get(root, "rules"),
                               .flags = js_get(root, "flags"),
                               .nonce_sha256 = js_get(root, "nonceSha256")};
    catalogue_line(catalogue, &line, clock_ms);
}

static void tell_line(const char *text, uint64_t seq)
{
    tell_line_at(text, seq, now);
}

/* A start with the clock a week ahead reads the ledger, then the clock is set right. */
START_TEST(catalogue__forgets_no_nonce_because_the_clock_was_wrong)
{
    tell_line_at(
        "{\"at\":\"2026-09-21T10:00:00.000Z\",\"event\":\"accept\",\"runId\":\"run-1\",\"path\":"
        "\"runs/2026/09/run-1.json\",\"digest\":\"d\",\"submittedDigest\":\"s\",\"rules\":2,"
        "\"flags\":[],\"nonceSha256\":\"0123456789abcdef0123456789abcdef0123456789abcdef01234567"
        "89abcdef\"}",
        1, now + 7 * 86400000.0);
    ck_assert_int_eq(claim("run-2", "s",
                           "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", now),
                     CLAIM_NONCE_USED);
}
END_TEST

START_TEST(catalogue__follows_later_events)
{
    tell_line(
        "{\"at\":\"2026-09-21T10:00:00.000Z\",\"event\":\"accept\",\"runId\":\"Run-1\",\"path\":"
        "\"quarantine/2026/09/"
        "Run-1.json\",\"digest\":\"d1\",\"submittedDigest\":\"s1\",\"rules\":2,"
        "\"flags\":[\"x\"]}",
        1);
    ck_assert(catalogue_find(catalogue, "run-1", &state, &accepted));
    ck_assert_int_eq(state.status, RUN_QUARANTINED);
    ck_assert_str_eq(state.flags, "[\"x\"]");
    run_state_free(&state);
    tell_line("{\"event\":\"decide\",\"runId\":\"Run-1\",\"path\":\"runs/2026/09/Run-1.json\"}", 5);
    ck_assert(catalogue_find(catalogue, "run-1", &state, &accepted));
    ck_assert_int_eq(state.status, RUN_PUBLISHED);
    ck_assert_uint_eq(state.revision, 5);
    ck_assert_uint_eq(accepted, 1);
    ck_assert_str_eq(state.digest, "d1");
    ck_assert_str_eq(state.submitted_digest, "s1");
    run_state_free(&state);
    tell_line("{\"event\":\"something-new\",\"note\":1}", 6);
    tell_line("{\"event\":\"redact\",\"runId\":\"Run-1\",\"digest\":\"d2\"}", 7);
    tell_line(
        "{\"event\":\"withdraw\",\"runId\":\"Run-1\",\"path\":\"withdrawn/2026/09/Run-1.json\"}",
        8);
    ck_assert(catalogue_find(catalogue, "run-1", &state, &accepted));
    ck_assert_int_eq(state.status, RUN_WITHDRAWN);
    ck_assert_str_eq(state.digest, "d2");
    ck_assert_uint_eq(state.revision, 8);
    ck_assert_str_eq(state.run_id, "Run-1");
    run_state_free(&state);
    static const char *const odd[] = {"1e300", "-1", "2147483648"};
    for (unsigned i = 0; i < 3; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"event\":\"decide\",\"runId\":\"Run-1\",\"rules\":%s}",
                 odd[i]);
        tell_line(text, 9 + i);
        ck_assert(catalogue_find(catalogue, "run-1", &state, &accepted));
        ck_assert_int_eq(state.rules, 0);
        run_state_free(&state);
    }
}
END_TEST

START_TEST(catalogue__lists_runs_as_the_index_does)
{
    accept("run-1", NULL, now, 3);
    ck_assert(catalogue_find(catalogue, "run-1", &state, &accepted));
    ck_assert_int_eq(state.status, RUN_PUBLISHED);
    run_state_free(&state);
    /* Moved by hand, and the index rebuilt from the files. */
    catalogue_listed(catalogue, "run-1", 5, "quarantine/z.json", 17);
    catalogue_listed(catalogue, "Run-2", 5, "quarantine/2026/01/Run-2.json", 29);
    ck_assert(catalogue_find(catalogue, "run-1", &state, &accepted));
    ck_assert_int_eq(state.status, RUN_QUARANTINED);
    ck_assert_uint_eq(state.revision, 3);
    run_state_free(&state);
    ck_assert(catalogue_find(catalogue, "run-2", &state, &accepted));
    ck_assert_int_eq(state.status, RUN_QUARANTINED);
    ck_assert_uint_eq(state.revision, 0);
    ck_assert_uint_eq(accepted, 0);
    run_state_free(&state);
    ck_assert_int_eq(claim("run-2", "s", "n1", now), CLAIM_DUPLICATE);
}
END_TEST

START_TEST(catalogue__keeps_claims_and_nonces_when_history_is_rewritten)
{
    accept("run-1", "n1", now, 1);
    ck_assert_int_eq(claim("run-2", "s", "n2", now), CLAIM_GRANTED);
    catalogue_retell(catalogue, false);
    ck_assert(catalogue_holds(catalogue, "run-1")); /* until all is told */
    catalogue_listed(catalogue, "run-4", 5, "runs/z.json", 11);
    catalogue_told(catalogue);
    ck_assert(!catalogue_holds(catalogue, "run-1"));
    ck_assert(catalogue_holds(catalogue, "run-4"));
    ck_assert_int_eq(claim("run-3", "s", "n1", now), CLAIM_NONCE_USED);
    ck_assert_int_eq(claim("run-2", "s", "n3", now), CLAIM_DUPLICATE);
}
END_TEST

START_TEST(catalogue__forgets_what_the_index_no_longer_lists)
{
    accept("run-1", NULL, now, 1);
    catalogue_listed(catalogue, "run-2", 5, "runs/2.json", 11);
    catalogue_listed(catalogue, "run-3", 5, "runs/3.json", 11);
    catalogue_retell(catalogue, true);
    catalogue_listed(catalogue, "run-3", 5, "quarantine/3.json", 17);
    catalogue_told(catalogue);
    ck_assert(catalogue_holds(catalogue, "run-1")); /* the ledger has it */
    ck_assert(!catalogue_holds(catalogue, "run-2"));
    ck_assert(catalogue_find(catalogue, "run-3", &state, &accepted));
    ck_assert_int_eq(state.status, RUN_QUARANTINED);
}
END_TEST

START_TEST(catalogue__holds_100000_runs)
{
    char run_id[32], nonce[32];
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(run_id, sizeof run_id, "Run-%u", i);
        snprintf(nonce, sizeof nonce, "nonce-%u", i);
        accept(run_id, nonce, now, i + 1);
    }
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(run_id, sizeof run_id, "rUN-%u", i);
        ck_assert(catalogue_find(catalogue, run_id, &state, &accepted));
        ck_assert_uint_eq(state.revision, i + 1);
        run_state_free(&state);
    }
}
END_TEST

struct contest {
    pthread_barrier_t *start;
    unsigned thread, won;
};

enum { THREADS = 8, ROUNDS = 500 };

static void *contend(void *context)
{
    struct contest *contest = context;
    char run_id[32], nonce[32];
    struct run_state taken;
    pthread_barrier_wait(contest->start);
    for (unsigned i = 0; i < ROUNDS; i++) {
        snprintf(run_id, sizeof run_id, "run-%u-%u", contest->thread, i);
        snprintf(nonce, sizeof nonce, "nonce-%u", i);
        contest->won += catalogue_claim(catalogue, run_id, "runs/x.json", "s", nonce, now,
                                        &taken) == CLAIM_GRANTED;
    }
    return NULL;
}

START_TEST(catalogue__grants_a_nonce_once_to_many_threads)
{
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    struct contest contests[THREADS];
    unsigned won = 0;
    pthread_barrier_init(&start, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        contests[i] = (struct contest){&start, i, 0};
        pthread_create(&threads[i], NULL, contend, &contests[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        won += contests[i].won;
    }
    ck_assert_uint_eq(won, ROUNDS);
    pthread_barrier_destroy(&start);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        catalogue__answers_nonce_before_run_id,
        catalogue__gives_back_a_claim_that_came_to_nothing,
        catalogue__forgets_nonces_that_can_no_longer_be_presented,
        catalogue__forgets_no_nonce_because_the_clock_was_wrong,
        catalogue__follows_later_events,
        catalogue__lists_runs_as_the_index_does,
        catalogue__keeps_claims_and_nonces_when_history_is_rewritten,
        catalogue__forgets_what_the_index_no_longer_lists,
        catalogue__holds_100000_runs,
        catalogue__grants_a_nonce_once_to_many_threads,
    };
    return suite_of("catalogue", begin, end, tests, sizeof tests / sizeof *tests);
}
