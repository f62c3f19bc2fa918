/* Attacks on generative models: a model tells of its records but not of others, and searches find what a generator can make.
 * f32, the machine's backend, one thread. */
#include "support/test.h"

#include "audit/measure/metrics.h"
#include "generate/generator.h"
#include "rng/rng.h"
#include "sotto/lab/generate.h"
#include "sotto/private/all.h"
#include "support/machine.h"

#include <math.h>

enum { ROWS = 48, SIDE = 28 };
static uint8_t images[ROWS * SIDE * SIDE];
static struct sotto_dataset data = {.name = "noise",
                                    .n = ROWS,
                                    .n_train = ROWS,
                                    .channels = 1,
                                    .height = SIDE,
                                    .width = SIDE,
                                    .images = images};

static int set_up(void **state)
{
    (void)state;
    struct rng r = rng_stream(9, RNG_TEST, 0, 0);
    for (size_t i = 0; i < sizeof images; i++)
        images[i] = (uint8_t)rng_below(&r, 256);
    return 0;
}

static void start(void)
{
    machine_f32();
    machine_one_thread();
}

static struct sotto_generator_options small(const char *model, size_t steps, size_t width)
{
    return (struct sotto_generator_options){
        .model = model, .steps = steps, .batch = 8, .width = width, .seed = 3, .backend = machine.backend};
}

/* A generator of the first `n` records, trained once a process. */
static struct {
    const char *model;
    size_t steps, width, n;
    struct sotto_generator *g;
} kept[8];
static const struct sotto_generator *trained(const char *model, size_t steps, size_t width, size_t n)
{
    size_t i = 0;
    int64_t rows[ROWS];
    while (kept[i].g && !(strcmp(kept[i].model, model) == 0 && kept[i].steps == steps &&
                          kept[i].width == width && kept[i].n == n))
        assert_true(++i < sizeof kept / sizeof *kept);
    if (kept[i].g)
        return kept[i].g;
    for (int64_t k = 0; k < ROWS; k++)
        rows[k] = k;
    const struct sotto_generator_options o = small(model, steps, width);
    kept[i].model = model, kept[i].steps = steps, kept[i].width = width, kept[i].n = n;
    assert_int_equal(sotto_generator_train(&kept[i].g, NULL, &data, rows, n, &o, &machine.context), SOTTO_OK);
    return kept[i].g;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        sotto_generator_free(kept[i].g);
    return 0;
}

/* Noise cannot be generalised: what was trained on is found, and what was not looks like other noise. */
TEST(members_are_found_and_others_are_not)
{
    static const struct {
        const char *model, *attack;
        size_t steps;
    } cases[] = {{"dcgan", "logan", 150}, {"vae", "reconstruction", 300}, {"vae", "elbo", 300}};
    int64_t rows[ROWS];
    double scores[ROWS];
    struct sotto_estimate found, control;
    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct sotto_generator_score_options how = {.draws = 20};
        const struct sotto_generator *g = trained(cases[k].model, cases[k].steps, 8, 16);
        const char *access = NULL;
        assert_int_equal(sotto_generator_score(scores, &access, cases[k].attack, g, &data, rows, ROWS, &how,
                                               &machine.context),
                         SOTTO_OK);
        assert_non_null(access);
        assert_int_equal(estimate_auc(&found, scores, 16, scores + 16, 32, .95), SOTTO_OK);
        assert_int_equal(estimate_auc(&control, scores + 16, 16, scores + 32, 16, .95), SOTTO_OK);
        if (!(found.estimate >= .9 && control.lower <= .5 && control.upper >= .5))
            fail_msg("%s of %s: AUC %g, of others %g [%g, %g]", cases[k].attack, cases[k].model,
                     found.estimate, control.estimate, control.lower, control.upper);
    }
}

