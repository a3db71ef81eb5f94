#include "aggregate/bait.h"

#include <stdint.h>
#include <string.h>

/* What may follow a prefix, as bits. */
enum letters {
    LOW_HEX = 1,  /* a-f */
    HIGH_HEX = 2, /* A-F */
    LOW = 4,      /* g-z */
    HIGH = 8,     /* G-Z */
    DIGIT = 16,
    UNDER = 32,
    DASH = 64,
    DOT = 128,
    REST = 256, /* + / = */
    HEX = LOW_HEX | DIGIT,
    ANY_HEX = HEX | HIGH_HEX,
    UPPER = HIGH_HEX | HIGH | DIGIT,
    WORD = UPPER | LOW_HEX | LOW,
    URL = WORD | UNDER | DASH,
    BASE64 = WORD | REST,
};

enum left {
    LEFT_BOUND, /* no letter, digit, _ or - before it */
    LEFT_ANY,
    LEFT_DIGIT,
};

struct row {
    const char *word, *prefix;
    unsigned anchor; /* where in the prefix the two bytes stand that are rarest in ordinary files */
    unsigned letters;
    unsigned least, most; /* letters behind the prefix */
    enum left left;
};

enum { SUSPECT_LEAST = 12, PEM_LABEL_MOST = 32, PEM_BODY_LEAST = 40, ANY_LENGTH = 4000 };

/* Lengths are exact where the issuer says them. */
/* clang-format off */
static const struct row rows[] = {
    {"github-token", "ghp_", 2, WORD, 36, 36, LEFT_BOUND},
    {"github-token", "gho_", 2, WORD, 36, 36, LEFT_BOUND},
    {"github-token", "ghu_", 2, WORD, 36, 36, LEFT_BOUND},
    {"github-token", "ghs_", 2, WORD, 36, 36, LEFT_BOUND},
    {"github-token", "ghr_", 2, WORD, 36, 76, LEFT_BOUND},
    {"github-token", "github_pat_", 9, WORD | UNDER, 82, 82, LEFT_BOUND},
    {"gitlab-token", "glpat-", 1, URL | DOT, 20, 64, LEFT_BOUND},
    {"gitlab-token", "gldt-", 1, URL, 20, 20, LEFT_BOUND},
    {"gitlab-token", "glrt-", 1, URL, 20, 20, LEFT_BOUND},
    {"aws-access-key", "AKIA", 1, UPPER, 16, 16, LEFT_BOUND},
    {"aws-access-key", "ASIA", 1, UPPER, 16, 16, LEFT_BOUND},
    {"slack-token", "xoxb-", 2, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxp-", 2, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxa-", 2, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxr-", 2, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxs-", 2, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxe-", 2, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxe.xoxp-", 4, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxe.xoxb-", 4, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xapp-", 1, URL, 40, 250, LEFT_BOUND},
    {"slack-webhook", "hooks.slack.com/services/", 4, BASE64, 40, 90, LEFT_ANY},
    {"stripe-key", "sk_live_", 1, WORD, 24, 247, LEFT_BOUND},
    {"stripe-key", "rk_live_", 1, WORD, 24, 247, LEFT_BOUND},
    {"google-api-key", "AIza", 1, URL, 35, 35, LEFT_BOUND},
    {"google-oauth-secret", "GOCSPX-", 5, URL, 28, 28, LEFT_BOUND},
    {"google-oauth-token", "ya29.", 3, URL, 50, ANY_LENGTH, LEFT_BOUND},
    {"npm-token", "npm_", 2, WORD, 36, 36, LEFT_BOUND},
    {"pypi-token", "pypi-AgE", 5, URL, 50, ANY_LENGTH, LEFT_BOUND},
    {"rubygems-key", "rubygems_", 7, HEX, 48, 48, LEFT_BOUND},
    {"sendgrid-key", "SG.", 1, URL | DOT, 66, 66, LEFT_BOUND},
    {"openai-key", "sk-proj-", 1, URL, 40, 250, LEFT_BOUND},
    {"openai-key", "sk-svcacct-", 1, URL, 40, 250, LEFT_BOUND},
    {"openai-key", "sk-admin-", 1, URL, 40, 250, LEFT_BOUND},
    {"openai-key", "T3BlbkFJ", 1, URL, 20, 250, LEFT_ANY},
    {"anthropic-key", "sk-ant-", 1, URL, 80, 130, LEFT_BOUND},
    {"hugging-face-token", "hf_", 1, WORD, 34, 34, LEFT_BOUND},
    {"groq-key", "gsk_", 2, WORD, 52, 52, LEFT_BOUND},
    {"xai-key", "xai-", 0, WORD, 80, 80, LEFT_BOUND},
    {"replicate-token", "r8_", 1, WORD, 37, 37, LEFT_BOUND},
    {"perplexity-key", "pplx-", 2, WORD, 48, 48, LEFT_BOUND},
    {"digitalocean-token", "dop_v1_", 3, HEX, 64, 64, LEFT_BOUND},
    {"digitalocean-token", "doo_v1_", 3, HEX, 64, 64, LEFT_BOUND},
    {"digitalocean-token", "dor_v1_", 3, HEX, 64, 64, LEFT_BOUND},
    {"shopify-token", "shpat_", 1, ANY_HEX, 32, 32, LEFT_BOUND},
    {"shopify-token", "shpca_", 1, ANY_HEX, 32, 32, LEFT_BOUND},
    {"shopify-token", "shppa_", 1, ANY_HEX, 32, 32, LEFT_BOUND},
    {"shopify-token", "shpss_", 1, ANY_HEX, 32, 32, LEFT_BOUND},
    {"twilio-key", "SK", 0, HEX, 32, 32, LEFT_BOUND},
    {"databricks-token", "dapi", 2, HEX, 32, 32, LEFT_BOUND},
    {"linear-key", "lin_api_", 2, WORD, 40, 40, LEFT_BOUND},
    {"new-relic-key", "NRAK-", 1, UPPER, 27, 27, LEFT_BOUND},
    {"postman-key", "PMAK-", 1, HEX | DASH, 59, 59, LEFT_BOUND},
    {"square-token", "sq0atp-", 1, URL, 22, 22, LEFT_BOUND},
    {"square-token", "sq0csp-", 1, URL, 43, 43, LEFT_BOUND},
    {"telegram-token", ":AA", 0, URL, 33, 33, LEFT_DIGIT},
    {"azure-storage-key", "AccountKey=", 9, BASE64, 88, 88, LEFT_ANY},
    {"grafana-token", "glsa_", 3, WORD | UNDER, 41, 41, LEFT_BOUND},
    {"vault-token", "hvs.", 1, URL, 24, 200, LEFT_BOUND},
    {"doppler-token", "dp.pt.", 1, WORD, 40, 44, LEFT_BOUND},
    {"supabase-token", "sbp_", 2, HEX, 40, 40, LEFT_BOUND},
    {"atlassian-token", "ATATT3xFf", 5, URL | REST, 150, 250, LEFT_BOUND},
    {"planetscale-token", "pscale_tkn_", 6, URL | DOT, 32, 64, LEFT_BOUND},
    {"figma-token", "figd_", 3, URL, 40, 44, LEFT_BOUND},
    {"age-key", "AGE-SECRET-KEY-1", 3, UPPER, 58, 58, LEFT_BOUND},
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows };

