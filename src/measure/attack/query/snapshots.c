#include "attack/query/snapshots.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

enum { PATH = 4096 };

sotto_status snapshots_open(struct snapshots *out, const char *folder, const struct sotto_network *last)
{
    sotto_status status = SOTTO_OK;
    const size_t epochs = last->has_recipe ? last->recipe.epochs : 0;
    char path[PATH];
    if (network_fact(last, TRAIN_EPOCH_KEY))
        FAIL(SOTTO_EUSAGE,
             "attack: the target is itself the intermediate model of epoch %.16s; expected the last one, of "
             "%zu epochs",
             network_fact(last, TRAIN_EPOCH_KEY), epochs);
    for (size_t every = 1; every < epochs; every++) {
        TRY(network_snapshot_path(path, sizeof path, folder, every));
        if (file_exists(path)) {
            *out = (struct snapshots){folder, last, every, (epochs - 1) / every};
            goto done;
        }
    }
    FAIL(SOTTO_EUSAGE,
         "%s: holds no intermediate model of %zu epochs; expected epoch-NNNNNN.safetensors as 'sotto train "
         "--snapshot-every' writes them",
         folder, epochs);
done:
    return status;
}

static bool same_fact(const struct sotto_network *a, const struct sotto_network *b, const char *key)
{
    const char *one = network_fact(a, key), *two = network_fact(b, key);
    return one && two ? strcmp(one, two) == 0 : one == two;
}

static sotto_status snapshots_check(const struct sotto_network *n, const struct snapshots *s, size_t epoch,
                                    const char *path)
{
    sotto_status status = SOTTO_OK;
    static const char *const facts[] = {"from", TRAIN_STANDARDISE_KEY, "records", "data_sha256",
                                        "rows_sha256"};
    const char *of = network_fact(n, TRAIN_EPOCH_KEY);
    char own[TRAIN_RECIPE_TEXT] = "", expected[TRAIN_RECIPE_TEXT], text[24];
    snprintf(text, sizeof text, "%zu", epoch);
    REQUIRE(of && strcmp(of, text) == 0,
            "%s: the model is of epoch %.16s; expected epoch %zu, as its name says", path,
            of ? of : "unknown", epoch);
    if (n->has_recipe)
        TRY(train_recipe_text(own, &n->recipe));
    TRY(train_recipe_text(expected, &s->last->recipe));
    REQUIRE(strcmp(own, expected) == 0 && sotto_network_inputs(n) == sotto_network_inputs(s->last) &&
                sotto_network_classes(n) == sotto_network_classes(s->last),
            "%s: is no earlier state of the last model, as its recipe differs; expected %.300s", path,
            expected);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        REQUIRE(same_fact(n, s->last, facts[i]),
                "%s: is no earlier state of the last model, as '%s' differs; expected a model of the same "
                "training",
                path, facts[i]);
done:
    return status;
}

sotto_status snapshots_ask(float *out, const struct snapshots *s, size_t i, const struct head_data *records,
                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_network *n = NULL;
    const size_t epoch = (i + 1) * s->every;
    char path[PATH];
    TRY(network_snapshot_path(path, sizeof path, s->folder, epoch));
    if (!file_exists(path))
        FAIL(SOTTO_ENOENT, "%s: is missing; expected the model of every %zu epochs", path, s->every);
    TRY(sotto_network_load(&n, path));
    TRY(snapshots_check(n, s, epoch, path));
    TRY(sotto_network_predict(out, n, records->x, records->n, records->d, 0, ctx));
done:
    sotto_network_free(n);
    return status;
}