/* The critic of a wgan-gp tells bright records from samples, but its slope is bounded: it rates others as high as the records. */
TEST(a_critic_tells_records_from_samples)
{
    enum { MADE = 32, PIXELS = 32 * 32 };
    static float made[MADE * PIXELS];
    static uint8_t pixels[MADE * PIXELS];
    static struct sotto_dataset samples = {.name = "samples",
                                           .n = MADE,
                                           .n_train = MADE,
                                           .channels = 1,
                                           .height = 32,
                                           .width = 32,
                                           .images = pixels};
    static uint8_t brighter[sizeof images];
    struct sotto_dataset bright = data;
    struct sotto_generator_options o = small("wgan-gp", 25, 8);
    struct sotto_generator *g;
    struct sotto_estimate learnt, control;
    int64_t rows[ROWS];
    double scores[ROWS], of_samples[MADE];
    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    for (size_t i = 0; i < sizeof images; i++)
        brighter[i] = 128 | images[i] >> 1;
    bright.images = brighter;
    assert_int_equal(sotto_generator_train(&g, NULL, &bright, rows, 16, &o, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_generator_sample(made, NULL, g, MADE, 1, &machine.context), SOTTO_OK);
    for (size_t i = 0; i < MADE * PIXELS; i++)
        pixels[i] = (uint8_t)lrintf((made[i] + 1) * 127.5F);
    assert_int_equal(
        sotto_generator_score(scores, NULL, "logan", g, &bright, rows, ROWS, NULL, &machine.context),
        SOTTO_OK);
    assert_int_equal(
        sotto_generator_score(of_samples, NULL, "logan", g, &samples, rows, MADE, NULL, &machine.context),
        SOTTO_OK);
    assert_int_equal(estimate_auc(&learnt, scores, 16, of_samples, MADE, .95), SOTTO_OK);
    assert_int_equal(estimate_auc(&control, scores + 16, 16, scores + 32, 16, .95), SOTTO_OK);
    if (!(learnt.estimate >= .95 && control.lower <= .5 && control.upper >= .5))
        fail_msg("AUC %g, of others %g [%g, %g]", learnt.estimate, control.estimate, control.lower,
                 control.upper);
    sotto_generator_free(g);
}

/* Of an untrained pair nothing can be learnt. */
TEST(an_untrained_pair_tells_nothing)
{
    static const struct generator_kind *const kinds[] = {&generator_dcgan, &generator_wgan_gp};
    int64_t rows[ROWS];
    double scores[ROWS];
    struct sotto_estimate auc;
    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    for (size_t k = 0; k < 2; k++) {
        struct sotto_generator *g;
        assert_int_equal(generator_make(&g, kinds[k], 1, 8, 5), SOTTO_OK);
        assert_int_equal(
            sotto_generator_score(scores, NULL, "logan", g, &data, rows, ROWS, NULL, &machine.context),
            SOTTO_OK);
        assert_int_equal(estimate_auc(&auc, scores, 24, scores + 24, 24, .95), SOTTO_OK);
        assert_true(auc.lower <= .5 && auc.upper >= .5);
        sotto_generator_free(g);
    }
}

/* A record that the generator can make, and one that it cannot. */
TEST(searches_find_what_the_generator_can_make)
{
    static const struct {
        const char *model, *attack;
        size_t queries;
        double least; /* of the score of what can be made */
    } cases[] = {{"dcgan", "gan-leaks-white", 0, -.05},
                 {"vae", "gan-leaks-white", 0, -.002},
                 {"vae", "gan-leaks-partial", 6000, -.002}};
    static float made[32 * 32];
    static uint8_t pixels[2 * 32 * 32];
    static struct sotto_dataset two = {
        .name = "two", .n = 2, .n_train = 2, .channels = 1, .height = 32, .width = 32, .images = pixels};
    double scores[2];
    const int64_t rows[] = {0, 1};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct sotto_generator_score_options how = {.seed = 1, .queries = cases[k].queries};
        const struct sotto_generator *g = trained(cases[k].model, 60, 4, ROWS);
        assert_int_equal(sotto_generator_sample(made, NULL, g, 1, 77, &machine.context), SOTTO_OK);
        struct rng r = rng_stream(10, RNG_TEST, 0, 0);
        for (size_t i = 0; i < 32 * 32; i++) {
            pixels[i] = (uint8_t)lrintf((made[i] + 1) * 127.5F);
            pixels[32 * 32 + i] = (uint8_t)rng_below(&r, 256);
        }
        assert_int_equal(
            sotto_generator_score(scores, NULL, cases[k].attack, g, &two, rows, 2, &how, &machine.context),
            SOTTO_OK);
        if (!(scores[0] > scores[1] && scores[0] > cases[k].least))
            fail_msg("%s of %s: %g and %g", cases[k].attack, cases[k].model, scores[0], scores[1]);
    }
}

