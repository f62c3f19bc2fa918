/* SOTTO_ISA: what it limits, what it refuses, and that oneDNN keeps the limit of its first use. */
#include "support/test.h"

#include "base/cpu.h"
#include "nn/nn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int clean(void **state)
{
    (void)state;
    return unsetenv("SOTTO_ISA");
}

TEST(a_level_limits_our_kernels)
{
    assert_int_equal(cpu_best_isa(), cpu_hardware_isa());
    for (int level = 0; level < CPU_ISA_COUNT; level++) {
        int hardware = (int)cpu_hardware_isa();
        setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)level), 1);
        assert_int_equal(sotto_check_environment(), SOTTO_OK);
        assert_int_equal(cpu_best_isa(), level < hardware ? level : hardware);
    }
}

TEST(an_unknown_level_is_refused)
{
    static const char *const wrong[] = {"v5", "", "V3", "avx2", "v4bf"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct nn_backend *b = NULL;
        char text[160];
        setenv("SOTTO_ISA", wrong[i], 1);
        snprintf(
            text, sizeof text,
            "SOTTO_ISA is '%s'; expected v2, v3, v4 or v4bf16 (unset it for the best level of this machine)",
            wrong[i]);
        assert_int_equal(sotto_check_environment(), SOTTO_EUSAGE);
        assert_string_equal(sotto_error_text(), text);
        assert_int_equal(nn_backend_find(&b, "auto"), SOTTO_EUSAGE);
        assert_null(b);
    }
}

static void refused(const char *text)
{
    const struct nn_backend *b;
    enum nn_dtype dtype = NN_F32;
    struct nn_model *m = NULL;
    struct nn_plan *p = NULL;
    struct nn_model_config c = {
        .name = "mlp", .input = {4, 1, 1}, .classes = 2, .hidden = {3}, .hidden_count = 1};
    assert_int_equal(nn_backend_find(&b, "dnnl"), SOTTO_OK);
    assert_int_equal(nn_dtype_find(&dtype, "bf16", b), SOTTO_ENOTSUP);
    if (!strstr(sotto_error_text(), text))
        fail_msg("'%s' lacks '%s'", sotto_error_text(), text);
    assert_int_equal(nn_model_create(&m, &c, 1), SOTTO_OK);
    assert_int_equal(
        nn_plan_create(&p, m, &(struct nn_plan_config){.batch = 2, .backend = b, .dtype = NN_BF16}),
        SOTTO_ENOTSUP);
    assert_non_null(strstr(sotto_error_text(), text));
    nn_model_free(m);
}

/* The first use of oneDNN in this program. */
TEST(one_dnn_keeps_its_first_limit)
{
    const struct nn_backend *b;
    setenv("SOTTO_ISA", "v2", 1);
    if (nn_backend_find(&b, "dnnl") != SOTTO_OK)
        skip();
#if defined(__x86_64__)
    assert_non_null(strstr(nn_backend_title(b), " sse41"));
    assert_non_null(strstr(sotto_version_line(), "ISA v2, oneDNN "));
    assert_non_null(strstr(sotto_version_line(), " sse41, OpenMP"));
    assert_int_equal(nn_backend_find(&b, "winograd"), SOTTO_ENOTSUP);
    refused("dtype bf16 needs the instruction set v4bf16 (AVX-512 with bf16); this machine has v");
    refused(cpu_hardware_isa() == CPU_V2 ? "has v2 (oneDNN" : ", limited by SOTTO_ISA to v2 (oneDNN");
    unsetenv("SOTTO_ISA"); /* ours go up again, oneDNN does not: no bf16 either */
    assert_int_equal(nn_backend_find(&b, "dnnl"), SOTTO_OK);
    assert_int_equal(cpu_best_isa(), cpu_hardware_isa());
    assert_non_null(strstr(nn_backend_title(b), " sse41"));
    refused("sse41); use f32 or auto");
#endif
}

static void no_level_is_asked(void)
{
    unsetenv("SOTTO_ISA");
}

TEST_GROUP(.start = no_level_is_asked, .after = clean)
