/* Ensembles trained apart: members are single networks of their seeds bit for bit, a stopped run ends the
 * same, the file keeps how it was made, and answers are the mean. */
#include "support/test.h"
#include "support/machine.h"
#include "io/array/tensors.h"
#include "train/network/network.h"
#include "sotto/lab/train.h"
#include "support/temporary_folder.h"
#include "base/checkpoint_lock.h"
#include "base/file.h"
#include "train/plain/ensemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMBERS = 2, N = 64 };
static struct sotto_dataset *images;
static const struct sotto_context single = {.threads = 1};

static int set_up(void **state)
{
    return make_folder(state) || sotto_dataset_open(&images, "synthetic-images-n64", NULL) != SOTTO_OK;
}

static int tear_down(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

static struct sotto_train_options apart(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "resnet8";
    o.epochs = 1;
    o.batch = 30;
    o.dtype = "f32";
    o.backend = machine.backend;
    o.residual = (struct sotto_residual_noise){.members = MEMBERS, .independent = 1};
    return o;
}

static struct sotto_network *trained(const struct sotto_train_options *o)
{
    struct sotto_network *n = NULL;
    if (sotto_train(&n, NULL, images, NULL, 0, o, &single) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return n;
}

/* The tensors of n, in their order. */
static void tensors_of(struct sotto_tensors *out, const struct sotto_network *n)
{
    *out = (struct sotto_tensors){0};
    assert_int_equal(nn_model_export(out, n->model, "", 1), SOTTO_OK);
}

TEST(members_are_networks_of_their_seeds)
{
    struct sotto_train_options o = apart();
    struct sotto_network *whole = trained(&o);
    struct sotto_tensors of_whole, of_one;
    tensors_of(&of_whole, whole);
    assert_int_not_equal(members_seed(o.seed, 0), members_seed(o.seed, 1));
    for (size_t k = 0; k < MEMBERS; k++) {
        struct sotto_train_options one = apart();
        one.residual = (struct sotto_residual_noise){0};
        one.seed = members_seed(o.seed, k);
        struct sotto_network *n = trained(&one);
        tensors_of(&of_one, n);
        assert_int_equal(of_whole.count, MEMBERS * of_one.count);
        for (size_t t = 0; t < of_one.count; t++) {
            char name[96];
            snprintf(name, sizeof name, "member%zu.%s", k, of_one.items[t].name);
            const struct sotto_array *found = tensors_find(&of_whole, name);
            assert_non_null(found);
            assert_int_equal(found->count, of_one.items[t].array.count);
            assert_memory_equal(found->data, of_one.items[t].array.data, found->count * sizeof(float));
        }
        sotto_tensors_clear(&of_one);
        sotto_network_free(n);
    }
    sotto_tensors_clear(&of_whole);
    sotto_network_free(whole);
}

struct stopper {
    volatile sig_atomic_t stop;
    size_t steps;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    struct stopper *s = user;
    (void)stage, (void)done, (void)total, (void)unit;
    s->stop = ++s->steps >= 3; /* two steps a member: in the second */
}

TEST(a_stopped_run_ends_the_same)
{
    struct sotto_train_options o = apart();
    struct stopper stopper = {0};
    struct sotto_context ctx = {.threads = 1, .stop = &stopper.stop, .progress = watch, .user = &stopper};
    struct sotto_network *whole = trained(&o), *n = NULL;
    char checkpoint[128], member[160];
    snprintf(checkpoint, sizeof checkpoint, "%s", path_of("state"));
    snprintf(member, sizeof member, "%s.member1", checkpoint);
    o.checkpoint = checkpoint;
    assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &ctx), SOTTO_ESTOPPED);
    assert_null(n);
    assert_int_equal(access(member, F_OK), 0);
    n = trained(&o);
    assert_string_equal(sotto_network_sha256(n), sotto_network_sha256(whole));
    sotto_train_forget(checkpoint);
    assert_int_not_equal(access(member, F_OK), 0);
    sotto_network_free(n);
    sotto_network_free(whole);
}

/* Nothing goes while another run has the checkpoint or that of a member, of which it may have written none yet. */
TEST(what_is_in_use_is_not_discarded)
{
    char checkpoint[128], member[2][160];
    struct checkpoint_lock held = {0};
    snprintf(checkpoint, sizeof checkpoint, "%s", path_of("used"));
    for (int k = 0; k < 2; k++)
        snprintf(member[k], sizeof member[k], "%s.member%d", checkpoint, k);
    for (int k = -1; k < 2; k++) {
        const char *locked = k < 0 ? checkpoint : member[k];
        assert_int_equal(file_write(checkpoint, "a", 1), SOTTO_OK);
        assert_int_equal(file_write(member[0], "b", 1), SOTTO_OK);
        assert_int_equal(checkpoint_lock_take(&held, locked), SOTTO_OK);
        assert_int_equal(sotto_train_discard(checkpoint), SOTTO_EAGAIN);
        assert_int_equal(access(checkpoint, F_OK) | access(member[0], F_OK), 0);
        checkpoint_lock_release(&held);
        assert_int_equal(sotto_train_discard(checkpoint), SOTTO_OK);
        assert_int_not_equal(access(checkpoint, F_OK), 0);
        assert_int_not_equal(access(member[0], F_OK), 0);
    }
    assert_int_equal(sotto_train_discard(checkpoint), SOTTO_OK); /* there is none */
}

TEST(the_file_knows_how_it_was_made)
{
    struct sotto_train_options o = apart();
    o.residual.average_softmax = 1;
    struct sotto_network *n = trained(&o), *back = NULL;
    float p[N * 16], q[N * 16];
    assert_true(images->classes <= 16);
    assert_int_equal(sotto_network_save(path_of("m.safetensors"), n), SOTTO_OK);
    assert_int_equal(sotto_network_load(&back, path_of("m.safetensors")), SOTTO_OK);
    assert_string_equal(sotto_network_sha256(back), sotto_network_sha256(n));
    const struct sotto_residual_noise *r = &sotto_network_recipe(back)->residual;
    assert_int_equal(r->members, MEMBERS);
    assert_true(r->independent && r->average_softmax);
    assert_string_not_equal(network_statement(back), "");
    assert_int_equal(sotto_network_predict_data(p, n, images, NULL, N, 0, &single), SOTTO_OK);
    assert_int_equal(sotto_network_predict_data(q, back, images, NULL, N, 0, &single), SOTTO_OK);
    assert_memory_equal(p, q, N * images->classes * sizeof *p);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t k = 0; k < images->classes; k++)
            sum += (double)p[i * images->classes + k];
        assert_true(fabs(sum - 1) < 1e-5);
    }
    sotto_network_free(n);
    sotto_network_free(back);
}

TEST(one_member_cannot_be_apart)
{
    struct sotto_train_options o = apart();
    struct sotto_network *n = NULL;
    o.residual.members = 1;
    assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &single), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "more than one ensemble member"));
    o = apart();
    o.residual.members = 17;
    assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &single), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "at most 16"));
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .start = machine_f32, .tags = "matrix")
