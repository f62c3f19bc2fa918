/* Pre-training on ranks: a run goes on with another number of them, with the bits of one process alone (all of these:
 * test_pretrain_ranks_bits.c); a rank that fails or stops takes all others with it; what cannot run on ranks is refused. Ranks are
 * threads here; tests/cli/mpi.bats has processes. */
#include "support/test.h"
#include "support/pretraining_ranks.h"
#include "base/memory.h"

static int begin(void **state)
{
    return open_images(state, "synthetic-images-n40");
}

TEST(a_run_goes_on_with_another_number_of_ranks)
{
    char whole[65];
    struct plan p = {.options = small(), .threads = 1};
    train(whole, NULL, &p.options);
    p.options.checkpoint = path_of("checkpoint");
    unlink(p.options.checkpoint);
    struct plan stopped = p;
    stopped.failure = SOTTO_ESTOPPED, stopped.text = "pretrain: stopped after step 1 of 4";
    stopped.stop_after = 16, stopped.stop_rank = 1; /* the others learn of it within the next step */
    simulated_ranks(2, 0, pretrain_on_rank, &stopped);
    stopped.stop_after = 48, stopped.text = "pretrain: stopped after step 3 of 4";
    simulated_ranks(3, 0, pretrain_on_rank, &stopped);
    p.sha256 = whole;
    simulated_ranks(4, 0, pretrain_on_rank, &p);
}

/* Within an epoch the checkpoint holds what the leaves of all ranks have seen so far. */
TEST(moments_of_leaves_go_on_with_another_number_of_ranks)
{
    char whole[65], batch[65];
    struct plan p = {.options = small(), .threads = 1};
    p.options.encoder = "resnet8", p.options.batch = 8, p.options.epochs = 1; /* 5 steps of 4 leaves */
    train(batch, NULL, &p.options);
    p.options.norm_scope = "leaf";
    train(whole, NULL, &p.options);
    assert_string_not_equal(whole, batch);
    p.options.checkpoint = path_of("checkpoint");
    unlink(p.options.checkpoint);
    struct plan stopped = p;
    stopped.failure = SOTTO_ESTOPPED, stopped.text = "pretrain: stopped after step 1 of 5";
    stopped.stop_after = 8, stopped.stop_rank = 1;
    simulated_ranks(2, 0, pretrain_on_rank, &stopped);
    stopped.stop_after = 24, stopped.text = "pretrain: stopped after step 3 of 5";
    simulated_ranks(3, 0, pretrain_on_rank, &stopped);
    train_until(&p.options, 32);
    p.sha256 = whole;
    simulated_ranks(2, 0, pretrain_on_rank, &p);
    unlink(p.options.checkpoint);
}

TEST(a_rank_that_fails_takes_all_with_it)
{
    struct plan p = {.options = small(), .threads = 1, .failure = SOTTO_EINVAL};
    struct sotto_pretrain_options other = small();
    p.other = &other;
    other.lr = 0.5;
    p.text = "lr is 0.5, but 0.001 on rank 0; start all ranks with the same options";
    simulated_ranks(3, 0, pretrain_on_rank, &p);
    other = small();
    other.batch = 1000; /* refused before the ranks speak to each other */
    p.text = "batch 1000 is larger than the 40 images";
    simulated_ranks(3, 0, pretrain_on_rank, &p);
    p.other = NULL;
    p.options.leaf = 8;
    p.text = "a batch of 16 in leaves of 8 makes 2 leaves; 3 ranks were started, but at most 2 can work";
    simulated_ranks(3, 0, pretrain_on_rank, &p);
    p.options.leaf = 2;
    p.options.checkpoint = path_of("none/checkpoint"); /* rank 0 alone writes */
    p.failure = SOTTO_ECREATE;
    p.text = "cannot create";
    simulated_ranks(3, 0, pretrain_on_rank, &p);
}

TEST(what_cannot_run_on_ranks_is_refused)
{
    struct plan p = {.options = small(), .threads = 1, .failure = SOTTO_ENOTSUP};
    p.options.order = "fast", p.options.leaf = 0;
    p.text = "order fast cannot run on several ranks";
    simulated_ranks(2, 0, pretrain_on_rank, &p);
}

/* state: after how many allocations, of all ranks together, memory is out */
static const char *run_out_of_memory(const struct sotto_team *team, void *state)
{
    long *allocations = state;
    const struct sotto_pretrain_options o = small();
    const struct sotto_context ctx = {.threads = 1, .team = team};
    struct sotto_encoder *e = NULL;
    if (team_agree(team, SOTTO_OK) != SOTTO_OK)
        return "no agreement";
    if (sotto_team_rank(team) == 0)
        base_alloc_fail_after(*allocations);
    sotto_status status = sotto_pretrain(&e, NULL, images, NULL, 0, &o, &ctx);
    sotto_encoder_free(e);
    status = team_agree(team, status);
    const sotto_status said = status;
    team_go_on(team);
    status = team_agree(team, SOTTO_OK);
    if (sotto_team_rank(team) == 0) {
        base_alloc_fail_after(-1);
        if (said == SOTTO_OK)
            *allocations = -1;
    }
    return status == SOTTO_OK && (said == SOTTO_OK || said == SOTTO_ENOMEM) ? NULL : sotto_error_text();
}

TEST(out_of_memory_on_a_rank_is_an_error_of_all)
{
    size_t failed = 0;
    for (long n = 0; n < 3000; n += 1 + n / 3) {
        long allocations = n;
        simulated_ranks(3, 0, run_out_of_memory, &allocations);
        if (allocations < 0)
            break;
        failed++;
    }
    assert_true(failed > 8);
}

TEST(auto_is_exact_on_ranks)
{
    char exact[65];
    for (int k = 0; k < 2; k++) {
        struct plan p = {.options = small(), .threads = 1, .sha256 = exact};
        p.options.encoder = k ? "keras-simclr" : "resnet8";
        p.options.epochs = 1, p.options.leaf = 0;
        train(exact, NULL, &p.options);
        p.options.order = "auto";
        simulated_ranks(2, 0, pretrain_on_rank, &p);
    }
}

TEST_GROUP(.shards = 6, .set_up = begin, .tear_down = close_images, .next = machine_next,
           .tags = "matrix matrix-dtype long")