/* An attacker's own discriminator: without knowledge, of a vae that makes mixtures of its few records. */
TEST(samples_alone_may_tell)
{
    struct sotto_imitation_options how = {.samples = 100, .steps = 30};
    const struct sotto_generator *g = trained("vae", 300, 8, 16);
    struct sotto_generator *own;
    int64_t rows[ROWS];
    double scores[ROWS];
    struct sotto_estimate found, control;
    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    assert_int_equal(sotto_generator_imitate(&own, g, NULL, &how, &machine.context), SOTTO_OK);
    assert_int_equal(
        sotto_generator_score(scores, NULL, "logan", own, &data, rows, ROWS, NULL, &machine.context),
        SOTTO_OK);
    assert_int_equal(estimate_auc(&found, scores, 16, scores + 16, 32, .95), SOTTO_OK);
    assert_int_equal(estimate_auc(&control, scores + 16, 16, scores + 32, 16, .95), SOTTO_OK);
    if (!(found.estimate >= .9 && control.lower <= .5 && control.upper >= .5))
        fail_msg("AUC %g, of others %g [%g, %g]", found.estimate, control.estimate, control.lower,
                 control.upper);
    sotto_generator_free(own);
}

/* With knowledge, where members are brighter: the known ones show it of the others. Two lots of bright records are the control, and
 * so is an attacker whose known records are swapped. */
TEST(known_records_teach)
{
    enum { BRIGHT = ROWS * 2 / 3, KNOWN = 8 };
    static uint8_t pixels[sizeof images];
    static const int64_t known[2][KNOWN] = {{0, 1, 2, 3, 4, 5, 6, 7}, {32, 33, 34, 35, 36, 37, 38, 39}};
    struct sotto_dataset bright = data;
    struct sotto_imitation_options how = {.samples = 64, .steps = 60};
    struct sotto_generator *g, *own;
    int64_t rows[ROWS];
    double scores[ROWS];
    struct sotto_estimate found, control;
    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    for (size_t i = 0; i < sizeof images; i++)
        pixels[i] = i < sizeof images / ROWS * BRIGHT ? 128 | images[i] >> 1 : images[i] >> 1;
    bright.images = pixels;
    assert_int_equal(generator_make(&g, &generator_dcgan, 1, 8, 5), SOTTO_OK); /* grey samples */
    for (int swapped = 0; swapped < 2; swapped++) {
        struct sotto_known_records side = {&bright, known[swapped], KNOWN, known[!swapped], KNOWN};
        assert_int_equal(sotto_generator_imitate(&own, g, &side, &how, &machine.context), SOTTO_OK);
        assert_int_equal(
            sotto_generator_score(scores, NULL, "logan", own, &bright, rows, ROWS, NULL, &machine.context),
            SOTTO_OK);
        assert_int_equal(
            estimate_auc(&found, scores + KNOWN, BRIGHT - KNOWN, scores + BRIGHT + KNOWN, KNOWN, .95),
            SOTTO_OK);
        assert_int_equal(estimate_auc(&control, scores + KNOWN, 12, scores + KNOWN + 12, 12, .95), SOTTO_OK);
        if (!((swapped ? found.estimate <= .1 : found.estimate >= .9) && control.lower <= .5 &&
              control.upper >= .5))
            fail_msg("swapped %d: AUC %g, of others %g [%g, %g]", swapped, found.estimate, control.estimate,
                     control.lower, control.upper);
        sotto_generator_free(own);
    }
    sotto_generator_free(g);
}

