/* DP-SGD on ranks: the weights of one process, one entry in the ledger a run, and a failure after the charge that says so. Ranks are
 * threads here; tests/cli/mpi_private.bats has processes. f32 (others are refused), 1 and 2 threads a rank. */
#include "support/test.h"
#include "support/machine.h"
#include "support/simulated_ranks.h"
#include "support/dp_sgd_world.h"
#include "support/certificate_text.h"
#include "base/file.h"
#include "sotto/lab/canary.h"

#include <limits.h>
#include <signal.h>

/* What ranks run. */
struct plan {
    struct request request;
    const struct request *other; /* of the last rank; NULL: the same */
    const char *sha256;          /* expected weights; NULL: a failure, with this text and hint on rank 0 */
    sotto_status failure;
    const char *text, *hint;
    uint64_t stop_after; /* rank 1 stops once so many records are done; 0: none */
    int threads;
    size_t certified; /* ranks that the certificate must name; 0: it names none */
};

struct stopper {
    volatile sig_atomic_t stop;
    uint64_t after;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)stage, (void)total, (void)unit;
    struct stopper *s = user;
    s->stop = done >= s->after;
}

static size_t entries(void)
{
    size_t lines = 0;
    FILE *f = fopen(path_of("ledger.jsonl"), "r");
    for (int c; f && (c = fgetc(f)) != EOF;)
        lines += c == '\n';
    if (f)
        fclose(f);
    return lines;
}

/* The certificate is rank 0's; it names the ranks, and so does what is made of its text. */
static const char *look_at(const struct sotto_certificate *c, size_t rank, size_t ranks)
{
    char named[32];
    char *text = NULL, *again = NULL;
    struct sotto_certificate *read = NULL;
    const char *wrong = NULL;
    if (rank > 0)
        return c ? "a certificate on a rank that did not charge" : NULL;
    snprintf(named, sizeof named, "\"ranks\": %zu", ranks);
    if (!certificate_holds(c, named) || !certificate_holds(c, "\"sampling_by\": \"rank 0\""))
        return "the certificate does not name the ranks";
    if (sotto_certificate_encode(&text, c) != SOTTO_OK || sotto_certificate_decode(&read, text) != SOTTO_OK ||
        sotto_certificate_encode(&again, read) != SOTTO_OK)
        wrong = sotto_error_text();
    else if (strcmp(text, again) != 0)
        wrong = "its text makes another certificate";
    sotto_certificate_free(read);
    sotto_text_free(text);
    sotto_text_free(again);
    return wrong;
}

static const char *train_on_rank(const struct sotto_team *team, void *state)
{
    const struct plan *p = state;
    const size_t rank = sotto_team_rank(team), ranks = sotto_team_size(team);
    const struct request *r = rank + 1 == ranks && p->other ? p->other : &p->request;
    struct stopper s = {0, p->stop_after};
    struct sotto_context ctx = {.threads = p->threads, .team = team, .stop = &s.stop, .user = &s};
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    static _Thread_local char wrong[700];
    const char *text = NULL;
    if (p->stop_after && rank == 1)
        ctx.progress = watch;
    sotto_status status = train(&n, &c, r, &ctx);
    if (status == SOTTO_OK && p->sha256)
        text = strcmp(sotto_network_sha256(n), p->sha256) != 0 ? "other weights" : look_at(c, rank, ranks);
    sotto_network_free(n);
    sotto_certificate_free(c);
    status = team_agree(team, status); /* as a program does at its end */
    if (text)
        return text;
    if (status == (p->sha256 ? SOTTO_OK : p->failure) && (p->sha256 || strstr(sotto_error_text(), p->text)) &&
        (!p->hint || rank > 0 || strstr(sotto_error_hint(), p->hint)))
        return NULL;
    snprintf(wrong, sizeof wrong, "%s '%s' (%s)", sotto_status_name(status), sotto_error_text(),
             sotto_error_hint());
    return wrong;
}

