/* Canaries: what set they make for each kind and relation, coins that are bound before they are seen, and refusals. */
#include "support/test.h"

#include "base/memory.h"
#include "canary/canaries.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <unistd.h>

enum { N = 40, D = 6, K = 10, CLASSES = 4 };
static float features[N * D];
static int64_t labels[N];
static struct sotto_dataset set = {.name = "toy",
                                   .n = N,
                                   .n_train = N,
                                   .columns = D,
                                   .features = features,
                                   .classes = CLASSES,
                                   .labels = labels};

static int make_set(void **state)
{
    for (size_t i = 0; i < N; i++) {
        labels[i] = (int64_t)(i % CLASSES);
        for (size_t j = 0; j < D; j++)
            features[i * D + j] = (float)(i * D + j);
    }
    return make_folder(state);
}

static struct sotto_canary_request request_of(enum sotto_canary_kind kind,
                                              enum sotto_canary_relation relation)
{
    return (struct sotto_canary_request){.data = &set,
                                         .n = N,
                                         .classes = CLASSES,
                                         .options = {.count = K, .kind = kind, .seed = 7},
                                         .relation = relation,
                                         .output = path_of("m")};
}

static struct sotto_canaries *made(const struct sotto_canary_request *r)
{
    struct sotto_canaries *c = NULL;
    sotto_canaries_forget(r->output);
    if (sotto_canaries_make(&c, r) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return c;
}

static size_t heads_of(const struct sotto_canaries *c)
{
    size_t n = 0;
    for (size_t i = 0; i < K; i++)
        n += c->coins.heads[i] == '1';
    return n;
}

/* How often a record of the set stands in what is trained on. */
static size_t copies(const struct sotto_dataset *d, size_t row)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += memcmp(d->features + i * D, features + row * D, sizeof(float) * D) == 0;
    return n;
}

static const float public_rows[] = {0, 0, 0, 0, 0, 0, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 0, 9, 0, 9, 0, 9};
TEST(every_kind_keeps_its_count)
{
    for (int kind = SOTTO_CANARY_MISLABELLED; kind <= SOTTO_CANARY_IN_DISTRIBUTION; kind++)
        for (int relation = SOTTO_CANARY_OR_NOTHING; relation <= SOTTO_CANARY_IN_OR_OUT; relation++) {
            struct sotto_canary_request r = request_of(kind, relation);
            if (kind == SOTTO_CANARY_DIRAC && relation == SOTTO_CANARY_IN_OR_OUT)
                continue;
            if (kind == SOTTO_CANARY_CLIPBKD)
                r.public_rows = public_rows, r.public_n = 4, r.options.count = D;
            struct sotto_canaries *c = made(&r);
            const struct sotto_dataset *d = sotto_canaries_data(c);
            const size_t k = r.options.count, displaced = k * canary_displaces(kind, relation);
            size_t in = 0, nothing = 0;
            for (size_t i = 0; i < k; i++)
                in += c->coins.heads[i] == '1';
            assert_int_equal(d->n, N - displaced + (relation == SOTTO_CANARY_IN_OR_OUT ? in : k));
            for (size_t i = c->first; i < d->n; i++)
                nothing += d->labels[i] < 0;
            if (kind != SOTTO_CANARY_DIRAC)
                assert_int_equal(nothing, relation == SOTTO_CANARY_OR_NOTHING ? k - in : 0);
            for (size_t i = 0; i < N; i++) /* no record stands there twice */
                assert_true(copies(d, i) <= 1);
            sotto_canaries_free(c);
        }
}

/* Those that nothing is trained on, under no coin: the set has no two rows alike. */
TEST(displaced_rows_are_those_that_are_missing)
{
    int64_t rows[N - 3];
    bool displaced[N - 3];
    for (size_t i = 0; i < N - 3; i++)
        rows[i] = (int64_t)(N - 1 - i);
    for (int kind = SOTTO_CANARY_MISLABELLED; kind <= SOTTO_CANARY_IN_DISTRIBUTION; kind++) {
        struct sotto_canary_request r = request_of(kind, SOTTO_CANARY_OR_NOTHING);
        if (kind == SOTTO_CANARY_CLIPBKD)
            continue;
        r.rows = rows, r.n = N - 3;
        struct sotto_canaries *c = made(&r);
        assert_int_equal(canary_displaced(displaced, &r), SOTTO_OK);
        struct sotto_dataset others = *sotto_canaries_data(c);
        others.n = c->first;
        size_t count = 0;
        for (size_t i = 0; i < N - 3; i++) {
            count += displaced[i];
            assert_int_equal(copies(&others, (size_t)rows[i]), !displaced[i]);
        }
        assert_int_equal(count, K * canary_displaces(kind, SOTTO_CANARY_OR_NOTHING));
        sotto_canaries_free(c);
    }
}

