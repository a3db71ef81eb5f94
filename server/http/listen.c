#include "server/http/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

/* Parts "ADDR:PORT". An empty address is every one. */
static bool split(const char *listen, char host[256], char port[8])
{
    const char *colon = strrchr(listen, ':');
    if (!colon || strlen(colon + 1) > 5 || strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return false;
    size_t size = (size_t)(colon - listen);
    if (size && *listen == '[' && listen[size - 1] == ']') {
        listen++;
        size -= 2;
    } else if (memchr(listen, ':', size)) {
        return false; /* IPv6 needs its brackets */
    }
    if (size >= 256 || !colon[1] || strtoul(colon + 1, NULL, 10) > UINT16_MAX)
        return false;
    memcpy(host, listen, size);
    host[size] = '\0';
    memcpy(port, colon + 1, strlen(colon + 1) + 1);
    return true;
}

static bool bind_socket(const struct addrinfo *place, int *socket_out)
{
    int made = socket(place->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0)
        return false;
    int on = 1, off = 0;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (place->ai_family == AF_INET6) /* [::] takes IPv4 as well */
        setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(made, place->ai_addr, place->ai_addrlen) == 0 && listen(made, BACKLOG) == 0) {
        *socket_out = made;
        return true;
    }
    int reason = errno;
    close(made);
    errno = reason;
    return false;
}

static void describe(int socket, char bound[128])
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    char host[96], port[8];
    getsockname(socket, (struct sockaddr *)&address, &size);
    if (getnameinfo((struct sockaddr *)&address, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        snprintf(bound, 128, "unknown");
        return;
    }
    snprintf(bound, 128, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

bool listen_open(const char *place, int *socket, char bound[128], char problem[256])
{
    char host[256], port[8];
    struct addrinfo wish = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *places = NULL;
    if (!split(place, host, port)) {
        snprintf(problem, 256, "listen: '%.60s' is not ADDR:PORT", place);
        return false;
    }
    int failed = getaddrinfo(*host ? host : NULL, port, &wish, &places);
    if (failed) {
        snprintf(problem, 256, "listen: %.60s: %s", place, gai_strerror(failed));
        return false;
    }
    bool done = false;
    for (struct addrinfo *each = places; each && !done; each = each->ai_next)
        done = bind_socket(each, socket);
    if (!done)
        snprintf(problem, 256, "listen: %.60s: %s", place, strerror(errno));
    freeaddrinfo(places);
    if (done)
        describe(*socket, bound);
    return done;
}
