/* Shadow models: splits, the same bits as a head trained alone, a cache that is reused, resumed, sharded, and
 * refused when it is not what its name says. */
#include "support/test.h"

#include "attack/shadow/shadow_pool.h"
#include "base/file.h"
#include "support/head_blobs.h"
#include "support/machine.h"
#include "rng/rng.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 120, D = 6, K = 3, MODELS = 6 };
static float x[N * D];
static int64_t y[N];
static uint8_t use[MODELS * N];
static const struct head_data data = {x, y, N, D, K};

static struct sotto_head_recipe recipe(size_t hidden)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = hidden > 0;
    r.hidden[0] = hidden;
    r.epochs = 4;
    r.batch = 7;
    return r;
}
static struct shadow_plan plan(const struct sotto_head_recipe *r, const char *cache)
{
    return (struct shadow_plan){
        .data = &data, .use = use, .models = MODELS, .recipe = r, .shards = 1, .cache = cache, .seed = 5};
}
static size_t files_in(const char *path)
{
    size_t n = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

TEST(splits_are_what_they_say)
{
    uint8_t u[MODELS * N];
    for (int disjoint = 0; disjoint < 2; disjoint++) {
        size_t in = disjoint ? 10 : 50, overlap = 0;
        assert_int_equal(shadow_split_draw(u, MODELS, N, in, disjoint, 1), SOTTO_OK);
        for (size_t m = 0; m < MODELS; m++) {
            size_t count[3] = {0};
            for (size_t i = 0; i < N; i++)
                count[u[m * N + i]]++;
            assert_int_equal(count[SHADOW_IN], in);
            assert_int_equal(count[SHADOW_OUT], in);
        }
        for (size_t i = 0; i < N; i++)
            overlap += u[i] != SHADOW_UNUSED && u[N + i] != SHADOW_UNUSED;
        assert_true(disjoint ? overlap == 0 : overlap > 0);
    }
    assert_int_equal(shadow_split_draw(u, MODELS, N, 11, true, 1), SOTTO_EINVAL);
    assert_string_equal(
        sotto_error_text(),
        "shadows: 11 records per shadow are needed to train 6 disjoint shadows, and as many again for "
        "comparison; the attacker has 120; give fewer shadows or records, or omit disjoint");
    assert_int_equal(shadow_split_draw(u, 1, N, 61, false, 1), SOTTO_EINVAL);
    assert_int_equal(shadow_split_draw(u, 1, N, 0, false, 1), SOTTO_EINVAL);
    assert_int_equal(shadow_split_draw(u, 1, N, SIZE_MAX / 2 + 1, false, 1), SOTTO_EINVAL);
    assert_int_equal(shadow_split_halves(u, MODELS, N, 1), SOTTO_OK);
    for (size_t i = 0; i < N; i++) {
        size_t in = 0;
        for (size_t m = 0; m < MODELS; m++)
            in += u[m * N + i] == SHADOW_IN;
        assert_int_equal(in, MODELS / 2);
    }
    assert_int_equal(shadow_split_halves(u, 5, N, 1), SOTTO_EINVAL);
}

/* A shadow equals a head trained on the same records by the same recipe. */
TEST(a_shadow_is_a_head_trained_alone)
{
    struct sotto_head_recipe r = recipe(8);
    struct shadow_plan p = plan(&r, NULL);
    struct shadow_pool s;
    assert_int_equal(shadow_pool_make(&s, &p), SOTTO_OK);
    assert_int_equal(s.trained, MODELS);
    for (size_t m = 0; m < MODELS; m++) {
        float own[N * D];
        int64_t label[N];
        size_t n = 0, count;
        for (size_t i = 0; i < N; i++)
            if (use[m * N + i] == SHADOW_IN) {
                memcpy(own + n * D, x + i * D, D * sizeof *x);
                label[n++] = y[i];
            }
        struct sotto_head_recipe alone = shadow_recipe(&p, m);
        struct sotto_head *h;
        double accuracy;
        assert_int_equal(sotto_head_train(&h, own, label, n, D, K, &alone, NULL), SOTTO_OK);
        float *weights = sotto_head_parameters(h, &count);
        assert_int_equal(count, s.parameters);
        assert_memory_equal(weights, s.weights + m * count, count * sizeof *weights);
        assert_int_equal(sotto_head_accuracy(&accuracy, h, own, label, n, D, NULL), SOTTO_OK);
        assert_true(accuracy == s.train_accuracy[m]);
        assert_true(s.test_accuracy[m] >= 0 && s.test_accuracy[m] <= 1);
        sotto_head_free(h);
    }
    assert_memory_not_equal(s.weights, s.weights + s.parameters, s.parameters * sizeof *s.weights);
    shadow_pool_clear(&s);
}

TEST(the_cache_is_used_and_resumed)
{
    static const size_t widths[] = {0, 8};
    for (size_t w = 0; w < 2; w++) {
        char cache[128], command[256];
        struct sotto_head_recipe r = recipe(widths[w]);
        snprintf(cache, sizeof cache, "%s", path_of(w ? "mlp" : "linear"));
        struct shadow_plan p = plan(&r, cache), fresh = plan(&r, NULL);
        struct shadow_pool whole, part, again;
        assert_int_equal(shadow_pool_make(&whole, &fresh), SOTTO_OK);
        p.shards = 2;
        assert_int_equal(shadow_pool_make(&part, &p), SOTTO_OK);
        assert_int_equal(part.trained, MODELS / 2);
        assert_int_equal(part.missing, MODELS / 2);
        shadow_pool_clear(&part);
        assert_int_equal(files_in(cache), MODELS); /* a head and a manifest each */
        p.shard = 1;
        assert_int_equal(shadow_pool_make(&part, &p), SOTTO_OK);
        assert_int_equal(part.reused, MODELS / 2);
        assert_int_equal(part.missing, 0);
        assert_memory_equal(part.weights, whole.weights, MODELS * whole.parameters * sizeof *whole.weights);
        shadow_pool_clear(&part);
        /* killed between a head and its manifest: that one is trained again */
        snprintf(command, sizeof command, "rm \"$(ls %s/*.json | head -1)\"", cache);
        assert_int_equal(system(command), 0);
        p.shards = 1, p.shard = 0;
        assert_int_equal(shadow_pool_make(&again, &p), SOTTO_OK);
        assert_int_equal(again.trained, 1);
        assert_int_equal(again.reused, MODELS - 1);
        assert_memory_equal(again.weights, whole.weights, MODELS * whole.parameters * sizeof *whole.weights);
        for (size_t m = 0; m < MODELS; m++)
            assert_true(again.train_accuracy[m] == whole.train_accuracy[m] &&
                        again.test_accuracy[m] == whole.test_accuracy[m]);
        shadow_pool_clear(&again);
        /* another recipe finds nothing */
        struct sotto_head_recipe other = r;
        other.epochs++;
        p.recipe = &other;
        assert_int_equal(shadow_pool_make(&again, &p), SOTTO_OK);
        assert_int_equal(again.reused, 0);
        shadow_pool_clear(&again);
        shadow_pool_clear(&whole);
    }
}

TEST(what_was_tampered_with_is_refused)
{
    char cache[128], command[512];
    struct sotto_head_recipe r = recipe(8);
    struct shadow_pool s;
    snprintf(cache, sizeof cache, "%s", path_of("tampered"));
    struct shadow_plan p = plan(&r, cache);
    p.models = 1;
    assert_int_equal(shadow_pool_make(&s, &p), SOTTO_OK);
    shadow_pool_clear(&s);
    snprintf(command, sizeof command, "sed -i 's/epochs.\\{0,2\\}:4/epochs\\\\\":5/' %s/*.json", cache);
    assert_int_equal(system(command), 0);
    assert_int_equal(shadow_pool_make(&s, &p), SOTTO_EFORMAT);
    assert_non_null(
        strstr(sotto_error_text(), ": 'recipe' does not match the name of the file; remove the file"));
    snprintf(command, sizeof command, "sed -i 's/epochs.\\{0,2\\}:5/epochs\\\\\":4/' %s/*.json", cache);
    assert_int_equal(system(command), 0);
    assert_int_equal(shadow_pool_make(&s, &p), SOTTO_OK);
    shadow_pool_clear(&s);
    snprintf(command, sizeof command, "printf x >> \"$(ls %s/*.safetensors)\"", cache);
    assert_int_equal(system(command), 0);
    assert_int_equal(shadow_pool_make(&s, &p), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "its SHA-256 differs from the one in"));
}

