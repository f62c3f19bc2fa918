/* Pre-training on ranks: the bits of one process alone, on any number of ranks and threads. Most sums of it run under sanitizers in
 * test_pretrain_ranks.c too, on fewer ranks. */
#include "support/test.h"
#include "support/pretraining_ranks.h"
#include "base/sha256.h"

static int begin(void **state)
{
    return open_images(state, "synthetic-images-n40");
}

TEST(any_number_of_ranks_gives_the_bits_of_one)
{
    char alone[65], cut[65];
    const struct {
        const char *method, *encoder, *loss;
        size_t batch, leaf;
        const char *norm_scope;
    } cases[] = {
        {"simclr", "keras-simclr", "keras", 16, 2, NULL},
        {"simclr", "keras-simclr", "simclr", 15, 2, NULL}, /* 8 leaves, the last half empty */
        {"rotation", "keras-simclr", "keras", 14, 2, NULL},
        {"simclr", "resnet8", "keras", 12, 2, NULL},   /* batch norm crosses leaves */
        {"simclr", "resnet8", "keras", 11, 2, "leaf"}, /* or does not */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct plan p = {.options = small()};
        p.options.method = cases[k].method, p.options.encoder = cases[k].encoder;
        p.options.loss = cases[k].loss, p.options.batch = cases[k].batch;
        p.options.leaf = cases[k].leaf;
        p.options.norm_scope = cases[k].norm_scope;
        p.options.epochs = k == 3 ? 1 : 2;
        train(alone, NULL, &p.options);
        p.sha256 = alone;
        for (size_t ranks = k ? 2 : 1; ranks <= (k ? 3 : 5); ranks += k ? 1 : 2) {
            p.threads = 1 + (int)(ranks % 2);
            simulated_ranks(ranks, 0, pretrain_on_rank, &p);
        }
        p.options.leaf = 4; /* another tree: the same sums but for their order */
        train(cut, NULL, &p.options);
        assert_string_not_equal(cut, alone);
    }
}

/* What ranks received in a run of so many epochs of two steps. */
struct counted {
    struct sotto_pretrain_options options;
    uint64_t bytes[8], messages[8];
};
static const char *count_on_rank(const struct sotto_team *team, void *state)
{
    struct counted *c = state;
    const struct sotto_context ctx = {.threads = 1, .team = team};
    struct sotto_encoder *e = NULL;
    const sotto_status status = sotto_pretrain(&e, NULL, images, NULL, 0, &c->options, &ctx);
    const struct team_traffic t = team_traffic(team);
    c->bytes[sotto_team_rank(team)] = t.bytes;
    c->messages[sotto_team_rank(team)] = t.messages;
    sotto_encoder_free(e);
    return status == SOTTO_OK ? NULL : sotto_error_text();
}

/* Gradients and values of P weights: 8 P (R - 1) / R bytes of a step, where ranks and leaves are powers of two; embeddings of two
 * views of a batch, 4 x 2 B D (R - 1) / R; and a few numbers of the loss. Segments are whole chunks, so a rank may get more, and
 * another less. */
TEST(a_step_receives_what_the_formula_says)
{
    enum { BATCH = 16 };
    struct sotto_pretrain_plan plan;
    for (size_t ranks = 2; ranks <= 8; ranks *= 2) {
        struct counted one = {.options = small()}, two = one;
        uint64_t all = 0;
        one.options.epochs = 1;
        assert_int_equal(sotto_pretrain_plan(&plan, images, NULL, 0, &one.options, &machine.context),
                         SOTTO_OK);
        simulated_ranks(ranks, 0, count_on_rank, &one);
        simulated_ranks(ranks, 0, count_on_rank, &two);
        for (size_t r = 0; r < ranks; r++) /* two steps more */
            all += (two.bytes[r] - one.bytes[r]) / 2;
        const double share = (double)(ranks - 1), weights = 8 * (double)plan.parameters * share,
                     outputs = 8 * BATCH * (double)plan.width * share, found = (double)all;
        if (!(found >= weights + outputs && found <= weights + outputs + 64 * BATCH * share * (double)ranks))
            fail_msg("%zu ranks: %.0f bytes; expected %.0f and some", ranks, found, weights + outputs);
    }
}

/* Of f32 moments each rank has its segment; rank 0 writes the checkpoint of one process. resnet8 has 5 chunks of 16,384, less
 * than 7 ranks; its batch norms cut a step into phases. */
TEST(checkpoints_have_the_bytes_of_one_process)
{
    static const char *const encoders[] = {"resnet8", "keras-simclr"};
    for (size_t k = 0; k < 2; k++) {
        char alone[65], file[65], other[65];
        struct plan p = {.options = small(), .threads = 1, .sha256 = alone};
        p.options.encoder = encoders[k], p.options.epochs = 1;
        p.options.checkpoint = path_of("checkpoint");
        unlink(p.options.checkpoint);
        train(alone, NULL, &p.options);
        assert_int_equal(sha256_file(file, p.options.checkpoint), SOTTO_OK);
        for (size_t ranks = 1; ranks <= 7; ranks++) {
            unlink(p.options.checkpoint);
            simulated_ranks(ranks, 0, pretrain_on_rank, &p);
            assert_int_equal(sha256_file(other, p.options.checkpoint), SOTTO_OK);
            assert_string_equal(other, file);
        }
        unlink(p.options.checkpoint);
    }
}

TEST_GROUP(.shards = 3, .set_up = begin, .tear_down = close_images, .next = machine_next,
           .tags = "matrix matrix-dtype long long-sums")
