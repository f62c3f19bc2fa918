/* What a pre-training run would take: the model by hand, and sizes against a run (f32, direct, any instruction set; 1 and 2 threads). */
#include "support/test.h"

#include "base/file.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 8 leaves in 4 rounds of 2 threads, .2 s each; .2 s of loss; .008 s of 1 MB at 1 Gbit/s. */
TEST(the_model_by_hand)
{
    const struct sotto_pretrain_plan p = {
        .leaves = 8, .threads = 2, .exchange_bytes = 1000000, .step_seconds = 1, .loss_seconds = .2};
    assert_true(fabs(sotto_pretrain_plan_step(&p, 1, 8e-9) - 1) < 1e-12);
    assert_true(fabs(sotto_pretrain_plan_step(&p, 2, 8e-9) - (.4 + .1 + .004)) < 1e-12);
    assert_true(fabs(sotto_pretrain_plan_step(&p, 3, 8e-9) - (.4 + .2 / 3 + .008 * 2 / 3)) < 1e-12);
    assert_true(fabs(sotto_pretrain_plan_step(&p, 8, 8e-9) - (.2 + .05 + .007)) <
                1e-12); /* 16 threads, 8 leaves */
}

TEST(sizes_are_those_of_the_run)
{
    struct sotto_dataset *data = NULL;
    struct sotto_pretrain_options o;
    struct sotto_pretrain_result result;
    struct sotto_pretrain_plan p;
    struct sotto_encoder *e = NULL;
    char checkpoint[128];
    const struct sotto_context two = {.threads = 2};
    snprintf(checkpoint, sizeof checkpoint, "%s", path_of("e.checkpoint"));
    assert_int_equal(sotto_dataset_open(&data, "synthetic-images-n50", NULL), SOTTO_OK);
    sotto_pretrain_defaults(&o);
    o.dtype = "f32";
    o.backend = "dnnl";
    o.batch = 24;
    o.leaf = 5;
    o.epochs = 3;
    o.checkpoint = checkpoint;
    assert_int_equal(sotto_pretrain_plan(&p, data, NULL, 0, &o, &two), SOTTO_OK);
    assert_false(file_exists(checkpoint));
    assert_int_equal(p.steps, 6);
    assert_int_equal(p.batch, 24);
    assert_int_equal(p.leaf, 5);
    assert_int_equal(p.leaves, 5);
    assert_int_equal(p.threads, 2);
    assert_true(p.exact && p.step_seconds > p.loss_seconds && p.loss_seconds >= 0);
    assert_int_equal(p.exchange_bytes, 8 * (24 * p.width + p.parameters));
    assert_int_equal(sotto_pretrain(&e, &result, data, NULL, 0, &o, &two), SOTTO_OK);
    assert_int_equal(result.steps, p.steps);
    assert_int_equal(result.planned_bytes, p.planned_bytes);
    o.order = "fast";
    o.leaf = 0;
    assert_int_equal(sotto_pretrain_plan(&p, data, NULL, 0, &o, NULL), SOTTO_OK);
    assert_false(p.exact);
    assert_int_equal(p.leaves, 1);
    o.batch = 51; /* more than there are */
    assert_int_equal(sotto_pretrain_plan(&p, data, NULL, 0, &o, NULL), SOTTO_EINVAL);
    sotto_encoder_free(e);
    sotto_dataset_free(data);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
