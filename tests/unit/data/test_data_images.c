/* src/learn/data: single images, folders of images, CIFAR-10 files. */
#include "support/test.h"

#include "data/format/cifar.h"
#include "data/image/image.h"
#include "support/data_files.h"
#include "sotto/lab/data.h"

TEST(png_pixels_are_exact)
{
    struct blob png;
    struct image_info info;
    uint8_t planes[12];
    files_png(&png, 2, 2, 3, 10);
    assert_int_equal(image_probe(&info, png.data, png.size), SOTTO_OK);
    assert_int_equal(info.kind, IMAGE_PNG);
    assert_true(info.colour);
    assert_int_equal(image_from_memory(planes, 3, 2, 2, png.data, png.size), SOTTO_OK);
    const uint8_t expected[12] = {10, 13, 16, 19, 11, 14, 17, 20, 12, 15, 18, 21};
    assert_memory_equal(planes, expected, 12);
    files_png(&png, 2, 3, 1, 100);
    assert_int_equal(image_probe(&info, png.data, png.size), SOTTO_OK);
    assert_false(info.colour);
    assert_int_equal(info.height * 10 + info.width, 23);
    assert_int_equal(image_from_memory(planes, 1, 2, 3, png.data, png.size), SOTTO_OK);
    const uint8_t grey[6] = {100, 101, 102, 103, 104, 105};
    assert_memory_equal(planes, grey, 6);
}

TEST(jpeg_of_one_colour_keeps_it)
{
    struct blob jpeg;
    struct image_info info;
    uint8_t planes[3 * 16 * 16];
    files_jpeg(&jpeg, 16, 16, 1, 77);
    assert_int_equal(image_probe(&info, jpeg.data, jpeg.size), SOTTO_OK);
    assert_int_equal(info.kind, IMAGE_JPEG);
    assert_false(info.colour);
    assert_int_equal(image_from_memory(planes, 3, 16, 16, jpeg.data, jpeg.size), SOTTO_OK);
    for (size_t i = 0; i < sizeof planes; i++)
        assert_in_range(planes[i], 76, 78);
}

/* A flat image stays flat at every size and a ramp keeps its mean: true of any filter that sums to one. */
TEST(resize_keeps_flat_images_and_means)
{
    uint8_t flat[5 * 7 * 3], ramp[64], out[40 * 40 * 3];
    memset(flat, 123, sizeof flat);
    assert_int_equal(image_resize(out, 40, 40, flat, 5, 7, 3), SOTTO_OK);
    for (size_t i = 0; i < sizeof out; i++)
        assert_int_equal(out[i], 123);
    for (int i = 0; i < 64; i++)
        ramp[i] = (uint8_t)(i % 8 * 30);
    assert_int_equal(image_resize(out, 4, 4, ramp, 8, 8, 1), SOTTO_OK);
    int sum = 0;
    for (int i = 0; i < 16; i++) {
        sum += out[i];
        assert_true(i % 4 == 0 || out[i] > out[i - 1]);
    }
    assert_in_range(sum / 16, 103, 107); /* mean 105 */
}

static void refuse_image(const unsigned char *data, size_t size, const char *part)
{
    uint8_t planes[3 * 64 * 64];
    assert_int_equal(image_from_memory(planes, 3, 16, 16, data, size), SOTTO_EFORMAT);
    if (!strstr(sotto_error_text(), part))
        fail_msg("'%s' does not say '%s'", sotto_error_text(), part);
}

TEST(damaged_images_are_refused)
{
    struct blob b;
    refuse_image(NULL, 0, "is empty");
    refuse_image((const unsigned char *)"%PDF-1.7", 8,
                 "is neither JPEG, PNG nor binary PGM (starts with 2550)");
    files_jpeg(&b, 16, 16, 3, 50);
    refuse_image(b.data, b.size / 2, "damaged JPEG: ");
    refuse_image(b.data, b.size - 2, "damaged JPEG: ");
    refuse_image(b.data, 3, "damaged JPEG: ");
    files_png(&b, 16, 16, 3, 50);
    refuse_image(b.data, 40, "damaged PNG: ");
    refuse_image(b.data, b.size / 2, "damaged PNG: ");
    b.data[b.size / 2] ^= 0x55;
    refuse_image(b.data, b.size, "damaged PNG: ");
    files_png(&b, 16, 16, 1, 50);
    b.data[16] = 0x7f; /* width in the header: 2^31 */
    refuse_image(b.data, b.size, "");
}

