#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/scratch.h"
#include "tests/support/served.h"
#include "tests/support/suite.h"
#include "validator/arena.h"
#include "validator/js.h"

enum { ENTRY = 400, FAT_ENTRY = 300000, FLAGGED = 4 /* scratch_submit flags 4, 9, 14 */ };

static struct waiting {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool over;
    struct change_result result;
} waiting = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void take_result(void *context, const struct change_result *result)
{
    (void)context;
    pthread_mutex_lock(&waiting.mutex);
    waiting.result = *result;
    waiting.over = true;
    pthread_cond_signal(&waiting.wake);
    pthread_mutex_unlock(&waiting.mutex);
}

static void id_of(unsigned n, char id[RUN_ID_MAX + 1])
{
    snprintf(id, RUN_ID_MAX + 1, "Run-%08u-5e2a-4c1d-9b7f-aa55bb66cc77", n);
}

static struct run_state find(unsigned n)
{
    struct run_state state = {0};
    char id[RUN_ID_MAX + 1];
    id_of(n, id);
    ck_assert(store_find(store, id, NULL, &state));
    return state;
}

static uint64_t revision_of(unsigned n)
{
    struct run_state state = find(n);
    run_state_free(&state);
    return state.revision;
}

/* Decides and waits for the end, which is in WAITING. */
static enum decided decide_by(unsigned n, enum decision decision, uint64_t revision, bool own,
                              const char *code)
{
    char id[RUN_ID_MAX + 1], hash[SHA256_HEX + 1];
    struct run_state state = {0};
    id_of(n, id);
    id[0] = 'r'; /* case does not count */
    waiting.over = false;
    sha256_hex(code, strlen(code), hash);
    const struct change change = {.kind = CHANGE_DECISION,
                                  .run_id = id,
                                  .at = "2026-11-30T10:00:00.000Z",
                                  .by = own ? NULL : "ada",
                                  .decision = decision,
                                  .own = own,
                                  .withdraw_sha256 = own ? hash : NULL,
                                  .reason = own ? NULL : "looked at it",
                                  .revision = revision};
    enum decided decided = store_decide(store, &change, &state);
    run_state_free(&state);
    if (decided == DECIDED_TAKEN) {
        /* one at a time */
        ck_assert_int_eq(store_decide(store, &change, &state), own ? DECIDED_STATE : DECIDED_STALE);
        run_state_free(&state);
        store_commit(store, &change, take_result, NULL);
        pthread_mutex_lock(&waiting.mutex);
        while (!waiting.over)
            pthread_cond_wait(&waiting.wake, &waiting.mutex);
        pthread_mutex_unlock(&waiting.mutex);
        ck_assert_msg(waiting.result.outcome == CHANGE_COMMITTED, "%s",
                      waiting.result.error.message);
    }
    return decided;
}

static enum decided decide(unsigned n, enum decision decision, uint64_t revision)
{
    return decide_by(n, decision, revision, false, "");
}

static void check_state(unsigned n, enum run_status status, const char *folder)
{
    struct run_state state = find(n);
    struct store_blob blob = {0};
    struct store_error error;
    ck_assert_int_eq(state.status, status);
    ck_assert_int_eq(strncmp(state.path, folder, strlen(folder)), 0);
    ck_assert(store_read_run(store, &state, true, &blob, &error));
    struct scratch_run run;
    scratch_run_make(&run, n, ENTRY, n % 5 == 4);
    ck_assert_uint_eq(blob.size, run.bytes.size);
    ck_assert_mem_eq(blob.data, run.bytes.data, blob.size);
    scratch_run_free(&run);
    store_blob_free(&blob);
    run_state_free(&state);
}

static void submit_all(unsigned count, size_t entry)
{
    for (unsigned n = 0; n < count; n++)
        ck_assert_int_eq(scratch_submit(store, n, entry).outcome, CHANGE_COMMITTED);
}

static void check_counts(size_t entries, size_t files, size_t lines)
{
    struct scratch_counts counts;
    scratch_check(scratch_path("data"), &counts);
    ck_assert_uint_eq(counts.entries, entries);
    ck_assert_uint_eq(counts.files, files);
    ck_assert_uint_eq(counts.lines, lines);
}

