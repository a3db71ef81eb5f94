/* Client addresses: parsing, CIDR lists, and who the client behind a proxy is (spec 04). Pure. */
#ifndef BENCHLEDGER_SERVER_LIMITS_ADDRESS_H
#define BENCHLEDGER_SERVER_LIMITS_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ADDRESS_TEXT = 64 };

/* IPv4-mapped IPv6 addresses are always held unmapped. */
struct address {
    uint8_t family;    /* 4, 6, or 0 when unknown */
    uint8_t bytes[16]; /* the first 4 of IPv4; the rest is zero */
};

bool address_from_socket(const struct sockaddr *peer, struct address *address);
/* One address, with brackets and a port allowed ("1.2.3.4:80", "[2001:db8::1]:80",
 * "2001:db8::1"). */
bool address_parse(const char *text, size_t size, struct address *address);
void address_print(const struct address *address, char text[ADDRESS_TEXT]);
bool address_is_loopback(const struct address *address);
/* The address with all but its first BITS cleared. */
struct address address_network(const struct address *address, unsigned bits);

struct address_block {
    struct address network;
    unsigned bits;
};
struct address_list {
    struct address_block *blocks; /* owned */
    size_t count;
};
/* TEXTS is NULL-terminated. False and the item that is no address or block in *BAD. */
bool address_list_parse(char *const *texts, struct address_list *list, const char **bad);
bool address_list_holds(const struct address_list *list, const struct address *address);
void address_list_free(struct address_list *list);

/* The client of a request from PEER. FORWARDED: the values of all X-Forwarded-For headers joined in
 * order by commas, or NULL. */
struct address address_client(const struct address_list *trusted, const struct address *peer,
                              const char *forwarded);

#endif
