/* Persons as units of network training: a person is one example, whose rows are averaged before the clip. Float32, as the machine says. */
#include "support/test.h"
#include "support/machine.h"
#include "support/dp_sgd_world.h"

#include <string.h>

enum { PERSONS = N / 4, ROWS = 4 };
static float copied[N * D];
static int64_t copied_labels[N], persons[N];

/* Row i is person i % PERSONS's, a copy of that person's first one; or rows as they are, four of each person. */
static struct request of_persons(bool copies)
{
    static struct sotto_dataset table;
    struct request r = on_blobs();
    for (size_t i = 0; i < N; i++) {
        const size_t from = copies ? i % PERSONS : i;
        persons[i] = 5 + (int64_t)(i % PERSONS);
        copied_labels[i] = labels[from];
        memcpy(copied + i * D, features + from * D, D * sizeof *copied);
    }
    table = blobs;
    table.features = copied;
    table.labels = copied_labels;
    r.data = &table;
    r.p.persons = persons;
    r.p.spend.insecure = 1;
    r.p.part = 7; /* no chains, as with several rows */
    unlink(r.p.spend.ledger);
    return r;
}

TEST(a_person_of_one_row_is_a_record)
{
    const char *const clippings[] = {"flat", "quantile"};
    for (size_t c = 0; c < 2; c++) {
        struct request r = of_persons(false);
        size_t count;
        r.p.part = 0;
        r.p.clipping = clippings[c];
        for (size_t i = 0; i < N; i++)
            persons[i] = (int64_t)i;
        double *as_persons = weights_of(&r, &count);
        r.p.unit = SOTTO_UNIT_RECORD;
        unlink(r.p.spend.ledger);
        double *as_records = weights_of(&r, &count);
        assert_true(distance(as_persons, as_records, count) == 0);
        base_free(as_persons), base_free(as_records);
    }
}

/* Copies of a row count as the row, and rows that are no record do not count at all. */
TEST(rows_are_averaged_and_bad_ones_left_out)
{
    struct request r = of_persons(true);
    size_t count;
    double *four = weights_of(&r, &count);
    for (size_t p = 0; p < PERSONS; p++) {
        const size_t bad = (p % ROWS) * PERSONS + p;
        if (p % 2)
            copied_labels[bad] = K;
        else
            copied[bad * D + p % D] = NAN;
    }
    double *three = weights_of(&r, &count);
    assert_true(distance(four, three, count) == 0);
    r = of_persons(true);
    r.p.persons = NULL; /* the first row of each alone */
    r.n = PERSONS;
    int64_t first[PERSONS];
    for (int64_t i = 0; i < PERSONS; i++)
        first[i] = i;
    r.rows = first;
    double *one = weights_of(&r, &count);
    assert_true(distance(four, one, count) < 1e-4);
    r = of_persons(false); /* control: unlike rows */
    double *unlike = weights_of(&r, &count);
    assert_true(distance(four, unlike, count) > 1e-2);
    base_free(four), base_free(three), base_free(one), base_free(unlike);
}

TEST(rows_of_a_step_follow_the_seed)
{
    struct request r = of_persons(false);
    size_t count;
    r.p.rows_per_step = 2;
    double *two = weights_of(&r, &count), *again = weights_of(&r, &count);
    assert_true(distance(two, again, count) == 0);
    r.p.rows_per_step = 0;
    double *all = weights_of(&r, &count);
    r.p.rows_per_step = 100; /* as many as there are */
    double *many = weights_of(&r, &count);
    assert_true(distance(all, many, count) == 0);
    assert_true(distance(two, all, count) > 1e-3);
    base_free(two), base_free(again), base_free(all), base_free(many);
}

TEST(threads_change_no_bit)
{
    const struct sotto_context before = machine.context;
    struct request r = of_persons(false);
    double *first = NULL;
    size_t count;
    r.p.steps = 6;
    for (int threads = 1; threads <= 3; threads++) {
        machine.context.threads = threads;
        double *w = weights_of(&r, &count);
        assert_true(!first || distance(first, w, count) == 0);
        if (first)
            base_free(w);
        else
            first = w;
    }
    base_free(first);
    machine.context = before;
}

/* Four rows cost what one does; by record they cost more, which is the control. */
TEST(rows_of_a_person_cost_nothing)
{
    double epsilon[3];
    for (size_t i = 0; i < 3; i++) {
        struct request r = of_persons(false);
        struct sotto_network *n = NULL;
        struct sotto_certificate *certificate = NULL;
        int64_t first[PERSONS];
        for (int64_t k = 0; k < PERSONS; k++)
            first[k] = k;
        if (i == 1)
            r.rows = first, r.n = PERSONS;
        if (i == 2)
            r.p.unit = SOTTO_UNIT_RECORD, r.p.spend.rows_per_person = ROWS, r.o.batch *= ROWS;
        r.p.spend.insecure = 0;
        unlink(r.p.spend.ledger);
        assert_int_equal(train(&n, &certificate, &r, &machine.context), SOTTO_OK);
        epsilon[i] = sotto_certificate_account(certificate)->epsilon.upper;
        assert_non_null(strstr(sotto_certificate_unit(certificate),
                               i == 0   ? "at most 4 rows each, sampled as one of 100 persons"
                               : i == 1 ? "at most 1 row each, sampled as one of 100 persons"
                                        : "at most 4 rows each, as stated"));
        sotto_network_free(n);
        sotto_certificate_free(certificate);
    }
    assert_true(fabs(epsilon[0] - epsilon[1]) < 1e-9 * epsilon[1]);
    assert_true(epsilon[2] > 2 * epsilon[0]);
}

