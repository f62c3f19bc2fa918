/* Files written by NumPy, safetensors and PyTorch (tools/golden_formats.py); half precision against NumPy. */
#include "support/test.h"

#include "io/array/array.h"
#include "io/array/npy.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *golden(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/golden/known/formats/%s", SOTTO_TEST_DIR, name);
    return path;
}

/* The formulas of the generator. */
static double expected(enum sotto_dtype dtype, size_t i)
{
    switch (dtype) {
    case SOTTO_U1:
        return (double)(7 * i % 256);
    case SOTTO_B1:
        return i % 3 == 0;
    case SOTTO_I4:
    case SOTTO_I8:
        return 1000.0 * (double)i - 3000;
    default:
        return ((double)i - 5) / 4;
    }
}

static void check_array(const struct sotto_array *a, const char *name)
{
    assert_string_equal(sotto_dtype_name(a->dtype), strcmp(name, "bool") == 0 ? "b1" : name);
    assert_int_equal(a->ndim, 2);
    assert_int_equal(a->shape[0], 3);
    assert_int_equal(a->shape[1], 4);
    for (size_t i = 0; i < 12; i++)
        assert_true(array_value(a, i) == expected(a->dtype, i));
}

static const char *const names[] = {"f2", "f4", "f8", "i4", "i8", "u1", "bool"};

TEST(numpy_arrays_are_read)
{
    struct sotto_array a = {0};
    char file[32];
    for (size_t n = 0; n < 7; n++) {
        snprintf(file, sizeof file, "%s.npy", names[n]);
        assert_int_equal(npy_load(&a, golden(file)), SOTTO_OK);
        check_array(&a, names[n]);
        sotto_array_clear(&a);
    }
    for (int version = 1; version <= 3; version++) {
        snprintf(file, sizeof file, "version%d.npy", version);
        assert_int_equal(npy_load(&a, golden(file)), SOTTO_OK);
        check_array(&a, "f4");
        sotto_array_clear(&a);
    }
    static const char *const turned[] = {"fortran.npy", "big_endian.npy"};
    for (size_t n = 0; n < 2; n++) {
        assert_int_equal(npy_load(&a, golden(turned[n])), SOTTO_OK);
        check_array(&a, "f4");
        sotto_array_clear(&a);
    }
    assert_int_equal(npy_load(&a, golden("scalar.npy")), SOTTO_OK);
    assert_true(a.ndim == 0 && a.count == 1 && *(double *)a.data == 2.5);
    sotto_array_clear(&a);
    assert_int_equal(npy_load(&a, golden("empty.npy")), SOTTO_OK);
    assert_true(a.ndim == 2 && a.count == 0 && a.shape[1] == 7);
    sotto_array_clear(&a);
}

TEST(numpy_arrays_are_refused_by_name)
{
    static const char *const cases[][2] = {
        {"object.npy", "dtype '|O' means pickled Python objects, which could run code; save float32 with "
                       "allow_pickle=False"},
        {"complex.npy", "dtype '<c8' is not supported; expected one of b1 u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8"},
    };
    struct sotto_array a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(npy_load(&a, golden(cases[i][0])), SOTTO_EFORMAT);
        assert_non_null(strstr(sotto_error_text(), cases[i][1]));
        assert_null(a.data);
    }
}

TEST(our_npy_bytes_are_numpys)
{
    char path[] = "/tmp/sotto-test-XXXXXX", ours[1024], theirs[1024];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t n = 0; n < 7; n++) {
        char file[32];
        struct sotto_array a = {0};
        snprintf(file, sizeof file, "%s.npy", names[n]);
        assert_int_equal(npy_load(&a, golden(file)), SOTTO_OK);
        assert_int_equal(sotto_npy_save(path, &a), SOTTO_OK);
        sotto_array_clear(&a);
        FILE *f = fopen(path, "rb"), *g = fopen(golden(file), "rb");
        size_t length = fread(ours, 1, sizeof ours, f);
        assert_int_equal(fread(theirs, 1, sizeof theirs, g), length);
        assert_memory_equal(ours, theirs, length);
        fclose(f);
        fclose(g);
    }
    unlink(path);
}

TEST(numpy_archives_are_read)
{
    for (int deflated = 0; deflated < 2; deflated++) {
        struct sotto_tensors t = {0};
        assert_int_equal(sotto_npz_load(&t, golden(deflated ? "deflated.npz" : "stored.npz")), SOTTO_OK);
        assert_int_equal(t.count, deflated ? 8 : 7);
        for (size_t n = 0; n < 7; n++)
            check_array(tensors_find(&t, names[n]), names[n]);
        if (deflated)
            assert_int_equal(tensors_find(&t, "zeros")->count, 10000);
        sotto_tensors_clear(&t);
    }
}

TEST(safetensors_of_others_are_read)
{
    struct sotto_tensors t = {0};
    assert_int_equal(safetensors_load(&t, golden("numpy.safetensors")), SOTTO_OK);
    assert_int_equal(t.count, 7);
    for (size_t n = 0; n < 7; n++)
        check_array(tensors_find(&t, names[n]), names[n]);
    assert_string_equal(tensors_metadata(&t, "note"), "hello");
    sotto_tensors_clear(&t);
    assert_int_equal(safetensors_load(&t, golden("torch.safetensors")), SOTTO_OK);
    check_array(tensors_find(&t, "0.weight"), "f4");
    const float *x = tensors_find(&t, "bf16")->data;
    assert_true(x[0] == -3.140625f && x[1] == 1.0f && x[2] == 0x1p126f * 1.9921875f);
    sotto_tensors_clear(&t);
}

TEST(half_precision_is_numpys)
{
    struct sotto_tensors t = {0};
    assert_int_equal(sotto_npz_load(&t, golden("half.npz")), SOTTO_OK);
    const struct sotto_array *wide = tensors_find(&t, "wide"), *narrow = tensors_find(&t, "narrow");
    const int32_t *patterns = tensors_find(&t, "patterns")->data, *bits = narrow->data;
    const double *x = tensors_find(&t, "x")->data;
    assert_true(wide->count > 1000 && narrow->count > 500);
    for (size_t i = 0; i < wide->count; i++)
        assert_true(half_to_float((uint16_t)patterns[i]) == ((const float *)wide->data)[i]);
    for (size_t i = 0; i < narrow->count; i++)
        assert_int_equal(half_from_double(x[i]), bits[i]);
    sotto_tensors_clear(&t);
    for (unsigned b = 0; b < 65536; b++) { /* and there is one way back for every pattern */
        float value = half_to_float((uint16_t)b);
        if (!isnan(value))
            assert_int_equal(half_from_double(value), b);
    }
    assert_true(isnan(half_to_float(half_from_double(NAN))));
}
