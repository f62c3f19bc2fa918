/* The SDE demo: the ODE comes back, noise does not, and as far off as the noise says; files; errors. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "sotto/lab/data.h"
#include "sotto/lab/residual.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct sotto_dataset *data;

static int set_up(void **state)
{
    return make_folder(state) || sotto_dataset_open(&data, "synthetic-images-n100", NULL) != SOTTO_OK;
}
static int tear_down(void **state)
{
    sotto_dataset_free(data);
    return remove_folder(state);
}

TEST(only_the_ode_comes_back)
{
    struct sotto_sde_run runs[SOTTO_SDE_RUNS], again[SOTTO_SDE_RUNS], other[SOTTO_SDE_RUNS];
    assert_int_equal(sotto_sde_demo(runs, folder, data, 3, 1, NULL), SOTTO_OK);
    assert_string_equal(runs[0].name, "ode");
    assert_true(runs[0].rmse < .02 && runs[0].rmse > 1e-6); /* explicit reverse: close, not exact */
    assert_true(runs[1].rmse < 1e-10);
    assert_true(fabs(runs[2].rmse / (.1 * sqrt(2)) - 1) < .1);
    assert_true(fabs(runs[3].rmse / sqrt(2) - 1) < .1);
    assert_true(fabs(runs[4].rmse / runs[4].predicted - 1) < .15);
    assert_true(runs[5].rmse > 10 * runs[0].rmse);
    assert_int_equal(sotto_sde_demo(again, folder, data, 3, 1, NULL), SOTTO_OK);
    assert_memory_equal(runs, again, sizeof runs);
    assert_int_equal(sotto_sde_demo(other, folder, data, 3, 2, NULL), SOTTO_OK);
    assert_true(other[3].rmse != runs[3].rmse);
    static const char *const files[] = {"image.png", "ode-features.png", "multiplicative-1-recovered.png",
                                        "sde.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_true(file_exists(path_of(files[i])));
}

TEST(bad_requests_are_refused)
{
    struct sotto_sde_run runs[SOTTO_SDE_RUNS];
    assert_int_equal(sotto_sde_demo(runs, folder, data, -1, 1, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_sde_demo(runs, folder, data, (int64_t)data->n, 1, NULL), SOTTO_EINVAL);
    struct sotto_dataset table = {.name = "table", .n = 1, .columns = 1, .features = (float[]){0}};
    assert_int_equal(sotto_sde_demo(runs, folder, &table, 0, 1, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "has no images"));
    for (long n = 0; n < 3; n++) {
        base_alloc_fail_after(n);
        sotto_status status = sotto_sde_demo(runs, folder, data, 0, 1, NULL);
        base_alloc_fail_after(-1);
        assert_int_equal(status, SOTTO_ENOMEM);
    }
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .tags = "matrix long")
