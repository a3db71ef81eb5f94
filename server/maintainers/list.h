/* The text of a maintainers' file: who may review, and what his token hashes to. Pure.
 *
 * A line is NAME ROLE SHA256 [EXPIRES], parted by blanks; empty lines and those that begin with # are
 * passed over. Several lines may have one name (a token before and after its rotation). */
#ifndef BENCHLEDGER_SERVER_MAINTAINERS_LIST_H
#define BENCHLEDGER_SERVER_MAINTAINERS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validator/sha256.h"

enum {
    MAINTAINER_NAME = 64,
    MAINTAINERS_LINES = 1000,      /* of the file, comments and empty ones included */
    MAINTAINERS_BYTES = 256 << 10, /* of the file */
    MAINTAINERS_PROBLEM = 96
};

enum maintainer_role { MAINTAINER_REVIEWER, MAINTAINER_ADMIN, MAINTAINER_ROLES };

#define MAINTAINER_NEVER INT64_MAX

struct maintainer_line {
    char name[MAINTAINER_NAME + 1];
    enum maintainer_role role;
    unsigned char hash[SHA256_SIZE]; /* of the token's text */
    int64_t expires;   /* the last day it is good for, since 1970, UTC; MAINTAINER_NEVER */
    size_t begin, end; /* of the line in the text, its newline included */
};

/* Zero-initialised is empty. LINES is owned by it. */
struct maintainer_list {
    size_t count;
    struct maintainer_line *lines;
};

/* 1 to MAINTAINER_NAME of A-Z a-z 0-9 . _ - */
bool maintainer_name_ok(const char *name);
const char *maintainer_role_name(enum maintainer_role role);
bool maintainer_role_parse(const char *text, enum maintainer_role *role);
/* Whether a token with this last day is no longer good at NOW_S, seconds since 1970. */
bool maintainer_expired(int64_t expires, int64_t now_s);

/* Reads a whole file into LIST, which was empty and is freed by the caller. False, LIST empty, and why:
 * `line N: what is wrong`, which never repeats what the line holds. */
bool maintainer_list_parse(const char *text, size_t size, struct maintainer_list *list,
                           char problem[MAINTAINERS_PROBLEM]);
void maintainer_list_free(struct maintainer_list *list);

#define MAINTAINER_LIST_SCOPE __attribute__((cleanup(maintainer_list_free)))

#endif
