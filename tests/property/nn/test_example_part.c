/* The check before a private training: backends of all kinds of networks pass it and keep their weights; a backend in
 * which a record's bits depend on its place, on the number of records or on their values is refused. */
#include "support/test.h"
#include "support/machine.h"
#include "nn/loop/example_sums.h"
#include "nn/model/model.h"
#include "support/planted_backend.h"

#include <string.h>

static const struct nn_model_config models[] = {
    {.name = "mlp", .input = {20, 1, 1}, .classes = 7, .hidden = {16}, .hidden_count = 1},
    {.name = "cnn", .input = {1, 8, 8}, .classes = 3, .hidden = {4, 8}, .hidden_count = 2},
    {.name = "tanh-cnn", .input = {3, 12, 10}, .classes = 10, .hidden = {6, 5, 9}, .hidden_count = 3},
    {.name = "resnet8", .input = {3, 8, 8}, .classes = 10, .norm = "group"},
    {.name = "resnet8", .input = {3, 8, 8}, .classes = 10, .freeze = {.blocks = 1, .norms = 1}},
};
enum { MODELS = sizeof models / sizeof *models };

/* A public function: nothing is filled in before the check. */
static void never(float *input, int64_t *labels, void *state, size_t first, size_t count, uint64_t step)
{
    (void)input, (void)labels, (void)state, (void)first, (void)count, (void)step;
    fail();
}

/* With the last layer's weights at 0, as some begin: no gradient passes them, unless the check sees to it. */
static sotto_status open_sums(const struct nn_model_config *config, const struct nn_backend *backend,
                              size_t part, size_t views)
{
    struct nn_model *m = NULL;
    struct example_sums *s = NULL;
    assert_int_equal(nn_model_create(&m, config, 3), SOTTO_OK);
    const struct tensor_list *tensors = nn_model_tensors(m);
    const struct tensor *last = &tensors->items[tensors->count - 2];
    memset(last->value, 0, last->count * sizeof *last->value);
    float *before = base_alloc(m->trainable, sizeof *before);
    memcpy(before, m->values, m->trainable * sizeof *before);
    const struct example_sums_config sums = {.backend = backend,
                                             .views = views,
                                             .slots = 1000,
                                             .rate = 0.05,
                                             .part = part,
                                             .threads = 1,
                                             .fill = never};
    const sotto_status status = example_sums_create(&s, m, &sums);
    assert_memory_equal(m->values, before, m->trainable * sizeof *before);
    assert_true((s != NULL) == (status == SOTTO_OK));
    example_sums_free(s);
    nn_model_free(m);
    base_free(before);
    return status;
}

TEST(backends_without_a_defect_pass)
{
    const char *const names[] = {"ref", "dnnl", "winograd"};
    const size_t parts[] = {1, 2, 3, 6, 8, 9, 17, 64};
    for (size_t m = 0; m < MODELS; m++)
        for (size_t b = 0; b < 3; b++)
            for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
                const struct nn_backend *backend;
                if (nn_backend_find(&backend, names[b]) != SOTTO_OK) /* winograd: from v3 on */
                    continue;
                if (b == 0 && m >= 2 && parts[p] > 9)
                    continue; /* slow */
                if (open_sums(&models[m], backend, parts[p], 1 + p % 2) != SOTTO_OK)
                    fail_msg("%s", sotto_error_text());
            }
}

TEST(defects_are_refused)
{
    const size_t parts[] = {3, 7, 8, 9, 16};
    for (size_t m = 0; m < MODELS; m++)
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            for (int defect = PLANTED_NOTHING; defect < PLANTED_DEFECTS; defect++) {
                sotto_status status =
                    open_sums(&models[m], planted_backend((enum planted_defect)defect), parts[p], 1);
                if (status != (defect == PLANTED_NOTHING ? SOTTO_OK : SOTTO_ENOTSUP))
                    fail_msg("%s, parts of %zu, defect %d: status %d", models[m].name, parts[p], defect,
                             (int)status);
                if (defect != PLANTED_NOTHING &&
                    !(strstr(sotto_error_text(), "backend 'planted' (with a defect): the gradient of a ") &&
                      strstr(sotto_error_text(), "use another backend")))
                    fail_msg("%s", sotto_error_text());
            }
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
