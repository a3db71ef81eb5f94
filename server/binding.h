/* What the `store` key names (spec 04, "Configuration"). Pure but for a look whether a folder
 * exists. */
#ifndef BENCHLEDGER_SERVER_BINDING_H
#define BENCHLEDGER_SERVER_BINDING_H

enum binding {
    BINDING_NONE,   /* empty: submit is closed */
    BINDING_LOCAL,  /* path of a bare repository */
    BINDING_HOSTED, /* owner/name */
    BINDING_URL,    /* any git URL, also user@host:path */
};

/* A path that could be an owner/name is one only when it exists or says so with a leading ./ */
enum binding binding_of(const char *store);

#endif
