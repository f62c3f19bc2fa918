/* src/learn/data: splits, the made-up sets, IDX bytes, and the real Fashion-MNIST where it is installed. */
#include "support/test.h"

#include "base/memory.h"
#include "data/format/idx.h"
#include "data/set/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(split_parts_are_disjoint_and_cover)
{
    const size_t sizes[SPLIT_PARTS] = {40, 30, 20, 10};
    struct data_split s, again, other;
    assert_int_equal(split_make(&s, 100, sizes, 7), SOTTO_OK);
    assert_int_equal(split_make(&again, 100, sizes, 7), SOTTO_OK);
    assert_int_equal(split_make(&other, 100, sizes, 8), SOTTO_OK);
    int seen[100] = {0};
    for (int p = 0; p < SPLIT_PARTS; p++) {
        assert_int_equal(s.n[p], sizes[p]);
        assert_memory_equal(s.rows[p], again.rows[p], sizes[p] * sizeof(int64_t));
        for (size_t i = 0; i < sizes[p]; i++)
            seen[s.rows[p][i]]++;
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
    assert_memory_not_equal(s.rows[0], other.rows[0], 40 * sizeof(int64_t));
    split_clear(&s);
    split_clear(&again);
    split_clear(&other);
    assert_null(s.rows[0]);
}

TEST(split_refuses_more_than_the_pool)
{
    const size_t sizes[SPLIT_PARTS] = {60, 30, 20, 0}, huge[SPLIT_PARTS] = {SIZE_MAX, 2, 0, 0};
    struct data_split s = {.n = {5}};
    assert_int_equal(split_make(&s, 100, sizes, 1), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "split: the parts need 110 records; the data set has 100");
    assert_int_equal(s.n[0], 5);
    assert_int_equal(split_make(&s, 100, huge, 1), SOTTO_EINVAL);
}

/* Every record is equally likely to be in every part: over 4000 seeds, record 0 of 10 lands in a part of 3
 * about 1200 times (standard deviation 29). A split that ignored its seed, or kept the order, gives 0 or
 * 4000. */
TEST(split_is_uniform)
{
    const size_t sizes[SPLIT_PARTS] = {3, 3, 3, 1};
    int hits[SPLIT_PARTS] = {0};
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct data_split s;
        assert_int_equal(split_make(&s, 10, sizes, seed), SOTTO_OK);
        for (int p = 0; p < SPLIT_PARTS; p++)
            for (size_t i = 0; i < sizes[p]; i++)
                hits[p] += s.rows[p][i] == 0;
        split_clear(&s);
    }
    for (int p = 0; p < 3; p++)
        assert_in_range(hits[p], 1200 - 150, 1200 + 150);
    assert_in_range(hits[3], 400 - 100, 400 + 100);
}

static struct sotto_dataset *open_set(const char *name, int threads)
{
    struct sotto_dataset *d = NULL;
    struct sotto_context ctx = {.threads = threads};
    assert_int_equal(sotto_dataset_open(&d, name, &ctx), SOTTO_OK);
    return d;
}

TEST(a_longer_synthetic_set_starts_with_the_shorter)
{
    struct sotto_dataset *small = open_set("synthetic-images-n300", 1),
                         *large = open_set("synthetic-images-n700", 2);
    assert_int_equal(small->n, 300);
    assert_int_equal(large->n_train, 600);
    assert_int_equal(small->synthetic, 1);
    assert_string_equal(small->name, "synthetic-images-n300");
    assert_int_equal(small->channels * small->height * small->width, 28 * 28);
    assert_memory_equal(small->images, large->images, 300 * 28 * 28);
    assert_memory_equal(small->labels, large->labels, 300 * sizeof(int64_t));
    assert_memory_not_equal(small->images, small->images + 28 * 28, 28 * 28);
    assert_string_not_equal(small->sha256, large->sha256);
    sotto_dataset_free(small);
    sotto_dataset_free(large);
}

