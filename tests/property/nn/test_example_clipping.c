/* What clipping promises, on inputs that try to break it: no record adds more than the norm, one that is not finite adds
 * nothing, and what a record adds is a function of the record alone (property R). */
#include "support/test.h"
#include "support/machine.h"
#include "support/example_world.h"
#include "par/par.h"

/* ---- what clipping promises ---- */

static double contribution(struct world *w, double *sum, const struct nn_clip *clip)
{
    run_private(w, sum, 1, clip);
    return norm_of(sum, w->parameters);
}

TEST(no_record_adds_more_than_the_norm)
{
    const struct nn_model_config *models[] = {&mlp, &residual, &keras, &frozen_norms, &last_block};
    const double sizes[] = {0, 1e-30, 1e-6, 1, 1e6, 1e18, 1e30, 3e38};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct world w;
        world_open(&w, models[m], machine.backend, 2, 1);
        double *sum = base_alloc(w.parameters, sizeof *sum), largest = 0;
        for (size_t a = 0; a < sizeof sizes / sizeof *sizes; a++)
            for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++)
                for (int kind = 0; kind <= NN_CLIP_LAYERS; kind++) {
                    if (m > 0 && (a + 2 * b) % 5 != (size_t)kind) /* a fifth of them */
                        continue;
                    const struct nn_clip clip = clip_to((enum nn_clipping)kind, 0.5);
                    fill(w.images, w.image, a);
                    fill(w.diffs, w.outputs, b);
                    for (size_t i = 0; i < w.image; i++)
                        w.images[i] = (float)(w.images[i] * sizes[a] / 5);
                    for (size_t i = 0; i < w.outputs; i++)
                        w.diffs[i] = (float)(w.diffs[i] * sizes[b] / 5);
                    double found = contribution(&w, sum, &clip);
                    if (!(found <= 1 + 0x1p-20)) /* the float rounding of factor and product */
                        fail_msg("%s: a record of size %g, %g adds %g", models[m]->name, sizes[a], sizes[b],
                                 found);
                    largest = fmax(largest, found);
                }
        assert_true(largest > 0.998); /* the bound is reached */
        base_free(sum);
        world_close(&w);
    }
}

/* A record with a gradient that is not finite adds nothing, and leaves the others alone. (Below a frozen ReLU what is
 * not a number becomes 0, and the gradient is finite.) */
TEST(a_record_that_is_not_finite_adds_nothing)
{
    const struct nn_model_config *models[] = {&mlp, &residual, &keras, &frozen_norms};
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct world w;
        world_open(&w, models[m], machine.backend, 4, 1);
        double *sum = base_alloc(w.parameters, sizeof *sum), *without = base_alloc(w.parameters, sizeof *sum);
        const struct nn_clip clip = clip_to(NN_CLIP_FLAT, 0.5);
        memset(w.diffs + w.outputs, 0, w.outputs * sizeof(float));
        run_private(&w, without, 4, &clip);
        for (size_t b = 0; b < 6; b++) {
            float *at = b < 3 ? w.images + w.image + 7 : w.diffs + w.outputs + 1, saved = *at;
            *at = bad[b % 3];
            if (b < 3)
                w.diffs[w.outputs] = 1;
            run_private(&w, sum, 4, &clip);
            assert_true(nn_plan_clip_factors(w.plan)[1] == 0);
            assert_near(sum, without, w.parameters, 1e-6, models[m]->name);
            *at = saved;
            w.diffs[w.outputs] = 0;
        }
        base_free(sum), base_free(without);
        world_close(&w);
    }
}

TEST(no_record_adds_nothing_and_unused_rows_do_not_count)
{
    struct world w;
    world_open(&w, &residual, machine.backend, 4, 1);
    double *sum = base_alloc(w.parameters, sizeof *sum), *some = base_alloc(w.parameters, sizeof *some);
    const struct nn_clip clip = clip_to(NN_CLIP_FLAT, 0.5);
    run_private(&w, sum, 0, &clip);
    assert_true(norm_of(sum, w.parameters) == 0);
    run_private(&w, some, 2, &clip);
    memset(nn_plan_input(w.plan), 0xff, 4 * w.image * sizeof(float)); /* NaN left behind */
    run_private(&w, sum, 2, &clip);
    assert_near(sum, some, w.parameters, 1e-12, "rows 2 and 3");
    base_free(sum), base_free(some);
    world_close(&w);
}

/* ---- property R: what a record adds is a function of the record ---- */

