/* What the `store` key names (spec 04, "Configuration"). Pure but for a look whether a folder
 * exists. */
#ifndef BENCHLEDGER_SERVER_BINDING_H
#define BENCHLEDGER_SERVER_BINDING_H

#include <stdbool.h>

enum binding {
    BINDING_NONE,   /* empty: submit is closed */
    BINDING_LOCAL,  /* path of a bare repository */
    BINDING_HOSTED, /* owner/name */
    BINDING_URL,    /* any git URL, also user@host:path */
};

/* Whether it is a URL with a password or token in it, where a process list would show it. */
bool binding_has_password(const char *store);
/* Whether it is a path that may well be a mistyped owner/name: relative, not there, and not written as
 * a path. */
bool binding_is_doubtful(const char *store);
/* Whether the git host of a store takes pushes only with a token. */
bool binding_needs_token(const char *store);
/* What could be a path and an owner/name is a path when it exists, ends in .git or begins with ./ */
enum binding binding_of(const char *store);

#endif