TEST(mislabelled_ones_are)
{
    const struct sotto_canary_request r = request_of(SOTTO_CANARY_MISLABELLED, SOTTO_CANARY_ONE_OF_TWO);
    struct sotto_canaries *c = made(&r);
    const struct sotto_dataset *heads = sotto_canaries_records(c, 1), *tails = sotto_canaries_records(c, 0);
    for (size_t i = 0; i < K; i++) {
        const int64_t own = labels[(size_t)heads->features[i * D] / D];
        assert_int_not_equal(heads->labels[i], own);
        assert_int_not_equal(tails->labels[i], own);
        assert_int_not_equal(tails->labels[i], heads->labels[i]);
        assert_memory_equal(heads->features + i * D, tails->features + i * D, sizeof(float) * D);
    }
    sotto_canaries_free(c);
}

/* The direction of least variance of rows that vary along all axes but the last. */
TEST(directions_of_least_variance)
{
    float *found = NULL, rows[8 * 3] = {0};
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 3; j++)
            rows[i * 3 + j] = (float)(j == 2 ? 2 : (double)(i >> j & 1) * (3 + (double)j));
    assert_int_equal(canary_directions(&found, 2, rows, 8, 3), SOTTO_OK);
    const double norm = sqrt(found[0] * found[0] + found[1] * found[1] + found[2] * found[2]);
    assert_true(fabs(fabs(found[2]) - norm) < 1e-5 && norm > 2);
    assert_true(fabs(fabs(found[3]) - norm) < 1e-5); /* then the axis of variance 9/4, before that of 16/4 */
    base_free(found);
    assert_int_equal(canary_directions(&found, 4, rows, 8, 3), SOTTO_EINVAL);
    assert_int_equal(canary_directions(&found, 1, NULL, 0, 3), SOTTO_EINVAL);
}

/* What is trained on has the same size and the same other records, whatever the coins are. */
TEST(sizes_do_not_depend_on_coins)
{
    struct sotto_canary_request r = request_of(SOTTO_CANARY_MISLABELLED, SOTTO_CANARY_OR_NOTHING);
    size_t fewest = K, most = 0;
    float first[N * D] = {0};
    int64_t before[N]; /* of the caller, which stay */
    memcpy(before, labels, sizeof before);
    r.insecure = 1;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        r.insecure_seed = seed;
        struct sotto_canaries *c = made(&r);
        const struct sotto_dataset *d = sotto_canaries_data(c);
        const size_t in = heads_of(c);
        assert_int_equal(d->n, N);
        if (seed == 1)
            memcpy(first, d->features, sizeof first);
        assert_memory_equal(first, d->features, sizeof first); /* labels alone differ: of places */
        assert_memory_equal(labels, before, sizeof labels);
        fewest = in < fewest ? in : fewest;
        most = in > most ? in : most;
        sotto_canaries_free(c);
    }
    assert_true(fewest < most && fewest >= 1 && most <= K - 1 + (most == K));
}

static const double scores[K] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
static struct sotto_coins_request opening(const char *coins)
{
    return (struct sotto_coins_request){.coins = coins, .scores = scores, .n = K, .guesses = 3};
}

static void write_over(const char *path, const char *from, const char *to)
{
    char text[8192] = "", *at;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    at = strstr(text, from);
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    assert_int_equal(overwrite(path, text, size), 0);
}

/* Flips the i-th coin of a file. */
static void flip(const char *path, size_t i)
{
    char text[8192] = "", *at;
    FILE *f = fopen(path, "rb");
    const size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    at = strstr(text, "\"coins\": \"") + strlen("\"coins\": \"");
    at[i] = at[i] == '1' ? '0' : '1';
    assert_int_equal(overwrite(path, text, size), 0);
}

static void refused(const struct sotto_coins_request *r, sotto_status code, const char *text)
{
    int64_t heads[K];
    assert_int_equal(sotto_coins_open(heads, NULL, r), code);
    if (!strstr(sotto_error_text(), text))
        fail_msg("'%s' lacks '%s'", sotto_error_text(), text);
}

