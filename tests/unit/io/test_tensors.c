/* src/core/io: .safetensors files and the tensor list. */
#include "support/test.h"

#include "base/file.h"
#include "io/array/npy.h"
#include "io/array/npz.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sotto_status load(struct sotto_tensors *t, uint64_t length, const char *header, const void *data,
                         size_t bytes)
{
    size_t n = strlen(header);
    unsigned char *file = base_alloc(8 + n + bytes, 1);
    for (int i = 0; i < 8; i++)
        file[i] = (unsigned char)(length >> 8 * i);
    memcpy(file + 8, header, n);
    if (bytes)
        memcpy(file + 8 + n, data, bytes);
    sotto_status status = safetensors_load_bytes(t, file, 8 + n + bytes, "head.safetensors");
    base_free(file);
    return status;
}

TEST(safetensors_refuse_with_a_reason)
{
    static const struct {
        const char *header;
        size_t bytes;
        const char *text;
    } cases[] = {
        {"[]", 0, "head.safetensors: its header does not start with '{'; not a .safetensors file"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"F32\",\"shape\":"
         "[1],"
         "\"data_offsets\":[0,4]}}",
         4, "head.safetensors:1:57: not valid JSON: duplicate object key near '\"a\"'"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8,
         "head.safetensors: contains 8 bytes of data but its tensors need 4"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4,
         "head.safetensors: tensor 'a': ends at byte 8 but the file holds 4 bytes of data; the file is cut "
         "or damaged"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4,
         "head.safetensors: tensor 'a': shape (2,) f4 needs 8 bytes, data_offsets give 4"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":"
         "[1],"
         "\"data_offsets\":[2,6]}}",
         6, "head.safetensors: tensor 'b': overlaps another tensor"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":"
         "[1],"
         "\"data_offsets\":[6,10]}}",
         10, "head.safetensors: bytes 4 to 5 of the data do not belong to a tensor"},
        {"{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
         "head.safetensors: tensor 'a': its dtype is F8_E4M3; expected one of BOOL U8 U16 U32 U64 I8 I16 I32 "
         "I64 F16 BF16 F32 F64"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,2]}}", 2,
         "head.safetensors: tensor 'a': its shape is not a list of at most 8 whole numbers"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,0]}}", 2,
         "head.safetensors: tensor 'a': its data_offsets are not two whole numbers in order"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 2,
         "head.safetensors: tensor 'a': expected an object with dtype, shape and data_offsets"},
        {"{\"a\\u001b[2J\":3}", 0,
         "head.safetensors: tensor 'a?[2J': expected an object with dtype, shape and data_offsets"},
        {"{\"__metadata__\":{\"a\":3}}", 0, "head.safetensors: __metadata__ is not an object of texts"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807,3],\"data_offsets\":[0,4]}}", 4,
         "head.safetensors: tensor 'a': its size does not fit in memory"},
        {"{\"a\":{\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
         "head.safetensors: boolean 0 is stored as 120; expected 0 or 1"},
    };
    struct sotto_tensors t = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(load(&t, strlen(cases[i].header), cases[i].header, "xxxxxxxxxxxx", cases[i].bytes),
                         SOTTO_EFORMAT);
        assert_string_equal(sotto_error_text(), cases[i].text);
        assert_int_equal(t.count, 0);
    }
    assert_int_equal(load(&t, 1ull << 63, "{}", NULL, 0), SOTTO_EFORMAT);
    assert_string_equal(
        sotto_error_text(),
        "head.safetensors: header states 8 EiB but the file has 10 bytes; the file is cut or damaged");
}

