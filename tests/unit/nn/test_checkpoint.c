/* src/learn/nn/loop/checkpoint.c: the state of a run of networks comes back bit for bit, or its file is refused in one line and nothing is
 * taken over. f32 weights; no kernels, one thread. */
#include "support/test.h"

#include "base/file.h"
#include "base/sha256.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "nn/loop/checkpoint.h"
#include "nn/model/model.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"

#include <string.h>
#include <unistd.h>

enum { LABELS = 5, CLASSES = 3, LIMIT = 1 << 20 };

/* All that a checkpoint can hold of a run without batch norm. */
struct state {
    struct nn_model *model, *average, *other;
    struct nn_optimizer *optimizer, *adversary_optimizer, *other_optimizer;
    int64_t labels[LABELS];
    struct checkpoint_private secret;
    struct checkpoint_adversary adversary;
    struct checkpoint_second second;
    struct checkpoint_origin origin;
    struct training_progress progress;
};

static void make_network(struct nn_model **m, struct nn_optimizer **o, uint64_t seed)
{
    const struct nn_model_config config = {
        .name = "mlp", .input = {1, 2, 2}, .classes = CLASSES, .hidden = {3}, .hidden_count = 1};
    const struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    assert_int_equal(nn_model_create(m, &config, seed), SOTTO_OK);
    if (o)
        assert_int_equal(nn_optimizer_create(o, *m, &adam), SOTTO_OK);
}

/* In: s  stays where it is, as its parts point to each other. */
static void make(struct state *s, uint64_t seed)
{
    *s = (struct state){0};
    make_network(&s->model, &s->optimizer, seed);
    make_network(&s->average, &s->adversary_optimizer, seed + 1);
    make_network(&s->other, &s->other_optimizer, seed + 2);
    s->secret = (struct checkpoint_private){
        .average = s->average, .labels = s->labels, .label_count = LABELS, .classes = CLASSES};
    s->adversary.optimizer = s->adversary_optimizer;
    s->second = (struct checkpoint_second){s->other, s->other_optimizer};
    s->origin = (struct checkpoint_origin){.recipe = "seed=1\nlr=0.5\n",
                                           .machine = "isa=v3\n",
                                           .steps = 9,
                                           .secret = &s->secret,
                                           .adversary = &s->adversary,
                                           .second = &s->second};
}

/* A run at step 4. */
static void make_begun(struct state *s)
{
    make(s, 1);
    assert_int_equal(model_need_gradients(s->model), SOTTO_OK);
    for (size_t i = 0; i < s->model->trainable; i++)
        s->model->diffs[i] = 0.5f - (float)(i % 3);
    nn_optimizer_step(s->optimizer, s->model, 0.1); /* so that there are moments */
    strcpy(s->secret.run, "00112233445566778899aabbccddeeff");
    s->secret.clip = 0.75;
    for (int i = 0; i < LABELS; i++)
        s->labels[i] = i % CLASSES;
    memset(s->secret.label_entry, 'a', sizeof s->secret.label_entry - 1);
    s->adversary = (struct checkpoint_adversary){s->adversary_optimizer, 1.5, 0.5, 4, 2.5, 0.25};
    s->progress = (struct training_progress){4, 3.5, 0.125, 2.25, 0.625};
}

static void clear(struct state *s)
{
    nn_model_free(s->model);
    nn_model_free(s->average);
    nn_model_free(s->other);
    nn_optimizer_free(s->optimizer);
    nn_optimizer_free(s->adversary_optimizer);
    nn_optimizer_free(s->other_optimizer);
}

static void save(const char *path, const struct state *s)
{
    assert_int_equal(checkpoint_save(path, &s->origin, s->model, s->optimizer, &s->progress), SOTTO_OK);
}

static sotto_status load(struct state *s, const char *path)
{
    return checkpoint_load(path, &s->origin, s->model, s->optimizer, &s->progress, NULL);
}

/* Of all state. */
static void hash_of(char hex[SHA256_HEX], const struct state *s)
{
    save(path_of("hashed"), s);
    assert_int_equal(sha256_file(hex, path_of("hashed")), SOTTO_OK);
}

static unsigned char *saved_bytes(size_t *size)
{
    struct state s;
    unsigned char *bytes;
    make_begun(&s);
    save(path_of("c"), &s);
    assert_int_equal(file_read(&bytes, size, path_of("c"), LIMIT), SOTTO_OK);
    clear(&s);
    return bytes;
}