static const char pem_begin[] = "-----BEGIN ";
enum { PEM_ANCHOR = 4 };

static unsigned letter_of(char byte)
{
    if (byte >= 'a' && byte <= 'z')
        return byte <= 'f' ? LOW_HEX : LOW;
    if (byte >= 'A' && byte <= 'Z')
        return byte <= 'F' ? HIGH_HEX : HIGH;
    if (byte >= '0' && byte <= '9')
        return DIGIT;
    static const struct {
        char byte;
        unsigned letter;
    } others[] = {{'_', UNDER}, {'-', DASH}, {'.', DOT}, {'+', REST}, {'/', REST}, {'=', REST}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].byte == byte)
            return others[i].letter;
    return 0;
}

static size_t run_of(const char *at, const char *end, unsigned letters)
{
    const char *begin = at;
    while (at < end && letter_of(*at) & letters)
        at++;
    return (size_t)(at - begin);
}

/* Whether AT stands behind an escape of JSON: its last letter is none of a word. */
static bool behind_escape(const char *begin, const char *at)
{
    if (at - begin >= 2 && at[-2] == '\\')
        return strchr("nrtbf", at[-1]) != NULL;
    return at - begin >= 6 && at[-6] == '\\' && at[-5] == 'u';
}

static bool left_fits(enum left left, const char *begin, const char *at)
{
    switch (left) {
    case LEFT_ANY:
        return true;
    case LEFT_DIGIT:
        return at > begin && letter_of(at[-1]) == DIGIT;
    case LEFT_BOUND:
        break;
    }
    return at == begin || !(letter_of(at[-1]) & URL) || behind_escape(begin, at);
}

