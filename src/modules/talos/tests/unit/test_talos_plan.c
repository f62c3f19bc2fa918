/* What a run with Talos would take. */
#include "support/test.h"

#include "sotto/lab/talos.h"

/* Outputs of views and images; the gradient of all in the encoder's steps, that of the classifier for each of its own. */
TEST(talos_exchanges_what_its_turns_do)
{
    struct sotto_dataset *data = NULL;
    struct sotto_pretrain_options o;
    struct sotto_pretrain_plan plain, p;
    struct sotto_talos talos = {.lambda = 1, .alternation = "joint", .adversary_steps = 3, .reads = "images"};
    const struct sotto_context one = {.threads = 1};
    assert_int_equal(sotto_dataset_open(&data, "synthetic-faces-n30", NULL), SOTTO_OK);
    sotto_pretrain_defaults(&o);
    o.dtype = "f32", o.backend = "dnnl", o.order = "exact";
    o.batch = 12, o.leaf = 3, o.epochs = 2;
    assert_int_equal(sotto_pretrain_plan(&plain, data, NULL, 0, &o, &one), SOTTO_OK);
    o.part = "talos", o.part_options = &talos;
    assert_int_equal(sotto_pretrain_plan(&p, data, NULL, 0, &o, &one), SOTTO_OK);
    const size_t classifier = p.parameters - plain.parameters, outputs = 4 * 12 * p.width;
    assert_true(p.exact && classifier > 64 * 64);
    assert_int_equal(p.exchange_bytes, 3 * outputs + 8 * p.parameters + 3 * 8 * classifier);
    talos.alternation = "odd-even", talos.reads = "views";
    assert_int_equal(sotto_pretrain_plan(&p, data, NULL, 0, &o, &one), SOTTO_OK);
    assert_int_equal(p.exchange_bytes, 2 * outputs + 4 * p.parameters + 3 * 4 * classifier);
    o.epochs = 1; /* the classifier's pass alone */
    assert_int_equal(sotto_pretrain_plan(&p, data, NULL, 0, &o, &one), SOTTO_OK);
    assert_int_equal(p.exchange_bytes, 2 * outputs + 3 * 8 * classifier);
    assert_true(p.step_seconds > p.loss_seconds && p.loss_seconds >= 0);
    sotto_dataset_free(data);
}