TEST(images_of_other_kinds_are_named)
{
    static const struct {
        unsigned char bytes[13];
        const char *kind;
    } kinds[] = {{"GIF89a\1\0\1\0\0\0", "is a GIF image"}, {"RIFF\4\0\0\0WEBP", "is a WebP image"},
                 {"II*\0\10\0\0\0", "is a TIFF image"},    {"MM\0*\0\0\0\10", "is a TIFF image"},
                 {"\0\0\0\30ftypheic", "is a HEIF image"}, {"BM\66\0\0\0", "is a BMP image"},
                 {"II+\0\10\0\0\0", "is a TIFF image"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        refuse_image(kinds[i].bytes, sizeof kinds[i].bytes, kinds[i].kind);
        assert_non_null(strstr(sotto_error_text(), "expected JPEG or PNG"));
        assert_non_null(strstr(sotto_error_hint(), "drop_bad_images"));
    }
    refuse_image((const unsigned char *)"RIFF\4\0\0\0WAVE", 12, "is neither JPEG, PNG nor binary PGM");
    refuse_image((const unsigned char *)"RIFF\4\0\0\0WEB", 11, "is neither JPEG, PNG nor binary PGM");
}

TEST(binary_pgm_is_read)
{
    static const unsigned char pgm[] = "P5 # from a camera\n3 2\n255\n\0\1\2\3\4\5";
    uint8_t planes[18];
    size_t size = sizeof pgm - 1;
    assert_int_equal(image_from_memory(planes, 1, 2, 3, pgm, size), SOTTO_OK);
    for (int i = 0; i < 6; i++)
        assert_int_equal(planes[i], i);
    assert_int_equal(image_from_memory(planes, 3, 2, 3, pgm, size), SOTTO_OK);
    for (int i = 0; i < 18; i++)
        assert_int_equal(planes[i], i % 6);
    refuse_image(pgm, size - 1, "damaged PGM: 5 pixels of 6");
    refuse_image(pgm, 21, "damaged PGM: expected width, height and the largest value");
    refuse_image((const unsigned char *)"P5 3 2 65535 ", 13,
                 "values up to 65535 is not supported; expected 255");
    refuse_image((const unsigned char *)"P5 99999999999 2 255 ", 21, "damaged PGM: expected width");
    refuse_image((const unsigned char *)"P5 67108864 2 255 ", 18, "expected at most 2^26 pixels");
}

static struct sotto_dataset *open_path(const char *path)
{
    struct sotto_dataset *d = NULL;
    if (sotto_dataset_open(&d, path, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return d;
}

static void refuse_path(const char *path, sotto_status expected, const char *part)
{
    struct sotto_dataset *d = NULL;
    assert_int_equal(sotto_dataset_open(&d, path, NULL), expected);
    assert_null(d);
    if (!strstr(sotto_error_text(), part))
        fail_msg("'%s' does not say '%s'", sotto_error_text(), part);
}

static void put_png(const char *folder, const char *name, unsigned height, unsigned width, unsigned channels,
                    unsigned start)
{
    struct blob b;
    files_png(&b, height, width, channels, start);
    files_write(folder, name, b.data, b.size);
}

TEST(splits_classes_and_files_are_in_order)
{
    char folder[64];
    files_folder(folder);
    put_png(folder, "top/test/cat/1.png", 2, 2, 1, 50);
    put_png(folder, "top/train/dog/2.png", 2, 2, 1, 40);
    put_png(folder, "top/train/dog/1.PNG", 2, 2, 1, 30);
    put_png(folder, "top/train/cat/9.png", 2, 2, 1, 20);
    put_png(folder, "top/val/ant/9.png", 2, 2, 1, 60);
    files_write_text(folder, "README", "not a picture");
    struct sotto_dataset *d = open_path(folder);
    assert_int_equal(d->n, 5);
    assert_int_equal(d->n_train, 3);
    assert_int_equal(d->classes, 3);
    assert_string_equal(d->class_names[0], "ant");
    assert_string_equal(d->class_names[2], "dog");
    const int64_t labels[5] = {1, 2, 2, 0, 1};
    const uint8_t first[5] = {20, 30, 40, 60, 50};
    assert_memory_equal(d->labels, labels, sizeof labels);
    for (int i = 0; i < 5; i++)
        assert_int_equal(d->images[4 * i], first[i]);
    assert_int_equal(d->channels, 1);
    sotto_dataset_free(d);
    files_remove(folder);
}

TEST(numbered_classes_count_as_numbers)
{
    char folder[64];
    files_folder(folder);
    put_png(folder, "10/a.png", 2, 2, 1, 10);
    put_png(folder, "9/a.png", 2, 2, 1, 9);
    put_png(folder, "100/a.png", 2, 2, 1, 100);
    struct sotto_dataset *d = open_path(folder);
    assert_string_equal(d->class_names[0], "9");
    assert_string_equal(d->class_names[1], "10");
    assert_string_equal(d->class_names[2], "100");
    assert_int_equal(d->images[0], 9);
    assert_int_equal(d->n_train, 3);
    sotto_dataset_free(d);
    files_remove(folder);
}

TEST(one_class_and_no_class_are_told_apart)
{
    char folder[64], inner[128];
    files_folder(folder);
    put_png(folder, "all/x/1.png", 2, 2, 1, 1);
    put_png(folder, "all/x/2.png", 2, 2, 1, 2);
    struct sotto_dataset *d = open_path(folder);
    assert_int_equal(d->classes, 1);
    assert_string_equal(d->class_names[0], "x");
    sotto_dataset_free(d);
    snprintf(inner, sizeof inner, "%s/all/x", folder);
    d = open_path(inner);
    assert_int_equal(d->classes, 0);
    assert_null(d->labels);
    assert_int_equal(d->n, 2);
    sotto_dataset_free(d);
    files_remove(folder);
}

TEST(odd_sizes_and_colours_are_evened_out)
{
    char folder[64];
    struct blob b;
    files_folder(folder);
    put_png(folder, "a/1.png", 4, 4, 1, 0);
    put_png(folder, "a/2.png", 4, 4, 3, 0);
    put_png(folder, "b/3.png", 2, 3, 3, 0);
    files_jpeg(&b, 4, 4, 1, 99);
    files_write(folder, "b/4.jpg", b.data, b.size);
    struct sotto_dataset *d = open_path(folder);
    assert_int_equal(d->channels * 100 + d->height * 10 + d->width, 344);
    assert_int_equal(d->images[5], 5); /* grey fills all three planes */
    assert_int_equal(d->images[16 + 5], 5);
    assert_in_range(d->images[3 * 48], 98, 100);
    sotto_dataset_free(d);
    put_png(folder, "b/5.png", 5, 5, 1, 0);
    put_png(folder, "b/6.png", 6, 6, 1, 0);
    put_png(folder, "b/7.png", 7, 7, 1, 0);
    refuse_path(folder, SOTTO_EINVAL, "the images have several sizes (2x3 to 7x7); expected one size");
    assert_string_equal(sotto_error_hint(), "give height=HEIGHTxWIDTH to resize all of them");
    files_remove(folder);
}

TEST(folders_of_images_refuse)
{
    char folder[64];
    files_folder(folder);
    for (int i = 0; i < 200; i++) { /* more than one chunk */
        char name[32];
        snprintf(name, sizeof name, "a/%03d.png", i);
        put_png(folder, name, 4, 4, 1, 0);
    }
    files_write_text(folder, "a/150.png", "not a picture at all");
    files_write_text(folder, "a/170.png", "");
    refuse_path(folder, SOTTO_EFORMAT, "/a/150.png: is neither JPEG, PNG nor binary PGM");
    files_remove(folder);
    files_folder(folder);
    put_png(folder, "a/1.png", 4, 4, 1, 0);
    put_png(folder, "2.png", 4, 4, 1, 0);
    refuse_path(folder, SOTTO_EFORMAT, "at another folder depth than the other images");
    files_remove(folder);
    files_folder(folder);
    put_png(folder, "a/b/1.png", 4, 4, 1, 0);
    put_png(folder, "c/d/1.png", 4, 4, 1, 0);
    refuse_path(folder, SOTTO_EFORMAT, "is in too many nested folders");
    files_remove(folder);
    files_folder(folder);
    files_write_text(folder, "notes.txt", "nothing");
    refuse_path(folder, SOTTO_EFORMAT, "not a layout that can be imported (first of 1 files: notes.txt)");
    files_remove(folder);
}

/* Whether an image is left out depends on it alone; size and colours on what is left alone. */
TEST(bad_images_are_left_out)
{
    static const struct sotto_import_options drop = {.drop_bad_images = 1};
    char folder[64];
    struct blob b;
    struct sotto_dataset *d = NULL, *same = NULL;
    files_folder(folder);
    put_png(folder, "train/a/1.png", 4, 4, 1, 1);
    put_png(folder, "train/b/2.png", 4, 4, 1, 2);
    put_png(folder, "test/a/3.png", 4, 4, 1, 3);
    put_png(folder, "test/b/4.png", 5, 5, 1, 4);
    assert_int_equal(sotto_dataset_open_files(&same, folder, &drop, NULL), SOTTO_OK);
    files_png(&b, 5, 5, 3, 0); /* colour, of another size, and cut behind its header */
    files_write(folder, "train/a/0.png", b.data, b.size - 20);
    files_write(folder, "test/b/0.webp", "RIFF\4\0\0\0WEBP", 12);
    files_write(folder, "test/b/5.png", "", 0);
    refuse_path(folder, SOTTO_EFORMAT, "test/b/0.webp: is a WebP image");
    assert_int_equal(sotto_dataset_open_files(&d, folder, &drop, NULL), SOTTO_OK);
    assert_string_equal(d->sha256, same->sha256);
    assert_int_equal(d->n, 4);
    assert_int_equal(d->n_train, 2);
    assert_int_equal(d->channels, 1);
    assert_memory_equal(d->labels, same->labels, 4 * sizeof *d->labels);
    assert_memory_equal(d->images, same->images, 4 * 16);
    sotto_dataset_free(d);
    sotto_dataset_free(same);
    files_write(folder, "train/c/6.webp", "RIFF\4\0\0\0WEBP", 12);
    assert_int_equal(sotto_dataset_open_files(&d, folder, &drop, NULL), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "no image of the class 'c' can be read"));
    files_write(folder, "train/c/7.webp", "RIFF\4\0\0\0WEBP", 12);
    assert_int_equal(sotto_dataset_open_files(&d, folder, &drop, NULL), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "5 of 9 images cannot be read"));
    files_remove(folder);
}

TEST(threads_do_not_change_images)
{
    char folder[64];
    files_folder(folder);
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d/%03d.png", i % 3, i);
        put_png(folder, name, 4, 4, 3, (unsigned)i);
    }
    struct sotto_context one = {.threads = 1}, four = {.threads = 4};
    struct sotto_dataset *a, *b;
    assert_int_equal(sotto_dataset_open(&a, folder, &one), SOTTO_OK);
    assert_int_equal(sotto_dataset_open(&b, folder, &four), SOTTO_OK);
    assert_string_equal(a->sha256, b->sha256);
    sotto_dataset_free(a);
    sotto_dataset_free(b);
    files_remove(folder);
}

