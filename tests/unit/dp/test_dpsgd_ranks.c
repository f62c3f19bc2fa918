/* A reservation on ranks: charged once, sampled once, and each coordinate gets noise once. Ranks are threads here; doubles, the best
 * instruction set of the machine, 1 and 2 threads a rank. */
#include "support/test.h"
#include "support/exercise.h"
#include "support/worse.h"
#include "support/simulated_ranks.h"
#include "support/temporary_folder.h"
#include "sotto/lab/release.h"

#include "base/memory.h"
#include "dp/release/dpsgd_ranks.h"
#include "dp/release/dpsgd_session.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 9 * 4096 + 77, RECORDS = 300, STEPS = 3, MOST = 4 };

static struct sotto_dpsgd_request request(bool seeded)
{
    return (struct sotto_dpsgd_request){.sampled = {.mechanism = "gaussian",
                                                    .noise_multiplier = 40,
                                                    .sample_rate = 0.25,
                                                    .steps = STEPS,
                                                    .delta = 0.3,
                                                    .clipping = SOTTO_NORM_L2,
                                                    .adjacency = SOTTO_ZERO_OUT},
                                        .max_grad_norm = 0.5,
                                        .dimension = N,
                                        .records = RECORDS,
                                        .on_lattice = 1,
                                        .spend = {.dataset_id = "toy",
                                                  .source = &exercise,
                                                  .ledger = path_of("l.jsonl"),
                                                  .insecure = seeded,
                                                  .insecure_seed = 9}};
}

/* Reservations in the ledger, which may hold a budget too. */
static size_t entries(void)
{
    size_t found = 0;
    static char line[1 << 16];
    FILE *f = fopen(path_of("l.jsonl"), "r");
    while (f && fgets(line, sizeof line, f))
        found += strstr(line, "\"event\":\"reserve\"") != NULL;
    if (f)
        fclose(f);
    return found;
}

/* What one process draws, or all ranks together. */
struct drawn {
    struct sotto_dpsgd_request request;
    double sum[STEPS][N]; /* of one process, or of rank 0 */
    uint32_t rows[STEPS][RECORDS];
    size_t count[STEPS];
    uint64_t noised[MOST];
    double lattice;
    const char *text;      /* of a failure that is expected on all ranks */
    sotto_status expected; /* of it */
};
static struct drawn alone, together;

/* Rank r's part of coordinate i; the parts of all ranks add up to 5 i. */
static double share(size_t i, size_t rank, size_t ranks)
{
    const double part = (double)(i % 7 * rank) - 3;
    return rank + 1 < ranks ? part
                            : 5.0 * (double)i - (double)(i % 7) * (double)(ranks * (ranks - 1) / 2 - rank) +
                                  3 * (double)(ranks - 1);
}

