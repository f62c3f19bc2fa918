/* Times shadow MLPs 600-128-100, each on a random half of 20,000 synthetic purchases, batches of 100.
 * usage: bench_shadow [--models M] [--epochs E] [--trainer adam|sgd] [--threads N] [--json] */
#include "stopwatch.h"
#include "sotto/private/all.h"

#include "attack/shadow/shadow_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    enum { IN = 10000, HIDDEN = 128, BATCH = 100, FULL_EPOCHS = 50 };
    size_t models = 4, epochs = 10;
    int json = 0;
    struct sotto_context ctx = {0};
    struct sotto_head_recipe r;
    struct sotto_dataset *set;
    struct shadow_pool pool;
    sotto_head_defaults(&r);
    for (int a = 1; a < argc; a++) {
        json |= strcmp(argv[a], "--json") == 0;
        if (a + 1 == argc)
            break;
        if (strcmp(argv[a], "--models") == 0)
            models = (size_t)atoi(argv[a + 1]);
        if (strcmp(argv[a], "--epochs") == 0)
            epochs = (size_t)atoi(argv[a + 1]);
        if (strcmp(argv[a], "--trainer") == 0)
            r.trainer = argv[a + 1];
        if (strcmp(argv[a], "--threads") == 0)
            ctx.threads = atoi(argv[a + 1]);
    }
    r.hidden_count = 1;
    r.hidden[0] = HIDDEN;
    r.epochs = epochs;
    r.batch = BATCH;
    r.lr = strcmp(r.trainer, "sgd") == 0 ? 0.1 : 1e-3;
    sotto_status status = sotto_dataset_open(&set, "synthetic-purchase", &ctx);
    if (status != SOTTO_OK) {
        fprintf(stderr, "%s\n", sotto_error_text());
        return 1;
    }
    struct head_data data = {set->features, set->labels, set->n, set->columns, set->classes};
    uint8_t *use = base_alloc(models, data.n);
    struct shadow_plan plan = {
        .data = &data, .use = use, .models = models, .recipe = &r, .shards = 1, .seed = 1, .ctx = &ctx};
    if ((status = shadow_split_draw(use, models, data.n, IN, false, 1)) == SOTTO_OK) {
        double wall = wall_seconds(), cpu = cpu_seconds();
        status = shadow_pool_make(&pool, &plan);
        wall = wall_seconds() - wall;
        cpu = cpu_seconds() - cpu;
        double scale = (double)FULL_EPOCHS / (double)epochs / (double)models;
        if (status == SOTTO_OK && json)
            printf("{\"what\": \"shadow-mlps\", \"trainer\": \"%s\", \"models\": %zu, \"epochs\": %zu, "
                   "\"seconds\": %.3f, \"cpu_seconds\": %.3f, \"seconds_64\": %.2f, \"cpu_seconds_model\": "
                   "%.4f, \"heads_per_second\": %.4f}\n",
                   r.trainer, models, epochs, wall, cpu, 64 * scale * wall, scale * cpu, 1 / (scale * wall));
        else if (status == SOTTO_OK)
            printf("%s: %zu models, %zu epochs: %.3f s, cpu %.3f s; of 50 epochs: %.3f CPU seconds a model, "
                   "64 models "
                   "%.1f s; accuracy %.3f / %.3f\n",
                   r.trainer, models, epochs, wall, cpu, scale * cpu, 64 * scale * wall,
                   pool.train_accuracy[0], pool.test_accuracy[0]);
    }
    if (status != SOTTO_OK)
        fprintf(stderr, "%s\n", sotto_error_text());
    else
        shadow_pool_clear(&pool);
    base_free(use);
    sotto_dataset_free(set);
    return status != SOTTO_OK;
}
