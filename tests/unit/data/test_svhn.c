/* SVHN's MATLAB files: plain and packed, digits in bytes and in doubles; each right, and wrong in every way that the reader
 * names. */
#include "support/test.h"

#include "data/format/mat.h"
#include "support/data_files.h"
#include "sotto/lab/data.h"

#include <zlib.h>

enum { SIDE = 2, PIXELS = SIDE * SIDE * 3 };
static char folder[64];

static int set_up(void **state)
{
    (void)state;
    files_folder(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    files_remove(folder);
    return 0;
}

static void put_word(struct blob *b, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        b->data[b->size++] = (unsigned char)(x >> 8 * i);
}

static void put_element(struct blob *b, uint32_t type, const void *data, size_t size)
{
    put_word(b, type);
    put_word(b, (uint32_t)size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
    while (b->size % 8)
        b->data[b->size++] = 0;
}

static void start(struct blob *b)
{
    memset(b->data, ' ', 124);
    memcpy(b->data, "MATLAB 5.0 MAT-file", 19);
    memcpy(b->data + 124, "\0\1IM", 4);
    b->size = 128;
}

/* An array of class `kind` whose values are stored as `type`. */
static void put_array(struct blob *b, const char *name, uint32_t kind, const int32_t *shape, size_t ndim,
                      uint32_t type, const void *values, size_t size, bool packed)
{
    struct blob inside = {.size = 0}, whole = {.size = 0};
    unsigned char flags[8] = {(unsigned char)kind};
    put_element(&inside, 6, flags, sizeof flags);
    put_element(&inside, 5, shape, 4 * ndim);
    put_word(&inside, (uint32_t)strlen(name) << 16 | 1); /* a short element */
    memset(inside.data + inside.size, 0, 4);
    memcpy(inside.data + inside.size, name, strlen(name));
    inside.size += 4;
    put_element(&inside, type, values, size);
    put_element(&whole, 14, inside.data, inside.size);
    if (!packed) {
        memcpy(b->data + b->size, whole.data, whole.size);
        b->size += whole.size;
        return;
    }
    uLongf length = sizeof b->data - b->size - 8;
    if (compress(b->data + b->size + 8, &length, whole.data, whole.size) != Z_OK)
        abort();
    put_word(b, 15);
    put_word(b, (uint32_t)length);
    b->size += length;
}

/* Byte i of X is start + i; digits 1, 2 .. and so on. */
static void put_set(struct blob *b, int32_t n, unsigned first, const double *digits, bool packed)
{
    unsigned char x[8 * PIXELS];
    for (int i = 0; i < n * PIXELS; i++)
        x[i] = (unsigned char)(first + (unsigned)i);
    start(b);
    put_array(b, "X", 9, (const int32_t[]){SIDE, SIDE, 3, n}, 4, 2, x, (size_t)n * PIXELS, packed);
    put_array(b, "y", 6, (const int32_t[]){n, 1}, 2, 9, digits, 8 * (size_t)n, packed);
}

TEST(digits_become_a_set, .before = set_up, .after = tear_down)
{
    struct blob train, test;
    put_set(&train, 3, 0, (const double[]){1, 10, 9}, false);
    put_set(&test, 2, 100, (const double[]){10, 5}, true);
    files_write(folder, "train_32x32.mat", train.data, train.size);
    files_write(folder, "test_32x32.mat", test.data, test.size);
    files_write(folder, "extra_32x32.mat", "left alone", 10);
    struct sotto_dataset *d = NULL;
    if (sotto_dataset_open(&d, folder, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_true(d->n == 5 && d->n_train == 3 && d->channels == 3 && d->height == 2 && d->width == 2);
    static const int64_t labels[5] = {1, 0, 9, 0, 5};
    for (int i = 0; i < 5; i++)
        assert_int_equal(d->labels[i], labels[i]);
    /* bytes 0 1 2 3 are the columns of the first colour, so its rows are 0 2 and 1 3 */
    static const uint8_t first[6] = {0, 2, 1, 3, 4, 6};
    assert_memory_equal(d->images, first, 6);
    assert_int_equal(d->images[3 * PIXELS], 100);
    assert_int_equal(d->images[4 * PIXELS + 5], 100 + PIXELS + 6);
    assert_int_equal(d->classes, 10);
    sotto_dataset_free(d);
}

TEST(types_of_values)
{
    static const int8_t i8[2] = {-3, 4};
    static const int16_t i16[2] = {-300, 4};
    static const uint16_t u16[2] = {60000, 4};
    static const int32_t i32[2] = {-70000, 4};
    static const uint32_t u32[2] = {4000000000u, 4};
    static const float single[2] = {.5F, 4};
    const struct {
        uint32_t type;
        const void *values;
        size_t size;
        double first;
    } cases[] = {{1, i8, 2, -3},      {3, i16, 4, -300},         {4, u16, 4, 60000},
                 {5, i32, 8, -70000}, {6, u32, 8, 4000000000.0}, {7, single, 8, .5}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct blob b;
        struct mat_array a;
        start(&b);
        put_array(&b, "z", 6, (const int32_t[]){2, 1}, 2, 9, (const double[]){1, 2}, 16,
                  true); /* another one */
        put_array(&b, "y", 6, (const int32_t[]){2, 1}, 2, cases[k].type, cases[k].values, cases[k].size,
                  k % 2);
        if (mat_from_memory(&a, b.data, b.size, "y", 1 << 20, NULL) != SOTTO_OK)
            fail_msg("type %u: %s", (unsigned)cases[k].type, sotto_error_text());
        assert_true(a.count == 2 && mat_value(&a, 0) == cases[k].first && mat_value(&a, 1) == 4);
        mat_clear(&a);
    }
}

static void refuse(const struct blob *b, size_t size, size_t limit, const char *text)
{
    struct mat_array a;
    assert_int_equal(mat_from_memory(&a, b->data, size, "y", limit, NULL), SOTTO_EFORMAT);
    if (!strstr(sotto_error_text(), text))
        fail_msg("'%s' does not say '%s'", sotto_error_text(), text);
}

TEST(damaged_files_are_refused)
{
    static const double values[2] = {1, 2};
    struct blob b;
    start(&b);
    refuse(&b, 127, 1000, "is not a MATLAB file of version 5");
    refuse(&b, 128, 1000, "has no array 'y'");
    memcpy(b.data + 124, "\1\0MI", 4);
    refuse(&b, 128, 1000, "big-endian");
    start(&b);
    put_array(&b, "y", 6, (const int32_t[]){3, 1}, 2, 9, values, 16, false);
    refuse(&b, b.size, 1000, "has 16 bytes of values of type 9; expected 3 numbers");
    refuse(&b, b.size - 8, 1000, "is cut: an element states");
    refuse(&b, 132, 1000, "is cut: 4 bytes are left");
    start(&b);
    put_array(&b, "y", 4, (const int32_t[]){2, 1}, 2, 4, values, 4, false); /* text */
    refuse(&b, b.size, 1000, "is not one of real numbers");
    start(&b);
    put_array(&b, "y", 6, (const int32_t[]){0, 1}, 2, 9, values, 0, false);
    refuse(&b, b.size, 1000, "sides above 0");
    start(&b);
    put_array(&b, "y", 6, (const int32_t[]){2, 1}, 2, 9, values, 16, true);
    refuse(&b, b.size, 40, "unpacks to more than 40 bytes");
    b.data[b.size - 1] ^= 1; /* the checksum */
    refuse(&b, b.size, 1000, "packed data is cut or damaged");
    static unsigned char zeros[1 << 15];
    start(&b);
    put_array(&b, "z", 9, (const int32_t[]){1 << 15, 1}, 2, 2, zeros, sizeof zeros,
              true); /* grows several times */
    put_array(&b, "y", 6, (const int32_t[]){2, 1}, 2, 9, values, 16, true);
    struct mat_array a;
    assert_int_equal(mat_from_memory(&a, b.data, b.size, "y", 1 << 20, NULL), SOTTO_OK);
    mat_clear(&a);
}

TEST(wrong_sets_are_refused, .before = set_up, .after = tear_down)
{
    struct blob b;
    struct sotto_dataset *d = NULL;
    put_set(&b, 2, 0, (const double[]){1, 11}, false);
    files_write(folder, "train_32x32.mat", b.data, b.size);
    assert_int_equal(sotto_dataset_open(&d, folder, NULL), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(),
                           "train_32x32.mat: label 11 of image 1; expected a digit, 1 to 9, or 10 for 0"));
    put_set(&b, 2, 0, (const double[]){1, 1.5}, false);
    files_write(folder, "train_32x32.mat", b.data, b.size);
    assert_int_equal(sotto_dataset_open(&d, folder, NULL), SOTTO_EFORMAT);
    start(&b);
    put_array(&b, "X", 9, (const int32_t[]){2, 2, 3, 1}, 4, 2, "aaaaaaaaaaaa", 12, false);
    put_array(&b, "y", 6, (const int32_t[]){2, 1}, 2, 9, (const double[]){1, 2}, 16, false);
    files_write(folder, "train_32x32.mat", b.data, b.size);
    assert_int_equal(sotto_dataset_open(&d, folder, NULL), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "2 labels for 1 images"));
}
