#include "server/binding.h"

#include <string.h>
#include <sys/stat.h>

static bool is_name(const char *text, size_t size)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return size > 0 && size <= 100 && strspn(text, letters) >= size;
}

/* As bare repositories are called; no repository on GitHub may be. */
static bool ends_in_git(const char *path)
{
    size_t size = strlen(path);
    return size > 4 && strcmp(path + size - 4, ".git") == 0;
}

static bool is_folder(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

enum binding binding_of(const char *store)
{
    if (!*store)
        return BINDING_NONE;
    if (strstr(store, "://"))
        return BINDING_URL;
    if (*store == '/' || *store == '.' || is_folder(store))
        return BINDING_LOCAL;
    const char *slash = strchr(store, '/'), *colon = strchr(store, ':');
    if (colon && (!slash || colon < slash))
        return BINDING_URL; /* host:path, as scp writes it */
    if (slash && !ends_in_git(store) && is_name(store, (size_t)(slash - store)) &&
        is_name(slash + 1, strlen(slash + 1)))
        return BINDING_HOSTED;
    return BINDING_LOCAL;
}

bool binding_needs_token(const char *store)
{
    enum binding binding = binding_of(store);
    return binding == BINDING_HOSTED || (binding == BINDING_URL && !strncmp(store, "http", 4));
}

bool binding_has_password(const char *store)
{
    const char *host = strstr(store, "://");
    if (!host)
        return false;
    host += 3;
    const char *end = host + strcspn(host, "/"), *at = memchr(host, '@', (size_t)(end - host));
    /* What stands before the @ of a web address is a token, or gives it its name. */
    return at && (!strncmp(store, "http", 4) || memchr(host, ':', (size_t)(at - host)));
}

bool binding_is_doubtful(const char *store)
{
    return binding_of(store) == BINDING_LOCAL && *store != '/' && *store != '.' &&
           strchr(store, '/') && !ends_in_git(store) && !is_folder(store);
}
