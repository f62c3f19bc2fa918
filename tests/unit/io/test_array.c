/* src/core/io: arrays in memory: shapes, conversions, the finite check. */
#include "sotto/private/io.h"
#include "support/test.h"

#include "io/array/array.h"

#include <math.h>
#include <string.h>

static struct sotto_array make(enum sotto_dtype dtype, size_t n, const void *data)
{
    struct sotto_array a = {0};
    assert_int_equal(sotto_array_make(&a, dtype, 1, &n), SOTTO_OK);
    memcpy(a.data, data, n * sotto_dtype_size(dtype));
    return a;
}

TEST(shapes_are_checked)
{
    struct sotto_array a = {0};
    const size_t huge[] = {SIZE_MAX / 4, 8}, zero_huge[] = {0, SIZE_MAX / 4, 8},
                 nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_int_equal(sotto_array_make(&a, SOTTO_F4, 9, nine), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "array: 9 dimensions; expected at most 8");
    assert_int_equal(sotto_array_make(&a, (enum sotto_dtype)99, 1, nine), SOTTO_EINVAL);
    assert_int_equal(sotto_array_make(&a, SOTTO_F4, 2, huge), SOTTO_ENOMEM);
    assert_int_equal(sotto_array_make(&a, SOTTO_F4, 3, zero_huge), SOTTO_ENOMEM); /* no sane stride exists */
    assert_null(a.data);
    assert_int_equal(sotto_array_make(&a, SOTTO_F8, 0, NULL), SOTTO_OK);
    assert_true(a.count == 1 && *(double *)a.data == 0);
    sotto_array_clear(&a);
    sotto_array_clear(&a);
    assert_int_equal(sotto_dtype_size((enum sotto_dtype)99), 0);
    assert_string_equal(sotto_dtype_name((enum sotto_dtype) - 1), "?");
}

