#include "github/queue/trial.h"

enum {
    SENTENCES_MOST = 3, /* without a proof that the branch takes anything */
    SUSPECT_TURN = 8,   /* pushes of others before a suspect has its turn */
    CLOSED_TURN = 3     /* of so many tries on a closed branch one is an empty commit */
};

static bool is_owed_a_turn(const struct trial *trial, struct trial_counts counts)
{
    return counts.suspects && !trial->bad && trial->plain_turns >= SUSPECT_TURN;
}

void trial_end(struct trial *trial)
{
    *trial = (struct trial){.closed = trial->closed, .closed_tries = trial->closed_tries};
}

struct aim trial_aim(const struct trial *trial, struct trial_counts counts)
{
    if (trial->closed && trial->closed_tries % CLOSED_TURN == CLOSED_TURN - 1)
        return (struct aim){AIM_EMPTY, 0};
    if (counts.plain && trial->sentences >= SENTENCES_MOST)
        return (struct aim){AIM_EMPTY, 0};
    if (counts.condemned && !trial->sentences)
        return (struct aim){AIM_NOTHING, 0};
    if (counts.condemned && !counts.plain && !counts.suspects)
        return (struct aim){AIM_EMPTY, 0};
    if (counts.plain && !is_owed_a_turn(trial, counts)) {
        size_t bad = trial->bad < counts.plain ? trial->bad : counts.plain;
        if (bad)
            return (struct aim){AIM_PLAIN, bad > 1 ? bad / 2 : 1};
        if (!counts.suspects && !counts.condemned)
            return (struct aim){AIM_ALL, counts.plain};
        return (struct aim){AIM_PLAIN, counts.plain};
    }
    return counts.suspects ? (struct aim){AIM_SUSPECT, 1} : (struct aim){AIM_NOTHING, 0};
}

void trial_taken(struct trial *trial, struct aim aim)
{
    trial->closed = false;
    trial->closed_tries = 0;
    trial->sentences = 0;
    trial->plain_turns = aim.kind == AIM_SUSPECT ? 0 : trial->plain_turns + 1;
    if (aim.kind == AIM_ALL)
        *trial = (struct trial){0};
    else if (aim.kind == AIM_PLAIN)
        trial->bad = trial->bad > aim.count ? trial->bad - aim.count : 0;
}

void trial_close(struct trial *trial)
{
    *trial = (struct trial){.closed = true, .closed_tries = trial->closed_tries + 1};
}

enum trial_sentence trial_declined(struct trial *trial, struct aim aim, size_t named, bool doubted)
{
    trial->active = true;
    if (aim.kind == AIM_EMPTY) {
        trial_close(trial);
        return TRIAL_FORGIVE;
    }
    if (trial->closed) { /* still, as far as can be told */
        trial->closed_tries++;
        return TRIAL_GO_ON;
    }
    trial->bad = 0;
    if (aim.count == 1) {
        trial->sentences++;
        return doubted ? TRIAL_CONDEMN : TRIAL_DOUBT;
    }
    if (!named)
        trial->bad = aim.count;
    return TRIAL_GO_ON;
}
