/* Persons as units of head training: which rows are in a step, what it costs, and what comes out. */
#include "head/private/head_units.h"
#include "rng/rng.h"
#include "sotto/certificate.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"
#include "support/test.h"
#include "support/verify_json.h"

#include <math.h>
#include <unistd.h>

TEST(rows_of_a_step_are_drawn_by_public_numbers)
{
    const int64_t persons[] = {9, -4, 9, 9, 2, 9, -4, 9, 9, 9};
    struct head_units u;
    uint32_t rows[10], again[10];
    size_t seen[10] = {0};
    assert_int_equal(head_units_make(&u, persons, 10, 0, 5), SOTTO_OK);
    assert_int_equal(u.count, 3);
    assert_int_equal(u.most, 7);
    assert_int_equal(u.total, 10);
    assert_int_equal(head_units_rows(rows, &u, 0, 1), 2);
    assert_true(rows[0] == 1 && rows[1] == 6);
    head_units_clear(&u);
    assert_int_equal(head_units_make(&u, persons, 10, 3, 5), SOTTO_OK);
    assert_int_equal(u.most, 3);
    assert_int_equal(u.capacity, 7);
    assert_int_equal(u.total, 2 + 1 + 3);
    enum { STEPS = 7000 };
    for (size_t step = 0; step < STEPS; step++) {
        assert_int_equal(head_units_rows(rows, &u, 2, step), 3);
        assert_int_equal(head_units_rows(again, &u, 2, step), 3);
        assert_memory_equal(rows, again, 3 * sizeof *rows);
        assert_true(rows[0] != rows[1] && rows[0] != rows[2] && rows[1] != rows[2]);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(persons[rows[i]], 9);
            seen[rows[i]]++;
        }
    }
    for (size_t i = 0; i < 10;
         i++) /* seven standard deviations of a binomial count: false alarms below 1e-10 */
        assert_true(persons[i] != 9 || fabs((double)seen[i] - STEPS * 3 / 7.0) < 7 * sqrt(STEPS * 12 / 49.0));
    head_units_clear(&u);
}

TEST(a_person_of_too_many_rows_is_refused)
{
    static int64_t persons[UNIT_ROWS_IN_STEP + 1];
    struct head_units u;
    assert_int_equal(head_units_make(&u, persons, UNIT_ROWS_IN_STEP, 0, 1), SOTTO_OK);
    head_units_clear(&u);
    assert_int_equal(head_units_make(&u, persons, UNIT_ROWS_IN_STEP + 1, 0, 1), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "1025 rows"));
    assert_int_equal(head_units_make(&u, persons, UNIT_ROWS_IN_STEP + 1, 5, 1), SOTTO_OK);
    head_units_clear(&u);
}

enum { PERSONS = 300, MOST = 30, D = 6, K = 3 };
static float x[PERSONS * MOST * D];
static int64_t y[PERSONS * MOST], persons[PERSONS * MOST];

/* Rows of one person lie far apart; all are copies of its first one. */
static void make_copies(size_t rows)
{
    for (size_t i = 0; i < PERSONS * rows; i++) {
        const size_t person = i % PERSONS;
        struct rng r = rng_stream(4, RNG_TEST, 0, person);
        persons[i] = (int64_t)(7 * person);
        y[i] = (int64_t)(person % K);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(0.3 * rng_normal(&r) + (j % K == person % K ? 1 : 0));
    }
}

static struct sotto_head_recipe recipe_of(const char *trainer, size_t hidden)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.epochs = 5, r.batch = 30, r.lr = 0.2, r.noise_multiplier = 1.5;
    r.hidden_count = hidden > 0, r.hidden[0] = hidden;
    return r;
}

static sotto_status train(struct sotto_head **h, struct sotto_certificate **c,
                          const struct sotto_head_recipe *r, size_t rows, enum sotto_unit unit)
{
    const struct sotto_head_privacy p = {.target = {NAN, 1e-5},
                                         .unit = unit,
                                         .persons = unit == SOTTO_UNIT_PERSON ? persons : NULL,
                                         .spend = {.dataset_id = "toy",
                                                   .source = &exercise,
                                                   .ledger = path_of("ledger.jsonl"),
                                                   .insecure = 1,
                                                   .insecure_seed = 3}};
    unlink(path_of("ledger.jsonl"));
    return sotto_head_train_private(h, c, x, y, PERSONS * rows, D, K, r, &p, NULL);
}

