/* Several processes sample one sensitivity: blocks of pairs are tasks (par/claim.h), each a file named by the SHA-256 of all that
 * decides its numbers. */
#include "base/cpu.h"
#include "base/file.h"
#include "base/sha256.h"
#include "head/sensitivity/sensitivity_sample.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "options/option_tables.h"
#include "par/claim.h"
#include "sotto/option.h"
#include "sotto/private/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = SOTTO_PAIRS_BLOCK, NUMBERS = sizeof(struct pair_change) / sizeof(double), CACHE_PATH = 4096 };

struct share {
    const struct head_data *data;
    const struct sotto_head_recipe *recipe;
    const struct sotto_sensitivity_options *options;
    const struct sotto_context *ctx;
    struct claims *claims;
    struct pair_change *changes; /* (pairs) */
    uint8_t *have;               /* (blocks) */
    size_t pairs, blocks;
    double seconds; /* that the pairs found in the cache took, `timed` of them */
    size_t timed;
    char identity[HEAD_RECIPE_TEXT + 256];
};

static size_t count_of(const struct share *s, size_t block)
{
    const size_t first = block * BLOCK;
    return s->pairs - first < BLOCK ? s->pairs - first : BLOCK;
}

static void key_of(char key[SHA256_HEX], const struct share *s, size_t block)
{
    char text[sizeof s->identity + 64];
    const int length =
        snprintf(text, sizeof text, "%s%zu %zu\n", s->identity, block * BLOCK, count_of(s, block));
    sha256_of(key, text, (size_t)length);
}

static sotto_status path_of(char path[CACHE_PATH], const struct share *s, const char key[SHA256_HEX])
{
    char name[64];
    snprintf(name, sizeof name, "%.32s.safetensors", key);
    return path_join(path, CACHE_PATH, s->options->cache, name);
}

static double sensitivity_share_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A block's file: as many bytes whatever it took. */
static sotto_status sensitivity_share_encode(void **bytes, size_t *size, const struct share *s, size_t block,
                                             double seconds)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    const struct pair_change *own = s->changes + block * BLOCK;
    const size_t shape[] = {count_of(s, block), NUMBERS};
    char key[SHA256_HEX], sum[SHA256_HEX], took[32];
    key_of(key, s, block);
    sha256_of(sum, own, shape[0] * sizeof *own);
    snprintf(took, sizeof took, "%.3e", seconds);
    TRY(tensors_add(&t, "changes", SOTTO_F8, 2, shape, own));
    TRY(tensors_set_metadata(&t, "schema", "sotto.pairs/1"));
    TRY(tensors_set_metadata(&t, "key", key));
    TRY(tensors_set_metadata(&t, "sha256", sum));
    TRY(tensors_set_metadata(&t, "seconds", took));
    TRY(safetensors_save_bytes(bytes, size, &t));
done:
    sotto_tensors_clear(&t);
    return status;
}

static sotto_status sensitivity_share_save(const struct share *s, size_t block, double seconds)
{
    sotto_status status = SOTTO_OK;
    char key[SHA256_HEX], path[CACHE_PATH];
    void *bytes = NULL;
    size_t size;
    key_of(key, s, block);
    TRY(path_of(path, s, key));
    TRY(sensitivity_share_encode(&bytes, &size, s, block, seconds));
    TRY(file_write_once(path, bytes, size));
done:
    sotto_bytes_free(bytes);
    return status;
}

/* Files of earlier versions do not say it. */
static void note_time(struct share *s, const char *seconds, size_t pairs)
{
    const double took = seconds ? strtod(seconds, NULL) : 0;
    if (took > 0 && took < 1e9) {
        s->seconds += took;
        s->timed += pairs;
    }
}

