#include "validator/answers.h"

#include "validator/sha256.h"
#include "validator/text.h"

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_choice(const struct js_value *value, struct answer_choice *choice)
{
    const struct js_value *len = js_get(value, "len"), *hash = js_get(value, "sha256");
    if (!len || len->type != JS_NUMBER || !(len->number >= 0 && len->number <= 1e6) || !hash ||
        hash->type != JS_STRING || hash->size != SHA256_HEX)
        return false;
    choice->units = (size_t)len->number;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        int high = hex_digit(hash->text[2 * i]), low = hex_digit(hash->text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        choice->sha256[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool read_item(const struct js_value *value, struct answer_item *item)
{
    const struct js_value *answer = js_get(value, "answer"), *choices = js_get(value, "choices");
    if (!answer || answer->type != JS_NUMBER ||
        !(answer->number >= 0 && answer->number < ANSWER_CHOICES) || !choices ||
        choices->type != JS_ARRAY || choices->size != ANSWER_CHOICES)
        return false;
    item->answer = (int)answer->number;
    for (int i = 0; i < ANSWER_CHOICES; i++)
        if (!read_choice(&choices->items[i], &item->choices[i]))
            return false;
    return true;
}

bool answer_key_read(struct arena *arena, const char *text, size_t size, struct answer_key *key,
                     const char **problem)
{
    struct js_document document;
    struct js_error error;
    if (!js_read(arena, text, size, &document, &error)) {
        *problem = error.message;
        return false;
    }
    const struct js_value *items = js_get(&document.root, "items");
    if (!items || items->type != JS_ARRAY) {
        *problem = "an answer key is an object with an array `items`";
        return false;
    }
    struct answer_item *list = arena_clear_take(arena, items->size, sizeof *list);
    for (uint32_t i = 0; i < items->size; i++) {
        if (!read_item(&items->items[i], &list[i])) {
            *problem = "an item has not one `answer` and four `choices` of `len` and `sha256`";
            return false;
        }
    }
    *key = (struct answer_key){list, items->size};
    return true;
}

/* Where WORD (ASCII, any case) stands first from AT on, or END. */
static const char *find_word(const char *at, const char *end, const char *word)
{
    size_t size = strlen(word);
    for (; (size_t)(end - at) >= size; at++)
        if (*at == *word && text_is((struct text){at, size}, word))
            return at;
    return end;
}

static struct text without_thoughts(struct arena *arena, struct text output)
{
    static const char open[] = "<think>", close[] = "</think>";
    const char *at = output.data, *end = output.data + output.size;
    const char *thought = find_word(at, end, open);
    if (thought == end)
        return text_trim(output);
    BUFFER_SCOPE struct buffer kept = {0};
    while (thought < end) {
        const char *closed = find_word(thought + strlen(open), end, close);
        buffer_add(&kept, at, (size_t)(thought - at));
        at = end;
        if (closed == end)
            break; /* an unfinished thought takes the rest with it */
        buffer_byte(&kept, ' ');
        at = closed + strlen(close);
        thought = find_word(at, end, open);
    }
    buffer_add(&kept, at, (size_t)(end - at));
    return text_trim((struct text){arena_copy(arena, kept.data, kept.size), kept.size});
}

static struct text without_emphasis(struct arena *arena, struct text text)
{
    char *copy = arena_take(arena, text.size + 1);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++)
        if (!strchr("*`_", text.data[i]) || !text.data[i])
            copy[size++] = text.data[i];
    return text_trim((struct text){copy, size});
}

static const char *skip_spaces(const char *at, const char *end)
{
    for (const char *next = at; at < end; at = next)
        if (!text_is_space(text_next(&next, end)))
            break;
    return at;
}

static bool skip(const char **at, const char *end, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(end - *at) < size || memcmp(*at, word, size) != 0)
        return false;
    *at += size;
    return true;
}

static bool ends_answer(const char *at, const char *end)
{
    if (at == end || strchr(".,)!", *at))
        return at == end || *at != '\0';
    const char *next = at;
    return text_is_space(text_next(&next, end));
}

/* An optional bracket, a capital letter A to D, an optional bracket and the end of the answer. */
static int letter_at(const char *at, const char *end)
{
    skip(&at, end, "(");
    if (at == end || *at < 'A' || *at > 'D')
        return ANSWER_NONE;
    int answer = *at++ - 'A';
    /* The closing bracket may be part of the letter or end the answer. */
    const char *behind = at;
    if ((skip(&behind, end, ")") && ends_answer(behind, end)) || ends_answer(at, end))
        return answer;
    return ANSWER_NONE;
}

/* Behind a keyword: white space, `is` after Answer, white space, a colon or dash, white space. */
static const char *skip_lead(const char *at, const char *end, bool is_allowed)
{
    at = skip_spaces(at, end);
    if (is_allowed)
        skip(&at, end, "is");
    at = skip_spaces(at, end);
    if (!skip(&at, end, ":"))
        skip(&at, end, "-");
    return skip_spaces(at, end);
}

static const struct {
    const char *word;
    bool is_allowed;
} keywords[] = {{"Answer", true},  {"answer", true},  {"ANSWER", true},
                {"Option", false}, {"option", false}, {"OPTION", false},
                {"Choice", false}, {"choice", false}, {"CHOICE", false}};

static int keyword_answer(const char *at, const char *end)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const char *behind = at;
        if (skip(&behind, end, keywords[i].word))
            return letter_at(skip_lead(behind, end, keywords[i].is_allowed), end);
    }
    return ANSWER_NONE;
}

static int capital_answer(struct text text)
{
    const char *end = text.data + text.size;
    int answer = letter_at(text.data, end);
    for (const char *at = text.data; answer == ANSWER_NONE && at < end; at++)
        if (strchr("AaOoCc", *at) && *at)
            answer = keyword_answer(at, end);
    return answer;
}

static int small_answer(struct text text)
{
    const char *at = text.data, *end = text.data + text.size;
    skip(&at, end, "(");
    if (at == end || *at < 'a' || *at > 'd')
        return ANSWER_NONE;
    int answer = *at++ - 'a';
    return at == end || *at == ')' || *at == '.' ? answer : ANSWER_NONE;
}

static int choice_answer(struct arena *arena, struct text text, const struct answer_item *item)
{
    struct text lower = text_lower(arena, text);
    size_t units = text_units(lower);
    for (int i = 0; i < ANSWER_CHOICES; i++) {
        const struct answer_choice *choice = &item->choices[i];
        if (choice->units > units)
            continue;
        struct text prefix = text_cut(arena, lower, choice->units);
        unsigned char digest[SHA256_SIZE];
        sha256(prefix.data, prefix.size, digest);
        if (memcmp(digest, choice->sha256, sizeof digest) == 0)
            return i;
    }
    return ANSWER_NONE;
}

int answer_parse(struct arena *arena, const struct js_value *output, const struct answer_item *item)
{
    struct text text = without_thoughts(arena, text_of(output));
    struct text bare = without_emphasis(arena, text);
    int answer = capital_answer(bare);
    if (answer == ANSWER_NONE)
        answer = small_answer(bare);
    if (answer == ANSWER_NONE)
        answer = choice_answer(arena, text, item);
    return answer;
}
