/* Times shadow networks in their two shapes, in turns: one a thread, and one after the other on all threads.
 * Records are synthetic images. One line of JSON.
 * usage: bench_shadow_networks [--model M] [--hidden A,B,C] [--batch B] [--records N] [--epochs E]
 *                              [--threads T] [--runs R]
 * (T networks; defaults: cnn, 16,32,64, 32, 2500, 2, 2, 5) */
#include "stopwatch.h"
#include "attack/shadow/shadow_pool.h"
#include "sotto/private/all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 99 };

static const char *value(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int a = 1; a + 1 < argc; a++)
        if (strcmp(argv[a], name) == 0)
            return argv[a + 1];
    return otherwise;
}

static size_t number(int argc, char **argv, const char *name, const char *otherwise)
{
    return (size_t)strtoul(value(argc, argv, name, otherwise), NULL, 10);
}

/* A pool of fewer networks than threads trains each on all of them. */
static sotto_status train(const struct shadow_plan *plan, size_t models)
{
    struct shadow_plan p = *plan;
    struct shadow_pool pool;
    p.models = models;
    sotto_status status = shadow_pool_make(&pool, &p);
    if (status == SOTTO_OK)
        shadow_pool_clear(&pool);
    return status;
}

int main(int argc, char **argv)
{
    sotto_status status = SOTTO_OK;
    size_t threads = number(argc, argv, "--threads", "2"), runs = number(argc, argv, "--runs", "5");
    size_t records = number(argc, argv, "--records", "2500");
    double side[MAX_RUNS], turns[MAX_RUNS];
    char name[64];
    struct sotto_context ctx = {.threads = (int)threads};
    struct sotto_train_options o;
    struct sotto_dataset *set = NULL;
    uint8_t *use = NULL;
    float *x = NULL;
    sotto_train_defaults(&o);
    o.model = value(argc, argv, "--model", "cnn");
    o.batch = number(argc, argv, "--batch", "32");
    o.epochs = number(argc, argv, "--epochs", "2");
    o.dtype = "f32";
    o.channels = 3, o.height = o.width = 32;
    const char *widths = value(argc, argv, "--hidden", strcmp(o.model, "cnn") == 0 ? "16,32,64" : "");
    for (char *end; *widths && o.hidden_count < SOTTO_TRAIN_HIDDEN; widths = *end == ',' ? end + 1 : end)
        o.hidden[o.hidden_count++] = (size_t)strtoul(widths, &end, 10);
    runs = runs < MAX_RUNS ? runs : MAX_RUNS;
    snprintf(name, sizeof name, "synthetic-images-n%zu", 2 * records);
    TRY(sotto_dataset_open(&set, name, &ctx));
    x = base_alloc(set->n * 3072, sizeof *x);
    use = base_alloc(threads, set->n);
    if (!x || !use)
        FAIL(SOTTO_ENOMEM, "bench: out of memory");
    for (size_t i = 0; i < set->n * 3072; i++)
        x[i] = (float)set->images[i] / 255.0F;
    struct head_data data = {x, set->labels, set->n, 3072, set->classes};
    struct shadow_plan plan = {
        .data = &data, .use = use, .models = threads, .network = &o, .shards = 1, .seed = 1, .ctx = &ctx};
    TRY(shadow_split_draw(use, threads, data.n, records, false, 1));
    TRY(train(&plan, threads)); /* warm */
    for (size_t r = 0; r < runs; r++) {
        double start = wall_seconds();
        TRY(train(&plan, threads));
        side[r] = wall_seconds() - start;
        start = wall_seconds();
        for (size_t m = 0; m < threads; m++)
            TRY(train(&plan, 1));
        turns[r] = wall_seconds() - start;
    }
    double one = median(side, runs), other = median(turns, runs);
    printf("{\"what\": \"shadow-networks\", \"model\": \"%s\", \"batch\": %zu, \"networks\": %zu, "
           "\"one_a_thread_s\": %.3f, "
           "\"one_after_the_other_s\": %.3f, \"ratio\": %.3f}\n",
           o.model, o.batch, threads, one, other, other / one);
done:
    if (status != SOTTO_OK)
        fprintf(stderr, "%s\n", sotto_error_text());
    base_free(x);
    base_free(use);
    sotto_dataset_free(set);
    return status != SOTTO_OK;
}
