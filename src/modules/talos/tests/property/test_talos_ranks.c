/* Talos on ranks: the bits of one process alone, of the encoder and of its classifier. */
#include "support/test.h"
#include "support/pretraining_ranks.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "io/array/safetensors.h"
#include "sotto/lab/talos.h"

static int begin(void **state)
{
    return open_images(state, "synthetic-images-n40");
}

static const int64_t attribute[40] = {0, 1, 2, 1, 0, 2, 2, 1, 1, 0, 2, 0, 0, 1, 2, 2, 1, 0, 0, 2, 1, 2, 1, 0};

/* Of the file, and of the state of the classifier's optimizer in it. The file is gone afterwards. */
struct checkpoint_hash {
    char file[65], classifier[65];
};
static struct checkpoint_hash hash_checkpoint(const char *path)
{
    struct checkpoint_hash out;
    struct sotto_tensors t = {0};
    struct sha256 hash;
    unsigned char *data;
    size_t size, found = 0;
    assert_int_equal(file_read(&data, &size, path, 1 << 24), SOTTO_OK);
    sha256_of(out.file, data, size);
    assert_int_equal(safetensors_load_bytes(&t, data, size, path), SOTTO_OK);
    sha256_init(&hash);
    for (size_t i = 0; i < t.count; i++)
        if (strncmp(t.items[i].name, "adversary_optimizer.", 20) == 0) {
            sha256_update(&hash, t.items[i].array.data, t.items[i].array.count * sizeof(float));
            found++;
        }
    sha256_hex(&hash, out.classifier);
    assert_true(found >= 12); /* two moments of three layers' weights and biases */
    sotto_tensors_clear(&t);
    base_free(data);
    unlink(path);
    return out;
}

/* Weights and checkpoint: the classifier stands in the latter alone. In 7 leaves and in 5, of which the last is not full, and in 2. */
TEST(talos_gives_the_bits_of_one_too)
{
    char alone[65], cut[65];
    struct checkpoint_hash expected, found;
    static const struct {
        const char *encoder;
        size_t batch, leaf, most;
        struct sotto_talos talos;
    } cases[] = {
        {"keras-simclr", 14, 2, 4, {.alternation = "odd-even", .bounded = 1}},
        {"resnet8", 14, 3, 3, {.alternation = "joint", .reads = "images", .adversary_steps = 3}},
        {"keras-simclr", 16, 8, 2, {.alternation = "two-pass", .reads = "views-of-three", .relu_logits = 1}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct sotto_talos talos = cases[k].talos;
        struct plan p = {.options = small(), .sha256 = alone};
        talos.lambda = 2, talos.attribute = attribute;
        p.options.encoder = cases[k].encoder, p.options.batch = cases[k].batch;
        p.options.leaf = cases[k].leaf, p.options.part = "talos", p.options.part_options = &talos;
        p.options.checkpoint = path_of("checkpoint");
        train(alone, NULL, &p.options);
        expected = hash_checkpoint(p.options.checkpoint);
        for (size_t ranks = 2; ranks <= cases[k].most; ranks++) {
            p.threads = 1 + (int)(ranks % 2);
            simulated_ranks(ranks, 0, pretrain_on_rank, &p);
            found = hash_checkpoint(p.options.checkpoint);
            assert_string_equal(found.file, expected.file);
        }
        p.options.leaf = 4; /* other sums, of the encoder and of the classifier */
        train(cut, NULL, &p.options);
        found = hash_checkpoint(p.options.checkpoint);
        assert_string_not_equal(cut, alone);
        assert_string_not_equal(found.classifier, expected.classifier);
    }
}

/* The classifier's optimizer too comes from rank 0, which alone reads the checkpoint. */
TEST(talos_goes_on_with_another_number_of_ranks)
{
    char whole[65];
    const struct sotto_talos talos = {.lambda = 2, .attribute = attribute, .alternation = "joint"};
    struct plan p = {.options = small(), .threads = 1, .sha256 = whole};
    p.options.epochs = 3, p.options.part = "talos", p.options.part_options = &talos;
    p.options.checkpoint = path_of("checkpoint");
    train(whole, NULL, &p.options);
    const struct checkpoint_hash expected = hash_checkpoint(p.options.checkpoint);
    struct plan stopped = p;
    stopped.sha256 = NULL, stopped.failure = SOTTO_ESTOPPED,
    stopped.text = "pretrain: stopped after step 3 of 6";
    stopped.stop_after = 48, stopped.stop_rank = 1;
    simulated_ranks(2, 0, pretrain_on_rank, &stopped);
    stopped.stop_after = 80, stopped.text = "pretrain: stopped after step 5 of 6";
    simulated_ranks(3, 0, pretrain_on_rank, &stopped);
    p.threads = 2;
    simulated_ranks(1, 0, pretrain_on_rank, &p);
    assert_string_equal(hash_checkpoint(p.options.checkpoint).file, expected.file);
}

TEST(auto_is_exact_on_ranks)
{
    char exact[65];
    const struct sotto_talos talos = {.lambda = 1, .attribute = attribute, .alternation = "joint"};
    struct plan p = {.options = small(), .threads = 1, .sha256 = exact};
    p.options.part = "talos", p.options.part_options = &talos;
    p.options.epochs = 1, p.options.leaf = 0;
    train(exact, NULL, &p.options);
    p.options.order = "auto";
    simulated_ranks(2, 0, pretrain_on_rank, &p);
}

TEST_GROUP(.shards = 3, .set_up = begin, .tear_down = close_images, .next = machine_next,
           .tags = "matrix matrix-dtype long")
