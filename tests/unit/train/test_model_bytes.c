/* Heads, encoders and networks in memory: the bytes of their files, back again, and cut at every place. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "support/head_blobs.h"
#include "support/machine.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "sotto/lab/ssl.h"
#include "sotto/lab/train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/sotto-bytes-XXXXXX", path[64];
static struct sotto_dataset *images;

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/m.safetensors", folder);
    return sotto_dataset_open(&images, "synthetic-images-n150", NULL) == SOTTO_OK ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    sotto_dataset_free(images);
    unlink(path);
    return rmdir(folder);
}

static sotto_status head_make(struct sotto_head **out)
{
    enum { N = 60, D = 4, K = 3 };
    float x[N * D];
    int64_t y[N];
    struct sotto_head_recipe r;
    make_blobs(x, y, N, D, K, 0.5, 1);
    sotto_head_defaults(&r);
    r.epochs = 1;
    return sotto_head_train(out, x, y, N, D, K, &r, NULL);
}

static sotto_status encoder_make(struct sotto_encoder **out)
{
    return sotto_encoder_random(out, images, "keras-simclr", 3);
}

static sotto_status network_make(struct sotto_network **out)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "mlp";
    o.hidden_count = 1;
    o.hidden[0] = 3;
    o.epochs = 1;
    o.dtype = "f32";
    o.backend = machine.backend;
    return sotto_train(out, NULL, images, NULL, 0, &o, NULL);
}

static void starts_with(const char *text)
{
    if (strncmp(sotto_error_text(), text, strlen(text)) != 0)
        fail_msg("expected '%s...', got '%s'", text, sotto_error_text());
}

/* Every place of the header and of the end, and every 499th of the numbers between. */
static size_t next_cut(size_t cut, size_t size)
{
    return cut > 4096 && cut + 600 < size ? cut + 499 : cut + 1;
}

#define KIND(kind)                                                                                           \
    TEST(kind##_bytes_are_those_of_the_file)                                                                 \
    {                                                                                                        \
        struct sotto_##kind *m, *back;                                                                       \
        unsigned char *file;                                                                                 \
        void *bytes, *again;                                                                                 \
        size_t size, file_size, again_size;                                                                  \
        assert_int_equal(kind##_make(&m), SOTTO_OK);                                                         \
        assert_int_equal(sotto_##kind##_save(path, m), SOTTO_OK);                                            \
        assert_int_equal(file_read(&file, &file_size, path, 64 << 20), SOTTO_OK);                            \
        assert_int_equal(sotto_##kind##_save_bytes(&bytes, &size, m), SOTTO_OK);                             \
        assert_int_equal(size, file_size);                                                                   \
        assert_memory_equal(bytes, file, size);                                                              \
        assert_int_equal(sotto_##kind##_load_bytes(&back, bytes, size), SOTTO_OK);                           \
        assert_int_equal(sotto_##kind##_save_bytes(&again, &again_size, back), SOTTO_OK);                    \
        assert_int_equal(again_size, size);                                                                  \
        assert_memory_equal(again, bytes, size);                                                             \
        sotto_bytes_free(again);                                                                             \
        sotto_bytes_free(bytes);                                                                             \
        base_free(file);                                                                                     \
        sotto_##kind##_free(back);                                                                           \
        sotto_##kind##_free(m);                                                                              \
    }                                                                                                        \
    TEST(every_cut_of_##kind##_bytes_is_refused)                                                             \
    {                                                                                                        \
        struct sotto_##kind *m, *back = NULL;                                                                \
        void *bytes;                                                                                         \
        size_t size;                                                                                         \
        assert_int_equal(kind##_make(&m), SOTTO_OK);                                                         \
        assert_int_equal(sotto_##kind##_save_bytes(&bytes, &size, m), SOTTO_OK);                             \
        for (size_t cut = 0; cut < size; cut = next_cut(cut, size)) {                                        \
            unsigned char *part = base_alloc(cut, 1); /* a block of its own: a read beyond it is seen */     \
            memcpy(part, bytes, cut);                                                                        \
            assert_int_equal(sotto_##kind##_load_bytes(&back, part, cut), SOTTO_EFORMAT);                    \
            starts_with(#kind " in memory: ");                                                               \
            assert_null(back);                                                                               \
            base_free(part);                                                                                 \
        }                                                                                                    \
        ((unsigned char *)bytes)[size - 1] ^= 1; /* the last number: the checksum tells */                   \
        assert_int_equal(sotto_##kind##_load_bytes(&back, bytes, size), SOTTO_EFORMAT);                      \
        sotto_bytes_free(bytes);                                                                             \
        sotto_##kind##_free(m);                                                                              \
    }                                                                                                        \
    TEST(kind##_bytes_need_memory)                                                                           \
    {                                                                                                        \
        struct sotto_##kind *m, *back = NULL;                                                                \
        sotto_status status = SOTTO_ENOMEM;                                                                  \
        assert_int_equal(kind##_make(&m), SOTTO_OK);                                                         \
        for (long n = 0; status != SOTTO_OK; n++) {                                                          \
            void *bytes = NULL;                                                                              \
            size_t size;                                                                                     \
            base_alloc_fail_after(n);                                                                        \
            status = sotto_##kind##_save_bytes(&bytes, &size, m);                                            \
            if (status == SOTTO_OK)                                                                          \
                status = sotto_##kind##_load_bytes(&back, bytes, size);                                      \
            base_alloc_fail_after(-1);                                                                       \
            sotto_bytes_free(bytes);                                                                         \
            assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);                                       \
            assert_true(n < 10000);                                                                          \
        }                                                                                                    \
        sotto_##kind##_free(back);                                                                           \
        sotto_##kind##_free(m);                                                                              \
    }

KIND(head)
KIND(encoder)
KIND(network)

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .start = machine_f32)