TEST(coins_are_bound)
{
    struct sotto_canary_request r = request_of(SOTTO_CANARY_RANDOM, SOTTO_CANARY_OR_NOTHING);
    const char *coins = path_of("m.coins.json");
    struct sotto_canaries *c = made(&r);
    struct sotto_coins_request open = opening(coins);
    int64_t heads[K];
    refused(&open, SOTTO_ENOENT, "nothing holds a commitment");
    assert_int_equal(sotto_canaries_save(c), SOTTO_OK);
    flip(coins, 4);
    refused(&open, SOTTO_EINVAL, "was edited");
    flip(coins, 4);
    assert_int_equal(sotto_coins_open(heads, NULL, &open), SOTTO_OK);
    for (size_t i = 0; i < K; i++)
        assert_int_equal(heads[i], c->coins.heads[i] == '1');
    assert_int_equal(sotto_coins_open(heads, NULL, &open), SOTTO_OK); /* the same again */
    open.guesses = 4;
    refused(&open, SOTTO_EINVAL, "a second choice voids the level");
    open.guesses = 3;
    double other[K] = {0};
    open.scores = other;
    refused(&open, SOTTO_EINVAL, "a second choice voids the level");
    open = opening(coins);
    open.n = K - 1;
    refused(&open, SOTTO_EINVAL, "has 10 coins but there are 9 scores");
    /* forged: an edited file with a commitment that fits it is not the one that was made before */
    struct canary_coins forged = c->coins;
    char bits[K + 1];
    memcpy(bits, forged.heads, sizeof bits);
    bits[0] = bits[0] == '1' ? '0' : '1';
    forged.heads = bits;
    assert_int_equal(canary_coins_save(coins, &forged), SOTTO_OK);
    open = opening(coins);
    refused(&open, SOTTO_EINVAL, "are not those that");
    open.certificate = path_of("cert.json");
    char text[512];
    snprintf(text, sizeof text, "{\"purpose\": \"10 canaries, coins %s\"}", c->commitment);
    assert_int_equal(overwrite(open.certificate, text, strlen(text)), 0);
    unlink(path_of("m.canaries.npz"));
    refused(&open, SOTTO_EINVAL, "are not those that");
    assert_int_equal(canary_coins_save(coins, &c->coins), SOTTO_OK);
    assert_int_equal(sotto_coins_open(heads, NULL, &open), SOTTO_OK);
    write_over(coins, "sotto.coins/1", "sotto.coins/2");
    refused(&open, SOTTO_EFORMAT, "expected sotto.coins/1");
    open.coins = path_of("cert.json");
    refused(&open, SOTTO_EINVAL, "expected the name that the training gave it");
    sotto_canaries_free(c);
}

/* The commitment goes to the ledger, where it must tell nothing: with the same coins and another salt it is another. */
TEST(the_commitment_is_salted)
{
    char first[SHA256_HEX], second[SHA256_HEX], heads[] = "0110";
    struct canary_coins c = {.count = 4, .kind = "random", .relation = "in or out", .heads = heads};
    memset(c.records, 'a', 64);
    memset(c.salt, '0', 64);
    canary_coins_commitment(first, &c);
    c.salt[3] = '1';
    canary_coins_commitment(second, &c);
    assert_string_not_equal(first, second);
    c.salt[3] = '0', heads[0] = '1';
    canary_coins_commitment(second, &c);
    assert_string_not_equal(first, second);
}

TEST(coins_are_used_once_and_found_again)
{
    struct sotto_canary_request r = request_of(SOTTO_CANARY_RANDOM, SOTTO_CANARY_OR_NOTHING);
    struct sotto_canaries *c = made(&r), *again = NULL;
    assert_int_equal(sotto_canaries_make(&again, &r), SOTTO_OK); /* the run was interrupted */
    assert_string_equal(c->commitment, again->commitment);
    sotto_canaries_free(again);
    r.options.kind = SOTTO_CANARY_MISLABELLED;
    assert_int_equal(sotto_canaries_make(&again, &r), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "other canaries or records"));
    r.options.kind = SOTTO_CANARY_RANDOM;
    r.options.seed = 8;
    assert_int_equal(sotto_canaries_make(&again, &r), SOTTO_EINVAL);
    r.options.seed = 7;
    r.insecure = 1; /* coins of the system do not become seeded ones */
    assert_int_equal(sotto_canaries_make(&again, &r), SOTTO_EINVAL);
    r.insecure = 0;
    assert_int_equal(sotto_canaries_save(c), SOTTO_OK);
    assert_int_equal(sotto_canaries_make(&again, &r), SOTTO_ECREATE);
    assert_non_null(strstr(sotto_error_text(), "coins are used once"));
    sotto_canaries_free(c);
    c = made(&r); /* forgotten, then tossed anew */
    sotto_canaries_free(c);
}