static void train_alone(char sha256[65], const struct request *r)
{
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    unlink(path_of("ledger.jsonl"));
    if (train(&n, &c, r, &machine.context) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_false(certificate_holds(c, "\"ranks\""));
    strcpy(sha256, sotto_network_sha256(n));
    sotto_network_free(n);
    sotto_certificate_free(c);
}

/* Seeded, with chains of several records in a part (blobs), record by record (images), or by a quantile. */
static struct request seeded(int kind)
{
    struct request r = on_blobs();
    r.p.spend.insecure = 1;
    r.p.spend.insecure_seed = 3;
    r.p.noise_multiplier = 4; /* nine tenths of the time go to accounts, which are shorter for more noise */
    r.p.steps = 3;
    r.o.batch = kind == 0 ? 150 : kind == 1 ? 64 : N; /* all records are quick to account for */
    if (kind == 1) {
        r.data = images;
        r.o.model = "cnn";
        r.o.hidden_count = 2;
        r.o.hidden[0] = 4, r.o.hidden[1] = 8;
        r.o.flip = 1, r.o.crop = 2;
        r.p.views = 2;
        r.p.part = 3;
    }
    if (kind == 2) {
        r.p.clipping = "quantile";
        r.p.average = 0.9;
        r.o.optimizer = "adam";
        r.o.lr = 0.05;
    }
    return r;
}

TEST(any_number_of_ranks_gives_the_bits_of_one)
{
    char alone[65], other[65];
    for (int kind = 0; kind < 3; kind++) {
        struct plan p = {.request = seeded(kind), .sha256 = alone};
        train_alone(alone, &p.request);
        for (size_t ranks = 2; ranks <= 3; ranks++)
            for (p.threads = kind ? 1 : (int)ranks - 1; p.threads <= (kind ? 2 : (int)ranks - 1);
                 p.threads++) {
                unlink(path_of("ledger.jsonl"));
                simulated_ranks(ranks, 0, train_on_rank, &p);
                assert_int_equal(entries(), 1);
            }
        p.request.p.spend.insecure_seed++; /* so that the comparison can fail */
        train_alone(other, &p.request);
        assert_string_not_equal(other, alone);
    }
}

/* In blocks, so that a run that is stopped at the end of one draws nothing anew. */
TEST(a_run_goes_on_with_another_number_of_ranks)
{
    char whole[65];
    struct plan p = {.request = seeded(2), .threads = 1};
    p.request.o.batch = N; /* all records: quick to account for */
    p.request.p.steps = 6;
    p.request.p.reserve = 2;
    train_alone(whole, &p.request);
    p.request.o.checkpoint = path_of("checkpoint");
    unlink(p.request.o.checkpoint);
    unlink(path_of("ledger.jsonl"));
    struct plan stopped = p;
    stopped.failure = SOTTO_ESTOPPED, stopped.text = "train: stopped after step 2 of 6";
    stopped.hint =
        "privacy was charged: charge 0 of the ledger; the same command continues"; /* seeded: no epsilon */
    stopped.stop_after = 2 * N;
    simulated_ranks(2, 0, train_on_rank, &stopped);
    p.sha256 = whole;
    simulated_ranks(3, 0, train_on_rank, &p);
    assert_int_equal(entries(), 3); /* each block once */
}

TEST(what_is_drawn_anew_is_charged_again)
{
    struct plan p = {.request = seeded(0), .threads = 1};
    p.request.o.batch = N;
    p.request.p.steps = 6;
    p.request.p.spend.insecure = 0;
    p.request.o.checkpoint = path_of("again.checkpoint");
    unlink(path_of("ledger.jsonl"));
    p.failure = SOTTO_ESTOPPED, p.text = "train: stopped after step 2 of 6", p.stop_after = 2 * N;
    p.hint = "(replace-one) was charged: charge 0 of the ledger; the same command continues";
    simulated_ranks(2, 0, train_on_rank, &p);
    assert_int_equal(entries(), 1);
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    assert_int_equal(train(&n, &c, &p.request, &machine.context), SOTTO_OK); /* in one process */
    assert_true(certificate_holds(c, "\"charged\": 10") && certificate_holds(c, "\"used\": 6"));
    assert_int_equal(entries(), 2);
    sotto_network_free(n);
    sotto_certificate_free(c);
}

/* ---- failures ---- */

TEST(ranks_that_differ_charge_nothing)
{
    struct request other = seeded(0);
    struct plan p = {.request = seeded(0), .threads = 1, .failure = SOTTO_EINVAL, .other = &other};
    unlink(path_of("ledger.jsonl"));
    other.p.max_grad_norm = 0.5;
    p.text = "max_grad_norm is 0.5, but 1 on rank 0; start all ranks with the same options";
    simulated_ranks(3, 0, train_on_rank, &p);
    other = seeded(0);
    other.p.reserve = 2;
    p.text = "reserve_steps is 2, but 3 on rank 0";
    simulated_ranks(3, 0, train_on_rank, &p);
    other = seeded(0);
    other.p.spend.insecure_seed = 4;
    p.text = "noise_seed is 4, but 3 on rank 0";
    simulated_ranks(3, 0, train_on_rank, &p);
    other = seeded(0);
    other.p.spend.ledger = path_of("other.jsonl");
    p.text = "ledger is ";
    simulated_ranks(3, 0, train_on_rank, &p);
    other = seeded(0);
    other.o.batch = 1000; /* refused before the ranks speak to each other */
    p.text = "batch 1000 is larger than the 400 records";
    simulated_ranks(3, 0, train_on_rank, &p);
    assert_int_equal(entries(), 0);
    assert_int_equal(access(path_of("other.jsonl"), F_OK), -1);
}

TEST(a_ledger_that_cannot_be_written_ends_all)
{
    struct plan p = {.request = seeded(0), .threads = 1, .failure = SOTTO_ECREATE};
    p.request.p.spend.ledger = path_of("file/ledger.jsonl"); /* a file is no folder */
    p.text = "rank 0 (";
    fclose(fopen(path_of("file"), "w"));
    simulated_ranks(3, 0, train_on_rank, &p);
}

/* ---- canaries ---- */

struct canary_plan {
    struct request request;
    enum sotto_canary_kind kind;
    char output[128];
    uint64_t seed;         /* of the coins */
    bool apart, unwatched; /* the last rank makes its set alone; it does not say that there are canaries */
    bool few;              /* it knows of one class */
    const struct sotto_dataset *other; /* data of the last rank; NULL: the same */
    const char *text;                  /* of the failure; NULL: none is expected */
};

static sotto_status train_with_canaries(const struct canary_plan *p, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct request r = p->request;
    struct sotto_canaries *c = NULL;
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    char *purpose = NULL;
    const bool last = ctx->team && sotto_team_rank(ctx->team) + 1 == sotto_team_size(ctx->team);
    const struct sotto_canary_request wanted = {.data = last && p->other ? p->other : r.data,
                                                .n = r.data->n,
                                                .classes = last && p->few ? 1 : r.data->classes,
                                                .options = {.count = 5, .kind = p->kind, .seed = 4},
                                                .relation = SOTTO_CANARY_ONE_OF_TWO,
                                                .output = p->output,
                                                .insecure = 1,
                                                .insecure_seed = p->seed + (last && p->apart),
                                                .team = p->apart ? NULL : ctx->team};
    TRY(sotto_canaries_make(&c, &wanted));
    TRY(sotto_canaries_purpose(&purpose, c, NULL));
    r.data = sotto_canaries_data(c);
    r.p.spend.purpose = purpose;
    r.p.canaries = last && p->unwatched ? NULL : c;
    TRY(train(&n, &certificate, &r, ctx));
    if (sotto_team_rank(ctx->team) == 0) {
        TRY(sotto_network_save(p->output, n));
        TRY(sotto_canaries_save(c));
    }
done:
    sotto_canaries_free(c);
    sotto_network_free(n);
    sotto_certificate_free(certificate);
    sotto_text_free(purpose);
    return status;
}

static const char *canaries_on_rank(const struct sotto_team *team, void *state)
{
    const struct canary_plan *p = state;
    const struct sotto_context ctx = {.threads = 1, .team = team};
    struct canary_plan own = *p;
    if (p->apart) /* so that each has a coin file */
        snprintf(own.output + strlen(own.output), 8, ".%zu", sotto_team_rank(team));
    const sotto_status status = team_agree(team, train_with_canaries(&own, &ctx));
    const bool expected =
        p->text ? status == SOTTO_EINVAL && strstr(sotto_error_text(), p->text) : status == SOTTO_OK;
    return expected ? NULL : status == SOTTO_OK ? "no failure" : sotto_error_text();
}

static bool equal_files(const char *one, const char *other, const char *suffix)
{
    char path[2][160];
    unsigned char *data[2];
    size_t size[2];
    for (int k = 0; k < 2; k++) {
        snprintf(path[k], sizeof path[k], "%s%s", k ? other : one, suffix);
        assert_int_equal(file_read(&data[k], &size[k], path[k], 1 << 24), SOTTO_OK);
    }
    const bool equal = size[0] == size[1] && memcmp(data[0], data[1], size[0]) == 0;
    base_free(data[0]);
    base_free(data[1]);
    return equal;
}

/* The model, the canaries with their scores (dirac: of an observer of all steps) and the coins are those of one process. */
TEST(canaries_on_ranks_are_those_of_one_process)
{
    static const enum sotto_canary_kind kinds[] = {SOTTO_CANARY_DIRAC, SOTTO_CANARY_RANDOM};
    static const char *const suffixes[] = {"", ".coins.json", ".canaries.npz"};
    const struct sotto_context one = {.threads = 1};
    for (size_t k = 0; k < 2; k++) {
        struct canary_plan alone = {.request = seeded(0), .kind = kinds[k], .seed = 9}, together;
        alone.request.o.batch = N + 5; /* all places: quick to account for */
        together = alone;
        snprintf(alone.output, sizeof alone.output, "%s", path_of(k ? "alone-random" : "alone-dirac"));
        unlink(path_of("ledger.jsonl"));
        if (train_with_canaries(&alone, &one) != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        for (size_t ranks = 2; ranks <= 4; ranks++) {
            together.seed = ranks < 4 ? 9 : 10; /* other coins at last, so that the comparison can fail */
            snprintf(together.output, sizeof together.output, "%.100s-%zu", alone.output, ranks);
            unlink(path_of("ledger.jsonl"));
            simulated_ranks(ranks, 0, canaries_on_rank, &together);
            assert_int_equal(entries(), 1);
            for (size_t i = 0; i < 3; i++)
                assert_true(equal_files(alone.output, together.output, suffixes[i]) == (ranks < 4));
        }
    }
}

/* Canaries of kind dirac are the same beside any records. */
TEST(ranks_with_canaries_among_other_records_charge_nothing)
{
    struct canary_plan p = {.request = seeded(0), .kind = SOTTO_CANARY_DIRAC, .seed = 9};
    const struct sotto_dataset *all = p.request.data;
    struct sotto_dataset other = *all;
    const size_t values = all->n * all->columns;
    float *moved = base_alloc(values, sizeof *moved);
    memcpy(moved, all->features, values * sizeof *moved);
    moved[values - 1] += 1;
    other.features = moved;
    p.other = &other;
    p.text = "all ranks must see the same data";
    snprintf(p.output, sizeof p.output, "%s", path_of("others"));
    unlink(path_of("ledger.jsonl"));
    simulated_ranks(3, 0, canaries_on_rank, &p);
    assert_int_equal(entries(), 0);
    base_free(moved);
}

/* Ranks whose sets differ would cut the sample differently, and a record might count twice. */
TEST(ranks_with_other_coins_charge_nothing)
{
    struct canary_plan p = {.request = seeded(0), .kind = SOTTO_CANARY_DIRAC, .seed = 9, .apart = true};
    snprintf(p.output, sizeof p.output, "%s", path_of("apart"));
    p.text = "all ranks must see the same data";
    unlink(path_of("ledger.jsonl"));
    simulated_ranks(3, 0, canaries_on_rank, &p);
    p.apart = false, p.unwatched = true;
    p.text = "canaries is none, but ";
    simulated_ranks(2, 0, canaries_on_rank, &p);
    p.unwatched = false, p.few = true, p.kind = SOTTO_CANARY_RANDOM; /* the others do not wait for it */
    p.text = "at least 2 classes";
    snprintf(p.output, sizeof p.output, "%s", path_of("few"));
    simulated_ranks(3, 0, canaries_on_rank, &p);
    assert_int_equal(entries(), 0);
}

/* state: after how many allocations, of all ranks together, memory is out */
static const char *run_out_of_memory(const struct sotto_team *team, void *state)
{
    long *allocations = state;
    const struct request r = seeded(2);
    const struct sotto_context ctx = {.threads = 1, .team = team};
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    if (team_agree(team, SOTTO_OK) != SOTTO_OK)
        return "no agreement";
    if (sotto_team_rank(team) == 0)
        base_alloc_fail_after(*allocations);
    sotto_status status = train(&n, &c, &r, &ctx);
    sotto_network_free(n);
    sotto_certificate_free(c);
    status = team_agree(team, status);
    const sotto_status said = status;
    const bool named = strstr(sotto_error_hint(), "charged") != NULL;
    team_go_on(team);
    status = team_agree(team, SOTTO_OK);
    if (sotto_team_rank(team) == 0) {
        base_alloc_fail_after(-1);
        if (said == SOTTO_OK)
            *allocations = -1;
        else if (entries() > 0 && !named)
            return "a charge that the failure does not name";
    }
    return status == SOTTO_OK && (said == SOTTO_OK || said == SOTTO_ENOMEM) ? NULL : sotto_error_text();
}

TEST(out_of_memory_on_a_rank_is_an_error_of_all)
{
    size_t failed = 0, charged = 0;
    long enough =
        LONG_MAX; /* accounts that are made once a process are there, so most allocations come behind the charge */
    simulated_ranks(3, 0, run_out_of_memory, &enough);
    for (long n = 0; n < 100000; n += 1 + n / 2) {
        long allocations = n;
        unlink(path_of("ledger.jsonl"));
        simulated_ranks(3, 0, run_out_of_memory, &allocations);
        if (allocations < 0)
            break;
        failed++;
        charged += entries();
    }
    print_message("%zu failures, %zu after the charge\n", failed, charged);
    assert_true(failed > 8 && charged > 0);
}

TEST_GROUP(.set_up = make_data, .tear_down = drop_data, .start = machine_f32, .tags = "matrix long")