static void draw_alone(void)
{
    struct sotto_dpsgd_session *s = NULL;
    const struct sotto_context ctx = {.threads = 2};
    unlink(path_of("l.jsonl"));
    if (sotto_dp_reserve(&s, &alone.request, &ctx) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    for (size_t step = 0; step < STEPS; step++) {
        assert_int_equal(sotto_dp_sample(s, alone.rows[step], &alone.count[step], RECORDS), SOTTO_OK);
        for (size_t i = 0; i < N; i++)
            alone.sum[step][i] = share(i, 0, 1);
        assert_int_equal(sotto_dp_step_lattice(s, alone.sum[step]), SOTTO_OK);
    }
    sotto_dpsgd_session_close(s);
}

static const char *steps(struct sotto_dpsgd_session *s, const struct sotto_team *team, const struct drawn *d,
                         double *sum, uint32_t *rows)
{
    const size_t rank = sotto_team_rank(team), ranks = sotto_team_size(team);
    for (size_t step = 0; step < STEPS; step++) {
        size_t count;
        if (dpsgd_ranks_sample(s, rows, &count, RECORDS) != SOTTO_OK)
            return sotto_error_text();
        for (size_t i = 0; i < N; i++)
            sum[i] = share(i, rank, ranks);
        if (dpsgd_ranks_step(s, sum) != SOTTO_OK)
            return sotto_error_text();
        if (d->request.spend.insecure &&
            (count != alone.count[step] || memcmp(rows, alone.rows[step], count * sizeof *rows) != 0))
            return "another sample than that of one process";
        if (d->request.spend.insecure && memcmp(sum, alone.sum[step], N * sizeof *sum) != 0)
            return "another sum than that of one process";
        if (rank == 0)
            memcpy(together.sum[step], sum, N * sizeof *sum);
    }
    together.noised[rank] = s->noised;
    if (rank == 0)
        together.lattice = sotto_dpsgd_session_lattice(s);
    size_t count;
    return dpsgd_ranks_sample(s, rows, &count, RECORDS) == SOTTO_EBUDGET ? NULL
                                                                         : "more steps than were reserved";
}

static const char *draw_on_rank(const struct sotto_team *team, void *state)
{
    const struct drawn *d = state;
    const struct sotto_context ctx = {.threads = 1 + (int)sotto_team_rank(team) % 2};
    struct sotto_dpsgd_session *s = NULL;
    double *sum = base_alloc(N, sizeof *sum);
    uint32_t *rows = base_alloc(RECORDS, sizeof *rows);
    const char *wrong = dpsgd_ranks_reserve(&s, &d->request, team, &ctx) == SOTTO_OK
                            ? steps(s, team, d, sum, rows)
                            : sotto_error_text();
    if (!wrong && s->ranks->ranks != sotto_team_size(team))
        wrong = "another number of ranks";
    sotto_dpsgd_session_close(s);
    base_free(sum);
    base_free(rows);
    return wrong;
}

TEST(seeded_ranks_give_the_bits_of_one)
{
    alone.request = together.request = request(true);
    draw_alone();
    for (size_t ranks = 2; ranks <= MOST; ranks++) {
        unlink(path_of("l.jsonl"));
        simulated_ranks(ranks, 0, draw_on_rank, &together);
        assert_int_equal(entries(), 1);
        uint64_t noised = 0;
        for (size_t r = 0; r < ranks; r++) {
            assert_true(together.noised[r] > 0);
            noised += together.noised[r];
        }
        assert_int_equal(noised, (uint64_t)N * STEPS);
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest distance of the distribution of sorted values / deviation from the normal law. */
static double distance_from_normal(const double *sorted, size_t n, double deviation)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const double law = erfc(-sorted[i] / deviation / sqrt(2)) / 2;
        most = worse(most, worse(law - (double)i / (double)n, (double)(i + 1) / (double)n - law));
    }
    return most;
}

/* Noise of the operating system: every coordinate has some, by the same law on all ranks, and none is another rank's. */
TEST(noise_of_ranks_is_independent)
{
    enum { RANKS = 3, PART = N / RANKS - 256 };
    together.request = request(false);
    unlink(path_of("l.jsonl"));
    simulated_ranks(RANKS, 0, draw_on_rank, &together);
    static double z[RANKS][PART], all[RANKS][STEPS * PART];
    const double scale = 20, r = together.lattice;
    for (size_t step = 0; step < STEPS; step++) {
        double product[RANKS] = {0}, square[RANKS] = {0};
        for (size_t k = 0; k < RANKS; k++)
            for (size_t i = 0; i < PART; i++) {
                const size_t at = (size_t)(N / 128 * k / RANKS + 1) * 128 + i;
                z[k][i] = (together.sum[step][at] - 5.0 * (double)at * r) / scale;
                assert_true(z[k][i] != 0);
                all[k][step * PART + i] = z[k][i];
                square[k] += z[k][i] * z[k][i];
            }
        for (size_t k = 0; k < RANKS; k++)
            for (size_t i = 0; i < PART; i++)
                product[k] += z[k][i] * z[(k + 1) % RANKS][i];
        for (size_t k = 0; k < RANKS; k++) { /* 6 deviations: 2 in 10^9 */
            assert_true(fabs(product[k] / PART) < 6 / sqrt(PART));
            assert_true(fabs(square[k] / PART - 1) < 6 * sqrt(2.0 / PART));
        }
    }
    const double most =
        sqrt(log(2e9) / (2.0 * STEPS * PART)); /* passed once in 10^9 (Massart 1990, corollary 1) */
    for (size_t k = 0; k < RANKS; k++) {
        qsort(all[k], (size_t)STEPS * PART, sizeof all[k][0], by_value);
        assert_true(distance_from_normal(all[k], (size_t)STEPS * PART, 1) < most);
        assert_true(distance_from_normal(all[k], (size_t)STEPS * PART, 1.25) > most); /* control */
    }
}

/* ---- failures ---- */

static const char *expect(const struct drawn *d, sotto_status status)
{
    static _Thread_local char wrong[400];
    if (status == d->expected && strstr(sotto_error_text(), d->text))
        return NULL;
    snprintf(wrong, sizeof wrong, "%s '%s'", sotto_status_name(status), sotto_error_text());
    return wrong;
}

static const char *fail_to_reserve(const struct sotto_team *team, void *state)
{
    const struct drawn *d = state;
    struct sotto_dpsgd_session *s = NULL;
    const char *wrong = expect(d, dpsgd_ranks_reserve(&s, &d->request, team, NULL));
    return s ? "a session although nothing was charged" : wrong;
}

TEST(a_failed_reservation_is_one_on_all_ranks)
{
    struct drawn *d = &together;
    d->request = request(false);
    d->request.spend.ledger = path_of("l.jsonl/below.jsonl"); /* a file is no folder */
    d->expected = SOTTO_ECREATE;
    d->text = "rank 0 (";
    fclose(fopen(path_of("l.jsonl"), "w"));
    simulated_ranks(3, 0, fail_to_reserve, d);
    unlink(path_of("l.jsonl"));
    d->request = request(false);
    d->request.sampled.noise_multiplier = 8; /* at 40 epsilon is 0 */
    d->request.sampled.delta = 1e-6;
    d->request.spend.budget = (struct sotto_dp){1e-3, 1e-6};
    d->expected = SOTTO_EBUDGET;
    d->text = "budget";
    simulated_ranks(3, 0, fail_to_reserve, d);
    assert_int_equal(entries(), 0);
}

static const char *fall_out_of_step(const struct sotto_team *team, void *state)
{
    const struct drawn *d = state;
    struct sotto_dpsgd_session *s = NULL;
    double *sum = base_alloc(N, sizeof *sum);
    uint32_t *rows = base_alloc(RECORDS, sizeof *rows);
    size_t count;
    const char *wrong = NULL;
    if (dpsgd_ranks_reserve(&s, &d->request, team, NULL) != SOTTO_OK ||
        dpsgd_ranks_sample(s, rows, &count, RECORDS) != SOTTO_OK)
        wrong = sotto_error_text();
    if (!wrong && sotto_team_rank(team) == 1)
        s->used++; /* as if it had drawn already */
    for (size_t i = 0; i < N; i++)
        sum[i] = 1;
    if (!wrong)
        wrong = expect(d, dpsgd_ranks_step(s, sum));
    if (!wrong && s->noised != 0)
        wrong = "noise was drawn";
    for (size_t i = 0; !wrong && i < N; i++)
        if (sum[i] != 0)
            wrong = "a sum without noise is left";
    sotto_dpsgd_session_close(s);
    base_free(sum);
    base_free(rows);
    return wrong;
}

TEST(ranks_out_of_step_draw_nothing)
{
    unlink(path_of("l.jsonl"));
    together.request = request(false);
    together.expected = SOTTO_EINTERNAL;
    together.text = "rank 1 would draw noise for coordinates";
    simulated_ranks(3, 0, fall_out_of_step, &together);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder, .tags = "matrix")
