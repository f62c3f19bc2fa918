/* src/learn/data/bundle*.c and gunzip.c: folders, archives and compressed files, and what they must refuse. */
#include "support/test.h"

#include "data/files/bundle.h"
#include "support/data_files.h"

#include <zlib.h>

static const struct bundle_limits small = {.entries = 3, .bytes = 1000, .expansion = 1000};

TEST(names_are_utf8_or_not)
{
    assert_true(text_is_utf8("plain"));
    assert_true(text_is_utf8("\xc3\xa9t\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x90\xb1"));
    assert_false(text_is_utf8("\xff"));
    assert_false(text_is_utf8("\xc3"));             /* cut */
    assert_false(text_is_utf8("\xc0\xaf"));         /* overlong '/' */
    assert_false(text_is_utf8("\xe0\x80\xaf"));     /* overlong */
    assert_false(text_is_utf8("\xed\xa0\x80"));     /* surrogate */
    assert_false(text_is_utf8("\xf4\x90\x80\x80")); /* above 10FFFF */
}

TEST(folders_are_listed_in_name_order)
{
    char folder[64];
    struct bundle b;
    struct bytes bytes;
    files_folder(folder);
    files_write_text(folder, "b/2.txt", "two");
    files_write_text(folder, "a/10.txt", "ten");
    files_write_text(folder, "a/1.txt", "one");
    files_write_text(folder, ".hidden", "no");
    assert_int_equal(bundle_open(&b, folder, NULL), SOTTO_OK);
    assert_int_equal(b.count, 3);
    assert_string_equal(b.entries[0].name, "a/1.txt");
    assert_string_equal(b.entries[1].name, "a/10.txt");
    assert_string_equal(b.entries[2].name, "b/2.txt");
    assert_int_equal(bundle_load(&bytes, &b, 2), SOTTO_OK);
    assert_int_equal(bytes.size, 3);
    assert_memory_equal(bytes.data, "two", 3);
    bytes_clear(&bytes);
    bundle_clear(&b);
    files_remove(folder);
}

TEST(folders_refuse)
{
    char folder[64], text[256], path[128];
    struct bundle b = {.count = 77};
    files_folder(folder);
    assert_int_equal(bundle_open(&b, folder, NULL), SOTTO_EFORMAT);
    snprintf(text, sizeof text, "%s: the folder holds no files", folder);
    assert_string_equal(sotto_error_text(), text);
    snprintf(path, sizeof path, "%s/missing", folder);
    assert_int_equal(bundle_open(&b, path, NULL), SOTTO_ENOENT);
    files_write_text(folder, "bad\xff.png", "x");
    assert_int_equal(bundle_open(&b, folder, NULL), SOTTO_EFORMAT);
    assert_non_null(
        strstr(sotto_error_text(), "file name 'bad\\xff.png' is not printable UTF-8 text; rename the file"));
    files_remove(folder);
    files_folder(folder);
    files_write_text(folder, "1/2/3/4/5/6/7/8/9/deep.png", "x");
    assert_int_equal(bundle_open(&b, folder, NULL), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "nested deeper than 8"));
    assert_int_equal(b.count, 77);
    files_remove(folder);
}

TEST(links_in_a_circle_end)
{
    char folder[64], path[128];
    struct bundle b;
    files_folder(folder);
    snprintf(path, sizeof path, "%s/again", folder);
    assert_int_equal(symlink(folder, path), 0);
    assert_int_equal(bundle_open(&b, folder, NULL), SOTTO_EFORMAT);
    files_remove(folder);
}

static void check_two_files(const char *format, const char *filter)
{
    struct archive_maker m;
    struct bundle b;
    maker_start(&m, format, filter, 1 << 16);
    maker_add(&m, "./top/z.txt", "last", 4);
    maker_add(&m, "top/a.txt", "first!", 6);
    maker_add(&m, "top/.hidden", "no", 2);
    maker_finish(&m);
    assert_int_equal(bundle_from_memory(&b, "x.tar", m.data, m.used, &bundle_default_limits), SOTTO_OK);
    assert_int_equal(b.count, 2);
    assert_false(b.single);
    assert_string_equal(b.entries[0].name, "top/a.txt");
    assert_int_equal(b.entries[0].size, 6);
    assert_memory_equal(b.entries[0].data, "first!", 7); /* a zero follows */
    assert_string_equal(b.entries[1].name, "top/z.txt");
    bundle_clear(&b);
    free(m.data);
}

TEST(archives_are_unpacked_in_memory)
{
    check_two_files("ustar", "none");
    check_two_files("ustar", "gzip");
    check_two_files("ustar", "xz");
    check_two_files("zip", "none");
}

TEST(single_files_keep_their_name)
{
    struct bundle b;
    char where[64];
    assert_int_equal(bundle_from_memory(&b, "dir/table.csv", "1,2\n", 4, &small), SOTTO_OK);
    assert_true(b.single);
    assert_string_equal(b.entries[0].name, "table.csv");
    bundle_where(where, sizeof where, &b, 0);
    assert_string_equal(where, "dir/table.csv");
    bundle_clear(&b);
    struct archive_maker m;
    maker_start(&m, "raw", "xz", 1 << 16);
    maker_add(&m, "ignored", "1,2\n", 4);
    maker_finish(&m);
    assert_int_equal(bundle_from_memory(&b, "dir/table.data.xz", m.data, m.used, &small), SOTTO_OK);
    assert_string_equal(b.entries[0].name, "table.data");
    assert_memory_equal(b.entries[0].data, "1,2\n", 5);
    bundle_clear(&b);
    free(m.data);
}