START_TEST(decide__releases_keeps_and_withdraws)
{
    submit_all(10, ENTRY);
    ck_assert_int_eq(decide(FLAGGED, DECISION_RELEASE, revision_of(FLAGGED)), DECIDED_TAKEN);
    ck_assert_uint_eq(waiting.result.seq, 11);
    ck_assert_int_eq(decide(9, DECISION_KEEP, revision_of(9)), DECIDED_TAKEN);
    ck_assert_int_eq(decide(2, DECISION_WITHDRAW, revision_of(2)), DECIDED_TAKEN);
    for (int pass = 0; pass < 2; pass++) {
        check_state(FLAGGED, RUN_PUBLISHED, "runs/");
        check_state(9, RUN_QUARANTINED, "quarantine/");
        check_state(2, RUN_WITHDRAWN, "withdrawn/");
        struct run_state state = find(FLAGGED);
        ck_assert_uint_eq(state.revision, 11);
        ck_assert_uint_eq(state.accepted, 5);
        ck_assert_str_eq(state.flags, "[\"text-chunk-mismatch\"]");
        ck_assert_ptr_nonnull(
            strstr(state.history,
                   "{\"action\":\"release\",\"at\":\"2026-11-30T10:00:00.000Z\",\"by\":\"ada\","
                   "\"event\":\"decide\",\"path\":\"runs/2026/05/Run-00000004-"));
        ck_assert_ptr_nonnull(
            strstr(state.history, "\"reason\":\"looked at it\",\"revision\":5,\"runId\":\"Run-"));
        run_state_free(&state);
        check_counts(9, 9, 13);
        served_reopen();
    }
}
END_TEST

START_TEST(decide__refuses_what_does_not_fit)
{
    struct run_state state;
    char id[RUN_ID_MAX + 1], nonce[SHA256_HEX + 1];
    sha256_hex("n", 1, nonce);
    submit_all(6, ENTRY);
    ck_assert_int_eq(decide(77, DECISION_KEEP, 0), DECIDED_UNKNOWN);
    ck_assert_int_eq(decide(FLAGGED, DECISION_RELEASE, 4), DECIDED_STALE);
    ck_assert_int_eq(decide(1, DECISION_RELEASE, revision_of(1)), DECIDED_STATE);
    ck_assert_int_eq(decide(1, DECISION_KEEP, revision_of(1)), DECIDED_STATE);
    ck_assert_int_eq(decide(1, DECISION_WITHDRAW, revision_of(1)), DECIDED_TAKEN);
    ck_assert_int_eq(decide(1, DECISION_WITHDRAW, revision_of(1)), DECIDED_STATE);
    id_of(8, id);
    ck_assert_int_eq(store_claim(store, id, "runs/2026/09/x.json", "d", nonce, &state),
                     CLAIM_GRANTED);
    ck_assert_int_eq(decide(8, DECISION_WITHDRAW, 0), DECIDED_QUEUED);
    store_release(store, id);
    check_counts(5, 5, 7);
    id_of(FLAGGED, id); /* what is given up leaves the run as it was */
    const struct change given_up = {.kind = CHANGE_DECISION,
                                    .run_id = id,
                                    .at = "2026-11-30T10:00:00.000Z",
                                    .decision = DECISION_KEEP,
                                    .revision = revision_of(FLAGGED)};
    ck_assert_int_eq(store_decide(store, &given_up, &state), DECIDED_TAKEN);
    run_state_free(&state);
    store_release(store, id);
    ck_assert_int_eq(decide(FLAGGED, DECISION_KEEP, revision_of(FLAGGED)), DECIDED_TAKEN);
    check_counts(5, 5, 8);
    /* What was withdrawn stays known. */
    ck_assert_int_eq(scratch_submit(store, 1, ENTRY).outcome, CHANGE_DUPLICATE);
}
END_TEST