/* A new file each time: some file systems flush one that is overwritten. */
static void put(const char *path, const void *bytes, size_t size)
{
    unlink(path);
    assert_int_equal(overwrite(path, bytes, size), 0);
}

static void refused(struct state *s, const char *path, const char *words)
{
    assert_int_equal(load(s, path), SOTTO_EFORMAT);
    const char *text = sotto_error_text();
    if (!strstr(text, words) || !strstr(text, path) || strchr(text, '\n'))
        fail_msg("'%s' lacks '%s', or '%s', or is more than a line", text, words, path);
    assert_non_null(strstr(sotto_error_hint(), "what was charged stays charged"));
}

TEST(what_is_saved_comes_back)
{
    struct state s, t;
    char saved[SHA256_HEX], before[SHA256_HEX], found[SHA256_HEX];
    make_begun(&s);
    make(&t, 7);
    hash_of(saved, &s);
    hash_of(before, &t);
    assert_string_not_equal(before, saved);
    save(path_of("c"), &s);
    assert_int_equal(load(&t, path_of("c")), SOTTO_OK);
    hash_of(found, &t);
    assert_string_equal(found, saved);
    clear(&s);
    clear(&t);
}

/* As docs/FORMATS.md states it for other programs. */
TEST(the_last_bytes_are_the_checksum_of_all_others)
{
    size_t size;
    unsigned char *bytes = saved_bytes(&size), digest[DIGEST_BYTES];
    digest_of(digest, &(struct digest_part){bytes, size - DIGEST_BYTES}, 1);
    assert_memory_equal(bytes + size - DIGEST_BYTES, digest, DIGEST_BYTES);
    base_free(bytes);
}

TEST(every_changed_byte_and_every_cut_is_refused)
{
    size_t size;
    unsigned char *bytes = saved_bytes(&size);
    const char *path = path_of("changed");
    struct state s;
    char before[SHA256_HEX], after[SHA256_HEX];
    make(&s, 7);
    hash_of(before, &s);
    for (size_t i = 0; i < size; i++) {
        const unsigned char bit = (unsigned char)(1 << i % 8);
        bytes[i] ^= bit;
        put(path, bytes, size);
        refused(&s, path, "");
        bytes[i] ^= bit;
        put(path, bytes, i);
        refused(&s, path, "");
    }
    hash_of(after, &s);
    assert_string_equal(after, before);
    put(path, bytes, size); /* it was the changes that were refused */
    assert_int_equal(load(&s, path), SOTTO_OK);
    clear(&s);
    base_free(bytes);
}

/* A value that is as good as another: nothing but the checksum can tell. */
TEST(a_changed_weight_is_told_as_damage)
{
    size_t size;
    unsigned char *bytes = saved_bytes(&size);
    const char *path = path_of("weight");
    struct state s;
    make(&s, 7);
    uint64_t header;
    memcpy(&header, bytes, sizeof header); /* little-endian machines alone are built for */
    bytes[sizeof header + header] ^= 1;
    put(path, bytes, size);
    refused(&s, path, "does not match its checksum, so it was damaged or changed after it was written");
    clear(&s);
    base_free(bytes);
}

TEST(other_kinds_and_versions_are_refused)
{
    static const struct {
        const char *schema, *words;
    } files[] = {
        {"sotto.checkpoint/1", "earlier version of sotto, which wrote no checksum"},
        {"sotto.checkpoint/3", "not a checkpoint of a training run; expected schema sotto.checkpoint/2"},
        {"sotto.checkpoint/2", "does not match its checksum"},
        {"sotto.head-checkpoint/2", "expected schema sotto.checkpoint/2"}};
    struct state s, begun;
    make(&s, 7);
    make_begun(&begun);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct sotto_tensors t = {0}; /* without a checksum, as version 1 was */
        assert_int_equal(checkpoint_copy(&t, &begun.origin, begun.model, begun.optimizer, &begun.progress),
                         SOTTO_OK);
        assert_int_equal(tensors_set_metadata(&t, "schema", files[i].schema), SOTTO_OK);
        assert_int_equal(safetensors_save(path_of("other"), &t), SOTTO_OK);
        refused(&s, path_of("other"), files[i].words);
        sotto_tensors_clear(&t);
    }
    clear(&s);
    clear(&begun);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