TEST(safetensors_round_trip_is_deterministic)
{
    char folder[] = "/tmp/sotto-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(path_join(path, sizeof path, folder, "a.safetensors"), SOTTO_OK);
    struct sotto_tensors t = {0}, u = {0};
    const float w[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8};
    assert_int_equal(tensors_add(&t, "0.weight", SOTTO_F4, 2, (const size_t[]){2, 3}, w), SOTTO_OK);
    assert_int_equal(tensors_add(&t, "0.bias", SOTTO_F4, 1, (const size_t[]){2}, b), SOTTO_OK);
    assert_int_equal(tensors_add(&t, "0.bias", SOTTO_F4, 1, (const size_t[]){2}, b), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "tensor name '0.bias' is used twice; expected different names");
    assert_int_equal(tensors_add(&t, "empty", SOTTO_I8, 2, (const size_t[]){0, 3}, NULL), SOTTO_OK);
    assert_int_equal(tensors_set_metadata(&t, "z", "last"), SOTTO_OK);
    assert_int_equal(tensors_set_metadata(&t, "a", "first"), SOTTO_OK);
    assert_int_equal(tensors_set_metadata(&t, "m", "old"), SOTTO_OK);
    assert_int_equal(tensors_set_metadata(&t, "m", "middle \"quoted\""), SOTTO_OK);
    assert_int_equal(safetensors_save(path, &t), SOTTO_OK);
    unsigned char *first, *second;
    size_t first_size, second_size;
    assert_int_equal(file_read(&first, &first_size, path, 10000), SOTTO_OK);
    assert_int_equal(first[8], '{');
    assert_int_equal((first_size - 32) % 8, 0); /* 32 bytes of data after an aligned header */
    assert_int_equal(safetensors_load(&u, path), SOTTO_OK);
    assert_int_equal(u.count, 3);
    assert_int_equal(u.metadata_count, 3);
    assert_string_equal(u.items[0].name, "0.weight");
    assert_memory_equal(tensors_find(&u, "0.weight")->data, w, sizeof w);
    assert_memory_equal(tensors_find(&u, "0.bias")->data, b, sizeof b);
    assert_int_equal(tensors_find(&u, "empty")->shape[1], 3);
    assert_null(tensors_find(&u, "1.bias"));
    assert_string_equal(tensors_metadata(&u, "m"), "middle \"quoted\"");
    assert_null(tensors_metadata(&u, "none"));
    assert_int_equal(safetensors_save(path, &u), SOTTO_OK);
    assert_int_equal(file_read(&second, &second_size, path, 10000), SOTTO_OK);
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    base_free(first);
    base_free(second);
    sotto_tensors_clear(&t);
    sotto_tensors_clear(&u);
    unlink(path);
    rmdir(folder);
}

TEST(bf16_is_widened)
{
    struct sotto_tensors t = {0};
    const char *header = "{\"a\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[0,6]}}";
    assert_int_equal(load(&t, strlen(header), header, "\x80\x3f\x49\xc0\x80\x7f", 6), SOTTO_OK);
    const float *x = t.items[0].array.data;
    assert_int_equal(t.items[0].array.dtype, SOTTO_F4);
    assert_true(x[0] == 1.0f && x[1] == -3.140625f && x[2] > 3.4e38f);
    sotto_tensors_clear(&t);
}

/* Saves two arrays as .npz and gives back the bytes. */
static unsigned char *make_npz(size_t *size)
{
    char folder[] = "/tmp/sotto-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(path_join(path, sizeof path, folder, "a.npz"), SOTTO_OK);
    struct sotto_tensors t = {0};
    assert_int_equal(tensors_add(&t, "w", SOTTO_F4, 1, (const size_t[]){3}, (const float[]){1, 2, 3}),
                     SOTTO_OK);
    assert_int_equal(tensors_add(&t, "e", SOTTO_I8, 2, (const size_t[]){0, 2}, NULL), SOTTO_OK);
    assert_int_equal(npz_save(path, &t), SOTTO_OK);
    sotto_tensors_clear(&t);
    assert_int_equal(sotto_npz_load(&t, path), SOTTO_OK);
    assert_int_equal(t.count, 2);
    assert_true(((float *)tensors_find(&t, "w")->data)[2] == 3);
    assert_int_equal(tensors_find(&t, "e")->shape[1], 2);
    sotto_tensors_clear(&t);
    unsigned char *data = NULL;
    assert_int_equal(file_read(&data, size, path, 100000), SOTTO_OK);
    unlink(path);
    rmdir(folder);
    return data;
}

static sotto_status load_npz(const unsigned char *data, size_t size)
{
    struct sotto_tensors t = {0};
    unsigned char *exact = base_alloc(size, 1);
    memcpy(exact, data, size);
    sotto_status status = npz_from_memory(&t, exact, size, "a.npz");
    base_free(exact);
    sotto_tensors_clear(&t);
    return status;
}

/* Replaces every occurrence of a text by one of the same length. */
static void patch(unsigned char *data, size_t size, const char *from, const char *to)
{
    size_t n = strlen(from), found = 0;
    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(data + i, from, n) == 0) {
            memcpy(data + i, to, n);
            found++;
        }
    assert_true(found > 0);
}

