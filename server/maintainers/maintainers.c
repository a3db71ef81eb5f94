#include "server/maintainers/maintainers.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/clock.h"
#include "server/file.h"
#include "server/log.h"
#include "validator/arena.h"
#include "validator/buffer.h"

/* A file that was changed within the last SETTLE_MS may be changed again without its times or size
 * showing it: it is read once more. */
enum { LOOK_MS = 1000, SETTLE_MS = 2000, MESSAGE = 64 };

struct identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified, changed;
};

/* What was found at the path, good or not. */
struct sight {
    bool readable, settled;
    struct identity identity;
    unsigned char hash[SHA256_SIZE]; /* of its content */
    char problem[MAINTAINERS_PROBLEM];
};

struct maintainers {
    char *path;
    pthread_mutex_t reading; /* one at a time; guards the two below */
    int64_t looked_ms;
    struct sight sight;
    pthread_rwlock_t lock; /* guards the list */
    struct maintainer_list list;
};

static bool same_time(struct timespec one, struct timespec other)
{
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

static bool same_identity(const struct identity *one, const struct identity *other)
{
    return one->device == other->device && one->inode == other->inode && one->size == other->size &&
           same_time(one->modified, other->modified) && same_time(one->changed, other->changed);
}

static struct identity identity_of(const struct stat *status)
{
    return (struct identity){status->st_dev, status->st_ino, status->st_size, status->st_mtim,
                             status->st_ctim};
}

static bool look_at(int fd, struct sight *sight, struct buffer *text)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        snprintf(sight->problem, sizeof sight->problem, "is no regular file");
        return false;
    }
    int64_t changed_ms = (int64_t)status.st_ctim.tv_sec * 1000 + status.st_ctim.tv_nsec / 1000000;
    sight->identity = identity_of(&status);
    sight->settled = clock_wall_ms() - changed_ms > SETTLE_MS;
    if (!file_read_all(fd, MAINTAINERS_BYTES, text)) {
        snprintf(sight->problem, sizeof sight->problem, "%s", strerror(errno));
        return false;
    }
    sha256(text->data ? text->data : "", text->size, sight->hash);
    return true;
}

/* Reads and parses what is at PATH; false and why in SIGHT. */
static bool read_list(const char *path, struct sight *sight, struct maintainer_list *list)
{
    struct buffer text BUFFER_SCOPE = {0};
    *sight = (struct sight){0};
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* nor is a pipe waited for */
    if (fd < 0) {
        snprintf(sight->problem, sizeof sight->problem, "%s", strerror(errno));
        return false;
    }
    sight->readable = look_at(fd, sight, &text);
    close(fd);
    return sight->readable && maintainer_list_parse(text.data, text.size, list, sight->problem);
}

static void report(const struct sight *sight, size_t count)
{
    char message[MESSAGE];
    if (*sight->problem) {
        log_event(LOG_ERROR, "maintainers: the file is refused, those in force stay in force",
                  LOG_FIELDS({"error", sight->problem}));
        return;
    }
    snprintf(message, sizeof message, "maintainers: %zu lines", count);
    log_event(LOG_INFO, message, NULL);
}

static bool same_sight(const struct sight *one, const struct sight *other)
{
    return one->readable == other->readable && !strcmp(one->problem, other->problem) &&
           !memcmp(one->hash, other->hash, sizeof one->hash);
}

/* With the reading lock held. */
static void read_again(struct maintainers *maintainers, bool asked)
{
    MAINTAINER_LIST_SCOPE struct maintainer_list list = {0};
    struct sight sight;
    bool good = read_list(maintainers->path, &sight, &list);
    bool news = !same_sight(&sight, &maintainers->sight);
    size_t count = list.count;
    maintainers->sight = sight;
    if (good) {
        pthread_rwlock_wrlock(&maintainers->lock);
        struct maintainer_list old = maintainers->list;
        maintainers->list = list;
        pthread_rwlock_unlock(&maintainers->lock);
        list = old;
    }
    if (news || asked)
        report(&sight, count);
}

struct maintainers *maintainers_open(const char *path, char problem[MAINTAINERS_PROBLEM])
{
    struct maintainers *maintainers = memory_grow(NULL, sizeof *maintainers);
    *maintainers = (struct maintainers){.path = strdup(path)};
    if (!maintainers->path)
        abort();
    pthread_mutex_init(&maintainers->reading, NULL);
    pthread_rwlock_init(&maintainers->lock, NULL);
    if (!*path || read_list(path, &maintainers->sight, &maintainers->list)) {
        if (*path)
            report(&maintainers->sight, maintainers->list.count);
        return maintainers;
    }
    memcpy(problem, maintainers->sight.problem, MAINTAINERS_PROBLEM);
    maintainers_close(maintainers);
    return NULL;
}

void maintainers_close(struct maintainers *maintainers)
{
    if (!maintainers)
        return;
    maintainer_list_free(&maintainers->list);
    pthread_rwlock_destroy(&maintainers->lock);
    pthread_mutex_destroy(&maintainers->reading);
    free(maintainers->path);
    free(maintainers);
}

static bool is_another(const struct maintainers *maintainers)
{
    struct stat status;
    const struct sight *sight = &maintainers->sight;
    if (stat(maintainers->path, &status) != 0)
        return true;
    struct identity identity = identity_of(&status);
    return !sight->settled || !same_identity(&identity, &sight->identity);
}

void maintainers_refresh(struct maintainers *maintainers, int64_t now_ms)
{
    if (!maintainers || !*maintainers->path)
        return;
    pthread_mutex_lock(&maintainers->reading);
    if (!maintainers->looked_ms || now_ms - maintainers->looked_ms >= LOOK_MS) {
        maintainers->looked_ms = now_ms;
        if (is_another(maintainers))
            read_again(maintainers, false);
    }
    pthread_mutex_unlock(&maintainers->reading);
}

void maintainers_reread(struct maintainers *maintainers)
{
    if (!maintainers || !*maintainers->path)
        return;
    pthread_mutex_lock(&maintainers->reading);
    read_again(maintainers, true);
    pthread_mutex_unlock(&maintainers->reading);
}

bool maintainers_find(struct maintainers *maintainers, const char *token, int64_t now_s,
                      struct maintainer *out, enum maintainer_refusal *why)
{
    unsigned char hash[SHA256_SIZE];
    const struct maintainer_line *good = NULL, *expired = NULL;
    size_t size = token ? strnlen(token, MAINTAINER_TOKEN_MOST + 1) : 0;
    if (maintainers && size && size <= MAINTAINER_TOKEN_MOST) {
        sha256(token, size, hash);
        pthread_rwlock_rdlock(&maintainers->lock);
        for (size_t i = 0; i < maintainers->list.count; i++) {
            const struct maintainer_line *line = &maintainers->list.lines[i];
            if (CRYPTO_memcmp(hash, line->hash, sizeof hash) != 0)
                continue;
            if (maintainer_expired(line->expires, now_s))
                expired = line;
            else if (!good)
                good = line;
        }
        if (good) {
            memcpy(out->name, good->name, sizeof out->name);
            out->role = good->role;
        }
        pthread_rwlock_unlock(&maintainers->lock);
    }
    if (!good && why)
        *why = expired ? MAINTAINER_EXPIRED : MAINTAINER_UNKNOWN;
    return good != NULL;
}