TEST(conversions_are_exact_or_refused)
{
    struct sotto_array a = make(SOTTO_I8, 3, (const int64_t[]){-1, 0, (INT64_C(1) << 53) + 1});
    assert_int_equal(sotto_array_convert(&a, SOTTO_U1), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "array: value 0 is -1, which u1 cannot hold");
    assert_int_equal(sotto_array_convert(&a, SOTTO_I4), SOTTO_EINVAL);
    assert_int_equal(a.dtype, SOTTO_I8); /* untouched */
    assert_int_equal(((int64_t *)a.data)[2], (INT64_C(1) << 53) + 1);
    sotto_array_clear(&a);
    /* One above a tie for float: to double first it would become the tie itself, then round down to even. */
    const int64_t tie = (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1;
    a = make(SOTTO_I8, 1, &tie);
    assert_int_equal(sotto_array_convert(&a, SOTTO_F4), SOTTO_OK);
    assert_true(((float *)a.data)[0] == (float)((INT64_C(1) << 60) + (INT64_C(1) << 37)));
    sotto_array_clear(&a);
    a = make(SOTTO_F8, 4, (const double[]){0, 255, 1, -0.0});
    assert_int_equal(sotto_array_convert(&a, SOTTO_B1), SOTTO_EINVAL);
    assert_int_equal(sotto_array_convert(&a, SOTTO_U1), SOTTO_OK);
    assert_int_equal(((uint8_t *)a.data)[1], 255);
    assert_int_equal(sotto_array_convert(&a, SOTTO_F2), SOTTO_OK);
    assert_true(array_value(&a, 1) == 255);
    sotto_array_clear(&a);
    static const double refused[] = {0.5, NAN, INFINITY, -INFINITY, 0x1p63, -0x1p64};
    for (size_t i = 0; i < 6; i++) {
        a = make(SOTTO_F8, 1, &refused[i]);
        assert_int_equal(sotto_array_convert(&a, SOTTO_I8), SOTTO_EINVAL);
        sotto_array_clear(&a);
    }
    const double lowest = -0x1p63;
    a = make(SOTTO_F8, 1, &lowest);
    assert_int_equal(sotto_array_convert(&a, SOTTO_I8), SOTTO_OK);
    assert_true(((int64_t *)a.data)[0] == INT64_MIN);
    sotto_array_clear(&a);
}

TEST(every_integer_type_is_converted)
{
    const uint64_t big[] = {7, UINT64_MAX - 2047, INT64_MAX};
    struct sotto_array a = make(SOTTO_U8, 2, big);
    assert_true(array_value(&a, 1) == 0x1p64 - 2048);
    assert_int_equal(sotto_array_convert(&a, SOTTO_I8), SOTTO_EINVAL);
    assert_int_equal(sotto_array_convert(&a, SOTTO_U4), SOTTO_EINVAL);
    assert_int_equal(sotto_array_require_exact(&a, SOTTO_F8, "x.npy"), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "x.npy: value 1 is 1.844674407370955e+19; f8 holds whole numbers up to 2^53 exactly; "
                        "scale the values and save them as floats");
    assert_int_equal(sotto_array_convert(&a, SOTTO_F4), SOTTO_OK); /* to floats any array */
    assert_true(((float *)a.data)[0] == 7 && ((float *)a.data)[1] == 0x1p64f);
    sotto_array_clear(&a);
    a = make(SOTTO_U8, 3, (const uint64_t[]){7, 0, INT64_MAX});
    assert_int_equal(sotto_array_convert(&a, SOTTO_I8), SOTTO_OK);
    assert_true(((int64_t *)a.data)[2] == INT64_MAX);
    sotto_array_clear(&a);
    static const enum sotto_dtype types[] = {SOTTO_I1, SOTTO_I2, SOTTO_U2, SOTTO_U4,
                                             SOTTO_U8, SOTTO_I4, SOTTO_U1};
    static const double lowest[] = {-128, -32768, 0, 0, 0, -2147483648., 0},
                        highest[] = {127, 32767, 65535, 4294967295., 0x1p63, 2147483647., 255};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const double inside[] = {lowest[t], types[t] == SOTTO_U8 ? 0x1p62 : highest[t]},
                     below = lowest[t] - 1, above = highest[t] + 1;
        a = make(SOTTO_F8, 2, inside);
        assert_int_equal(sotto_array_convert(&a, types[t]), SOTTO_OK);
        assert_true(array_value(&a, 0) == inside[0] && array_value(&a, 1) == inside[1]);
        assert_int_equal(sotto_array_convert(&a, SOTTO_F8), SOTTO_OK);
        assert_memory_equal(a.data, inside, sizeof inside);
        sotto_array_clear(&a);
        a = make(SOTTO_F8, 1, &below);
        assert_int_equal(sotto_array_convert(&a, types[t]), SOTTO_EINVAL);
        sotto_array_clear(&a);
        a = make(SOTTO_F8, 1, &above);
        assert_int_equal(sotto_array_convert(&a, types[t]), SOTTO_EINVAL);
        sotto_array_clear(&a);
    }
    a = make(SOTTO_I4, 2, (const int32_t[]){1 << 24, -(1 << 24)});
    assert_int_equal(sotto_array_require_exact(&a, SOTTO_F4, "x.npy"), SOTTO_OK);
    sotto_array_clear(&a);
    a = make(SOTTO_I8, 1, &(const int64_t){(INT64_C(1) << 53) + 1}); /* as a double it would be 2^53 */
    assert_int_equal(sotto_array_require_exact(&a, SOTTO_F8, "x.npy"), SOTTO_EINVAL);
    sotto_array_clear(&a);
    a = make(SOTTO_I4, 2, (const int32_t[]){1 << 24, -(1 << 24)});
    ((int32_t *)a.data)[1]--;
    assert_int_equal(sotto_array_require_exact(&a, SOTTO_F4, "x.npy"), SOTTO_EINVAL);
    assert_int_equal(sotto_array_require_exact(&a, SOTTO_F8, "x.npy"), SOTTO_OK);
    sotto_array_clear(&a);
}

TEST(finite_check_says_where)
{
    struct sotto_array a = {0};
    assert_int_equal(sotto_array_make(&a, SOTTO_F4, 2, (const size_t[]){5000, 10}), SOTTO_OK);
    float *x = a.data;
    assert_int_equal(sotto_array_require_finite(&a, "n.npy", "logits"), SOTTO_OK);
    x[17 * 10 + 2] = x[17 * 10 + 5] = x[40 * 10] = x[4999 * 10 + 9] = NAN;
    assert_int_equal(sotto_array_require_finite(&a, "n.npy", "logits"), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "n.npy: 3 of 5000 rows contain NaN (first: row 17, column 2); logits must be finite");
    x[3] = -INFINITY;
    assert_int_equal(sotto_array_require_finite(&a, "n.npy", "logits"), SOTTO_EINVAL);
    assert_string_equal(
        sotto_error_text(),
        "n.npy: 4 of 5000 rows contain NaN or infinity (first: row 0, column 3); logits must be finite");
    sotto_array_clear(&a);
    a = make(SOTTO_F8, 2, (const double[]){1, INFINITY});
    assert_int_equal(sotto_array_require_finite(&a, "s.npy", "scores"), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "s.npy: 1 of 2 values are infinity (first: value 1); scores must be finite");
    sotto_array_clear(&a);
}
