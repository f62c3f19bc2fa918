/* Twenty steps of a 6-5-3 head against PyTorch (tools/golden_head.py), for every instruction-set level of
 * this CPU. */
#include "sotto/lab/head.h"
#include "support/test.h"

#include "head/train/head_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 6, HIDDEN = 5, OUT = 3, RECORDS = 12, BATCH = 5, STEPS = 20 };

static const struct golden {
    const char *trainer;
    double lr, loss[STEPS], parameters[(IN + 1) * HIDDEN + (HIDDEN + 1) * OUT];
} goldens[] = {
#include "golden/head.inc"
};

static void set_weights(struct head_plain *t)
{
    for (size_t l = 0; l < t->net.layers; l++) {
        struct head_layer *layer = &t->net.layer[l];
        for (size_t o = 0; o < layer->out; o++) {
            for (size_t i = 0; i < layer->in; i++)
                layer->w[i * layer->ld + o] =
                    (float)(0.5 * cos(100.0 * (double)(2 * l) + (double)(o * layer->in + i)));
            layer->w[layer->in * layer->ld + o] = (float)(0.5 * cos(100.0 * (double)(2 * l + 1) + (double)o));
        }
    }
}

static void compare(const struct golden *g)
{
    enum { PARAMETERS = sizeof g->parameters / sizeof *g->parameters };
    float x[RECORDS * IN], parameters[PARAMETERS];
    int64_t y[RECORDS];
    for (size_t i = 0; i < RECORDS * IN; i++)
        x[i] = (float)sin(1.0 + (double)i);
    for (int64_t i = 0; i < RECORDS; i++)
        y[i] = i % OUT;
    struct head_data data = {x, y, RECORDS, IN, OUT};
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = g->trainer, r.lr = g->lr, r.batch = BATCH, r.hidden_count = 1, r.hidden[0] = HIDDEN;
    struct head_plain t;
    assert_int_equal(head_plain_plan(&t, &data, &r), SOTTO_OK);
    set_weights(&t);
    for (int step = 0; step < STEPS; step++) {
        struct head_update update = head_update_at(&r, (size_t)step + 1);
        for (int row = 0; row < BATCH; row++) {
            int record = (BATCH * step + row) % RECORDS;
            memcpy(t.x + row * IN, x + record * IN, IN * sizeof *x);
            t.y[row] = y[record];
        }
        double loss = t.kernels->step(&t.net, t.x, t.y, BATCH, &update) / BATCH;
        assert_true(fabs(loss - g->loss[step]) < 1e-5);
    }
    head_plain_export(&t, parameters);
    double error = 0, size = 0;
    for (size_t i = 0; i < PARAMETERS; i++) {
        error += pow(parameters[i] - g->parameters[i], 2);
        size += pow(g->parameters[i], 2);
    }
    assert_true(sqrt(error / size) < 1e-6);
    head_plain_clear(&t);
}

TEST(steps_match_pytorch)
{
    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)isa), 1);
        for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++)
            compare(&goldens[i]);
    }
    unsetenv("SOTTO_ISA");
}

TEST_GROUP(.tags = "matrix")