/* The same persons, each with so many copies of its row: the same epsilon, and the same head but for rounding. */
TEST(rows_of_a_person_cost_nothing)
{
    static const size_t copies[] = {1, 3, 10, 30};
    for (size_t way = 0; way < 3; way++) {
        const struct sotto_head_recipe r = recipe_of(way == 2 ? "dp-adam" : "dp-sgd", way == 1 ? 5 : 0);
        double epsilon = NAN;
        float answers[2][60 * K];
        for (size_t i = 0; i < 4; i++) {
            struct sotto_head *h = NULL;
            struct sotto_certificate *c = NULL;
            make_copies(copies[i]);
            assert_int_equal(train(&h, &c, &r, copies[i], SOTTO_UNIT_PERSON), SOTTO_OK);
            const double now = sotto_certificate_account(c)->epsilon.upper;
            if (i == 0)
                epsilon = now;
            assert_true(now > 0.5 && fabs(now - epsilon) < 1e-9 * epsilon);
            assert_int_equal(sotto_head_predict(answers[i > 0], h, x, 60, D, 0, NULL), SOTTO_OK);
            for (size_t k = 0; k < 60 * K && i > 0; k++)
                assert_true(fabsf(answers[0][k] - answers[1][k]) < 1e-3F);
            sotto_head_free(h);
            sotto_certificate_free(c);
        }
    }
}

/* One row each: the account is that of records; by record, three rows cost more, which is the control. */
TEST(the_account_is_that_of_a_record)
{
    const struct sotto_head_recipe r = recipe_of("dp-sgd", 0);
    double epsilon[3];
    for (size_t i = 0; i < 3; i++) {
        struct sotto_head *h = NULL;
        struct sotto_certificate *c = NULL;
        make_copies(i == 1 ? 3 : 1);
        assert_int_equal(train(&h, &c, &r, i == 1 ? 3 : 1, i < 2 ? SOTTO_UNIT_PERSON : SOTTO_UNIT_RECORD),
                         SOTTO_OK);
        epsilon[i] = sotto_certificate_account(c)->epsilon.upper;
        assert_non_null(
            strstr(sotto_certificate_unit(c), i < 2 ? "sampled as one of 300 persons" : "one record"));
        sotto_head_free(h);
        sotto_certificate_free(c);
    }
    assert_true(fabs(epsilon[0] - epsilon[2]) < 1e-9 * epsilon[2] &&
                fabs(epsilon[1] - epsilon[2]) < 1e-9 * epsilon[2]);
}

TEST(bad_requests_have_one_line)
{
    struct sotto_head *h = NULL;
    struct sotto_certificate *c = NULL;
    struct sotto_head_recipe r = recipe_of("dp-gd", 0);
    struct sotto_head_privacy p = {
        .target = {NAN, 1e-5},
        .unit = SOTTO_UNIT_PERSON,
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("ledger.jsonl")}};
    make_copies(3);
    unlink(path_of("ledger.jsonl"));
    static const struct {
        const char *trainer, *says;
        size_t per_step, stated, batch;
        int known;
    } cases[] = {{"dp-sgd", "the person of each row is not known", 0, 0, 30, 0},
                 {"dp-gd", "trainer dp-gd takes all records in each step", 0, 0, 30, 1},
                 {"dp-sgd", "a person has 3 rows; expected at most 2", 0, 2, 30, 1},
                 {"dp-sgd", "is larger than the 300 persons", 0, 0, 301, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r = recipe_of(cases[i].trainer, 0);
        r.batch = cases[i].batch;
        r.rows_per_step = cases[i].per_step;
        p.persons = cases[i].known ? persons : NULL;
        p.spend.rows_per_person = cases[i].stated;
        assert_int_equal(sotto_head_train_private(&h, &c, x, y, 3 * PERSONS, D, K, &r, &p, NULL),
                         SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), cases[i].says));
        assert_int_equal(access(path_of("ledger.jsonl"), F_OK), -1); /* nothing was charged */
    }
    r = recipe_of("dp-sgd", 0);
    r.rows_per_step = 2;
    p = (struct sotto_head_privacy){
        .target = {NAN, 1e-5}, .unit = SOTTO_UNIT_RECORD, .persons = persons, .spend = p.spend};
    assert_int_equal(sotto_head_train_private(&h, &c, x, y, 3 * PERSONS, D, K, &r, &p, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "only a person has rows"));
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
