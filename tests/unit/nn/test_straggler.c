/* The slowest rank is named once an epoch, where it is much slower than the others; not in runs that tell no times, as private ones.
 * f32; nothing is computed, so instruction set and threads do not matter. Ranks are threads here. */
#include "support/test.h"
#include "support/simulated_ranks.h"
#include "nn/loop/straggler.h"
#include "nn/loop/training_loop.h"

#include <time.h>

TEST(the_slowest_is_found_beside_the_median)
{
    const struct {
        size_t ranks, rank; /* rank == ranks: none */
        float seconds[5];
        double times;
    } cases[] = {
        {1, 1, {100}, 0},
        {2, 1, {10, 20}, 2},
        {2, 0, {20, 10}, 2},
        {2, 2, {10, 12.9F}, 0}, /* less than 1.3 times */
        {2, 1, {10, 13.5F}, 1.35},
        {2, 2, {.1F, .9F}, 0}, /* less than a second */
        {3, 2, {10, 12, 18}, 1.5},
        {3, 3, {1, 12, 13}, 0}, /* a fast rank makes no slow one */
        {4, 0, {40, 20, 10, 30}, 2},
        {5, 4, {10, 10, 10, 10, 16}, 1.6},
        {5, 5, {16, 16, 16, 10, 16}, 0},
        {3, 3, {10, 0, 30}, 0}, /* one told nothing */
        {3, 3, {0, 0, 0}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct straggler s = {99, 0};
        const bool found = straggler_find(&s, cases[i].seconds, cases[i].ranks);
        if (found != (cases[i].rank < cases[i].ranks))
            fail_msg("case %zu: found %d", i, found);
        if (found && (s.rank != cases[i].rank || !(s.times > cases[i].times - 1e-6) ||
                      !(s.times < cases[i].times + 1e-6)))
            fail_msg("case %zu: rank %zu, %g times", i, s.rank, s.times);
    }
}

enum { RANKS = 3, SLOW = 1, EPOCHS = 2, STEPS = 4 };
struct trial {
    bool slow;
    double share;
    size_t lines;       /* of rank 0 */
    char text[2][300];  /* the first of them */
    size_t other_lines; /* of other ranks */
};
/* Of one rank. */
struct rank {
    struct trial *trial;
    size_t number;
};

static void hear(void *user, enum sotto_log_level level, const char *text)
{
    struct rank *r = user;
    if (!strstr(text, "waited for"))
        return;
    if (r->number || level != SOTTO_LOG_INFO)
        r->trial->other_lines++;
    else if (r->trial->lines++ < 2)
        snprintf(r->trial->text[r->trial->lines - 1], sizeof *r->trial->text, "%s", text);
}

static sotto_status draw(const int64_t **rows, size_t *n, void *state, uint64_t step)
{
    static const int64_t row = 0;
    (void)state, (void)step;
    *rows = &row;
    *n = 1;
    return SOTTO_OK;
}

/* 1.2 s of work in one step of each epoch. */
static sotto_status gradient(struct training_batch *out, void *state, const int64_t *rows, size_t n,
                             uint64_t step)
{
    const struct rank *r = state;
    (void)rows, (void)n;
    if (r->trial->slow && r->number == SLOW && step % STEPS == 1)
        nanosleep(&(struct timespec){1, 200000000}, NULL);
    *out = (struct training_batch){1, 0};
    return SOTTO_OK;
}

static sotto_status update(void *state, double lr, uint64_t step)
{
    (void)state, (void)lr, (void)step;
    return SOTTO_OK;
}

static const char *train_on_rank(const struct sotto_team *team, void *state)
{
    struct rank r = {state, sotto_team_rank(team)};
    const struct sotto_context ctx = {.log = hear, .user = &r};
    const struct nn_model_config mlp = {
        .name = "mlp", .input = {4, 1, 1}, .classes = 2, .hidden = {3}, .hidden_count = 1};
    const struct nn_optimizer_config sgd = {.name = "sgd"};
    struct training_loop l = {.stage = "train",
                              .unit = "records",
                              .hint = "",
                              .origin = {.recipe = "", .machine = "", .steps = EPOCHS * STEPS},
                              .schedule = {.kind = SCHEDULE_CONSTANT, .lr = 1},
                              .batch = 1,
                              .steps_per_epoch = STEPS,
                              .step = {.state = &r, .draw = draw, .gradient = gradient, .update = update},
                              .team = team,
                              .share = r.trial->share,
                              .ctx = &ctx};
    char host[16];
    for (size_t k = 0; k < RANKS; k++) {
        snprintf(host, sizeof host, "node%zu", k);
        team_know_host(team, k, host);
    }
    if (nn_model_create(&l.model, &mlp, 1) != SOTTO_OK ||
        nn_optimizer_create(&l.optimizer, l.model, &sgd) != SOTTO_OK)
        return sotto_error_text();
    const sotto_status status = training_loop_run(&l);
    nn_optimizer_free(l.optimizer);
    nn_model_free(l.model);
    return status == SOTTO_OK ? NULL : sotto_error_text();
}

TEST(a_slow_rank_is_named_once_an_epoch)
{
    struct trial t = {.slow = true, .share = 1};
    simulated_ranks(RANKS, 0, train_on_rank, &t);
    assert_int_equal(t.lines, EPOCHS);
    assert_int_equal(t.other_lines, 0);
    assert_non_null(
        strstr(t.text[0], "train: epoch 1: the other ranks waited for rank 1 (node1), which worked "));
    assert_non_null(strstr(t.text[1], "train: epoch 2: "));
    assert_non_null(strstr(t.text[1], " times as long as the median rank"));
}

TEST(equal_ranks_are_not_named)
{
    struct trial t = {.share = 1};
    simulated_ranks(RANKS, 0, train_on_rank, &t);
    assert_int_equal(t.lines + t.other_lines, 0);
}

/* How long a rank of a private run works depends on which records it holds. */
TEST(a_run_that_tells_no_times_names_none)
{
    struct trial t = {.slow = true, .share = 0};
    simulated_ranks(RANKS, 0, train_on_rank, &t);
    assert_int_equal(t.lines + t.other_lines, 0);
}
