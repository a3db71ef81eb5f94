/* Plausibility rules that set 3, a draft, adds to those of set 2. Their numbers stand here. */
#include "validator/bench_rules.h"

#define ITERATIONS_LEAST 3

static void few_iterations(const struct subject *subject)
{
    double iterations = (double)subject->cell->iteration_count;
    if (subject->cell->llm && iterations < ITERATIONS_LEAST)
        rule_flag_numbers(subject, "iterations", iterations, "least", ITERATIONS_LEAST);
}

/* clang-format off */
static const struct rule rules[] = {
    {"few-iterations", SEVERITY_WARN, LLM_CELLS, few_iterations,
     "a cell has fewer than 3 iterations",
     "a cell has fewer than {} iterations",
     "Measure each cell as often as the protocol asks for: a median of two is no median.", {ITERATIONS_LEAST}, NULL},
};
/* clang-format on */

struct rule_table bench_rules_3(void)
{
    return (struct rule_table){rules, sizeof rules / sizeof *rules};
}
