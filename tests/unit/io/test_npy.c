/* src/core/io: arrays and .npy files. */
#include "sotto/private/io.h"
#include "support/test.h"

#include "base/file.h"
#include "io/array/npy.h"
#include "io/array/npz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/sotto-test-XXXXXX");
    snprintf(path, sizeof path, "%s/a.npy", mkdtemp(folder) ? folder : "");
    return folder[0] ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

TEST(npy_round_trip_of_every_dtype, .before = make_folder, .after = remove_folder)
{
    const size_t shapes[][3] = {{2, 3, 4}, {7}, {0, 5}, {0}};
    const int dims[] = {3, 1, 2, 0};
    for (enum sotto_dtype d = SOTTO_U1; d <= SOTTO_U8; d++)
        for (size_t s = 0; s < 4; s++) {
            struct sotto_array a = {0}, b = {0};
            assert_int_equal(sotto_array_make(&a, d, dims[s], shapes[s]), SOTTO_OK);
            for (size_t i = 0; i < a.count * sotto_dtype_size(d); i++)
                ((unsigned char *)a.data)[i] = (unsigned char)(d == SOTTO_B1 ? i % 2 : i * 37);
            assert_int_equal(sotto_npy_save(path, &a), SOTTO_OK);
            assert_int_equal(npy_load(&b, path), SOTTO_OK);
            assert_int_equal(b.dtype, d);
            assert_int_equal(b.ndim, dims[s]);
            assert_int_equal(b.count, a.count);
            assert_memory_equal(b.shape, a.shape, sizeof a.shape);
            assert_memory_equal(b.data, a.data, a.count * sotto_dtype_size(d));
            sotto_array_clear(&a);
            sotto_array_clear(&b);
        }
}

/* Builds a file: header text (padded by nothing), then `bytes` zero bytes. */
static sotto_status load_text(const char *header, size_t bytes)
{
    unsigned char file[1024] = "\x93NUMPY\x01";
    size_t length = strlen(header);
    file[8] = (unsigned char)length;
    memcpy(file + 10, header, length);
    struct sotto_array a = {0};
    unsigned char *exact = base_alloc(10 + length + bytes, 1); /* heap, so that ASan sees every overrun */
    memcpy(exact, file, 10 + length + bytes);
    sotto_status status = npy_from_memory(&a, exact, 10 + length + bytes, "m.npy");
    base_free(exact);
    sotto_array_clear(&a);
    return status;
}

TEST(files_of_other_kinds_are_named)
{
    static const struct {
        unsigned char bytes[16];
        const char *kind;
    } cases[] = {{"PK\3\4\24\0\0\0\0\0", "is a ZIP archive (an .npz file?); expected"},
                 {"PK\5\6\0\0\0\0\0\0", "is an empty ZIP archive; expected"},
                 {"\70\0\0\0\0\0\0\0{\"a\":1}", "is a .safetensors file; expected"},
                 {"\x80\4\x95\0\0\0\0\0\0\0\0", "is a pickle, which could run code; expected"},
                 {"\x89HDF\r\n\x1a\n\0\0\0", "is an HDF5 file; expected"},
                 {"PAR1\x15\4\x15\x10\x15\x14", "is a Parquet file; expected"},
                 {"\x1f\x8b\10\0\0\0\0\0\0\3", "is a gzip file; expected"},
                 {"a,b,c\n1,2,3\n4,5\n", "is text; expected"},
                 {"\0\1\2\3\4\5\6\7\10\11\12", "does not start like"}};
    struct sotto_array a = {0};
    struct sotto_tensors t = {0};
    char said[128];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(npy_from_memory(&a, cases[i].bytes, sizeof cases[i].bytes, "x.npy"), SOTTO_EFORMAT);
        snprintf(said, sizeof said, "x.npy: %s a .npy file", cases[i].kind);
        assert_string_equal(sotto_error_text(), said);
        if (i < 2)
            continue;
        assert_int_equal(npz_from_memory(&t, cases[i].bytes, sizeof cases[i].bytes, "x.npz"), SOTTO_EFORMAT);
        snprintf(said, sizeof said, "x.npz: %s a .npz file (a ZIP archive)", cases[i].kind);
        assert_string_equal(sotto_error_text(), said);
    }
}

