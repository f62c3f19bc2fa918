/* Sums of clipped gradients over samples: neighbouring samples differ by at most what is claimed, in whole numbers;
 * the groups of a sample add up to it; parts and threads change no bit. And the same checks find the mistakes that
 * they are for. */
#include "support/test.h"
#include "support/machine.h"
#include "nn/loop/example_sums.h"
#include "nn/model/model.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { SLOTS = 4096, CLASSES = 7 };

/* Records 0 .. SLOTS - 1, and a sample of them. */
struct world {
    struct nn_model *model;
    size_t image, parameters;
    float *images; /* (SLOTS, image) */
    uint32_t slot[SLOTS];
    size_t n;
};

static void fill_part(float *input, int64_t *labels, void *state, size_t first, size_t count, uint64_t step)
{
    (void)step;
    const struct world *w = state;
    for (size_t i = 0; i < count; i++) {
        const size_t record = w->slot[first + i];
        memcpy(input + i * w->image, w->images + record * w->image, w->image * sizeof *input);
        labels[i] = (int64_t)(record % CLASSES);
    }
}

static void world_open(struct world *w, const struct nn_model_config *config)
{
    struct rng r = rng_stream(8, RNG_TEST, 0, 0);
    assert_int_equal(nn_model_create(&w->model, config, 3), SOTTO_OK);
    w->image = config->input.channels * config->input.height * config->input.width;
    w->parameters = nn_model_parameter_count(w->model, 1);
    w->images = base_alloc(SLOTS * w->image, sizeof *w->images);
    for (size_t i = 0; i < SLOTS * w->image; i++)
        w->images[i] = (float)rng_normal(&r);
    w->n = 0;
}

static void world_close(struct world *w)
{
    nn_model_free(w->model);
    base_free(w->images);
}

/* Every record with probability `rate`. */
static void draw_sample(struct world *w, double rate, uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 1, 0);
    w->n = 0;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (rng_unit(&r) < rate)
            w->slot[w->n++] = i;
}

static struct example_sums *open_sums(struct world *w, double rate, size_t part, int threads)
{
    struct example_sums *s = NULL;
    const struct nn_backend *backend;
    assert_int_equal(nn_backend_find(&backend, machine.backend), SOTTO_OK);
    const struct example_sums_config config = {.backend = backend,
                                               .views = 1,
                                               .slots = SLOTS,
                                               .rate = rate,
                                               .part = part,
                                               .threads = threads,
                                               .fill = fill_part,
                                               .state = w};
    assert_int_equal(example_sums_create(&s, w->model, &config), SOTTO_OK);
    return s;
}

static const double steps = 0x1p32; /* the sensitivity that is claimed, in lattice steps */

static struct nn_clip clip_of(const struct example_sums *s, double norm)
{
    return (struct nn_clip){.kind = NN_CLIP_FLAT, .norm = norm, .bound = example_sums_bound(s, steps)};
}

static double *take(struct world *w, struct example_sums *s, const struct nn_clip *clip)
{
    double *sum = base_alloc(w->parameters, sizeof *sum);
    struct example_counts counts;
    assert_int_equal(example_sums_take(sum, &counts, s, w->slot, w->n, clip, 0), SOTTO_OK);
    assert_int_equal(counts.examples, w->n);
    assert_true(counts.below <= w->n);
    return sum;
}

static long double distance(const double *a, const double *b, size_t n)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++) /* whole numbers below 2^33: exact in the sum's 64 bits to 2^-60 */
        sum += ((long double)a[i] - b[i]) * ((long double)a[i] - b[i]);
    return sqrtl(sum);
}

static const struct nn_model_config mlp = {
    .name = "mlp", .input = {20, 1, 1}, .classes = CLASSES, .hidden = {16}, .hidden_count = 1};
static const struct nn_model_config linear = {.name = "mlp", .input = {19, 1, 1}, .classes = CLASSES};
static const struct nn_model_config residual = {
    .name = "resnet8", .input = {3, 8, 8}, .classes = CLASSES, .norm = "group"};

/* Takes out every record of a sample in turn. Largest distance between neighbours. */
static long double largest_move(struct world *w, struct example_sums *s, const struct nn_clip *clip,
                                size_t every)
{
    const size_t n = w->n;
    long double largest = 0;
    uint32_t all[SLOTS];
    double *whole = take(w, s, clip);
    memcpy(all, w->slot, n * sizeof *all);
    for (size_t out = 0; out < n; out += every) {
        memmove(w->slot + out, all + out + 1, (n - out - 1) * sizeof *all);
        w->n = n - 1;
        double *without = take(w, s, clip);
        long double moved = distance(whole, without, w->parameters);
        largest = moved > largest ? moved : largest;
        base_free(without);
        memcpy(w->slot, all, n * sizeof *all);
        w->n = n;
    }
    base_free(whole);
    return largest;
}

TEST(a_record_moves_a_sum_by_no_more_than_is_claimed)
{
    const struct nn_model_config *models[] = {&mlp, &linear, &residual};
    const double rates[] = {0.0005, 0.01, 0.06, 0.5};
    for (size_t m = 0; m < 3; m++) {
        struct world w;
        world_open(&w, models[m]);
        for (size_t r = 0; r < (m == 2 ? 2 : 4); r++)
            for (size_t part = 0; part <= 96; part += 32) {
                struct example_sums *s = open_sums(&w, rates[r], part, 1);
                const struct nn_clip clip = clip_of(s, 1e-3); /* all are clipped */
                draw_sample(&w, rates[r], 10 * r + part);
                w.n = w.n ? w.n : 1;
                long double moved = largest_move(&w, s, &clip, 1 + w.n / 40);
                if (!(moved <= steps && moved > 0.999 * steps))
                    fail_msg("model %zu, rate %g, parts of %zu: a record moves the sum by %Lg of %g", m,
                             rates[r], part, moved, steps);
                example_sums_free(s);
            }
        world_close(&w);
    }
}

