#include "server/shared/redis_url.h"

#include <stddef.h>
#include <string.h>

static bool fail(const char **problem, const char *what)
{
    *problem = what;
    return false;
}

/* A whole number of at most five digits up to the end of the text. */
static bool read_number(const char *text, int least, int most, int *number)
{
    size_t digits = strspn(text, "0123456789");
    int value = 0;
    if (!digits || digits > 5 || text[digits])
        return false;
    for (; *text; text++)
        value = value * 10 + (*text - '0');
    *number = value;
    return value >= least && value <= most;
}

static bool read_db(const char *text, int *db, const char **problem)
{
    return read_number(text, 0, REDIS_DB_MOST, db) ||
           fail(problem, "the database is not a number from 0 to 65535");
}

static bool parse_socket(const char *text, struct redis_url *url, const char **problem)
{
    static const char query[] = "?db=";
    size_t size = strcspn(text, "?");
    if (*text != '/' || size < 2 || size >= sizeof url->path)
        return fail(problem, "unix:// is followed by a path of at most 107 bytes: unix:///path");
    memcpy(url->path, text, size);
    text += size;
    if (!*text)
        return true;
    if (strncmp(text, query, sizeof query - 1) != 0)
        return fail(problem, "behind the path only ?db=N may follow");
    return read_db(text + sizeof query - 1, &url->db, problem);
}

/* Splits "host", "host:port", "[v6]", "[v6]:port" of SIZE bytes. */
static bool parse_host(const char *text, size_t size, struct redis_url *url, const char **problem)
{
    char port[8] = {0};
    bool bracketed = *text == '[';
    const char *end = text + size, *close = bracketed ? memchr(text, ']', size) : NULL;
    if (bracketed && !close)
        return fail(problem, "a bracket is not closed");
    const char *host = bracketed ? text + 1 : text;
    const char *colon = memchr(close ? close : text, ':', (size_t)(end - (close ? close : text)));
    const char *host_end = close ? close : colon ? colon : end;
    if (close && close + 1 != (colon ? colon : end))
        return fail(problem, "behind the bracket only a port may follow");
    size_t length = (size_t)(host_end - host);
    if (!length || length >= sizeof url->host)
        return fail(problem, "the host is missing or too long");
    memcpy(url->host, host, length);
    if (!colon)
        return true;
    size_t digits = (size_t)(end - colon) - 1;
    if (digits < sizeof port)
        memcpy(port, colon + 1, digits);
    return read_number(port, 1, 65535, &url->port) ||
           fail(problem, "the port is not a number from 1 to 65535");
}

bool redis_url_parse(const char *text, struct redis_url *url, const char **problem)
{
    static const char tcp[] = "redis://", socket[] = "unix://";
    *url = (struct redis_url){.port = REDIS_PORT};
    if (strchr(text, '@'))
        return fail(problem, "a password does not belong here: put it into redis_password");
    if (!strncmp(text, socket, sizeof socket - 1))
        return parse_socket(text + sizeof socket - 1, url, problem);
    if (strncmp(text, tcp, sizeof tcp - 1) != 0)
        return fail(problem, "is not redis://host:port/db or unix:///path");
    text += sizeof tcp - 1;
    if (strchr(text, '?'))
        return fail(problem, "behind redis:// no ? may follow");
    size_t authority = strcspn(text, "/");
    if (!parse_host(text, authority, url, problem))
        return false;
    text += authority;
    return !text[0] || !text[1] || read_db(text + 1, &url->db, problem);
}
