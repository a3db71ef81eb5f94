#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/watchdog.h"
#include "tests/support/suite.h"

enum { PEERS = 4 };

static struct limits limits;
static struct address_list trusted;
static struct watchdog *watchdog;
static int ends[PEERS][2];
static struct peer *peers[PEERS];

static void no_tick(void *context, int64_t now_ms)
{
    (void)context;
    (void)now_ms;
}

static void set_up(void)
{
    static char proxy[] = "192.0.2.99";
    char *const proxies[] = {proxy, NULL};
    const char *bad = NULL;
    limits = (struct limits){0};
    ck_assert(address_list_parse(proxies, &trusted, &bad));
    watchdog = watchdog_new(&limits, &trusted, no_tick, NULL);
}

static void tear_down(void)
{
    watchdog_stop(watchdog);
    watchdog_free(watchdog);
    address_list_free(&trusted);
}

/* A connection from TEXT. */
static void enter(int index, const char *text)
{
    struct address address;
    ck_assert(address_parse(text, strlen(text), &address));
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends[index]), 0);
    peers[index] = peer_open(watchdog, ends[index][0], &address);
}

static bool is_shut(int index)
{
    char byte;
    return recv(ends[index][1], &byte, 1, 0) == 0;
}

static void leave(int index)
{
    peer_close(peers[index]);
    close(ends[index][0]);
    close(ends[index][1]);
}

static void leave_all(void)
{
    for (int i = 0; i < PEERS; i++)
        leave(i);
}

START_TEST(watchdog__counts_connections_per_address)
{
    limits.max_connections_per_address = 2;
    enter(0, "192.0.2.1");
    enter(1, "192.0.2.1");
    enter(2, "192.0.2.1");
    enter(3, "192.0.2.2");
    ck_assert(!is_shut(0) && !is_shut(1) && !is_shut(3));
    ck_assert(is_shut(2));
    leave(2);
    leave(1);
    enter(1, "192.0.2.1"); /* who leaves makes room */
    ck_assert(!is_shut(1));
    enter(2, "192.0.2.1");
    ck_assert(is_shut(2));
    leave_all();
}
END_TEST

START_TEST(watchdog__loopback_and_proxies_do_not_count_per_address)
{
    limits.max_connections_per_address = 1;
    enter(0, "127.0.0.2");
    enter(1, "127.0.0.2");
    enter(2, "192.0.2.99");
    enter(3, "192.0.2.99");
    for (int i = 0; i < PEERS; i++)
        ck_assert(!is_shut(i));
    leave_all();
}
END_TEST

START_TEST(watchdog__counts_connections_in_all)
{
    limits.max_connections = 3;
    for (int i = 0; i < PEERS; i++)
        enter(i, "127.0.0.1");
    ck_assert(!is_shut(2));
    ck_assert(is_shut(3));
    leave_all();
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("watchdog");
    TCase *cases = tcase_create("watchdog");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, watchdog__counts_connections_per_address);
    tcase_add_test(cases, watchdog__loopback_and_proxies_do_not_count_per_address);
    tcase_add_test(cases, watchdog__counts_connections_in_all);
    suite_add_tcase(suite, cases);
    return suite;
}