/* All records alike, and as many as a chain takes or one more: float errors add up as badly as they can. */
TEST(equal_records_move_a_sum_by_no_more)
{
    struct world w;
    world_open(&w, &mlp);
    for (size_t i = 1; i < SLOTS; i++)
        memcpy(w.images + i * w.image, w.images, w.image * sizeof(float));
    struct example_sums *s = open_sums(&w, 1.0 / 64, 0, 1);
    const struct nn_clip clip = clip_of(s, 1e-3);
    const size_t chain = example_sums_chain(s),
                 counts[] = {1, 2, chain - 1, chain, chain + 1, chain + 2, 150, 580};
    long double worst = 0;
    assert_int_equal(chain, 64);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (size_t i = 0; i < counts[c]; i++)
            w.slot[i] = (uint32_t)(i * CLASSES); /* one label; within one group up to 438 */
        w.n = counts[c];
        long double moved = largest_move(&w, s, &clip, counts[c]);
        if (!(moved <= steps && moved > 0.999 * steps))
            fail_msg("%zu equal records: one moves the sum by %Lg of %g", counts[c], moved, steps);
        const struct nn_clip careless = {.kind = NN_CLIP_FLAT, .norm = 1e-3, .bound = steps};
        worst = fmaxl(worst, largest_move(&w, s, &careless, counts[c]));
    }
    assert_true(worst > steps); /* without the margin the bound does not hold, and this check sees it */
    example_sums_free(s);
    world_close(&w);
}

/* The sum of a sample is the sum over runs of its records, whatever the runs are, if no group is cut: and then no
 * record can change another group. `place`: the mistake of cutting by place in the sample. */
static bool groups_add_up(struct world *w, struct example_sums *s, size_t group, bool place)
{
    const struct nn_clip clip = clip_of(s, 0.5);
    uint32_t all[SLOTS];
    const size_t n = w->n;
    double *whole = take(w, s, &clip), *total = base_alloc(w->parameters, sizeof *total);
    memcpy(all, w->slot, n * sizeof *all);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && (place ? next / 50 == i / 50 : all[next] / group == all[i] / group);)
            next++;
        w->n = next - i;
        memcpy(w->slot, all + i, w->n * sizeof *all);
        double *part = take(w, s, &clip);
        for (size_t k = 0; k < w->parameters; k++)
            total[k] += part[k];
        base_free(part);
    }
    memcpy(w->slot, all, n * sizeof *all);
    w->n = n;
    bool same = memcmp(whole, total, w->parameters * sizeof *total) == 0;
    base_free(whole), base_free(total);
    return same;
}

TEST(groups_of_record_numbers_add_up)
{
    struct world w;
    world_open(&w, &mlp);
    for (double rate = 0.02; rate < 0.2; rate *= 3) {
        struct example_sums *s = open_sums(&w, rate, 0, 2);
        draw_sample(&w, rate, 77);
        assert_true(groups_add_up(&w, s, (size_t)(48 / rate), false));
        assert_false(groups_add_up(&w, s, 0, true)); /* the check finds groups that are cut elsewhere */
        example_sums_free(s);
    }
    world_close(&w);
}

TEST(parts_and_threads_change_no_bit)
{
    const struct nn_model_config *models[] = {&mlp, &linear, &residual};
    for (size_t m = 0; m < 3; m++) {
        struct world w;
        world_open(&w, models[m]);
        draw_sample(&w, m == 2 ? 0.02 : 0.1, 5);
        double *expected = NULL;
        for (int threads = 1; threads <= 4; threads++) {
            struct example_sums *s = open_sums(&w, m == 2 ? 0.02 : 0.1, 0, threads);
            const struct nn_clip clip = clip_of(s, 0.5);
            for (int again = 0; again < 2; again++) {
                double *sum = take(&w, s, &clip);
                if (expected)
                    assert_memory_equal(sum, expected, w.parameters * sizeof *sum);
                else
                    expected = sum;
                if (sum != expected)
                    base_free(sum);
            }
            example_sums_free(s);
        }
        /* another shape of the parts: the same chains, if they are no shorter */
        struct example_sums *s = open_sums(&w, m == 2 ? 0.02 : 0.1, 97, 2);
        const struct nn_clip clip = clip_of(s, 0.5);
        double *sum = take(&w, s, &clip);
        assert_memory_equal(sum, expected, w.parameters * sizeof *sum);
        base_free(sum), base_free(expected);
        example_sums_free(s);
        world_close(&w);
    }
}

TEST(an_empty_sample_is_zero_and_a_step_allocates_nothing)
{
    struct world w;
    struct example_counts counts = {9, 9};
    world_open(&w, &mlp);
    struct example_sums *s = open_sums(&w, 0.1, 0, 2);
    const struct nn_clip clip = clip_of(s, 0.5);
    double *sum = base_alloc(w.parameters, sizeof *sum);
    draw_sample(&w, 0.1, 1);
    assert_int_equal(example_sums_take(sum, &counts, s, w.slot, w.n, &clip, 0), SOTTO_OK);
    uint64_t before = base_alloc_count();
    assert_int_equal(example_sums_take(sum, &counts, s, w.slot, w.n, &clip, 1), SOTTO_OK);
    assert_true(base_alloc_count() == before);
    assert_int_equal(example_sums_take(sum, &counts, s, w.slot, 0, &clip, 2), SOTTO_OK);
    for (size_t k = 0; k < w.parameters; k++)
        assert_true(sum[k] == 0);
    assert_int_equal(counts.below, 0);
    base_free(sum);
    example_sums_free(s);
    world_close(&w);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
