#include "aggregate/bait.h"

#include <stdint.h>
#include <stdlib.h>
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
    unsigned
        anchor; /* where the three letters of the prefix begin that are rarest in ordinary files */
    unsigned letters;
    unsigned least, most; /* letters behind the prefix */
    enum left left;
};

enum { SUSPECT_LEAST = 12, PEM_LABEL_MOST = 32, PEM_BODY_LEAST = 40, ANY_LENGTH = 4000 };

/* Lengths are exact where the issuer says them. */
/* clang-format off */
static const struct row rows[] = {
    {"github-token", "ghp_", 1, WORD, 36, 36, LEFT_BOUND},
    {"github-token", "gho_", 1, WORD, 36, 36, LEFT_BOUND},
    {"github-token", "ghu_", 1, WORD, 36, 36, LEFT_BOUND},
    {"github-token", "ghs_", 1, WORD, 36, 36, LEFT_BOUND},
    {"github-token", "ghr_", 1, WORD, 36, 76, LEFT_BOUND},
    {"github-token", "github_pat_", 4, WORD | UNDER, 82, 82, LEFT_BOUND},
    {"gitlab-token", "glpat-", 1, URL | DOT, 20, 64, LEFT_BOUND},
    {"gitlab-token", "gldt-", 2, URL, 20, 20, LEFT_BOUND},
    {"gitlab-token", "glrt-", 1, URL, 20, 20, LEFT_BOUND},
    {"aws-access-key", "AKIA", 1, UPPER, 16, 16, LEFT_BOUND},
    {"aws-access-key", "ASIA", 1, UPPER, 16, 16, LEFT_BOUND},
    {"slack-token", "xoxb-", 0, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxp-", 0, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxa-", 0, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxr-", 0, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxs-", 0, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxe-", 0, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxe.xoxp-", 4, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xoxe.xoxb-", 4, URL, 24, 250, LEFT_BOUND},
    {"slack-token", "xapp-", 2, URL, 40, 250, LEFT_BOUND},
    {"slack-webhook", "hooks.slack.com/services/", 14, BASE64, 40, 90, LEFT_ANY},
    {"stripe-key", "sk_live_", 1, WORD, 24, 247, LEFT_BOUND},
    {"stripe-key", "rk_live_", 1, WORD, 24, 247, LEFT_BOUND},
    {"google-api-key", "AIza", 1, URL, 35, 35, LEFT_BOUND},
    {"google-oauth-secret", "GOCSPX-", 3, URL, 28, 28, LEFT_BOUND},
    {"google-oauth-token", "ya29.", 0, URL, 50, ANY_LENGTH, LEFT_BOUND},
    {"npm-token", "npm_", 1, WORD, 36, 36, LEFT_BOUND},
    {"pypi-token", "pypi-AgE", 5, URL, 50, ANY_LENGTH, LEFT_BOUND},
    {"rubygems-key", "rubygems_", 2, HEX, 48, 48, LEFT_BOUND},
    {"sendgrid-key", "SG.", 0, URL | DOT, 66, 66, LEFT_BOUND},
    {"openai-key", "sk-proj-", 1, URL, 40, 250, LEFT_BOUND},
    {"openai-key", "sk-svcacct-", 3, URL, 40, 250, LEFT_BOUND},
    {"openai-key", "sk-admin-", 1, URL, 40, 250, LEFT_BOUND},
    {"openai-key", "T3BlbkFJ", 0, URL, 20, 250, LEFT_ANY},
    {"anthropic-key", "sk-ant-", 1, URL, 80, 130, LEFT_BOUND},
    {"hugging-face-token", "hf_", 0, WORD, 34, 34, LEFT_BOUND},
    {"groq-key", "gsk_", 1, WORD, 52, 52, LEFT_BOUND},
    {"xai-key", "xai-", 0, WORD, 80, 80, LEFT_BOUND},
    {"replicate-token", "r8_", 0, WORD, 37, 37, LEFT_BOUND},
    {"perplexity-key", "pplx-", 2, WORD, 48, 48, LEFT_BOUND},
    {"digitalocean-token", "dop_v1_", 3, HEX, 64, 64, LEFT_BOUND},
    {"digitalocean-token", "doo_v1_", 3, HEX, 64, 64, LEFT_BOUND},
    {"digitalocean-token", "dor_v1_", 3, HEX, 64, 64, LEFT_BOUND},
    {"shopify-token", "shpat_", 1, ANY_HEX, 32, 32, LEFT_BOUND},
    {"shopify-token", "shpca_", 1, ANY_HEX, 32, 32, LEFT_BOUND},
    {"shopify-token", "shppa_", 1, ANY_HEX, 32, 32, LEFT_BOUND},
    {"shopify-token", "shpss_", 1, ANY_HEX, 32, 32, LEFT_BOUND},
    {"twilio-key", "SK", 0, HEX, 32, 32, LEFT_BOUND},
    {"databricks-token", "dapi", 1, HEX, 32, 32, LEFT_BOUND},
    {"linear-key", "lin_api_", 2, WORD, 40, 40, LEFT_BOUND},
    {"new-relic-key", "NRAK-", 1, UPPER, 27, 27, LEFT_BOUND},
    {"postman-key", "PMAK-", 1, HEX | DASH, 59, 59, LEFT_BOUND},
    {"square-token", "sq0atp-", 1, URL, 22, 22, LEFT_BOUND},
    {"square-token", "sq0csp-", 1, URL, 43, 43, LEFT_BOUND},
    {"telegram-token", ":AA", 0, URL, 33, 33, LEFT_DIGIT},
    {"azure-storage-key", "AccountKey=", 6, BASE64, 88, 88, LEFT_ANY},
    {"grafana-token", "glsa_", 0, WORD | UNDER, 41, 41, LEFT_BOUND},
    {"vault-token", "hvs.", 0, URL, 24, 200, LEFT_BOUND},
    {"doppler-token", "dp.pt.", 0, WORD, 40, 44, LEFT_BOUND},
    {"supabase-token", "sbp_", 1, HEX, 40, 40, LEFT_BOUND},
    {"atlassian-token", "ATATT3xFf", 4, URL | REST, 150, 250, LEFT_BOUND},
    {"planetscale-token", "pscale_tkn_", 7, URL | DOT, 32, 64, LEFT_BOUND},
    {"figma-token", "figd_", 2, URL, 40, 44, LEFT_BOUND},
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

/* Counted no further than MOST: a text of beginnings alone would be counted to its end from each. */
static size_t run_of(const char *at, const char *end, unsigned letters, size_t most)
{
    const char *begin = at;
    if ((size_t)(end - at) > most)
        end = at + most;
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
    size_t run = run_of(behind, end, row->letters, row->most + 1);
    if (run >= row->least && run <= row->most)
        return is_example(behind, run) ? BAIT_SUSPECT : BAIT_REFUSED;
    return run >= SUSPECT_LEAST ? BAIT_SUSPECT : BAIT_NONE;
}

static bool is_of_header(char byte)
{
    return byte == '-' || byte == ' ' || (byte >= 'A' && byte <= 'Z');
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
    /* "-----", " BLOCK-----", and the ends of lines. No further: a text of such beginnings alone would be
     * looked through once for each of them. */
    for (int i = 0; i < PEM_LABEL_MOST && at < end && is_of_header(*at); i++)
        at++;
    for (int i = 0; i < PEM_LABEL_MOST && end - at >= 2 && *at == '\\' && strchr("nrt", at[1]); i++)
        at += 2;
    return run_of(at, end, BASE64, PEM_BODY_LEAST) >= PEM_BODY_LEAST ? BAIT_REFUSED : BAIT_SUSPECT;
}

/* Two bytes as a number. */
static uint16_t pair_at(const char *at)
{
    uint16_t pair;
    memcpy(&pair, at, sizeof pair);
    return pair;
}

/* Only every other place of the text is looked at, so each row is found by one of two pairs: that at its
 * anchor and the next. A bit for each pair that is one, and what it may belong to. */
enum { PAIRS = 1 << 16, ITEMS_MOST = 255, HEADS = 256 };
struct item {
    uint16_t pair;
    uint8_t row;    /* ROWS: PEM's */
    uint8_t offset; /* of the pair in the prefix */
    uint8_t next;   /* of those with the same head, 0: none */
};
struct anchors {
    uint64_t bits[PAIRS / 64];
    uint8_t heads[HEADS];
    unsigned count;
    struct item items[ITEMS_MOST + 1]; /* from 1 */
};

static unsigned head_of(uint16_t pair)
{
    return (pair ^ pair >> 5) % HEADS;
}

static void add_pair(struct anchors *anchors, const char pair_text[2], size_t row, unsigned offset)
{
    uint16_t pair = pair_at(pair_text);
    uint8_t *head = &anchors->heads[head_of(pair)];
    if (anchors->count == ITEMS_MOST)
        abort(); /* the table has outgrown its index */
    anchors->items[++anchors->count] = (struct item){pair, (uint8_t)row, (uint8_t)offset, *head};
    *head = (uint8_t)anchors->count;
    anchors->bits[pair >> 6] |= UINT64_C(1) << (pair & 63);
}

static void add_anchor(struct anchors *anchors, const char *prefix, size_t row, unsigned at,
                       unsigned letters)
{
    add_pair(anchors, prefix + at, row, at);
    if (prefix[at + 2]) {
        add_pair(anchors, prefix + at + 1, row, at + 1);
        return;
    }
    for (int byte = 1; byte < 128; byte++) { /* the prefix ends: any letter may be the next */
        const char pair[2] = {prefix[at + 1], (char)byte};
        if (letter_of(pair[1]) & letters)
            add_pair(anchors, pair, row, at + 1);
    }
}

static void anchors_fill(struct anchors *anchors)
{
    memset(anchors->bits, 0, sizeof anchors->bits);
    memset(anchors->heads, 0, sizeof anchors->heads);
    anchors->count = 0;
    for (size_t i = 0; i < ROWS; i++)
        add_anchor(anchors, rows[i].prefix, i, rows[i].anchor, rows[i].letters);
    add_anchor(anchors, pem_begin, ROWS, PEM_ANCHOR, 0);
}

static unsigned anchors_hold(const struct anchors *anchors, const char *at)
{
    uint16_t pair = pair_at(at);
    return anchors->bits[pair >> 6] >> (pair & 63) & 1;
}

static void worsen(struct bait *bait, enum bait_level level, const char *word)
{
    if (level > bait->level)
        *bait = (struct bait){level, word};
}

/* All rows that may have the pair at AT. */
static void look(const struct anchors *anchors, const char *begin, const char *at, const char *end,
                 struct bait *bait)
{
    uint16_t pair = pair_at(at);
    const struct item *item = &anchors->items[anchors->heads[head_of(pair)]];
    for (; item != anchors->items; item = &anchors->items[item->next]) {
        if (item->pair != pair || (size_t)(at - begin) < item->offset)
            continue;
        const char *start = at - item->offset;
        if (item->row == ROWS)
            worsen(bait, judge_pem(start, end), "private-key");
        else
            worsen(bait, judge_row(&rows[item->row], begin, start, end), rows[item->row].word);
    }
}

struct bait bait_find(const char *text, size_t size)
{
    struct anchors anchors;
    struct bait bait = {BAIT_NONE, NULL};
    const char *at = text, *end = text + size;
    anchors_fill(&anchors);
    while (end - at >= 2 && bait.level != BAIT_REFUSED) {
        /* Four pairs at a time: hardly any is one, so that one question serves them all. */
        while (end - at >= 8 && !(anchors_hold(&anchors, at) | anchors_hold(&anchors, at + 2) |
                                  anchors_hold(&anchors, at + 4) | anchors_hold(&anchors, at + 6)))
            at += 8;
        if (end - at < 2)
            break;
        if (anchors_hold(&anchors, at))
            look(&anchors, text, at, end, &bait);
        at += 2;
    }
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
