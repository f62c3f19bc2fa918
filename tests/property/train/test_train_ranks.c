/* Plain training on ranks: the bits of one process alone; what cannot run on ranks is refused. Ranks are threads here. */
#include "support/test.h"
#include "support/machine.h"
#include "support/simulated_ranks.h"
#include "support/temporary_folder.h"
#include "base/sha256.h"
#include "sotto/lab/train.h"

#include <signal.h>
#include <unistd.h>

static struct sotto_dataset *images;

static int begin(void **state)
{
    return make_folder(state) || sotto_dataset_open(&images, "synthetic-images-n40", NULL) != SOTTO_OK ? -1
                                                                                                       : 0;
}

static int end(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

/* Two epochs of 2 steps, of 15 images in 8 leaves. */
static struct sotto_train_options small(const char *model)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = model;
    o.epochs = 2;
    o.batch = 15;
    o.seed = 5;
    o.flip = 1;
    o.crop = 2;
    o.order = "exact";
    o.leaf = 2;
    o.dtype = machine.dtype;
    o.backend = machine.backend;
    return o;
}

struct plan {
    struct sotto_train_options options;
    const char *sha256; /* expected weights; NULL: ENOTSUP with this text */
    const char *text;
    double accuracy;
};

static const char *train_on_rank(const struct sotto_team *team, void *state)
{
    const struct plan *p = state;
    const struct sotto_context ctx = {.threads = 1 + (int)sotto_team_rank(team) % 2, .team = team};
    struct sotto_network *n = NULL;
    struct sotto_train_result result = {0};
    static _Thread_local char wrong[400];
    sotto_status status = sotto_train(&n, &result, images, NULL, 0, &p->options, &ctx);
    const bool other = status == SOTTO_OK && p->sha256 &&
                       (strcmp(sotto_network_sha256(n), p->sha256) != 0 || result.accuracy != p->accuracy);
    sotto_network_free(n);
    status = team_agree(team, status);
    if (other)
        return "other weights, or another accuracy";
    if (status == (p->sha256 ? SOTTO_OK : SOTTO_ENOTSUP) &&
        (p->sha256 || strstr(sotto_error_text(), p->text)))
        return NULL;
    snprintf(wrong, sizeof wrong, "%s '%s'", sotto_status_name(status), sotto_error_text());
    return wrong;
}

static double train_alone(char sha256[65], const struct sotto_train_options *o)
{
    struct sotto_network *n = NULL;
    struct sotto_train_result result;
    if (sotto_train(&n, &result, images, NULL, 0, o, &machine.context) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    strcpy(sha256, sotto_network_sha256(n));
    sotto_network_free(n);
    return result.accuracy;
}

TEST(any_number_of_ranks_gives_the_bits_of_one)
{
    char alone[65], cut[65];
    const char *const models[] = {"cnn", "resnet8", "resnet8", "resnet8"}; /* batch norm crosses leaves */
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        struct plan p = {.options = small(models[k]), .sha256 = alone};
        if (k == 2) /* as does relative noise */
            p.options.residual =
                (struct sotto_residual_noise){.kind = "additive", .gamma = 0.2, .relative = 1};
        if (k == 3) /* or does not */
            p.options.norm_scope = "leaf", p.options.leaf = 3;
        p.options.epochs = k == 1 || k == 2 ? 1 : 2;
        struct sotto_train_options quiet = p.options;
        quiet.residual = (struct sotto_residual_noise){0};
        p.accuracy = train_alone(alone, &p.options);
        for (size_t ranks = 2; ranks <= 3; ranks++)
            simulated_ranks(ranks, 0, train_on_rank, &p);
        if (k == 2) {
            train_alone(cut, &quiet);
            assert_string_not_equal(cut, alone);
        }
        p.options.leaf = 4; /* the same sums in another order */
        train_alone(cut, &p.options);
        assert_string_not_equal(cut, alone);
    }
}

static volatile sig_atomic_t stop_now;

static void stop_after_a_step(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)user, (void)stage, (void)total, (void)unit;
    stop_now = done > 0;
}

/* One step, and a checkpoint. */
static const char *train_a_step(const struct sotto_team *team, void *state)
{
    const struct plan *p = state;
    const struct sotto_context ctx = {.threads = 1,
                                      .team = team,
                                      .stop = &stop_now,
                                      .progress = sotto_team_rank(team) ? NULL : stop_after_a_step};
    struct sotto_network *n = NULL;
    const sotto_status status = sotto_train(&n, NULL, images, NULL, 0, &p->options, &ctx);
    sotto_network_free(n);
    return team_agree(team, status) == SOTTO_ESTOPPED ? NULL : sotto_error_text();
}

/* The momentum of each rank's segment is gathered for a checkpoint, and dealt anew to another number of ranks. */
TEST(a_run_goes_on_with_another_number_of_ranks)
{
    static const char *const optimizers[] = {"sgd", "adam"};
    char alone[65], file[65], other[65];
    for (size_t k = 0; k < 2; k++) {
        struct plan p = {.options = small("resnet8"), .sha256 = alone};
        p.options.epochs = 2, p.options.optimizer = optimizers[k], p.options.weight_decay = 1e-3;
        p.options.checkpoint = path_of("checkpoint");
        unlink(p.options.checkpoint);
        p.accuracy = train_alone(alone, &p.options);
        assert_int_equal(sha256_file(file, p.options.checkpoint), SOTTO_OK);
        unlink(p.options.checkpoint);
        for (size_t ranks = 2; ranks <= 3; ranks++) {
            stop_now = 0;
            simulated_ranks(ranks, 0, train_a_step, &p);
        }
        simulated_ranks(1, 0, train_on_rank, &p);
        assert_int_equal(sha256_file(other, p.options.checkpoint), SOTTO_OK);
        assert_string_equal(other, file);
    }
}

TEST(what_cannot_run_on_ranks_is_refused)
{
    struct plan p = {.options = small("cnn")};
    p.options.order = "fast", p.options.leaf = 0;
    p.text = "order fast cannot run on several ranks";
    simulated_ranks(2, 0, train_on_rank, &p);
    p.options = small("resnet8");
    p.options.residual.members = 2, p.options.residual.independent = 1;
    p.text = "members that are trained apart cannot be trained on several ranks yet";
    simulated_ranks(2, 0, train_on_rank, &p);
}

TEST_GROUP(.set_up = begin, .tear_down = end, .next = machine_next, .tags = "matrix matrix-dtype")