TEST(npz_refuses_with_a_reason)
{
    size_t size, again_size;
    unsigned char *data = make_npz(&size), *again = make_npz(&again_size);
    assert_int_equal(size, again_size); /* deterministic */
    assert_memory_equal(data, again, size);
    assert_int_equal(load_npz((const unsigned char *)"NOTAZIP", 7), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "a.npz: is text; expected a .npz file (a ZIP archive)");
    patch(again, size, "w.npy", "w.txt");
    assert_int_equal(load_npz(again, size), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "a.npz: member 'w.txt' is not a .npy file");
    memcpy(again, data, size);
    patch(again, size, "e.npy", "w.npy");
    assert_int_equal(load_npz(again, size), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "a.npz: two members are named 'w.npy'");
    memcpy(again, data, size);
    patch(again, size, "<f4", "<f8");
    assert_int_equal(load_npz(again, size), SOTTO_EFORMAT); /* the CRC no longer fits */
    assert_non_null(strstr(sotto_error_text(), "a.npz: damaged .npz file: "));
    unsigned char *central = memmem(again, size, "PK\x01\x02", 4);
    assert_non_null(central);
    memcpy(again, data, size);
    memcpy(central + 24, "\xff\xff\xff\x7f", 4); /* both entries claim 2 GiB */
    memcpy(again + 22, "\xff\xff\xff\x7f", 4);
    assert_int_equal(load_npz(again, size), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(),
                        "a.npz: member 'w.npy' claims 2 GiB, more than a file of this size can hold");
    memcpy(again, data, size);
    for (size_t cut = 4; cut < size; cut += 7)
        assert_int_equal(load_npz(again, cut), SOTTO_EFORMAT); /* the directory stands at the end */
    memcpy(again, data, size);
    again[6] |= 1, central[8] |= 1;
    assert_int_equal(load_npz(again, size), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "a.npz: member 'w.npy' is encrypted; save it without encryption");
    memcpy(again, data, size);
    central[10] = 12;
    assert_int_equal(load_npz(again, size), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(),
                        "a.npz: member 'w.npy' has an unknown compression (method 12); expected "
                        "stored or deflated");
    base_free(data);
    base_free(again);
}

static sotto_status try_everything(const char *folder, const unsigned char *npz, size_t npz_size)
{
    sotto_status status = SOTTO_OK;
    char path[128];
    struct sotto_tensors t = {0}, u = {0};
    struct sotto_array a = {0};
    TRY(tensors_set_metadata(&t, "b", "2"));
    TRY(tensors_set_metadata(&t, "a", "1"));
    TRY(tensors_set_metadata(&t, "a", "3"));
    for (int i = 0; i < 3; i++)
        TRY(tensors_add(&t, (const char *[]){"x", "y", "z"}[i], SOTTO_F4, 1, (const size_t[]){2},
                        (const float[]){1, 2}));
    TRY(path_join(path, sizeof path, folder, "a.safetensors"));
    TRY(safetensors_save(path, &t));
    TRY(safetensors_load(&u, path));
    sotto_tensors_clear(&u);
    TRY(npz_from_memory(&u, npz, npz_size, "a.npz"));
    TRY(path_join(path, sizeof path, folder, "a.npz"));
    TRY(npz_save(path, &t));
    TRY(path_join(path, sizeof path, folder, "a.npy"));
    TRY(sotto_npy_save(path, &t.items[0].array));
    TRY(npy_load(&a, path));
    TRY(sotto_array_convert(&a, SOTTO_I8));
done:
    sotto_tensors_clear(&t);
    sotto_tensors_clear(&u);
    sotto_array_clear(&a);
    return status;
}

TEST(every_allocation_may_fail)
{
    char folder[] = "/tmp/sotto-test-XXXXXX", path[64];
    size_t size;
    unsigned char *npz = make_npz(&size);
    assert_non_null(mkdtemp(folder));
    sotto_status status = SOTTO_ENOMEM;
    long i = 0;
    for (; status != SOTTO_OK && i < 500; i++) {
        base_alloc_fail_after(i);
        status = try_everything(folder, npz, size);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(i > 40); /* it did go through the allocations one by one */
    base_free(npz);
    for (int f = 0; f < 3; f++) {
        assert_int_equal(
            path_join(path, sizeof path, folder, (const char *[]){"a.npy", "a.npz", "a.safetensors"}[f]),
            SOTTO_OK);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0); /* no temporary file was left behind */
}