/* Documentation writes keys with this word in them, and hosts know them. */
static bool is_example(const char *at, size_t size)
{
    return memmem(at, size, "EXAMPLE", 7) != NULL;
}

static enum bait_level judge_row(const struct row *row, const char *begin, const char *at,
                                 const char *end)
{
    size_t size = strlen(row->prefix);
    if ((size_t)(end - at) < size || memcmp(at, row->prefix, size) != 0 ||
        !left_fits(row->left, begin, at))
        return BAIT_NONE;
    const char *behind = at + size;
    size_t run = run_of(behind, end, row->letters);
    if (run >= row->least && run <= row->most)
        return is_example(behind, run) ? BAIT_SUSPECT : BAIT_REFUSED;
    return run >= SUSPECT_LEAST ? BAIT_SUSPECT : BAIT_NONE;
}

/* "-----BEGIN ... PRIVATE KEY" and, behind its line, enough of a key. Text that speaks of keys has the
 * line alone. */
static enum bait_level judge_pem(const char *at, const char *end)
{
    static const char label[] = "PRIVATE KEY";
    size_t size = sizeof pem_begin - 1;
    if ((size_t)(end - at) < size || memcmp(at, pem_begin, size) != 0)
        return BAIT_NONE;
    at += size;
    size_t room = (size_t)(end - at) < PEM_LABEL_MOST ? (size_t)(end - at) : PEM_LABEL_MOST;
    const char *found = memmem(at, room, label, sizeof label - 1);
    if (!found)
        return BAIT_NONE;
    at = found + sizeof label - 1;
    while (at < end && (*at == '-' || *at == ' ' || (*at >= 'A' && *at <= 'Z')))
        at++; /* "-----", " BLOCK-----" */
    while (end - at >= 2 && *at == '\\' && strchr("nrt", at[1]))
        at += 2;
    return run_of(at, end, BASE64) >= PEM_BODY_LEAST ? BAIT_REFUSED : BAIT_SUSPECT;
}

/* Two bytes as a number, the same on every machine. */
static unsigned pair_at(const char *at)
{
    return (unsigned)(unsigned char)at[0] << 8 | (unsigned char)at[1];
}

/* A bit for each two bytes that anchor a row. */
struct anchors {
    uint64_t bits[1024];
};

static void anchors_fill(struct anchors *anchors)
{
    memset(anchors, 0, sizeof *anchors);
    for (size_t i = 0; i <= ROWS; i++) {
        unsigned pair =
            pair_at(i < ROWS ? rows[i].prefix + rows[i].anchor : pem_begin + PEM_ANCHOR);
        anchors->bits[pair >> 6] |= UINT64_C(1) << (pair & 63);
    }
}

static bool anchors_hold(const struct anchors *anchors, unsigned pair)
{
    return anchors->bits[pair >> 6] >> (pair & 63) & 1;
}

static void worsen(struct bait *bait, enum bait_level level, const char *word)
{
    if (level > bait->level)
        *bait = (struct bait){level, word};
}

/* All rows whose anchor stands at AT. */
static void look(const char *begin, const char *at, const char *end, struct bait *bait)
{
    unsigned pair = pair_at(at);
    for (size_t i = 0; i < ROWS; i++)
        if (pair_at(rows[i].prefix + rows[i].anchor) == pair &&
            (size_t)(at - begin) >= rows[i].anchor)
            worsen(bait, judge_row(&rows[i], begin, at - rows[i].anchor, end), rows[i].word);
    if (pair == pair_at(pem_begin + PEM_ANCHOR) && at - begin >= PEM_ANCHOR)
        worsen(bait, judge_pem(at - PEM_ANCHOR, end), "private-key");
}

struct bait bait_find(const char *text, size_t size)
{
    struct anchors anchors;
    struct bait bait = {BAIT_NONE, NULL};
    const char *at = text, *end = text + size;
    anchors_fill(&anchors);
    if (size < 2)
        return bait;
    for (const char *last = end - 1; at < last && bait.level != BAIT_REFUSED; at++)
        if (anchors_hold(&anchors, pair_at(at)))
            look(text, at, end, &bait);
    return bait;
}

bool bait_kind(size_t index, struct bait_kind *kind)
{
    if (index >= ROWS)
        return false;
    const struct row *row = &rows[index];
    *kind = (struct bait_kind){row->word, row->prefix, row->least, row->most};
    return true;
}
