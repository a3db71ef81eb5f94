#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/expiry.h"
#include "server/log.h"
#include "server/maintainers/maintainers.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
static const int64_t DAY_S = 86400;

static int64_t seconds_of(const char *day)
{
    int64_t days = 0;
    ck_assert(expiry_parse(day, &days));
    return days * DAY_S;
}

/* "NAME ROLE HASH-OF-TOKEN EXPIRES" with a newline. */
static void add_line(struct buffer *text, const char *name, const char *role, const char *token,
                     const char *expires)
{
    char hash[SHA256_HEX + 1];
    sha256_hex(token, strlen(token), hash);
    buffer_format(text, "%s %s %s %s\n", name, role, hash, expires);
}

static const char *write_text(struct buffer *text)
{
    const char *path = scratch_path("maintainers");
    scratch_write(path, text->data ? text->data : "", text->size);
    return path;
}

static struct maintainers *open_good(const char *path)
{
    char problem[MAINTAINERS_PROBLEM] = "";
    struct maintainers *maintainers = maintainers_open(path, problem);
    ck_assert_msg(maintainers != NULL, "%s", problem);
    return maintainers;
}

static bool knows(struct maintainers *maintainers, const char *token)
{
    struct maintainer found;
    return maintainers_find(maintainers, token, seconds_of("2026-06-01"), &found, NULL);
}

START_TEST(list__passes_over_comments_and_takes_runs_of_blanks)
{
    static const char text[] = "# name role hash\n"
                               "\n"
                               "  \t\n"
                               "\t # indented\n"
                               "alice reviewer " ZEROS "\n"
                               "  A.b_c-9 \t admin   " ZEROS "  2028-02-29 \n"
                               "alice reviewer " ZEROS;
    char problem[MAINTAINERS_PROBLEM] = "";
    MAINTAINER_LIST_SCOPE struct maintainer_list list = {0};
    ck_assert_msg(maintainer_list_parse(text, sizeof text - 1, &list, problem), "%s", problem);
    ck_assert_uint_eq(list.count, 3);
    ck_assert_str_eq(list.lines[1].name, "A.b_c-9");
    ck_assert_int_eq(list.lines[1].role, MAINTAINER_ADMIN);
    ck_assert_int_eq(list.lines[1].expires, 21243);
    ck_assert_int_eq(list.lines[0].expires, MAINTAINER_NEVER);
    ck_assert_int_eq(strncmp(text + list.lines[2].begin, "alice", 5), 0);
    ck_assert_uint_eq(list.lines[2].end, sizeof text - 1);
}
END_TEST

