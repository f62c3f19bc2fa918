/* Fashion-MNIST (Xiao, Rasul, Vollgraf 2017, arXiv:1708.07747) as the Debian package dataset-fashion-mnist
 * installs it. Debian packed the files again, so the sums of the .gz files differ from upstream's; what is
 * inside is compared. */
#include "data/format/idx.h"

#include "base/file.h"
#include "base/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[] = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                          "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

/* SHA-256 of the unpacked files of Debian's 0.0~git20200523.55506a9-1. Upstream packed the same contents by
 * itself, so it is they that are compared after a download too. */
static const struct {
    const char *name, *sha256;
} files[] = {
    {"train-images-idx3-ubyte", "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
    {"train-labels-idx1-ubyte", "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
    {"t10k-images-idx3-ubyte", "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
    {"t10k-labels-idx1-ubyte", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
};

static const struct remote_file upstream_files[] = {
    {"train-images-idx3-ubyte.gz", 0, NULL,
     "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
    {"train-labels-idx1-ubyte.gz", 0, NULL,
     "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
    {"t10k-images-idx3-ubyte.gz", 0, NULL,
     "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
    {"t10k-labels-idx1-ubyte.gz", 0, NULL,
     "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}};
static const struct dataset_remote upstream = {"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                                               4, upstream_files};

/* The folder that holds all four files, packed or not. */
static void dataset_fashion_mnist_locate(char *path, size_t capacity)
{
    const char *forced = getenv("SOTTO_FASHION_MNIST");
    const char *const folders[] = {forced ? forced : "/usr/share/datasets/fashion-mnist",
                                   forced ? "" : "/usr/local/share/datasets/fashion-mnist"};
    for (size_t i = 0; i < 2; i++) {
        bool whole = folders[i][0] != '\0';
        for (size_t f = 0; whole && f < 4; f++) {
            char plain[4096], packed[4096];
            snprintf(plain, sizeof plain, "%s/%s", folders[i], files[f].name);
            snprintf(packed, sizeof packed, "%s/%s.gz", folders[i], files[f].name);
            whole = file_exists(plain) || file_exists(packed);
        }
        snprintf(path, capacity, "%s", whole ? folders[i] : "");
        if (whole)
            return;
    }
}

static sotto_status open_fashion(struct dataset *d, const char *name, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct bundle b = {0};
    struct idx_pair pairs[2];
    size_t count;
    char folder[4096];
    (void)name;
    dataset_fashion_mnist_locate(folder, sizeof folder);
    if (!folder[0]) {
        status = status_fail(SOTTO_ENOENT, "data set 'fashion-mnist' not found");
        status_hint("install the Debian package dataset-fashion-mnist, or run 'sotto data fetch "
                    "fashion-mnist' or 'sotto data import FOLDER --name fashion-mnist'");
        goto done;
    }
    TRY(bundle_open(&b, folder, ctx));
    TRY(idx_find_pairs(pairs, &count, &b));
    TRY(idx_read_pairs(d, &b, pairs, count));
    TRY(dataset_set_classes(d, 10, class_names));
    snprintf(d->set.origin, sizeof d->set.origin, "Debian package dataset-fashion-mnist (%.400s)", folder);
done:
    bundle_clear(&b);
    return status;
}

static sotto_status dataset_fashion_mnist_verify(void)
{
    sotto_status status = SOTTO_OK;
    struct bytes bytes = {0};
    char folder[4096], path[4200], hex[SHA256_HEX];
    dataset_fashion_mnist_locate(folder, sizeof folder);
    if (!folder[0])
        FAIL(SOTTO_ENOENT, "data set 'fashion-mnist' not found");
    for (size_t f = 0; f < 4; f++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[f].name);
        if (!file_exists(path))
            snprintf(path, sizeof path, "%s/%s.gz", folder, files[f].name);
        bytes_clear(&bytes);
        TRY(file_read(&bytes.owned, &bytes.size, path, (size_t)1 << 30));
        bytes.data = bytes.owned;
        if ((status = bytes_gunzip(&bytes, (size_t)1 << 30, NULL)) != SOTTO_OK) {
            status_prefix(path);
            goto done;
        }
        sha256_of(hex, bytes.data, bytes.size);
        if (strcmp(hex, files[f].sha256) != 0)
            FAIL(SOTTO_EGATE, "%s: unpacked contents have SHA-256 %s; expected %s", path, hex,
                 files[f].sha256);
    }
done:
    bytes_clear(&bytes);
    return status;
}

const struct dataset_source source_fashion_mnist = {
    .name = "fashion-mnist",
    .title = "Fashion-MNIST, 10 classes, 28x28 grey",
    .origin = "Xiao, Rasul, Vollgraf 2017, arXiv:1708.07747",
    .licence = "MIT (Zalando SE 2017)",
    .obtain = "install the Debian package dataset-fashion-mnist, or: "
              "sotto data fetch fashion-mnist",
    .remote = &upstream,
    .classes = 10,
    .class_names = class_names,
    .locate = dataset_fashion_mnist_locate,
    .open = open_fashion,
    .verify = dataset_fashion_mnist_verify};
