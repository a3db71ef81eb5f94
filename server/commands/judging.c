#include "server/commands/judging.h"

int judging_begin(struct judging *judging, struct arena *arena)
{
    judging->policy = report_policy(judging->any_protocol);
    if (judging->rules && !offline_rules(judging->rules, &judging->policy.rules))
        return EXIT_USAGE;
    if ((!judging->no_key && !offline_key(arena, judging->key_path, &judging->own_key)) ||
        !offline_catalogue(arena, judging->catalogue_path, &judging->catalogue))
        return OFFLINE_UNREADABLE;
    judging->policy.catalogue = &judging->catalogue;
    judging->key = judging->no_key ? NULL : &judging->own_key;
    return OFFLINE_OK;
}
