/* Where Redis is: `redis://host[:port][/db]` or `unix:///path[?db=N]`. Pure. */
#ifndef BENCHLEDGER_SERVER_SHARED_REDIS_URL_H
#define BENCHLEDGER_SERVER_SHARED_REDIS_URL_H

#include <stdbool.h>

enum { REDIS_PORT = 6379, REDIS_DB_MOST = 65535 };

struct redis_url {
    char path[108]; /* of a unix socket; empty: host and port */
    char host[256]; /* without brackets */
    int port, db;
};

/* False and *PROBLEM (static: it never repeats the URL, which may hold a password). */
bool redis_url_parse(const char *text, struct redis_url *url, const char **problem);

#endif
