/* Heads near a reference: the change that a record makes is that of heads trained one by one, to a thousandth
 * of itself, for every trainer, batch, shape and instruction set; and where no reference is made. */
#include "support/test.h"

#include "head/many/head_block.h"
#include "head/train/head_plain.h"
#include "support/head_blobs.h"
#include "support/worse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 90, D_MOST = 13, HEADS = 21, PARAMETERS_MOST = (D_MOST + 1) * 10 };
static const double rounding = 3e-7; /* of weights in single precision, which heads trained alone have too */
static float x[N * D_MOST];
static int64_t y[N];

struct world {
    size_t d, classes, groups;
    const char *trainer;
    size_t batch, epochs;
};

static void make_slots(struct head_slots slots[HEADS])
{
    for (size_t h = 0; h < HEADS; h++)
        slots[h] = (struct head_slots){
            .left_out = 4 * h, .replacement_slot = 4 * h + 1, .replacement = h % 2 ? 4 * h : 4 * h + 1};
    slots[7] = (struct head_slots){.left_out = 3, .replacement_slot = SIZE_MAX};
    slots[8] = (struct head_slots){.left_out = SIZE_MAX, .replacement_slot = 2, .replacement = 80};
}

static double distance(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pow((double)a[i] - (double)b[i], 2);
    return sqrt(sum);
}

/* The largest error of a change, less rounding, in changes. shift: the heads trained alone leave out another
 * record. */
static double worst_error(const struct world *w, size_t shift)
{
    struct head_data data = {x, y, N, w->d, w->classes};
    size_t count = (w->d + 1) * w->classes;
    struct sotto_head_recipe r;
    struct head_slots slots[HEADS];
    struct head_reference reference;
    struct head_block b;
    struct head_plain t;
    float everyone[PARAMETERS_MOST], alone[PARAMETERS_MOST], near[PARAMETERS_MOST];
    double worst = 0;
    sotto_head_defaults(&r);
    r.trainer = w->trainer;
    r.batch = w->batch;
    r.epochs = w->epochs;
    make_slots(slots);
    assert_true(head_reference_fits(&data, &r));
    assert_int_equal(head_reference_make(&reference, &data, &r, NULL), SOTTO_OK);
    assert_int_equal(head_block_plan(&b, &data, &r, w->groups, &reference), SOTTO_OK);
    size_t heads = HEADS < w->groups * HEAD_PAD ? HEADS : w->groups * HEAD_PAD;
    assert_int_equal(head_block_run(&b, slots, NULL, heads, NULL), SOTTO_OK);
    assert_int_equal(head_plain_plan(&t, &data, &r), SOTTO_OK);
    assert_int_equal(head_plain_run(&t, NULL, NULL, NULL, NULL), SOTTO_OK);
    head_plain_export(&t, everyone);
    for (size_t h = 0; h < heads; h++) {
        slots[h].left_out += slots[h].left_out < N ? shift : 0;
        assert_int_equal(head_plain_run(&t, &slots[h], NULL, NULL, NULL), SOTTO_OK);
        head_plain_export(&t, alone);
        head_block_export(&b, h, near);
        double change = distance(alone, everyone, count);
        assert_true(change > 0);
        worst = worse(worst, (distance(near, alone, count) - rounding) / change);
    }
    head_block_clear(&b);
    head_plain_clear(&t);
    head_reference_clear(&reference);
    return worst;
}

TEST(changes_are_those_of_heads_trained_alone)
{
    static const struct world worlds[] = {{7, 3, 2, "adam", 8, 5},   {7, 3, 2, "sgd", 8, 5},
                                          {7, 3, 1, "adam", 1, 2},   {13, 10, 2, "adam", 9, 5},
                                          {1, 2, 1, "sgd", 45, 20},  {12, 2, 2, "adam", N, 30},
                                          {13, 4, 1, "sgd", 500, 30}};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
            make_blobs(x, y, N, worlds[i].d, worlds[i].classes, 1.0, i);
            setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)isa), 1);
            double error = worst_error(&worlds[i], 0);
            if (!(error < 1e-3))
                fail_msg("world %zu, %s: a change is off by %g of itself", i, cpu_isa_name((enum cpu_isa)isa),
                         error);
            assert_true(worst_error(&worlds[i], 2) > 0.05); /* the control: another record is missing */
            unsetenv("SOTTO_ISA");
        }
}

/* Columns of very different sizes, one without any, one with a single large value. */
TEST(inputs_of_any_size)
{
    static const struct world w = {7, 3, 2, "adam", 9, 5};
    make_blobs(x, y, N, w.d, w.classes, 1.0, 3);
    for (size_t i = 0; i < N; i++) {
        x[i * w.d] *= 100;
        x[i * w.d + 1] *= 1e-4f;
        x[i * w.d + 2] = 0;
        x[i * w.d + 3] = i == 60 ? 40 : x[i * w.d + 3];
    }
    double error = worst_error(&w, 0);
    if (!(error < 5e-3))
        fail_msg("a change is off by %g of itself", error);
}

TEST(where_no_reference_is_made)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.batch = 500;
    r.epochs = 20;
    assert_true(head_reference_fits(&(struct head_data){x, y, 10000, 128, 10}, &r));
    assert_false(head_reference_fits(&(struct head_data){x, y, 10000, 128, 1}, &r));
    assert_false(head_reference_fits(&(struct head_data){x, y, 0, 128, 10}, &r));
    assert_false(head_reference_fits(&(struct head_data){x, y, 10, (1 << 16) + 1, 10}, &r));
    assert_false(head_reference_fits(&(struct head_data){x, y, 1000000, 128, 100}, &r));
    r.batch = (1 << 16) + 1;
    assert_false(head_reference_fits(&(struct head_data){x, y, 10000, 128, 10}, &r));
}

TEST_GROUP(.tags = "matrix")
