#include <string.h>

#include "github/queue/trial.h"
#include "tests/support/suite.h"

enum { RUNS = 50, PUSHES_MOST = 400 };

enum fate { WAITING, LANDED, PARKED };

/* A host that declines every push with a bad run in it, and everything while it is closed; the queue
 * is played with an array. */
struct play {
    struct trial trial;
    bool bad[RUNS], suspect[RUNS], doubted[RUNS], condemned[RUNS];
    enum fate fate[RUNS];
    bool names, closed;
    int pushes, landed_last, empties;
};

static struct trial_counts count(const struct play *play)
{
    struct trial_counts counts = {0};
    for (int i = 0; i < RUNS; i++) {
        if (play->fate[i] != WAITING)
            continue;
        if (play->condemned[i])
            counts.condemned++;
        else if (play->suspect[i])
            counts.suspects++;
        else
            counts.plain++;
    }
    return counts;
}

static void choose(const struct play *play, struct aim aim, bool chosen[RUNS])
{
    size_t left = aim.count;
    for (int i = 0; i < RUNS; i++) {
        bool fits = play->fate[i] == WAITING && !play->condemned[i] &&
                    play->suspect[i] == (aim.kind == AIM_SUSPECT);
        chosen[i] = aim.kind != AIM_EMPTY && left > 0 && fits;
        left -= chosen[i];
    }
}

static void decline(struct play *play, struct aim aim, const bool chosen[RUNS])
{
    size_t named = 0;
    for (int i = 0; i < RUNS; i++)
        if (chosen[i] && play->bad[i] && play->names && aim.count > 1) {
            play->suspect[i] = true;
            named++;
        }
    bool doubted = false;
    for (int i = 0; i < RUNS; i++)
        doubted = doubted || (chosen[i] && play->doubted[i]);
    enum trial_sentence sentence = trial_declined(&play->trial, aim, named, doubted);
    for (int i = 0; i < RUNS; i++) {
        if (sentence == TRIAL_DOUBT && chosen[i])
            play->doubted[i] = play->suspect[i] = true;
        if (sentence == TRIAL_CONDEMN && chosen[i])
            play->condemned[i] = true;
        if (sentence == TRIAL_FORGIVE)
            play->condemned[i] = play->doubted[i] = false;
    }
}

static bool is_declined(const struct play *play, const bool chosen[RUNS])
{
    bool declined = play->closed;
    for (int i = 0; i < RUNS; i++)
        declined = declined || (chosen[i] && play->bad[i]);
    return declined;
}

/* One turn; false when nothing waits. */
static bool turn(struct play *play)
{
    struct trial_counts counts = count(play);
    bool chosen[RUNS];
    if (!counts.plain && !counts.suspects && !counts.condemned)
        return false;
    struct aim aim = trial_aim(&play->trial, counts);
    if (aim.kind == AIM_NOTHING) {
        for (int i = 0; i < RUNS; i++)
            if (play->condemned[i] && play->fate[i] == WAITING)
                play->fate[i] = PARKED;
        return true;
    }
    choose(play, aim, chosen);
    play->pushes++;
    play->empties += aim.kind == AIM_EMPTY;
    if (is_declined(play, chosen)) {
        decline(play, aim, chosen);
        return true;
    }
    trial_taken(&play->trial, aim);
    for (int i = 0; i < RUNS; i++)
        if (chosen[i]) {
            play->fate[i] = LANDED;
            play->landed_last = play->pushes;
        }
    return true;
}

static void run_to_end(struct play *play)
{
    for (int i = 0; i < PUSHES_MOST && turn(play); i++)
        continue;
    for (int i = 0; i < RUNS; i++)
        ck_assert_msg(play->fate[i] == (play->bad[i] ? PARKED : LANDED), "run %d", i);
}

static void mark(struct play *play, int step)
{
    for (int i = 3; i < RUNS; i += step)
        play->bad[i] = true;
}

START_TEST(trial__all_at_once_when_nothing_is_declined)
{
    struct play play = {0};
    run_to_end(&play);
    ck_assert_int_eq(play.pushes, 1);
}
END_TEST