START_TEST(decide__lets_a_submitter_withdraw_whatever_was_decided)
{
    submit_all(5, ENTRY);
    ck_assert_int_eq(decide(FLAGGED, DECISION_RELEASE, revision_of(FLAGGED)), DECIDED_TAKEN);
    static const char code[] = "digest 4"; /* as scratch.h has it */
    ck_assert_int_eq(decide_by(FLAGGED, DECISION_WITHDRAW, 0, true, "digest 3"), DECIDED_FORBIDDEN);
    ck_assert_int_eq(decide_by(FLAGGED, DECISION_WITHDRAW, 0, true, ""), DECIDED_FORBIDDEN);
    ck_assert_int_eq(decide_by(FLAGGED, DECISION_WITHDRAW, 0, true, code), DECIDED_TAKEN);
    ck_assert_int_eq(decide_by(FLAGGED, DECISION_WITHDRAW, 0, true, code), DECIDED_STATE);
    ck_assert_int_eq(decide_by(FLAGGED, DECISION_WITHDRAW, 0, true, "x"), DECIDED_FORBIDDEN);
    struct run_state state = find(FLAGGED);
    ck_assert_ptr_nonnull(strstr(state.history, "\"event\":\"withdraw\""));
    ck_assert_ptr_nonnull(strstr(state.history, "\"revision\":6"));
    run_state_free(&state);
    check_state(FLAGGED, RUN_WITHDRAWN, "withdrawn/");
}
END_TEST

START_TEST(decide__edits_closed_segments_and_a_summary_past_its_limit)
{
    struct store_options options = scratch_options(scratch_path("data"));
    options.summary_limit = 1000000;
    store_close(store);
    served_open(options);
    submit_all(15, FAT_ENTRY);
    static const unsigned flagged[] = {14, 4, 9};
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(decide(flagged[i], DECISION_RELEASE, revision_of(flagged[i])),
                         DECIDED_TAKEN);
    check_counts(15, 15, 18);
    for (unsigned n = 3; n < 12; n++) /* whole segments become empty */
        ck_assert_int_eq(decide(n, DECISION_WITHDRAW, revision_of(n)), DECIDED_TAKEN);
    check_counts(6, 6, 27);
    store_close(store);
    served_open(options);
    ck_assert_int_eq(decide(0, DECISION_WITHDRAW, revision_of(0)), DECIDED_TAKEN);
    ck_assert_int_eq(scratch_submit(store, 20, FAT_ENTRY).outcome, CHANGE_COMMITTED);
    check_counts(6, 6, 29);
}
END_TEST

START_TEST(decide__lists_what_is_in_quarantine)
{
    struct run_state states[4];
    size_t all;
    submit_all(20, ENTRY);
    ck_assert_int_eq(decide(9, DECISION_KEEP, revision_of(9)), DECIDED_TAKEN);
    ck_assert_int_eq(decide(14, DECISION_RELEASE, revision_of(14)), DECIDED_TAKEN);
    static const struct {
        struct store_quarantine wanted;
        size_t all, count;
        uint64_t first;
    } cases[] = {
        {{.most = 4}, 3, 3, 20},
        {{.most = 2}, 3, 2, 20},
        {{.most = 4, .before = 20}, 3, 2, 10},
        {{.most = 4, .kept = 1}, 1, 1, 10},
        {{.most = 4, .kept = -1}, 2, 2, 20},
        {{.most = 4, .flag = "text-chunk-mismatch"}, 3, 3, 20},
        {{.most = 4, .flag = "text-chunk"}, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count = store_quarantined(store, &cases[i].wanted, states, &all);
        ck_assert_uint_eq(count, cases[i].count);
        ck_assert_uint_eq(all, cases[i].all);
        if (count)
            ck_assert_uint_eq(states[0].accepted, cases[i].first);
        for (size_t k = 0; k < count; k++)
            run_state_free(&states[k]);
    }
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {decide__releases_keeps_and_withdraws,
                                  decide__refuses_what_does_not_fit,
                                  decide__lets_a_submitter_withdraw_whatever_was_decided,
                                  decide__edits_closed_segments_and_a_summary_past_its_limit,
                                  decide__lists_what_is_in_quarantine};
    return suite_of("decide", served_begin, served_end, tests, sizeof tests / sizeof *tests);
}