/* s->have[block], if its file is there. */
static sotto_status sensitivity_share_load(struct share *s, size_t block)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct pair_change *own = s->changes + block * BLOCK;
    char key[SHA256_HEX], sum[SHA256_HEX], path[CACHE_PATH];
    key_of(key, s, block);
    TRY(path_of(path, s, key));
    if (s->have[block] || !file_exists(path))
        goto done;
    TRY(safetensors_load(&t, path));
    const struct sotto_array *a = tensors_find(&t, "changes");
    const char *named = tensors_metadata(&t, "key"), *stated = tensors_metadata(&t, "sha256");
    if (!a || !named || !stated || strcmp(named, key) != 0 || a->dtype != SOTTO_F8 || a->ndim != 2 ||
        a->shape[0] != count_of(s, block) || a->shape[1] != NUMBERS)
        FAIL(SOTTO_EFORMAT, "%s: does not contain the pairs of its name; remove the file", path);
    memcpy(own, a->data, a->shape[0] * sizeof *own);
    sha256_of(sum, own, a->shape[0] * sizeof *own);
    if (strcmp(sum, stated) != 0)
        FAIL(SOTTO_EFORMAT, "%s: its SHA-256 differs from the one that it states; remove the file", path);
    note_time(s, tensors_metadata(&t, "seconds"), a->shape[0]);
    s->have[block] = 1;
done:
    sotto_tensors_clear(&t);
    return status;
}

static sotto_status try_pairs(double *seconds, const struct share *s, size_t block)
{
    const double started = sensitivity_share_now();
    sotto_status status = sensitivity_changes(s->changes + block * BLOCK, block * BLOCK, count_of(s, block),
                                              s->data, s->recipe, false, head_batch_train, s->ctx);
    *seconds = sensitivity_share_now() - started;
    return status;
}

/* If no other process has the block. */
static sotto_status sensitivity_share_sample(struct share *s, size_t block)
{
    sotto_status status = SOTTO_OK;
    char key[SHA256_HEX], name[CLAIM_NAME];
    bool mine;
    key_of(key, s, block);
    snprintf(name, sizeof name, "%.32s", key);
    TRY(claim_take(&mine, s->claims, name));
    if (!mine)
        goto done;
    TRY(sensitivity_share_load(s, block)); /* finished since the last look */
    if (!s->have[block]) {
        double seconds;
        TRY(try_pairs(&seconds, s, block));
        TRY(sensitivity_share_save(s, block, seconds));
        s->have[block] = 1;
    }
    claim_drop(s->claims, name);
done:
    return status;
}

/* All that decides the numbers but the pairs' own. */
static void sensitivity_share_describe(struct share *s)
{
    char recipe[HEAD_RECIPE_TEXT], data[SHA256_HEX];
    head_recipe_text(recipe, s->recipe, s->data->d, s->data->classes);
    head_data_sha256(data, s->data);
    snprintf(s->identity, sizeof s->identity, "sotto pairs 2\n%s\n%s\n%llu\n%s\n%zu\n", data, recipe,
             (unsigned long long)s->recipe->seed, cpu_isa_name(cpu_best_isa()), s->data->n);
}

static bool is_own(const struct share *s, size_t block)
{
    return s->options->shards < 2 || block % s->options->shards == s->options->shard;
}

static size_t count_missing(const struct share *s)
{
    size_t missing = 0;
    for (size_t b = 0; b < s->blocks; b++)
        missing += s->have[b] ? 0 : count_of(s, b);
    return missing;
}

static sotto_status sensitivity_share_work(struct share *s)
{
    sotto_status status = SOTTO_OK;
    const bool once = s->options->worker || s->options->shards > 1;
    const size_t start = s->options->worker ? (size_t)(claims_scatter(s->claims) % s->blocks) : 0;
    for (unsigned turn = 0;; turn++) {
        for (size_t i = 0; i < s->blocks; i++) {
            const size_t block = (start + i) % s->blocks;
            TRY(sensitivity_share_load(s, block));
            if (!s->have[block] && is_own(s, block))
                TRY(sensitivity_share_sample(s, block));
            context_progress(s->ctx, "sensitivity", s->pairs - count_missing(s), s->pairs, "pairs");
        }
        if (once || count_missing(s) == 0)
            break;
        if (turn == 0)
            context_log(s->ctx, SOTTO_LOG_INFO,
                        "sensitivity: waiting for %zu pairs that other processes sample; a process without a "
                        "sign of life "
                        "for 15 minutes is replaced",
                        count_missing(s));
        TRY(claim_wait(turn, s->ctx));
    }
done:
    return status;
}

static void share_close(struct share *s)
{
    claims_close(s->claims);
    base_free(s->changes);
    base_free(s->have);
}

