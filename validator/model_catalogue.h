/* The catalogue of what is known to be measured: names that run files may use, and how small a model can be.
 * Set 3 holds runs for review that use others (bench_rules_3.c). Pure.
 *
 * A file of it is JSON:
 *   {"runtimes": ["webllm", ...], "workloads": ["embed-single", ...],
 *    "models": [{"benchModelId": "smollm2-135m", "displayName": "SmolLM2 135M", "smallestBytes": 73400320}, ...]}
 * A model's displayName is what those of its builds begin with. smallestBytes is the size of its smallest build
 * and may be left out. Other members are for people. */
#ifndef BENCHLEDGER_VALIDATOR_MODEL_CATALOGUE_H
#define BENCHLEDGER_VALIDATOR_MODEL_CATALOGUE_H

#include "validator/text.h"

enum { MODEL_CATALOGUE_ITEMS_MAX = 2000 }; /* of each list */

struct catalogue_model {
    struct text id, name;
    double smallest_bytes; /* NAN: not known */
};
struct model_catalogue {
    const struct text *runtimes, *workloads;
    const struct catalogue_model *models;
    size_t runtime_count, workload_count, model_count;
};

/* Reads a file's text. False with a static *PROBLEM when it is not one. The catalogue lives in ARENA and TEXT. */
bool model_catalogue_read(struct arena *arena, const char *text, size_t size,
                          struct model_catalogue *catalogue, const char **problem);

bool model_catalogue_has_runtime(const struct model_catalogue *catalogue, struct text id);
bool model_catalogue_has_workload(const struct model_catalogue *catalogue, struct text id);
/* NULL when there is none. */
const struct catalogue_model *model_catalogue_find(const struct model_catalogue *catalogue,
                                                   struct text id);

#endif