static void refuse_entry(const char *name, const char *text)
{
    struct archive_maker m;
    struct bundle b;
    maker_start(&m, "ustar", "none", 1 << 16);
    maker_add(&m, name, "x", 1);
    maker_finish(&m);
    assert_int_equal(bundle_from_memory(&b, "x.tar", m.data, m.used, &small), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), text);
    free(m.data);
}

TEST(archives_cannot_leave_their_place)
{
    refuse_entry("../evil.png", "x.tar: file name '../evil.png' points outside the archive");
    refuse_entry("a/../../evil.png", "x.tar: file name 'a/../../evil.png' points outside the archive");
    refuse_entry("/etc/evil.png", "x.tar: file name '/etc/evil.png' points outside the archive");
    refuse_entry("a\xff.png", "x.tar: file name 'a\\xff.png' is not printable UTF-8 text; rename the file");
    refuse_entry("a\n.png", "x.tar: file name 'a\\x0a.png' is not printable UTF-8 text; rename the file");
}

TEST(archives_have_limits)
{
    static unsigned char filler[100 << 20];
    struct archive_maker m;
    struct bundle b = {.count = 5};
    maker_start(&m, "ustar", "gzip", 1 << 20);
    maker_add(&m, "a", filler, 600);
    maker_add(&m, "b", filler, 600);
    maker_finish(&m);
    assert_int_equal(bundle_from_memory(&b, "x.tgz", m.data, m.used, &small), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "x.tgz: b: unpacks to more than 1000 bytes; refused");
    free(m.data);
    maker_start(&m, "zip", "none", 1 << 20);
    for (char name[2] = "a"; name[0] < 'e'; name[0]++)
        maker_add(&m, name, "x", 1);
    maker_finish(&m);
    assert_int_equal(bundle_from_memory(&b, "x.zip", m.data, m.used, &small), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "x.zip: holds more than 3 files; refused");
    free(m.data);
    memset(filler, '1', sizeof filler);    /* filler would be an empty tar */
    maker_start(&m, "raw", "xz", 1 << 20); /* 100 MiB in 15 KB */
    maker_add(&m, "a", filler, sizeof filler);
    maker_finish(&m);
    assert_int_equal(bundle_from_memory(&b, "bomb.csv.xz", m.data, m.used, &bundle_default_limits),
                     SOTTO_EFORMAT);
    assert_string_equal(
        sotto_error_text(),
        "bomb.csv.xz: unpacks to more than 1000 times its size; refused as a possible decompression bomb");
    free(m.data);
    assert_int_equal(b.count, 5);
}

TEST(archives_that_are_cut_are_refused)
{
    static const char *const filters[] = {"gzip", "xz"};
    unsigned char noise[20000];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)(i * i * 2654435761u >> 13);
    for (int f = 0; f < 2; f++) {
        struct archive_maker m;
        struct bundle b;
        maker_start(&m, "ustar", filters[f], 1 << 20);
        maker_add(&m, "a.png", noise, sizeof noise);
        maker_finish(&m);
        assert_int_equal(bundle_from_memory(&b, "x", m.data, m.used, &bundle_default_limits), SOTTO_OK);
        bundle_clear(&b);
        assert_int_equal(bundle_from_memory(&b, "x", m.data, m.used / 2, &bundle_default_limits),
                         SOTTO_EFORMAT);
        assert_non_null(strstr(sotto_error_text(), "x: "));
        free(m.data);
    }
    struct bundle b;
    assert_int_equal(bundle_from_memory(&b, "x", "", 0, &small), SOTTO_EFORMAT);
}

TEST(gzip_is_checked)
{
    unsigned char plain[5000], packed[6000];
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (unsigned char)(i * i >> 3);
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = plain;
    z.avail_in = sizeof plain;
    z.next_out = packed;
    z.avail_out = sizeof packed;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t size = z.total_out;
    deflateEnd(&z);

    struct bytes b = {packed, size, NULL};
    assert_int_equal(bytes_gunzip(&b, 1 << 20, NULL), SOTTO_OK);
    assert_int_equal(b.size, sizeof plain);
    assert_memory_equal(b.data, plain, sizeof plain);
    assert_int_equal(bytes_gunzip(&b, 1 << 20, NULL), SOTTO_OK); /* not packed: left alone */
    bytes_clear(&b);

    for (size_t cut = 2; cut < size; cut++) { /* every shorter file is refused, whatever its last bytes say */
        b = (struct bytes){packed, cut, NULL};
        assert_int_equal(bytes_gunzip(&b, 1 << 20, NULL), SOTTO_EFORMAT);
        assert_ptr_equal(b.data, packed);
    }
    b = (struct bytes){packed, size, NULL};
    assert_int_equal(bytes_gunzip(&b, 4999, NULL), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "gzip data unpacks to 5000 bytes; expected at most 4999");
    packed[size - 6] ^= 1; /* the CRC */
    assert_int_equal(bytes_gunzip(&b, 1 << 20, NULL), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "gzip data is damaged (incorrect data check)");
}
