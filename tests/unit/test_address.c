#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/limits/address.h"
#include "tests/support/suite.h"

static char text[ADDRESS_TEXT];

static const char *parsed(const char *from)
{
    struct address address;
    if (!address_parse(from, strlen(from), &address))
        return "bad";
    address_print(&address, text);
    return text;
}

static const char *client(const char *trusted, const char *peer, const char *forwarded)
{
    char copy[256];
    char *items[9] = {NULL};
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", trusted);
    for (char *item = strtok(copy, " "); item && count < 8; item = strtok(NULL, " "))
        items[count++] = item;
    struct address_list list;
    const char *bad = NULL;
    struct address from;
    ck_assert(address_list_parse(items, &list, &bad));
    ck_assert(address_parse(peer, strlen(peer), &from));
    struct address found = address_client(&list, &from, forwarded);
    address_print(&found, text);
    address_list_free(&list);
    return text;
}

START_TEST(address__parses_ports_brackets_and_mapped)
{
    static const struct {
        const char *given, *wanted;
    } table[] = {
        {"192.0.2.1", "192.0.2.1"},
        {"192.0.2.1:8080", "192.0.2.1"},
        {"[2001:db8::1]:443", "2001:db8::1"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"2001:DB8::1", "2001:db8::1"},
        {"::ffff:192.0.2.1", "192.0.2.1"},
        {"[::ffff:192.0.2.1]:1", "192.0.2.1"},
        {"", "bad"},
        {"unknown", "bad"},
        {"192.0.2.1:", "bad"},
        {"192.0.2.1:99999", "bad"},
        {"192.0.2.1:x", "bad"},
        {"192.0.2.256", "bad"},
        {"[192.0.2.1]:1", "bad"},
        {"[2001:db8::1", "bad"},
        {"[2001:db8::1]x", "bad"},
        {"fe80::1%eth0", "bad"},
        {"_hidden", "bad"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_str_eq(parsed(table[i].given), table[i].wanted);
}
END_TEST

START_TEST(address__client_is_the_rightmost_untrusted)
{
    const char *proxies = "10.0.0.0/8 2001:db8:1::/48";
    ck_assert_str_eq(client(proxies, "192.0.2.9", "198.51.100.1"), "192.0.2.9");
    ck_assert_str_eq(client(proxies, "10.1.1.1", "198.51.100.1"), "198.51.100.1");
    ck_assert_str_eq(client(proxies, "10.1.1.1", "1.1.1.1, 198.51.100.1, 10.2.2.2"),
                     "198.51.100.1");
    ck_assert_str_eq(client(proxies, "10.1.1.1", "198.51.100.1:7,[2001:db8:1::5]:80"),
                     "198.51.100.1");
    ck_assert_str_eq(client(proxies, "::ffff:10.1.1.1", "198.51.100.1"), "198.51.100.1");
    ck_assert_str_eq(client(proxies, "10.1.1.1", "10.3.3.3, 10.2.2.2"), "10.3.3.3");
}
END_TEST

START_TEST(address__unparsable_falls_back_to_the_peer)
{
    const char *proxies = "10.0.0.0/8";
    ck_assert_str_eq(client(proxies, "10.1.1.1", "198.51.100.1, unknown"), "10.1.1.1");
    ck_assert_str_eq(client(proxies, "10.1.1.1", "nonsense, 10.2.2.2"), "10.1.1.1");
    ck_assert_str_eq(client(proxies, "10.1.1.1", ""), "10.1.1.1");
    ck_assert_str_eq(client(proxies, "10.1.1.1", ",,"), "10.1.1.1");
    ck_assert_str_eq(client(proxies, "10.1.1.1", NULL), "10.1.1.1");
    /* What stands left of the answer does not matter. */
    ck_assert_str_eq(client(proxies, "10.1.1.1", "nonsense, 198.51.100.1"), "198.51.100.1");
}
END_TEST

START_TEST(address__blocks_are_checked)
{
    static const char *const bad[] = {"10.0.0.0/33", "10.0.0.0/",   "10.0.0.0/x",        "proxy",
                                      "::/129",      "10.0.0.0/-1", "::ffff:10.0.0.0/64"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text_of[64];
        snprintf(text_of, sizeof text_of, "%s", bad[i]);
        char *const items[] = {text_of, NULL};
        struct address_list list;
        const char *item = NULL;
        ck_assert(!address_list_parse(items, &list, &item));
        ck_assert_str_eq(item, bad[i]);
    }
    ck_assert_str_eq(client("::ffff:10.0.0.0/104", "10.9.9.9", "192.0.2.7"), "192.0.2.7");
    ck_assert_str_eq(client("0.0.0.0/0", "10.9.9.9", "192.0.2.7"), "192.0.2.7");
}
END_TEST

Suite *test_suite(void)
{
    Suite *suite = suite_create("address");
    TCase *cases = tcase_create("address");
    tcase_add_test(cases, address__parses_ports_brackets_and_mapped);
    tcase_add_test(cases, address__client_is_the_rightmost_untrusted);
    tcase_add_test(cases, address__unparsable_falls_back_to_the_peer);
    tcase_add_test(cases, address__blocks_are_checked);
    suite_add_tcase(suite, cases);
    return suite;
}
