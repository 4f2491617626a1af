/* A row with parameters for `bench tune`: some of its configurations are wrong, crash, or are refused. What it computes
 * is the planted kernel `honest`. */
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "tests/planted/planted.h"

#include <stdlib.h>

extern const kerf_variant kerf_planted_honest_0, kerf_planted_honest_1;

enum { HONEST, WRONG, CRASHING, REFUSED };

static const kerf_variant *honest_for(const kerf_problem *problem) {
    return problem->in[KERF_GSG_X]->dtype == KERF_F64 ? &kerf_planted_honest_1 : &kerf_planted_honest_0;
}

static bool refuses(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    if (kerf_config_get(config, "how", HONEST) != REFUSED)
        return honest_for(problem)->refuses(problem, config, why);
    kerf_text_printf(why, "refused for a test");
    return true;
}

static kerf_memory memory(const kerf_problem *problem, const kerf_config *config) {
    return honest_for(problem)->memory(problem, config);
}

static kerf_status run(const kerf_launch *launch) {
    const int64_t how = kerf_config_get(launch->config, "how", HONEST);
    if (how == CRASHING)
        abort();
    kerf_status status = KERF_OK;
    for (int64_t i = kerf_config_get(launch->config, "repeat", 2); i > 0 && status == KERF_OK; --i)
        status = honest_for(launch->problem)->run(launch);
    if (how == WRONG && launch->out[KERF_GSG_DX])
        kerf_dtype_store(launch->problem->out[KERF_GSG_DX]->dtype, launch->out[KERF_GSG_DX], 1e6);
    return status;
}

static const kerf_parameter *const parameters[] = {
    KERF_CHOICE("how", "honest", "wrong", "crashing", "refused"),
    KERF_PARAMETER("repeat", 2, 1, 2, 4, 64),
    NULL,
};
static const char *const constraints[] = {"repeat < 64 || H > 1000", NULL};
static const kerf_space space = {.bytes = sizeof space, .parameters = parameters, .constraints = constraints};

static const kerf_variant tuned = {.bytes = sizeof(kerf_variant),
                                   .summary = "has configurations that are wrong",
                                   .refuses = refuses,
                                   .space = &space,
                                   .memory = memory,
                                   .run = run};
static const kerf_row row = {.bytes = sizeof(kerf_row), .name = "tuned", .isa = "", .variant = {&tuned, &tuned}};
const kerf_row *const kerf_planted_tuned_rows[] = {&row, NULL};
