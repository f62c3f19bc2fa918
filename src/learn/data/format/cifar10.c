/* CIFAR-10's six binary files. */
#include "data/format/cifar.h"
#include "data/format/format.h"

const struct cifar_layout cifar10_layout = {.labels = 1,
                                            .classes = {10},
                                            .what = {"label"},
                                            .files = {"data_batch_1.bin", "data_batch_2.bin",
                                                      "data_batch_3.bin", "data_batch_4.bin",
                                                      "data_batch_5.bin", "test_batch.bin"}};

static bool cifar10_recognise(const struct bundle *b)
{
    return cifar_recognise(b, &cifar10_layout);
}

static sotto_status read_batches(struct dataset *d, const struct bundle *b,
                                 const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    static const char *const names[] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                        "dog",      "frog",       "horse", "ship", "truck"};
    (void)options, (void)ctx;
    return cifar_pool(d, b, &cifar10_layout, 0, (const char *const *const[2]){names, NULL});
}

const struct dataset_format format_cifar10 = {.name = "cifar10",
                                              .set = "cifar10",
                                              .layout =
                                                  "CIFAR-10 binary: data_batch_{1..5}.bin and test_batch.bin",
                                              .recognise = cifar10_recognise,
                                              .read = read_batches};
