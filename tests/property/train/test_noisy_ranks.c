/* Certified inputs on ranks: the weights of one process, charged once by rank 0 alone, labels too; another number of ranks goes on. Ranks
 * are threads here; tests/cli/mpi_private.bats has processes. f32, 1 and 2 threads a rank. */
#include "support/test.h"
#include "support/exercise.h"
#include "support/machine.h"
#include "support/simulated_ranks.h"
#include "support/temporary_folder.h"
#include "sotto/certificate.h"
#include "sotto/lab/train.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { N = 24, SIDE = 8, D = SIDE * SIDE, EPOCHS = 3 };
static float x[N * D];
static int64_t y[N];
static struct sotto_dataset records = {
    .name = "squares", .n = N, .features = x, .columns = D, .labels = y, .classes = 2};
static char ledger[128], checkpoint[128];

static int set_up(void **state)
{
    if (make_folder(state))
        return -1;
    strcpy(ledger, path_of("ledger.jsonl"));
    strcpy(checkpoint, path_of("checkpoint"));
    strcpy(records.sha256, "squares");
    for (size_t i = 0; i < N * D; i++)
        x[i] = .125f + .001f * (float)(i % 7) * (float)(i / D % 3);
    for (size_t i = 0; i < N; i++)
        y[i] = (int64_t)i % 2;
    return 0;
}

/* What ranks run. */
struct plan {
    uint64_t seed; /* of the noise */
    double label_epsilon;
    size_t reserve;      /* epochs; 0: all */
    size_t reserve_last; /* of the last rank, if not 0 */
    bool keeps;          /* a checkpoint */
    int threads;
    size_t stop_after;  /* records, on the last rank; 0: never */
    const char *path;   /* of the ledger */
    const char *sha256; /* expected weights; NULL: a failure, with this text */
    sotto_status failure;
    const char *text;
};

struct stopper {
    volatile sig_atomic_t stop;
    uint64_t after;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)stage, (void)total, (void)unit;
    struct stopper *s = user;
    s->stop = s->after && done >= s->after;
}

static sotto_status train(struct sotto_network **n, struct sotto_certificate **c, const struct plan *p,
                          bool last, const struct sotto_context *ctx)
{
    struct sotto_train_options o;
    struct sotto_train_privacy privacy;
    sotto_train_defaults(&o);
    o.model = "resnet8";
    o.channels = 1, o.height = SIDE, o.width = SIDE;
    o.epochs = EPOCHS;
    o.batch = 8;
    o.leaf = 2;
    o.order = "exact";
    o.dtype = "f32";
    o.backend = machine.backend;
    o.checkpoint = p->keeps ? checkpoint : NULL;
    o.residual =
        (struct sotto_residual_noise){.kind = "additive", .gamma = .5, .input_noise = 2, .radius = 1};
    sotto_train_privacy_defaults(&privacy);
    privacy.target.delta = 1e-5;
    privacy.label_epsilon = p->label_epsilon;
    privacy.reserve = last && p->reserve_last ? p->reserve_last : p->reserve;
    privacy.spend.dataset_id = "toy";
    privacy.spend.source = &exercise;
    privacy.spend.ledger = p->path ? p->path : ledger;
    privacy.spend.insecure = 1;
    privacy.spend.insecure_seed = p->seed;
    return sotto_train_noisy_inputs(n, c, NULL, &records, NULL, 0, &o, &privacy, ctx);
}

static size_t entries(const char *event)
{
    char line[8192];
    size_t count = 0;
    FILE *f = fopen(ledger, "r");
    while (f && fgets(line, sizeof line, f))
        count += strstr(line, event) != NULL;
    if (f)
        fclose(f);
    return count;
}