START_TEST(trial__five_of_fifty_are_found_by_halving)
{
    struct play play = {0};
    mark(&play, 10);
    run_to_end(&play);
    ck_assert_int_le(play.pushes, 50);
    ck_assert_int_le(play.landed_last, 40);
}
END_TEST

START_TEST(trial__named_runs_hold_up_nobody)
{
    struct play play = {.names = true};
    mark(&play, 10);
    run_to_end(&play);
    ck_assert_int_eq(play.landed_last, 2);
    ck_assert_int_eq(play.pushes, 2 + 2 * 5 + 1); /* each alone, twice; was it the branch? */
}
END_TEST

START_TEST(trial__all_bad_are_parked_once_an_empty_push_is_taken)
{
    struct play play = {0};
    mark(&play, 1);
    for (int i = 0; i < 3; i++)
        play.bad[i] = true;
    run_to_end(&play);
    ck_assert_int_ge(play.empties, 1);
}
END_TEST

START_TEST(trial__one_bad_run_alone_is_parked_after_a_proof)
{
    struct play play = {0};
    for (int i = 1; i < RUNS; i++)
        play.fate[i] = LANDED;
    play.bad[0] = true;
    for (int i = 0; i < 10 && turn(&play); i++)
        continue;
    ck_assert_int_eq(play.fate[0], PARKED);
    ck_assert_int_eq(play.empties, 1);
}
END_TEST

START_TEST(trial__a_closed_branch_parks_nobody_and_recovers)
{
    struct play play = {.closed = true};
    mark(&play, 10);
    for (int i = 0; i < 60; i++)
        ck_assert(turn(&play));
    ck_assert(play.trial.closed);
    for (int i = 0; i < RUNS; i++)
        ck_assert_int_eq(play.fate[i], WAITING);
    play.closed = false;
    run_to_end(&play);
    ck_assert(!play.trial.closed);
}
END_TEST

START_TEST(trial__a_branch_that_closes_after_a_decline_parks_nobody_else)
{
    struct play play = {0};
    play.bad[3] = true;
    for (int i = 20; i < RUNS; i++)
        play.fate[i] = LANDED; /* these come later */
    for (int i = 0; i < PUSHES_MOST && play.fate[3] != PARKED; i++)
        ck_assert(turn(&play));
    for (int i = 20; i < RUNS; i++)
        play.fate[i] = WAITING;
    play.closed = true;
    for (int i = 0; i < 60; i++)
        ck_assert(turn(&play));
    for (int i = 20; i < RUNS; i++)
        ck_assert_int_eq(play.fate[i], WAITING);
    play.closed = false;
    run_to_end(&play);
}
END_TEST

START_TEST(trial__a_suspect_has_its_turn_although_others_keep_coming)
{
    struct trial trial = {0};
    struct trial_counts counts = {.plain = 10, .suspects = 1};
    int turns = 0;
    struct aim aim;
    while ((aim = trial_aim(&trial, counts)).kind == AIM_PLAIN && turns < 100) {
        ck_assert_uint_eq(aim.count, 10);
        trial_taken(&trial, aim);
        turns++;
    }
    ck_assert_int_eq(aim.kind, AIM_SUSPECT);
    ck_assert_int_gt(turns, 1);
}
END_TEST

Suite *test_suite(void)
{
    const TTest *const tests[] = {trial__all_at_once_when_nothing_is_declined,
                                  trial__five_of_fifty_are_found_by_halving,
                                  trial__named_runs_hold_up_nobody,
                                  trial__all_bad_are_parked_once_an_empty_push_is_taken,
                                  trial__one_bad_run_alone_is_parked_after_a_proof,
                                  trial__a_closed_branch_parks_nobody_and_recovers,
                                  trial__a_branch_that_closes_after_a_decline_parks_nobody_else,
                                  trial__a_suspect_has_its_turn_although_others_keep_coming};
    return suite_of("trial", NULL, NULL, tests, sizeof tests / sizeof *tests);
}
