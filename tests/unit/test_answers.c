#include "tests/support/suite.h"
#include "validator/answers.h"
#include "validator/sha256.h"

static struct arena arena;
static struct answer_item item;

/* Four choices, known by length and hash of their lower-cased text. */
static void set_up(void)
{
    static const struct {
        const char *text;
        size_t units;
    } choices[ANSWER_CHOICES] = {
        {"red", 3}, {"dark blue", 9}, {"\xC3\xA9", 1}, {"\xC3\xA9\xC3\xA9", 2}};
    arena = (struct arena){0};
    for (int i = 0; i < ANSWER_CHOICES; i++) {
        item.choices[i].units = choices[i].units;
        sha256(choices[i].text, strlen(choices[i].text), item.choices[i].sha256);
    }
}

static void tear_down(void)
{
    arena_free(&arena);
}

/* Expectations follow spec 02, "Parsing a multiple-choice answer"; -1 is no answer. */
static const struct {
    const char *output;
    int answer;
} outputs[] = {
    {"A", 0},
    {"B.", 1},
    {"(C)", 2},
    {"(D", 3},
    {"C)", 2},
    {"A, because", 0},
    {"B! yes", 1},
    {"A\xC2\xA0x", 0}, /* U+00A0 is white space */
    {"Apple", -1},
    {"A\xC2\x85", -1}, /* U+0085 is not */
    {"E", -1},
    {"**B**", 1},
    {"`_*D*_`", 3},
    {"The answer is C", 2},
    {"The answer is a bit", -1},
    {"answer:B", 1},
    {"ANSWER - (D).", 3},
    {"Answer   is  :  ( A", -1},
    {"Answer is: (A) x", 0},
    {"Answeris:A", 0},
    {"xAnswer A", 0},
    {"Option C", 2},
    {"option is C", -1},
    {"choice (B)", 1},
    {"CHOICE: D!", 3},
    {"aNSWER B", -1},
    {"Answer: X. Option B", 1},
    {"Answer: A1 Answer: B", 1},
    {"Answer A)x", 0}, /* the bracket ends the answer */
    {"(A))", 0},
    {"b)", 1},
    {"(c.", 2},
    {"d", 3},
    {"a bit", -1},
    {"<think>Answer: A</think>B", 1},
    {"<THINK>\nA\n</Think> \n <think>x</think>C", 2},
    {"B <think>C", 1},
    {"<think>A", -1},
    {"x</think>A", -1},
    {"<think>a<think>b</think>C", 2},
    {"Red wine", 0},
    {"DARK BLUE", 1},
    {"dark", -1},
    {"\xC3\x89t\xC3\xA9", 2},
    {"*Red*", -1}, /* step 4 keeps the emphasis marks */
    {"", -1},
    {"\\ud83d", -1},
};

START_TEST(answers__are_parsed_step_by_step)
{
    struct js_value output = js_make_string(outputs[_i].output, strlen(outputs[_i].output));
    ck_assert_msg(answer_parse(&arena, &output, &item) == outputs[_i].answer, "%s",
                  outputs[_i].output);
}
END_TEST

START_TEST(answers__take_linear_time_on_hostile_text)
{
    BUFFER_SCOPE struct buffer text = {0};
    for (int i = 0; i < 100000; i++)
        buffer_text(&text, i % 2 ? "answer is " : "<think>  ");
    struct js_value output = js_make_string(text.data, text.size);
    ck_assert_int_eq(answer_parse(&arena, &output, &item), ANSWER_NONE);
}
END_TEST

START_TEST(answers__key_refuses_what_is_none)
{
    static const char *const texts[] = {"", "[]", "{\"items\":{}}", "{\"items\":[{\"answer\":4}]}",
                                        "{\"items\":[{\"answer\":0,\"choices\":[1,2,3,4]}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct answer_key key;
        const char *problem = NULL;
        ck_assert(!answer_key_read(&arena, texts[i], strlen(texts[i]), &key, &problem));
        ck_assert_ptr_nonnull(problem);
    }
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("answers");
    TCase *tests = tcase_create("answers");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, answers__are_parsed_step_by_step, 0,
                        sizeof outputs / sizeof *outputs);
    tcase_add_test(tests, answers__take_linear_time_on_hostile_text);
    tcase_add_test(tests, answers__key_refuses_what_is_none);
    suite_add_tcase(suite, tests);
    return suite;
}
