/* What verdicts are made by, as options of the commands that judge. */
#ifndef BENCHLEDGER_SERVER_COMMANDS_JUDGING_H
#define BENCHLEDGER_SERVER_COMMANDS_JUDGING_H

#include "server/commands/offline.h"
#include "server/commands/options.h"
#include "validator/model_catalogue.h"

struct judging {
    /* as they were given */
    const char *rules, *key_path, *catalogue_path;
    bool any_protocol, no_key;
    /* of judging_begin */
    struct answer_key own_key;
    struct model_catalogue catalogue;
    struct policy policy;
    const struct answer_key *key; /* NULL: answers are not parsed again */
};

/* Rows of an option table. */
#define JUDGING_OPTIONS(judging)                                                 \
    {.name = "mmlu-key",                                                         \
     .value = "FILE",                                                            \
     .text = &(judging).key_path,                                                \
     .help = "answer key instead of the compiled-in one"},                       \
        {.name = "no-mmlu-key",                                                  \
         .flag = &(judging).no_key,                                              \
         .help = "do not parse quality answers again"},                          \
    {                                                                            \
        .name = "catalogue", .value = "FILE", .text = &(judging).catalogue_path, \
        .help = "known names (rule set 3) instead of the compiled-in ones"       \
    }
#define JUDGING_RULES(judging)                                                       \
    {                                                                                \
        .name = "rules", .value = "N", .text = &(judging).rules,                     \
        .help = "rule set to judge by: 2, what is served, or 3, a draft (default 2)" \
    }
#define JUDGING_PROTOCOLS(judging)                               \
    {                                                            \
        .name = "any-protocol", .flag = &(judging).any_protocol, \
        .help = "accept every archived protocol and schema"      \
    }

/* OFFLINE_OK, or the exit code when an option is wrong or a file cannot be used (and that was reported). What is read
 * lives in ARENA; JUDGING stays where it is. */
int judging_begin(struct judging *judging, struct arena *arena);

#endif
