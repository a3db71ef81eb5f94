#include "server/limits/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validator/arena.h"

enum { HOPS_MOST = 64 };

static unsigned address_bits(const struct address *address)
{
    return address->family == 4 ? 32 : 128;
}

static struct address from_v6(const uint8_t bytes[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    struct address address = {.family = 6};
    if (!memcmp(bytes, mapped, sizeof mapped)) {
        address.family = 4;
        memcpy(address.bytes, bytes + 12, 4);
    } else {
        memcpy(address.bytes, bytes, 16);
    }
    return address;
}

bool address_from_socket(const struct sockaddr *peer, struct address *address)
{
    *address = (struct address){0};
    if (peer->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, peer, sizeof v4);
        address->family = 4;
        memcpy(address->bytes, &v4.sin_addr, 4);
        return true;
    }
    if (peer->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, peer, sizeof v6);
        *address = from_v6(v6.sin6_addr.s6_addr);
        return true;
    }
    return false;
}

static bool valid_port(const char *text, size_t size)
{
    unsigned port = 0;
    if (!size || size > 5)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        port = port * 10 + (unsigned)(text[i] - '0');
    }
    return port <= 65535;
}

/* Takes brackets and port off. False when what is around the address is no port. */
static bool strip_port(const char **text, size_t *size)
{
    if (*size && **text == '[') {
        const char *close = memchr(*text, ']', *size);
        if (!close)
            return false;
        size_t rest = *size - (size_t)(close + 1 - *text);
        if (rest && (close[1] != ':' || !valid_port(close + 2, rest - 1)))
            return false;
        *text += 1;
        *size = (size_t)(close - *text);
        return memchr(*text, ':', *size) != NULL; /* brackets hold IPv6 only */
    }
    const char *colon = memchr(*text, ':', *size);
    if (!colon || memchr(colon + 1, ':', *size - (size_t)(colon + 1 - *text)))
        return true; /* no port: IPv4, or IPv6 without brackets */
    size_t port = *size - (size_t)(colon + 1 - *text);
    *size = (size_t)(colon - *text);
    return valid_port(colon + 1, port);
}

bool address_parse(const char *text, size_t size, struct address *address)
{
    char copy[INET6_ADDRSTRLEN + 1];
    if (!strip_port(&text, &size) || !size || size >= sizeof copy || memchr(text, '\0', size))
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    uint8_t bytes[16] = {0};
    if (inet_pton(AF_INET, copy, bytes) == 1) {
        *address = (struct address){.family = 4};
        memcpy(address->bytes, bytes, 4);
        return true;
    }
    if (inet_pton(AF_INET6, copy, bytes) != 1)
        return false;
    *address = from_v6(bytes);
    return true;
}

void address_print(const struct address *address, char text[ADDRESS_TEXT])
{
    if (!address->family ||
        !inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, text, ADDRESS_TEXT))
        snprintf(text, ADDRESS_TEXT, "unknown");
}

bool address_is_loopback(const struct address *address)
{
    static const uint8_t one[16] = {[15] = 1};
    if (address->family == 4)
        return address->bytes[0] == 127;
    return address->family == 6 && !memcmp(address->bytes, one, 16);
}

struct address address_network(const struct address *address, unsigned bits)
{
    struct address network = *address;
    for (unsigned i = 0; i < 16; i++) {
        unsigned kept = bits > i * 8 ? bits - i * 8 : 0;
        if (kept < 8)
            network.bytes[i] &= (uint8_t)(0xff00u >> kept);
    }
    return network;
}

static bool parse_block(const char *text, struct address_block *block)
{
    const char *slash = strchr(text, '/');
    size_t size = slash ? (size_t)(slash - text) : strlen(text);
    struct address address;
    bool mapped = size > 7 && memchr(text, '.', size) && memchr(text, ':', size);
    if (!address_parse(text, size, &address))
        return false;
    unsigned most = address_bits(&address), bits = most;
    if (slash) {
        size_t digits = strlen(slash + 1);
        if (!digits || digits > 3 || strspn(slash + 1, "0123456789") != digits)
            return false;
        bits = (unsigned)strtoul(slash + 1, NULL, 10);
        if (mapped && address.family == 4) {
            if (bits < 96)
                return false;
            bits -= 96;
        }
        if (bits > most)
            return false;
    }
    block->bits = bits;
    block->network = address_network(&address, bits);
    return true;
}

bool address_list_parse(char *const *texts, struct address_list *list, const char **bad)
{
    size_t count = 0;
    while (texts[count])
        count++;
    *list = (struct address_list){.blocks = memory_grow(NULL, (count + 1) * sizeof *list->blocks)};
    for (size_t i = 0; i < count; i++) {
        if (!parse_block(texts[i], &list->blocks[i])) {
            *bad = texts[i];
            address_list_free(list);
            return false;
        }
        list->count++;
    }
    return true;
}

bool address_list_holds(const struct address_list *list, const struct address *address)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct address_block *block = &list->blocks[i];
        if (block->network.family != address->family)
            continue;
        struct address network = address_network(address, block->bits);
        if (!memcmp(network.bytes, block->network.bytes, 16))
            return true;
    }
    return false;
}

void address_list_free(struct address_list *list)
{
    free(list->blocks);
    *list = (struct address_list){0};
}

struct address address_client(const struct address_list *trusted, const struct address *peer,
                              const char *forwarded)
{
    if (!forwarded || !address_list_holds(trusted, peer))
        return *peer;
    size_t end = strlen(forwarded);
    struct address address = *peer;
    for (int hop = 0; hop < HOPS_MOST; hop++) {
        size_t start = end;
        while (start && forwarded[start - 1] != ',')
            start--;
        const char *text = forwarded + start;
        size_t size = end - start;
        while (size && (*text == ' ' || *text == '\t'))
            text++, size--;
        while (size && (text[size - 1] == ' ' || text[size - 1] == '\t'))
            size--;
        /* Anything unparsable: whoever wrote it cannot be told, so the peer answers for it. */
        if (!address_parse(text, size, &address))
            return *peer;
        if (!address_list_holds(trusted, &address))
            return address;
        if (!start)
            return address; /* all are proxies of ours: the first of them is the client */
        end = start - 1;
    }
    return *peer;
}