static const char *train_on_rank(const struct sotto_team *team, void *state)
{
    const struct plan *p = state;
    const bool last = sotto_team_rank(team) + 1 == sotto_team_size(team);
    struct stopper s = {0, last ? p->stop_after : 0};
    const struct sotto_context ctx = {
        .threads = p->threads, .team = team, .stop = &s.stop, .user = &s, .progress = watch};
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    static _Thread_local char wrong[700];
    const char *text = NULL;
    sotto_status status = train(&n, &c, p, last, &ctx);
    if (status == SOTTO_OK && p->sha256 && strcmp(sotto_network_sha256(n), p->sha256) != 0)
        text = "other weights";
    if (status == SOTTO_OK && (c != NULL) != (sotto_team_rank(team) == 0))
        text = "the certificate is not rank 0's alone";
    sotto_network_free(n);
    sotto_certificate_free(c);
    status = team_agree(team, status); /* as a program does at its end */
    if (text)
        return text;
    if (status == (p->sha256 ? SOTTO_OK : p->failure) && (p->sha256 || strstr(sotto_error_text(), p->text)))
        return NULL;
    snprintf(wrong, sizeof wrong, "%s '%s'", sotto_status_name(status), sotto_error_text());
    return wrong;
}

static void train_alone(char sha256[65], const struct plan *p)
{
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    const struct sotto_context one = {.threads = 1};
    unlink(ledger);
    if (train(&n, &c, p, false, &one) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    strcpy(sha256, sotto_network_sha256(n));
    sotto_network_free(n);
    sotto_certificate_free(c);
}

TEST(any_number_of_ranks_gives_the_bits_of_one)
{
    char alone[65], other[65];
    struct plan p = {.seed = 3, .label_epsilon = 1, .reserve = 1, .sha256 = alone};
    train_alone(alone, &p);
    for (size_t ranks = 2; ranks <= 3; ranks++) {
        p.threads = (int)(4 - ranks);
        unlink(ledger);
        simulated_ranks(ranks, 0, train_on_rank, &p);
        assert_int_equal(entries("\"event\":\"release\""), 1); /* labels */
        assert_int_equal(entries("\"event\":\"reserve\""), EPOCHS);
    }
    p.seed++; /* so that the comparison can fail */
    train_alone(other, &p);
    assert_string_not_equal(other, alone);
}

/* Stopped as the second epoch was drawn: it is drawn and charged again, the labels come from the checkpoint. Seeded, so that the bits are
 * those of a run that was not stopped. */
TEST(a_run_goes_on_with_another_number_of_ranks)
{
    char whole[65];
    struct plan p = {.seed = 3, .label_epsilon = 1, .reserve = 1, .threads = 1};
    train_alone(whole, &p);
    unlink(ledger);
    p.keeps = true;
    struct plan stopped = p;
    stopped.failure = SOTTO_ESTOPPED, stopped.text = "train: stopped after step 3 of 9";
    stopped.stop_after = N;
    simulated_ranks(2, 0, train_on_rank, &stopped);
    p.sha256 = whole;
    simulated_ranks(3, 0, train_on_rank, &p);
    assert_int_equal(entries("\"event\":\"release\""), 1);
    assert_int_equal(entries("\"event\":\"reserve\""), EPOCHS + 1);
}

TEST(what_fails_on_one_rank_fails_on_all)
{
    struct plan p = {.seed = 3, .threads = 1, .reserve = 3, .reserve_last = 1, .failure = SOTTO_EINVAL};
    unlink(ledger);
    p.text = "reserve_steps is 1, but 3 on rank 0";
    simulated_ranks(3, 0, train_on_rank, &p);
    assert_int_equal(entries("\"event\""), 0);
    char path[160];
    fclose(fopen(path_of("file"), "w"));
    snprintf(path, sizeof path, "%s/ledger.jsonl", path_of("file")); /* a file is no folder */
    p = (struct plan){.seed = 3, .threads = 1, .path = path, .failure = SOTTO_ECREATE, .text = "rank 0 ("};
    simulated_ranks(2, 0, train_on_rank, &p);
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .start = machine_f32)