TEST(signals_do_not_depend_on_threads)
{
    struct sotto_head_recipe r = recipe(8);
    struct sotto_context many = {.threads = 3};
    struct shadow_plan p = plan(&r, NULL);
    struct shadow_pool s;
    double one[N * MODELS], two[N * MODELS];
    p.known_start = true;
    assert_int_equal(shadow_pool_make(&s, &p), SOTTO_OK);
    assert_int_equal(shadow_pool_signals(one, &s, &data, NULL, NULL), SOTTO_OK);
    assert_int_equal(shadow_pool_signals(two, &s, &data, NULL, &many), SOTTO_OK);
    assert_memory_equal(one, two, sizeof one);
    shadow_pool_clear(&s);
}

/* Networks train side by side, one a thread: the weights do not depend on their number. */
TEST(networks_keep_their_bits_on_any_threads)
{
    enum { IMAGES = 40, SIDE = 12 };
    static float images[IMAGES * SIDE * SIDE];
    int64_t label[IMAGES];
    uint8_t rows[MODELS * IMAGES];
    struct rng draw = rng_stream(3, RNG_SPLIT, 0, 0);
    for (size_t i = 0; i < IMAGES * SIDE * SIDE; i++)
        images[i] = (float)(rng_u64(&draw) >> 40) * 0x1p-24F;
    for (size_t i = 0; i < IMAGES; i++)
        label[i] = (int64_t)(i % K);
    assert_int_equal(shadow_split_halves(rows, MODELS, IMAGES, 5), SOTTO_OK);
    struct head_data table = {images, label, IMAGES, SIDE * SIDE, K};
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "cnn";
    o.hidden_count = 2;
    o.hidden[0] = o.hidden[1] = 4;
    o.channels = 1;
    o.height = o.width = SIDE;
    o.epochs = 2;
    o.batch = 7;
    o.dtype = "f32";
    o.backend = machine.backend;
    struct sotto_context one = {.threads = 1}, three = {.threads = 3};
    struct shadow_plan p = {
        .data = &table, .use = rows, .models = MODELS, .network = &o, .shards = 1, .seed = 5};
    struct shadow_pool alone, side;
    p.ctx = &one;
    assert_int_equal(shadow_pool_make(&alone, &p), SOTTO_OK);
    p.ctx = &three;
    assert_int_equal(shadow_pool_make(&side, &p), SOTTO_OK);
    assert_int_equal(side.trained, MODELS);
    for (size_t m = 0; m < MODELS; m++) {
        assert_string_equal(sotto_network_sha256(alone.networks[m]), sotto_network_sha256(side.networks[m]));
        assert_true(alone.train_accuracy[m] == side.train_accuracy[m]);
    }
    assert_string_not_equal(sotto_network_sha256(side.networks[0]), sotto_network_sha256(side.networks[1]));
    shadow_pool_clear(&alone);
    shadow_pool_clear(&side);
    o.batch = o.leaf = 2 * IMAGES, o.order = "exact"; /* the recipe of a target with more records */
    assert_int_equal(shadow_pool_make(&side, &p), SOTTO_OK);
    assert_int_equal(side.trained, MODELS);
    shadow_pool_clear(&side);
}

TEST(failures)
{
    struct sotto_head_recipe r = recipe(8);
    struct shadow_plan p = plan(&r, NULL);
    struct shadow_pool s;
    uint8_t none[MODELS * N] = {0};
    p.use = none;
    assert_int_equal(shadow_pool_make(&s, &p), SOTTO_EINVAL);
    p.use = use;
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.stop = &stop, .threads = 1};
    p.ctx = &ctx;
    assert_int_equal(shadow_pool_make(&s, &p), SOTTO_ESTOPPED);
    p.ctx = NULL;
    for (long n = 0; n < 30; n++) {
        base_alloc_fail_after(n);
        sotto_status status = shadow_pool_make(&s, &p);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            shadow_pool_clear(&s);
        else
            assert_int_equal(status, SOTTO_ENOMEM);
    }
}

static int set_up(void **state)
{
    make_blobs(x, y, N, D, K, 1.0, 1);
    return make_folder(state) || shadow_split_halves(use, MODELS, N, 5) != SOTTO_OK;
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .start = machine_f32, .tags = "matrix")