/* A checkpoint belongs to records and coins, both: one record may be none of the canaries. */
TEST(a_set_is_known_by_its_records_and_coins)
{
    for (int kind = SOTTO_CANARY_MISLABELLED; kind <= SOTTO_CANARY_DIRAC; kind++) {
        const struct sotto_canary_request r = request_of(kind, SOTTO_CANARY_OR_NOTHING);
        struct sotto_canaries *first = made(&r);
        const float *kept = sotto_canaries_data(first)->features;
        const size_t row = (size_t)kept[0] / D; /* no canary displaced it */
        for (int change = 0; change < 3; change++) {
            struct sotto_canaries *again = NULL;
            features[row * D] += change == 1 ? .5f : 0;
            labels[row] ^= change == 2;
            assert_int_equal(sotto_canaries_make(&again, &r), SOTTO_OK); /* with the same coins */
            features[row * D] -= change == 1 ? .5f : 0;
            labels[row] ^= change == 2;
            assert_string_equal(first->commitment, again->commitment);
            assert_int_equal(strcmp(first->data.sha256, again->data.sha256) == 0, change == 0);
            sotto_canaries_free(again);
        }
        struct sotto_canaries *other = made(&r);
        assert_string_not_equal(first->data.sha256, other->data.sha256);
        sotto_canaries_free(first);
        sotto_canaries_free(other);
    }
}

TEST(what_cannot_be_is_refused)
{
    const struct {
        enum sotto_canary_kind kind;
        enum sotto_canary_relation relation;
        size_t count, classes;
        const char *text;
    } cases[] = {
        {SOTTO_CANARY_RANDOM, SOTTO_CANARY_OR_NOTHING, 0, 4, "expected 1 to 1000000"},
        {SOTTO_CANARY_RANDOM, SOTTO_CANARY_OR_NOTHING, 1000001, 4, "expected 1 to 1000000"},
        {SOTTO_CANARY_MISLABELLED, SOTTO_CANARY_OR_NOTHING, N, 4, "give fewer canaries.count"},
        {SOTTO_CANARY_IN_DISTRIBUTION, SOTTO_CANARY_ONE_OF_TWO, N / 2, 4, "give fewer canaries.count"},
        {SOTTO_CANARY_MISLABELLED, SOTTO_CANARY_ONE_OF_TWO, K, 2, "two wrong labels"},
        {SOTTO_CANARY_RANDOM, SOTTO_CANARY_OR_NOTHING, K, 1, "at least 2 classes"},
        {SOTTO_CANARY_DIRAC, SOTTO_CANARY_IN_OR_OUT, K, 4, "clipped gradients"},
        {SOTTO_CANARY_CLIPBKD, SOTTO_CANARY_OR_NOTHING, 2, 4, "need public rows"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_canary_request r = request_of(cases[i].kind, cases[i].relation);
        struct sotto_canaries *c = NULL;
        r.options.count = cases[i].count, r.classes = cases[i].classes;
        sotto_canaries_forget(r.output);
        assert_int_equal(sotto_canaries_make(&c, &r), SOTTO_EINVAL);
        if (!strstr(sotto_error_text(), cases[i].text))
            fail_msg("'%s' lacks '%s'", sotto_error_text(), cases[i].text);
        assert_null(c);
        assert_int_not_equal(access(path_of("m.coins.json"), F_OK), 0);
    }
}

TEST(memory_can_run_out_anywhere)
{
    const struct sotto_canary_request r = request_of(SOTTO_CANARY_DIRAC, SOTTO_CANARY_OR_NOTHING);
    struct sotto_canaries *c = NULL;
    long n = 0;
    for (sotto_status status = SOTTO_ENOMEM; status != SOTTO_OK; n++) {
        sotto_canaries_forget(r.output);
        base_alloc_fail_after(n);
        status = sotto_canaries_make(&c, &r);
        if (status == SOTTO_OK && (status = canary_begin(c, 100)) != SOTTO_OK) {
            sotto_canaries_free(c);
            c = NULL;
        }
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        assert_true(n < 1000);
    }
    assert_true(n > 5);
    sotto_canaries_free(c);
}

TEST_GROUP(.set_up = make_set, .tear_down = remove_folder)