TEST(synthetic_names_are_checked)
{
    struct sotto_dataset *d = NULL;
    assert_int_equal(sotto_dataset_open(&d, "synthetic-images-q5", NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "data set 'synthetic-images-q5': cannot read '-q5'");
    assert_int_equal(sotto_dataset_open(&d, "synthetic-images-n0", NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_dataset_open(&d, "synthetic-images-n99999999999999999999999", NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_dataset_open(&d, "", NULL), SOTTO_EINVAL);
    assert_null(d);
}

TEST(unknown_names_come_with_a_hint)
{
    struct sotto_dataset *d = NULL;
    assert_int_equal(sotto_dataset_open(&d, "no-such-set", NULL), SOTTO_ENOENT);
    assert_string_equal(sotto_error_text(), "data set 'no-such-set' not found");
    assert_string_equal(sotto_error_hint(), "run 'sotto data import PATH --name no-such-set'");
}

static const unsigned char two_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};

TEST(idx_reads_headers)
{
    struct idx idx;
    assert_int_equal(idx_from_memory(&idx, two_images, sizeof two_images), SOTTO_OK);
    assert_int_equal(idx.ndim, 3);
    assert_int_equal(idx.shape[0] * 100 + idx.shape[1] * 10 + idx.shape[2], 213);
    assert_ptr_equal(idx.data, two_images + 16);
}

static void idx_refuse(const unsigned char *data, size_t size, const char *text)
{
    struct idx idx = {.ndim = 9};
    assert_int_equal(idx_from_memory(&idx, data, size), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), text);
    assert_int_equal(idx.ndim, 9);
}

TEST(idx_refuses_damage)
{
    unsigned char bad[32];
    idx_refuse(two_images, 0, "has 0 bytes; an IDX file has a header of at least 8");
    idx_refuse(two_images, 12, "has 12 bytes; its header alone needs 16");
    idx_refuse(two_images, 21, "header states 2x1x3, but the file has 1 images");
    memcpy(bad, two_images, sizeof two_images);
    bad[2] = 0x0d;
    idx_refuse(bad, 22, "IDX value type 0x0d is not supported; expected unsigned bytes (0x08)");
    idx_refuse((const unsigned char *)"PK\3\4aaaa", 8,
               "starts with 504b0304; expected 00000801 (labels) or 00000803 (images)");
    memcpy(bad, two_images, sizeof two_images);
    idx_refuse(bad, 23, "1 bytes are left after the 2 records that the header states");
    memset(bad + 4, 0xff, 12); /* 2^96 bytes */
    idx_refuse(bad, 22, "header states 4294967295x4294967295x4294967295, but the file has 0 images");
    const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 5, 9, 9, 9, 9};
    idx_refuse(labels, sizeof labels, "header states 5 labels, but the file has 4");
}

TEST(fashion_mnist_is_read)
{
    struct sotto_dataset *d = NULL;
    sotto_status status = sotto_dataset_open(&d, "fashion-mnist", NULL);
    if (status == SOTTO_ENOENT) {
        print_message("skipped: the package dataset-fashion-mnist is not installed\n");
        skip();
    }
    assert_int_equal(status, SOTTO_OK);
    assert_int_equal(d->n, 70000);
    assert_int_equal(d->n_train, 60000);
    assert_int_equal(d->classes, 10);
    assert_string_equal(d->class_names[9], "Ankle boot");
    assert_int_equal(d->labels[0], 9); /* the first training image is an ankle boot */
    int count[10] = {0};
    for (size_t i = 0; i < d->n; i++)
        count[d->labels[i]]++;
    for (int k = 0; k < 10; k++)
        assert_int_equal(count[k], 7000);
    assert_int_equal(d->synthetic, 0);
    sotto_dataset_free(d);
}

TEST(fashion_mnist_is_never_replaced_silently)
{
    struct sotto_dataset *d = NULL;
    setenv("SOTTO_FASHION_MNIST", "/dev/null", 1);
    assert_int_equal(sotto_dataset_open(&d, "fashion-mnist", NULL), SOTTO_ENOENT);
    assert_string_equal(sotto_error_text(), "data set 'fashion-mnist' not found");
    assert_non_null(strstr(sotto_error_hint(), "dataset-fashion-mnist"));
    unsetenv("SOTTO_FASHION_MNIST");
}