/* What row `record` of `w` adds alone, at place `place` of a plan among other records; whole numbers. */
static void add_alone(double *sum, struct world *w, size_t record, size_t place, size_t count,
                      const struct nn_clip *clip)
{
    const size_t image = w->image * w->views, outputs = w->outputs * w->views;
    float *images = base_alloc(w->examples * image, sizeof *images),
          *diffs = base_alloc(w->examples * outputs, sizeof *diffs);
    uint32_t end[64];
    double *with = base_alloc(w->parameters, sizeof *with);
    size_t whole;
    fill(images, w->examples * image, 50 + place);
    fill(diffs, w->examples * outputs, 60 + count);
    for (size_t i = 0; i < count; i++)
        end[i] = (uint32_t)i + 1;
    for (int there = 0; there <= 1; there++) { /* without and with it: the others add the same */
        if (there) {
            memcpy(images + place * image, w->images + record * image, image * sizeof *images);
            memcpy(diffs + place * outputs, w->diffs + record * outputs, outputs * sizeof *diffs);
        } else {
            memset(diffs + place * outputs, 0, outputs * sizeof *diffs);
        }
        nn_plan_use(w->plan, count);
        load(w, images, diffs, w->examples * w->views);
        memset(with, 0, w->parameters * sizeof *with);
        assert_int_equal(
            nn_plan_clipped_sum(w->plan, with, &whole, count, &(struct nn_chains){end, count}, clip),
            SOTTO_OK);
        for (size_t k = 0; k < w->parameters; k++)
            sum[k] += there ? with[k] : -with[k];
    }
    base_free(images), base_free(diffs), base_free(with);
}

TEST(a_record_adds_the_same_at_every_place)
{
    static const struct {
        const struct nn_model_config *model;
        size_t examples, views;
    } cases[] = {{&mlp, 16, 1},         {&mlp, 61, 1},       {&mlp, 64, 1},       {&mlp, 4, 4},
                 {&residual, 4, 1},     {&keras, 3, 1},      {&bounded, 15, 1},   {&bounded, 4, 2},
                 {&frozen_norms, 5, 1}, {&last_block, 5, 2}, {&last_layer, 7, 1}, {&shrunk, 5, 1}};
    const char *backends[] = {"ref", "dnnl", "winograd"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t b = 0; b < 3; b++) {
            struct world w;
            const struct nn_clip clip = clip_to(NN_CLIP_FLAT, 0.5);
            const struct nn_backend *there;
            if (nn_backend_find(&there, backends[b]) != SOTTO_OK) /* winograd: from v3 on */
                continue;
            if (b == 0 && (cases[c].model == &keras || cases[c].model == &shrunk))
                continue; /* slow, and of the same layers as the others */
            par_set_threads(1);
            world_open(&w, cases[c].model, backends[b], cases[c].examples, cases[c].views);
            double *first = base_alloc(w.parameters, sizeof *first),
                   *other = base_alloc(w.parameters, sizeof *other);
            add_alone(first, &w, 1, 0, 1, &clip);
            assert_true(norm_of(first, w.parameters) > 0);
            for (size_t place = 1; place < w.examples; place += 1 + w.examples / 8) {
                size_t count = place + 1 + (place * 7) % (w.examples - place);
                memset(other, 0, w.parameters * sizeof *other);
                add_alone(other, &w, 1, place, count, &clip);
                for (size_t k = 0; k < w.parameters; k++)
                    if (first[k] != other[k])
                        fail_msg("%s, %s: parameter %zu at place %zu of %zu: %.17g, expected %.17g",
                                 cases[c].model->name, backends[b], k, place, count, other[k], first[k]);
            }
            base_free(first), base_free(other);
            world_close(&w);
            par_set_threads(machine.context.threads);
        }
}

/* A sample in two parts, the second not full, is the sample in one, bit for bit. */
TEST(parts_of_a_sample_add_up)
{
    const struct nn_model_config *models[] = {&mlp, &residual, &keras, &frozen_norms, &last_block};
    const struct nn_clip clip = clip_to(NN_CLIP_FLAT, 0.5);
    const uint32_t ends[] = {3, 5}, end = 2;
    size_t whole;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct world w;
        par_set_threads(1);
        world_open(&w, models[m], machine.backend, 5, 1);
        double *sum = base_alloc(w.parameters, sizeof *sum);
        load(&w, w.images, w.diffs, 5);
        assert_int_equal(nn_plan_clipped_sum(w.plan, w.sum, &whole, 5, &(struct nn_chains){ends, 2}, &clip),
                         SOTTO_OK);
        load(&w, w.images, w.diffs, 3);
        assert_int_equal(nn_plan_clipped_sum(w.plan, sum, &whole, 3, &(struct nn_chains){ends, 1}, &clip),
                         SOTTO_OK);
        load(&w, w.images + 3 * w.image, w.diffs + 3 * w.outputs, 2);
        assert_int_equal(nn_plan_clipped_sum(w.plan, sum, &whole, 2, &(struct nn_chains){&end, 1}, &clip),
                         SOTTO_OK);
        for (size_t k = 0; k < w.parameters; k++)
            if (sum[k] != w.sum[k])
                fail_msg("%s: parameter %zu in two parts: %.17g, expected %.17g", models[m]->name, k, sum[k],
                         w.sum[k]);
        base_free(sum);
        world_close(&w);
        par_set_threads(machine.context.threads);
    }
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