/* An image in its four turns is a person with four labelled rows, bit for bit; and the labels of the set are not read. */
TEST(rotation_is_training_on_turned_images)
{
    const size_t n = 24, c = 3, side = 32, pixels = c * side * side; /* what an encoder takes as it is */
    struct rng random = rng_stream(9, RNG_TEST, 0, 0);
    uint8_t *plain = base_alloc(n * pixels, 1);
    for (size_t i = 0; i < n * pixels; i++)
        plain[i] = (uint8_t)rng_u32(&random);
    uint8_t *turned = base_alloc(4 * n * pixels, 1);
    int64_t *turn = base_alloc(4 * n, sizeof *turn), *whose = base_alloc(4 * n, sizeof *whose);
    for (size_t i = 0; i < 4 * n; i++) {
        turn[i] = (int64_t)(i % 4), whose[i] = (int64_t)(i / 4);
        for (size_t k = 0; k < c; k++)
            for (size_t y = 0; y < side; y++)
                for (size_t x = 0; x < side; x++) { /* as numpy.rot90, turn times */
                    const size_t from[4][2] = {
                        {y, x}, {x, side - 1 - y}, {side - 1 - y, side - 1 - x}, {side - 1 - x, y}};
                    turned[i * pixels + (k * side + y) * side + x] =
                        plain[i / 4 * pixels + (k * side + from[i % 4][0]) * side + from[i % 4][1]];
                }
    }
    struct sotto_dataset labelled = blobs, bare;
    labelled.features = NULL, labelled.columns = 0;
    labelled.images = turned, labelled.channels = c, labelled.height = labelled.width = side;
    labelled.n = labelled.n_train = 4 * n, labelled.classes = 4, labelled.labels = turn;
    bare = labelled;
    bare.images = plain, bare.n = bare.n_train = n;
    bare.labels = NULL, bare.classes = 0;
    struct request r = on_blobs();
    size_t count;
    r.o.model = "cnn", r.o.hidden_count = 2, r.o.hidden[0] = 4, r.o.hidden[1] = 8;
    r.o.batch = 6, r.p.steps = 5, r.p.spend.insecure = 1;
    r.data = &labelled, r.p.persons = whose;
    unlink(r.p.spend.ledger);
    double *by_labels = weights_of(&r, &count);
    r.data = &bare, r.p.persons = NULL, r.p.objective = "rotation";
    unlink(r.p.spend.ledger);
    double *by_turns = weights_of(&r, &count);
    assert_true(distance(by_labels, by_turns, count) == 0);
    int64_t other[24] = {0};
    bare.labels = other, bare.classes = 1; /* labels are not read */
    double *again = weights_of(&r, &count);
    assert_true(distance(again, by_turns, count) == 0);
    r.p.objective = "jigsaw";
    struct sotto_network *network = NULL;
    struct sotto_certificate *certificate = NULL;
    assert_int_equal(train(&network, &certificate, &r, &machine.context), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "expected rotation"));
    r = on_blobs(), r.p.objective = "rotation";
    assert_int_equal(train(&network, &certificate, &r, &machine.context), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "needs square images"));
    base_free(by_labels), base_free(by_turns), base_free(again);
    base_free(turned), base_free(turn), base_free(whose), base_free(plain);
}

TEST(bad_requests_have_one_line)
{
    static const struct {
        const char *says;
        size_t stated, batch, per_step;
        enum sotto_unit unit;
        bool known;
    } cases[] = {{"the person of each row is not known", 0, 40, 0, SOTTO_UNIT_PERSON, false},
                 {"only a person has rows", 0, 40, 2, SOTTO_UNIT_RECORD, true},
                 {"a person has 4 rows; expected at most 3", 3, 40, 0, SOTTO_UNIT_PERSON, true},
                 {"is larger than the 100 persons", 0, 101, 0, SOTTO_UNIT_AUTO, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request r = of_persons(false);
        struct sotto_network *n = NULL;
        struct sotto_certificate *certificate = NULL;
        r.p.persons = cases[i].known ? persons : NULL;
        r.p.unit = cases[i].unit;
        r.p.rows_per_step = cases[i].per_step;
        r.p.spend.rows_per_person = cases[i].stated;
        r.o.batch = cases[i].batch;
        assert_int_equal(train(&n, &certificate, &r, &machine.context), SOTTO_EINVAL);
        if (!strstr(sotto_error_text(), cases[i].says))
            fail_msg("%s", sotto_error_text());
        assert_int_equal(access(r.p.spend.ledger, F_OK), -1);
    }
}

TEST_GROUP(.set_up = make_data, .tear_down = drop_data, .start = machine_f32, .tags = "matrix")