/* In: s->data, ctx and pairs; r, for the whole recipe. Also after a failure: share_close(). */
static sotto_status share_open(struct share *s, struct sotto_head_recipe *r,
                               const struct sotto_head_recipe *recipe)
{
    sotto_status status = SOTTO_OK;
    TRY(head_recipe_resolve(r, recipe));
    TRY(head_recipe_check_open(r));
    TRY(head_data_check(s->data, head_recipe_convex(r), s->ctx));
    TRY(sensitivity_check_pairs(s->pairs, s->data->n));
    s->recipe = r;
    s->blocks = (s->pairs + BLOCK - 1) / BLOCK;
    NEW(s->changes, s->pairs);
    NEW(s->have, s->blocks);
    sensitivity_share_describe(s);
done:
    return status;
}

sotto_status sotto_sensitivity_share(struct sotto_sensitivity_sample *out, size_t *missing, const float *x,
                                     const int64_t *y, size_t n, size_t d, size_t classes,
                                     const struct sotto_head_recipe *recipe, size_t pairs,
                                     const struct sotto_sensitivity_options *options,
                                     const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(missing, !n || x, !n || y);
    sotto_status status = SOTTO_OK;
    struct head_data data = {x, y, n, d, classes};
    struct sotto_head_recipe r;
    struct sotto_sensitivity_options o;
    struct share s = {.data = &data, .options = &o, .ctx = ctx, .pairs = pairs};
    TRY(sotto_options_resolve(&o, options, options_sensitivity));
    if (!o.cache)
        FAIL(SOTTO_EUSAGE, "sensitivity: several processes need a cache, the folder that all share");
    if (o.worker && o.shards > 1)
        FAIL(SOTTO_EUSAGE, "sensitivity: a worker takes any open block; give shards of 1, or no worker");
    REQUIRE(o.shard < o.shards, "sensitivity: shard %zu of %zu; expected 0 .. shards - 1", o.shard, o.shards);
    TRY(share_open(&s, &r, recipe));
    TRY(folder_make(o.cache));
    TRY(claims_open(&s.claims, o.cache));
    TRY(sensitivity_share_work(&s));
    claims_tidy(o.cache, ".safetensors");
    *missing = count_missing(&s);
    if (!o.worker && *missing == 0)
        sensitivity_fold(out, s.changes, pairs, &data, &r);
done:
    share_close(&s);
    return status;
}

static sotto_status add_bytes(double *bytes, const struct share *s, size_t block, double files)
{
    void *file = NULL;
    size_t size = 0;
    sotto_status status = sensitivity_share_encode(&file, &size, s, block, 1);
    *bytes += files * (double)size;
    sotto_bytes_free(file);
    return status;
}

sotto_status sotto_sensitivity_plan(struct sotto_sensitivity_plan *out, const float *x, const int64_t *y,
                                    size_t n, size_t d, size_t classes,
                                    const struct sotto_head_recipe *recipe, size_t pairs,
                                    const struct sotto_sensitivity_options *options,
                                    const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, !n || x, !n || y);
    sotto_status status = SOTTO_OK;
    struct head_data data = {x, y, n, d, classes};
    struct sotto_head_recipe r;
    struct sotto_sensitivity_options o;
    struct share s = {.data = &data, .options = &o, .ctx = ctx, .pairs = pairs};
    struct sotto_sensitivity_plan plan = {0};
    size_t open = 0;
    TRY(sotto_options_resolve(&o, options, options_sensitivity));
    TRY(share_open(&s, &r, recipe));
    plan.blocks = s.blocks;
    for (size_t b = s.blocks; b-- > 0;) {
        if (o.cache)
            TRY(sensitivity_share_load(&s, b));
        plan.missing += !s.have[b];
        open = s.have[b] ? open : b;
    }
    if (s.timed == 0) { /* the first that is missing, or a file of an earlier version once more */
        TRY(try_pairs(&s.seconds, &s, open));
        s.timed = count_of(&s, open);
    }
    plan.seconds_each = s.seconds / (double)s.timed * (double)count_of(&s, 0);
    TRY(add_bytes(&plan.bytes, &s, 0, (double)(s.blocks - 1)));
    TRY(add_bytes(&plan.bytes, &s, s.blocks - 1, 1));
    *out = plan;
done:
    share_close(&s);
    return status;
}

double sotto_sensitivity_plan_hours(const struct sotto_sensitivity_plan *plan, size_t workers)
{
    GIVEN_OR(NAN, plan, workers);
    const size_t rounds = (plan->missing + workers - 1) / workers;
    return (double)rounds * plan->seconds_each / 3600;
}