enum { RECORD_10 = 1 + CIFAR_PIXELS };

TEST(cifar_batches_are_pooled)
{
    char folder[64], path[128];
    static unsigned char records[2 * RECORD_10];
    files_folder(folder);
    records[0] = 3;
    records[1] = 200;
    records[RECORD_10] = 9;
    files_write(folder, "cifar-10-batches-bin/data_batch_2.bin", records, sizeof records);
    records[0] = 7;
    files_write(folder, "cifar-10-batches-bin/data_batch_1.bin", records, RECORD_10);
    files_write(folder, "cifar-10-batches-bin/test_batch.bin", records, RECORD_10);
    files_write_text(folder, "cifar-10-batches-bin/batches.meta.txt", "airplane\n");
    struct sotto_dataset *d = open_path(folder);
    assert_int_equal(d->n, 4);
    assert_int_equal(d->n_train, 3);
    const int64_t labels[4] = {7, 3, 9, 7};
    assert_memory_equal(d->labels, labels, sizeof labels);
    assert_int_equal(d->images[CIFAR_PIXELS], 200);
    assert_string_equal(d->class_names[9], "truck");
    sotto_dataset_free(d);
    files_write(folder, "cifar-10-batches-bin/data_batch_1.bin", records, RECORD_10 - 1);
    snprintf(path, sizeof path, "data_batch_1.bin: has %d bytes; expected a multiple of %d", RECORD_10 - 1,
             RECORD_10);
    refuse_path(folder, SOTTO_EFORMAT, path);
    records[0] = 10;
    files_write(folder, "cifar-10-batches-bin/data_batch_1.bin", records, sizeof records);
    refuse_path(folder, SOTTO_EFORMAT, "data_batch_1.bin: record 0 has label 10; expected 0 to 9");
    files_remove(folder);
}

TEST(cifar_needs_records)
{
    size_t records = 5;
    assert_int_equal(cifar_from_memory(&records, &cifar10_layout, (const unsigned char *)"", 0),
                     SOTTO_EFORMAT);
    assert_int_equal(records, 5);
}