TEST(npy_refuses_with_a_reason)
{
    static const struct {
        const char *header;
        size_t bytes;
        const char *text;
    } cases[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8,
         "m.npy: dtype '|O' means pickled Python objects, which could run code; save float32 with "
         "allow_pickle=False"},
        {"{'descr': '>u1', 'fortran_order': False, 'shape': (1, 2), }", 2,
         "m.npy: dtype '>u1' is not supported; expected one of b1 u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8"},
        {"{'descr': '<V2', 'fortran_order': False, 'shape': (1, 2), }", 4,
         "m.npy: dtype '<V2' is how bfloat16 is saved, which is no type of .npy"},
        {"{'descr': 'bfloat16', 'fortran_order': False, 'shape': (1, 2), }", 4,
         "m.npy: dtype 'bfloat16' is how bfloat16 is saved, which is no type of .npy"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (1, 2), }", 40,
         "m.npy: dtype '<U5' is not supported; expected one of b1 u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2), }", 8,
         "m.npy: contains records with named fields; expected one of b1 u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 20,
         "m.npy: header states (3, 2) f4 = 24 bytes of data but the file has 20; the file is cut or damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 28,
         "m.npy: header states (3, 2) f4 = 24 bytes of data but the file has 28; the file is cut or damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0,
         "m.npy: header states (4294967296, 4294967296) f4, which no file can contain; the file is damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 0,
         "m.npy: a dimension does not fit in 64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4,
         "m.npy: too many dimensions; expected at most 8"},
        {"{'descr': '<f4', 'fortran_order': False, }", 4,
         "m.npy: damaged .npy header; expected the keys descr, fortran_order and shape, once each"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4,
         "m.npy: damaged .npy header; expected the keys descr, fortran_order and shape, once each"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5), }", 20,
         "m.npy: damaged .npy header at ', }'; expected ',' after a single dimension"},
        {"{'descr': '<f4', 'fortran_order': maybe, 'shape': (5,), }", 20,
         "m.npy: damaged .npy header at 'maybe, 'shape': (5,), }'; expected True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 20,
         "m.npy: damaged .npy header at '-1,), }'; expected a whole number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(load_text(cases[i].header, cases[i].bytes), SOTTO_EFORMAT);
        assert_string_equal(sotto_error_text(), cases[i].text);
    }
    assert_int_equal(load_text("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 24), SOTTO_OK);
    assert_int_equal(load_text("{\"shape\":(),'fortran_order':False,'descr':'<f8'}\n", 8), SOTTO_OK);
}

/* A file of `size` bytes of data behind a header. */
static void load_data(struct sotto_array *a, const char *header, const void *data, size_t size)
{
    unsigned char file[1024] = "\x93NUMPY\x01";
    size_t length = strlen(header);
    file[8] = (unsigned char)length;
    memcpy(file + 10, header, length);
    memcpy(file + 10 + length, data, size);
    assert_int_equal(npy_from_memory(a, file, 10 + length + size, "m.npy"), SOTTO_OK);
}

TEST(npy_of_another_byte_order_is_turned)
{
    static const unsigned char u2[] = {0x01, 0x02, 0xff, 0xfe}, i4[] = {0xff, 0xff, 0xff, 0xfe},
                               f8[] = {0xc0, 0x04, 0, 0, 0, 0, 0, 0};
    struct sotto_array a = {0};
    load_data(&a, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }", u2, sizeof u2);
    assert_true(a.dtype == SOTTO_U2 && array_value(&a, 0) == 0x102 && array_value(&a, 1) == 0xfffe);
    sotto_array_clear(&a);
    load_data(&a, "{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }", i4, sizeof i4);
    assert_true(a.dtype == SOTTO_I4 && array_value(&a, 0) == -2);
    sotto_array_clear(&a);
    load_data(&a, "{'descr': '>f8', 'fortran_order': False, 'shape': (), }", f8, sizeof f8);
    assert_true(a.dtype == SOTTO_F8 && array_value(&a, 0) == -2.5);
    sotto_array_clear(&a);
}

TEST(npy_in_fortran_order_becomes_row_major)
{
    /* Value i + 10 j + 100 k stands at (i, j, k) of shape (2, 3, 2), first index fastest. */
    static const unsigned char data[] = {0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121};
    struct sotto_array a = {0};
    load_data(&a, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }", data, sizeof data);
    for (size_t i = 0; i < a.count; i++)
        assert_true(array_value(&a, i) == (double)(i / 6 + 10 * (i / 2 % 3) + 100 * (i % 2)));
    sotto_array_clear(&a);
    load_data(&a, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }", data, 8);
    assert_true(array_value(&a, 0) == 0x0001 && array_value(&a, 1) == 0x1415); /* bytes 4 and 5 */
    sotto_array_clear(&a);
    load_data(&a, "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3), }", data, 0);
    assert_int_equal(a.count, 0);
    sotto_array_clear(&a);
}