/* Samples that resemble members make up for knowing few of them: they stand on the members' side. On the other side they would
 * turn the attack around. */
TEST(samples_stand_with_known_members)
{
    struct sotto_imitation_options how = {.samples = 100, .steps = 60};
    const int64_t member[] = {0, 1}, nonmember[] = {16, 17, 18, 19, 20, 21, 22, 23};
    const struct sotto_known_records known = {&data, member, 2, nonmember, 8};
    const struct sotto_generator *g = trained("vae", 300, 8, 16);
    struct sotto_generator *own;
    int64_t rows[ROWS];
    double scores[ROWS];
    struct sotto_estimate found, control;
    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    assert_int_equal(sotto_generator_imitate(&own, g, &known, &how, &machine.context), SOTTO_OK);
    assert_int_equal(
        sotto_generator_score(scores, NULL, "logan", own, &data, rows, ROWS, NULL, &machine.context),
        SOTTO_OK);
    assert_int_equal(estimate_auc(&found, scores + 2, 14, scores + 24, 24, .95), SOTTO_OK);
    assert_int_equal(estimate_auc(&control, scores + 24, 12, scores + 36, 12, .95), SOTTO_OK);
    if (!(found.estimate >= .8 && control.lower <= .5 && control.upper >= .5))
        fail_msg("AUC %g, of others %g [%g, %g]", found.estimate, control.estimate, control.lower,
                 control.upper);
    sotto_generator_free(own);
}

TEST(rows_are_asked_for)
{
    struct sotto_generator *g, *own;
    static float image[32 * 32];
    double score;
    const struct sotto_known_records known = {&data, NULL, 2, NULL, 2};
    struct sotto_imitation_options how = {.samples = 16, .steps = 1};
    assert_int_equal(generator_make(&g, &generator_dcgan, 1, 8, 0), SOTTO_OK);
    assert_int_equal(sotto_generator_records(image, g, &data, NULL, 1), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "sotto_generator_records: rows is NULL; this argument must be given");
    assert_int_equal(sotto_generator_records(image, g, &data, NULL, 0), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "data set 'noise': no rows were given; expected at least one");
    assert_int_equal(sotto_generator_score(&score, NULL, "logan", g, &data, NULL, 1, NULL, &machine.context),
                     SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "sotto_generator_score: rows is NULL; this argument must be given");
    assert_int_equal(sotto_generator_imitate(&own, g, &known, &how, &machine.context), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "imitation: rows of known records are missing; expected member and nonmember");
    sotto_generator_free(g);
}

TEST(known_records_are_checked)
{
    struct sotto_generator *g, *own;
    const int64_t rows[] = {0, ROWS};
    struct sotto_imitation_options how = {.samples = 16, .steps = 1};
    struct sotto_known_records none = {&data, rows, 1, rows, 1}, outside = {&data, rows, 1, rows, 2};
    assert_int_equal(generator_make(&g, &generator_vae, 1, 4, 0), SOTTO_OK);
    assert_int_equal(sotto_generator_imitate(&own, g, &none, &how, &machine.context), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "imitation: 1 known members and 1 known non-members; expected at "
                                            "least 1 and 2, or none of both");
    assert_int_equal(sotto_generator_imitate(&own, g, &outside, &how, &machine.context), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "row index 48 (at position 1) is outside data set 'noise' with 48 records");
    sotto_generator_free(g);
}

TEST(too_few_queries_are_refused)
{
    struct sotto_generator *g;
    struct sotto_generator_score_options how = {.queries = 122};
    double score;
    const int64_t row = 0;
    assert_int_equal(generator_make(&g, &generator_vae, 1, 4, 0), SOTTO_OK);
    assert_int_equal(
        sotto_generator_score(&score, NULL, "gan-leaks-partial", g, &data, &row, 1, &how, &machine.context),
        SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "queries: 122 for a record are too few for one gradient of each "
                                            "of 3 searches; expected at least 123");
    sotto_generator_free(g);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .start = start, .tags = "matrix")
