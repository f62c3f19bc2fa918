/* A network of which the first rows are another one's and the rest is trained anew: how an attacker learns what layers above would
 * make of the same features, had they seen its own records. */
#include "attack/shadow/shadow_pool.h"
#include "nn/model/model.h"
#include "options/option_values.h"
#include "train/plain/supervised.h"

#include <string.h>

sotto_status shadow_network_train_top(struct sotto_network **out, const struct sotto_network *network,
                                      size_t rows, const struct head_data *own,
                                      const struct sotto_train_options *options,
                                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_context quiet = context_quiet(ctx, 0);
    const struct nn_model *from = network->model;
    struct sotto_dataset set = {.name = "attacker's records",
                                .n = own->n,
                                .features = own->x,
                                .columns = own->d,
                                .labels = own->y,
                                .classes = own->classes};
    struct sotto_train_options o = *options;
    struct supervised t = {0};
    struct training_loop loop = {0};
    int64_t *all = NULL;
    int pool = par_pool_threads();
    o.batch = o.batch < own->n ? o.batch : own->n;
    o.leaf = o.leaf < o.batch ? o.leaf : o.batch;
    NEW(all, own->n);
    for (size_t i = 0; i < own->n; i++)
        all[i] = (int64_t)i;
    TRY(supervised_resolve(&t, &set, all, own->n, &o, &quiet));
    REQUIRE(t.config.members <= 1, "network: an ensemble has no layers in a row; expected one network");
    t.config.freeze.rows = rows;
    TRY(supervised_plan(&t));
    for (size_t i = 0; i < from->parameter_count; i++)
        if (from->parameters[i].row < (int)rows)
            memcpy(t.model->parameters[i].value, from->parameters[i].value,
                   from->parameters[i].count * sizeof(float));
    supervised_loop(&loop, &t);
    TRY(training_loop_resume(&loop));
    TRY(training_loop_run(&loop));
    TRY(supervised_finish(out, &t, ""));
done:
    par_set_threads(pool);
    training_loop_release(&loop);
    supervised_clear(&t);
    base_free(all);
    return status;
}