START_TEST(list__refuses_the_whole_file_without_repeating_a_line)
{
    static const char name65[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa reviewer " ZEROS;
    static const char *const bad[] = {
        "alice",
        "alice reviewer",
        "alice reviewer " ZEROS " 2027-01-01 more",
        "alice reviewer " ZEROS " 2027-01-01 more and more and more and more",
        "alice owner " ZEROS,
        "alice Reviewer " ZEROS,
        "al/ice reviewer " ZEROS,
        "al\xc3\xaf"
        "ce reviewer " ZEROS,
        name65,
        "alice reviewer " ZEROS "0",
        "alice reviewer 0123",
        "alice reviewer A"
        "000000000000000000000000000000000000000000000000000000000000000",
        "alice reviewer g"
        "000000000000000000000000000000000000000000000000000000000000000",
        "alice reviewer " ZEROS " 2027-02-29",
        "alice reviewer " ZEROS " never",
        "alice reviewer " ZEROS "\r",
        "alice reviewer " ZEROS " 2027-01-01\r",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char problem[MAINTAINERS_PROBLEM] = "";
        struct buffer text BUFFER_SCOPE = {0};
        MAINTAINER_LIST_SCOPE struct maintainer_list list = {0};
        buffer_format(&text, "# first\nbob admin " ZEROS "\n%s\n", bad[i]);
        ck_assert_msg(!maintainer_list_parse(text.data, text.size, &list, problem), "%s", bad[i]);
        ck_assert_uint_eq(list.count, 0);
        ck_assert_ptr_null(list.lines);
        ck_assert_int_eq(strncmp(problem, "line 3: ", 8), 0);
        ck_assert_ptr_null(strstr(problem, "ice"));
        ck_assert_ptr_null(strstr(problem, "000"));
    }
}
END_TEST

START_TEST(list__refuses_nul_bytes_and_what_is_too_much)
{
    char problem[MAINTAINERS_PROBLEM];
    static const char nul[] = "alice reviewer " ZEROS "\0\n";
    struct buffer text BUFFER_SCOPE = {0};
    MAINTAINER_LIST_SCOPE struct maintainer_list list = {0};
    ck_assert(!maintainer_list_parse(nul, sizeof nul - 1, &list, problem));
    for (int i = 0; i < MAINTAINERS_LINES; i++)
        buffer_text(&text, "alice reviewer " ZEROS "\n");
    ck_assert(maintainer_list_parse(text.data, text.size, &list, problem));
    ck_assert_uint_eq(list.count, MAINTAINERS_LINES);
    maintainer_list_free(&list);
    buffer_byte(&text, '\n');
    ck_assert(!maintainer_list_parse(text.data, text.size, &list, problem));
    ck_assert_str_eq(problem, "line 1001: is one too many");
    text.size = 0;
    buffer_byte(&text, '#');
    for (int i = 1; i < MAINTAINERS_BYTES; i++)
        buffer_byte(&text, 'x');
    ck_assert(maintainer_list_parse(text.data, text.size, &list, problem));
    buffer_byte(&text, 'x');
    ck_assert(!maintainer_list_parse(text.data, text.size, &list, problem));
}
END_TEST

START_TEST(maintainers__finds_by_token_and_says_who)
{
    struct buffer text BUFFER_SCOPE = {0};
    struct maintainer found = {.name = "nobody"};
    enum maintainer_refusal why;
    add_line(&text, "alice", "reviewer", "first", "");
    add_line(&text, "alice", "reviewer", "second", "");
    add_line(&text, "bob", "admin", "third", "");
    struct maintainers *maintainers = open_good(write_text(&text));
    ck_assert(maintainers_find(maintainers, "third", 0, &found, &why));
    ck_assert_str_eq(found.name, "bob");
    ck_assert_int_eq(found.role, MAINTAINER_ADMIN);
    ck_assert(maintainers_find(maintainers, "second", 0, &found, &why));
    ck_assert_str_eq(found.name, "alice");
    ck_assert_int_eq(found.role, MAINTAINER_REVIEWER);
    static const char *const wrong[] = {"", "thir", "third ", "Third", NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert(!maintainers_find(maintainers, wrong[i], 0, &found, &why));
        ck_assert_int_eq(why, MAINTAINER_UNKNOWN);
        ck_assert_str_eq(found.name, "alice");
    }
    char hash[SHA256_HEX + 1]; /* what the file holds is no token */
    sha256_hex("third", 5, hash);
    ck_assert(!knows(maintainers, hash));
    maintainers_close(maintainers);
}
END_TEST

START_TEST(maintainers__a_token_is_good_through_its_last_day)
{
    struct buffer text BUFFER_SCOPE = {0};
    struct maintainer found;
    enum maintainer_refusal why = MAINTAINER_UNKNOWN;
    int64_t next = seconds_of("2026-12-01");
    add_line(&text, "alice", "reviewer", "token", "2026-11-30");
    struct maintainers *maintainers = open_good(write_text(&text));
    ck_assert(maintainers_find(maintainers, "token", next - 1, &found, &why));
    ck_assert(!maintainers_find(maintainers, "token", next, &found, &why));
    ck_assert_int_eq(why, MAINTAINER_EXPIRED);
    maintainers_close(maintainers);
    add_line(&text, "bob", "reviewer", "token", "2027-11-30"); /* the same, for longer */
    maintainers = open_good(write_text(&text));
    ck_assert(maintainers_find(maintainers, "token", next, &found, &why));
    ck_assert_str_eq(found.name, "bob");
    maintainers_close(maintainers);
}
END_TEST

START_TEST(maintainers__without_a_file_nobody_is_one)
{
    struct maintainer found;
    enum maintainer_refusal why;
    struct maintainers *maintainers = open_good("");
    maintainers_refresh(maintainers, 5000);
    maintainers_reread(maintainers);
    ck_assert(!maintainers_find(maintainers, "token", 0, &found, &why));
    ck_assert_int_eq(why, MAINTAINER_UNKNOWN);
    maintainers_close(maintainers);
    ck_assert(!maintainers_find(NULL, "token", 0, &found, &why));
    maintainers_refresh(NULL, 0);
    maintainers_close(NULL);
}
END_TEST

START_TEST(maintainers__does_not_open_what_is_missing_malformed_or_no_file)
{
    char problem[MAINTAINERS_PROBLEM] = "";
    ck_assert_ptr_null(maintainers_open(scratch_path("absent"), problem));
    ck_assert_str_eq(problem, "No such file or directory");
    ck_assert_ptr_null(maintainers_open(scratch_path("."), problem));
    ck_assert_str_eq(problem, "is no regular file");
    ck_assert_int_eq(scratch_shell(NULL, "mkfifo %s", scratch_path("pipe")), 0);
    ck_assert_ptr_null(maintainers_open(scratch_path("pipe"), problem));
    ck_assert_str_eq(problem, "is no regular file");
    scratch_write(scratch_path("bad"), "x", 1);
    ck_assert_ptr_null(maintainers_open(scratch_path("bad"), problem));
    ck_assert_int_eq(strncmp(problem, "line 1: ", 8), 0);
}
END_TEST

START_TEST(maintainers__reads_a_changed_file_again_a_second_later)
{
    struct buffer text BUFFER_SCOPE = {0}, other BUFFER_SCOPE = {0};
    add_line(&text, "alice", "reviewer", "one", "");
    add_line(&other, "alice", "reviewer", "two", ""); /* of the same size, at the same moment */
    const char *path = write_text(&text);
    struct maintainers *maintainers = open_good(path);
    maintainers_refresh(maintainers, 10000);
    scratch_write(path, other.data, other.size);
    maintainers_refresh(maintainers, 10999);
    ck_assert(knows(maintainers, "one"));
    maintainers_refresh(maintainers, 11000);
    ck_assert(!knows(maintainers, "one"));
    ck_assert(knows(maintainers, "two"));
    scratch_write(path, text.data, text.size);
    maintainers_reread(maintainers); /* somebody asked */
    ck_assert(knows(maintainers, "one"));
    maintainers_close(maintainers);
}
END_TEST

START_TEST(maintainers__what_cannot_be_read_changes_nothing)
{
    struct buffer text BUFFER_SCOPE = {0};
    int64_t now = 10000;
    add_line(&text, "alice", "reviewer", "one", "");
    const char *path = write_text(&text);
    struct maintainers *maintainers = open_good(path);
    scratch_write(path, "alice\n", 6);
    maintainers_refresh(maintainers, now += 1000);
    ck_assert(knows(maintainers, "one"));
    unlink(path);
    maintainers_refresh(maintainers, now += 1000);
    ck_assert(knows(maintainers, "one"));
    scratch_write(path, "", 0); /* an empty file is a good one: it locks everybody out */
    maintainers_refresh(maintainers, now += 1000);
    ck_assert(!knows(maintainers, "one"));
    write_text(&text);
    maintainers_refresh(maintainers, now + 1000);
    ck_assert(knows(maintainers, "one"));
    maintainers_close(maintainers);
}
END_TEST

enum { ASKERS = 4, CHANGES = 200 };
static atomic_bool over;

static void *ask(void *context)
{
    while (!over)
        if (!knows(context, "always") || knows(context, "never"))
            return context;
    return NULL;
}

START_TEST(maintainers__may_be_asked_while_the_file_is_read)
{
    struct buffer text BUFFER_SCOPE = {0}, longer BUFFER_SCOPE = {0};
    pthread_t threads[ASKERS];
    void *wrong = NULL;
    add_line(&text, "alice", "reviewer", "always", "");
    add_line(&longer, "bob", "admin", "sometimes", "");
    add_line(&longer, "alice", "reviewer", "always", "");
    const char *path = write_text(&text);
    char made[SCRATCH_PATH];
    strcpy(made, scratch_path("made"));
    struct maintainers *maintainers = open_good(path);
    over = false;
    for (int i = 0; i < ASKERS; i++)
        pthread_create(&threads[i], NULL, ask, maintainers);
    for (int i = 0; i < CHANGES; i++) {
        const struct buffer *next = i % 2 ? &text : &longer;
        scratch_write(made, next->data, next->size);
        ck_assert_int_eq(rename(made, path), 0);
        maintainers_refresh(maintainers, 10000 + i * INT64_C(1000));
        ck_assert(knows(maintainers, "sometimes") == (i % 2 == 0));
    }
    over = true;
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
    maintainers_close(maintainers);
}
END_TEST

static void begin(void)
{
    log_configure(false, LOG_ERROR);
    scratch_begin();
}

static void end(void)
{
    scratch_end();
}

Suite *test_suite(void)
{
    const TTest *const tests[] = {
        list__passes_over_comments_and_takes_runs_of_blanks,
        list__refuses_the_whole_file_without_repeating_a_line,
        list__refuses_nul_bytes_and_what_is_too_much,
        maintainers__finds_by_token_and_says_who,
        maintainers__a_token_is_good_through_its_last_day,
        maintainers__without_a_file_nobody_is_one,
        maintainers__does_not_open_what_is_missing_malformed_or_no_file,
        maintainers__reads_a_changed_file_again_a_second_later,
        maintainers__what_cannot_be_read_changes_nothing,
        maintainers__may_be_asked_while_the_file_is_read,
    };
    return suite_of("maintainers", begin, end, tests, sizeof tests / sizeof *tests);
}
