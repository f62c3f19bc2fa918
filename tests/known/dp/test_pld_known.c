/* Known answers of privacy-loss distributions. Origins: dp.md 3(g) (logistic, Laplace; 113-bit arithmetic,
 * and a connect-the-dots program of its own), performance.md section 8 (dp_accounting and prv_accountant, run
 * side by side; delta = 1e-5, add-remove). */
#include "support/test.h"

#include "dp/account/account_pld.h"
#include "dp/account/accountant.h"
#include "dp/pld/pld_plan.h"

static struct interval compose(const char *mechanism, double shift, size_t count, double delta)
{
    const struct composed_release item = {mechanism, {shift, shift}, SOTTO_NORM_L1,          1,
                                          false,     count,          SOTTO_SAMPLING_POISSON, 0};
    struct interval epsilon;
    assert_int_equal(account_pld(&epsilon, &item, 1, delta, NULL), SOTTO_OK);
    return epsilon;
}

/* The origins computed in doubles and printed 14 decimals. */
static void contains(struct interval got, double expected, double width)
{
    const double printed = 1e-13;
    if (!(got.lo <= expected + printed && expected - printed <= got.hi && got.hi - got.lo <= width))
        fail_msg("[%.12g, %.12g] against %.12g, width at most %g", got.lo, got.hi, expected, width);
}

TEST(logistic_composition_is_exact_elsewhere)
{
    /* dp.md (g), delta = 1e-5 */
    static const double known[][3] = {
        {0.1, 1, 0.09804802154319},   {0.1, 2, 0.18701862956339},     {0.1, 10, 0.61161637048479},
        {0.1, 100, 2.32091241076471}, {0.1, 1000, 8.92737173687175},  {0.5, 1, 0.49602884777313},
        {0.5, 2, 0.96644392336437},   {0.5, 10, 3.51748950754174},    {0.5, 100, 15.54865317462431},
        {1, 1, 0.99496526660881},     {1, 2, 1.95387477517556},       {1, 10, 7.62558659523586},
        {1, 100, 38.94740619798189},  {1, 1000, 238.4153838632335},   {2, 1, 1.99411030000470},
        {2, 2, 3.94305995182782},     {2, 10, 16.71191346662778},     {2, 100, 104.1988407536056},
        {2, 1000, 764.6693982119248}, {0.5, 1000, 79.19680041791194},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        contains(compose("logistic", known[i][0], (size_t)known[i][1], 1e-5), known[i][2],
                 2e-5 * known[i][2]);
}

TEST(gaussian_composition_is_a_gaussian)
{
    /* performance.md 8: analytic, (sigma, T) */
    static const double known[][3] = {{1, 1, 4.377178095681133},
                                      {10, 100, 4.377178095681133},
                                      {5, 1, 0.7255217508577958},
                                      {50, 1000, 2.5943833805275966}};
    for (size_t i = 0; i < 4; i++)
        contains(compose("gaussian", 1 / known[i][0], (size_t)known[i][1], 1e-5), known[i][2],
                 2e-5 * known[i][2]);
}

TEST(laplace_composition)
{
    /* performance.md 8: pessimistic at 1e-4; k = 1 exact: 1/b + 2 ln(1 - delta) */
    static const double known[][3] = {{1, 10, 9.989962316985142},   {1, 100, 68.25295109156812},
                                      {5, 10, 1.989962316985142},   {5, 100, 9.381916771805832},
                                      {20, 10, 0.4899623169851427}, {20, 100, 1.9477086075450263}};
    for (size_t i = 0; i < 6; i++) {
        struct interval e = compose("laplace", 1 / known[i][0], (size_t)known[i][1], 1e-5);
        if (!(e.lo <= known[i][2] && fabs(e.hi - known[i][2]) < 1e-6 && e.hi - e.lo < 1e-6))
            fail_msg("b %g k %g: [%.12g, %.12g]", known[i][0], known[i][1], e.lo, e.hi);
    }
    contains(compose("laplace", 1, 1, 1e-5), 0.9999799999, 1e-8);
}

static struct interval sampled(const char *mechanism, double shift, double rate, double steps,
                               enum pld_direction direction)
{
    struct pair_sampled p = {mechanism_find(mechanism), shift, rate, direction};
    struct pld_part part = {.upper = pair_of_sampled(&p), .lower = pair_of_sampled(&p), .count = steps};
    struct interval e;
    assert_int_equal(pld_epsilon(&e, &part, 1, 1e-5, 1, NULL), SOTTO_OK);
    return e;
}

TEST(sampled_logistic)
{
    /* dp.md (g): upper values at h = 1e-5, last digits +-1e-6 */
    static const double known[][5] = {{0.01, 1, 1000, 0.700614, 0.670113},
                                      {0.01, 2, 1000, 1.755471, 1.573468},
                                      {0.1, 1, 100, 2.565516, 2.215781}};
    for (size_t i = 0; i < 3; i++)
        for (int d = 0; d < 2; d++) {
            struct interval e =
                sampled("logistic", known[i][1], known[i][0], known[i][2], (enum pld_direction)d);
            double expected = known[i][3 + d];
            if (!(e.lo <= expected + 1e-6 && e.hi >= expected - 2e-6 && e.hi - e.lo < 2e-5 * expected))
                fail_msg("q %g: [%.9g, %.9g], claim %g", known[i][0], e.lo, e.hi, expected);
        }
}

/* sigma, q, T, PLD at 1e-4, PLD at 1e-5 */
static const double table[][5] = {
    {0.8, 0.001, 100, 0.14096873783064925, 0.14096603816521389},
    {0.8, 0.001, 1000, 0.3035736715396182, 0.30355413556251215},
    {0.8, 0.001, 10000, 0.7825248325367231, 0.7823891418370942},
    {0.8, 0.01, 100, 1.5108380181589451, 1.5108375355333734},
    {0.8, 0.01, 1000, 3.141018316914697, 3.1410141876453355},
    {0.8, 0.01, 10000, 10.053658749027907, 10.05363506102011},
    {0.8, 0.1, 100, 10.976378173446452, 10.976377976082473},
    {0.8, 0.1, 1000, 39.88008823737771, 39.88008690826042},
    {0.8, 0.1, 10000, 214.8810703199792, 214.88106045016778},
    {1.0, 0.001, 100, 0.05517469135196372, 0.0551652006231482},
    {1.0, 0.001, 1000, 0.14895584393393949, 0.14890210052914238},
    {1.0, 0.001, 10000, 0.47598701492088086, 0.4757635498800071},
    {1.0, 0.01, 100, 0.7180367095923873, 0.7180356719448161},
    {1.0, 0.01, 1000, 1.828243645616618, 1.8282367370713892},
    {1.0, 0.01, 10000, 6.1877449761406655, 6.187712717888822},
    {1.0, 0.1, 100, 7.046602877197491, 7.046602621801199},
    {1.0, 0.1, 1000, 25.204555199805906, 25.204553666899592},
    {1.0, 0.1, 10000, 127.87897776097573, 127.87896887213876},
    {1.1, 0.01, 10000, 5.192620123006306, 5.192583823921914},
    {2.0, 0.001, 100, 0.01466846214379716, 0.014629789416562212},
    {2.0, 0.001, 1000, 0.0501370377708148, 0.049988791070393696},
    {2.0, 0.001, 10000, 0.17384697734811883, 0.17331297681125907},
    {2.0, 0.01, 100, 0.1897990616158195, 0.18979452136119934},
    {2.0, 0.01, 1000, 0.6220485250827936, 0.6220304952601985},
    {2.0, 0.01, 10000, 2.1627736452174173, 2.162705428838756},
    {2.0, 0.1, 100, 2.3374001924288903, 2.3373996123116565},
    {2.0, 0.1, 1000, 8.279293379790778, 8.279291222630262},
    {2.0, 0.1, 10000, 36.00369782816873, 36.00370378367221},
};

TEST(sampled_gaussian)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const double *r = table[i];
        struct sotto_sampled s = {.mechanism = "gaussian",
                                  .noise_multiplier = r[0],
                                  .sample_rate = r[1],
                                  .steps = (size_t)r[2],
                                  .delta = 1e-5,
                                  .clipping = SOTTO_NORM_L2,
                                  .adjacency = SOTTO_ADD_REMOVE,
                                  .sampling = SOTTO_SAMPLING_POISSON,
                                  0};
        struct sotto_account a;
        assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
        /* their figures are upper bounds: ours must be as small, and the lower end below theirs */
        double theirs = fmin(r[3], r[4]), width = a.epsilon.upper - a.epsilon.lower;
        if (!(a.epsilon.upper <= r[3] && a.epsilon.lower <= theirs && width < 3e-5 * theirs))
            fail_msg("sigma %g q %g T %g: [%.12g, %.12g], theirs %.12g and %.12g", r[0], r[1], r[2],
                     a.epsilon.lower, a.epsilon.upper, r[3], r[4]);
        assert_string_equal(a.accountant, "privacy-loss distribution");
    }
}

TEST(replaced_records)
{
    /* a program of its own: cell masses from scipy's ndtr, losses split linearly to a grid of
                    2e-4, numpy's FFT; right to about 1e-5 relative. And without sampling, a doubled shift. */
    static const double known[][3] = {
        {0.01, 1000, 2.477819996}, {0.1, 1000, 40.060642498}, {0.5, 100, 69.342649480}};
    for (size_t i = 0; i < 3; i++) {
        struct sotto_sampled s = {.mechanism = "gaussian",
                                  .noise_multiplier = 1.1,
                                  .sample_rate = known[i][0],
                                  .steps = (size_t)known[i][1],
                                  .delta = 1e-5,
                                  .clipping = SOTTO_NORM_L2,
                                  .adjacency = SOTTO_REPLACE_ONE,
                                  .sampling = SOTTO_SAMPLING_POISSON,
                                  0};
        struct sotto_account a;
        assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
        contains((struct interval){a.epsilon.lower * (1 - 1e-5), a.epsilon.upper * (1 + 1e-5)}, known[i][2],
                 5e-5 * known[i][2]);
        assert_int_equal(a.adjacency, SOTTO_REPLACE_ONE);
    }
    struct sotto_sampled whole = {.mechanism = "logistic",
                                  .noise_multiplier = 1.1,
                                  .sample_rate = 1,
                                  .steps = 10,
                                  .delta = 1e-5,
                                  .clipping = SOTTO_NORM_L1,
                                  .adjacency = SOTTO_REPLACE_ONE,
                                  .sampling = SOTTO_SAMPLING_POISSON,
                                  0};
    const struct sotto_sensitivity twice = {.l1 = 2, .l2 = NAN};
    struct sotto_account a, exact;
    assert_int_equal(sotto_account_sampled(&a, &whole, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_release(&exact, "logistic", 1.1, &twice, 1e-5, 10, NULL), SOTTO_OK);
    assert_true(a.epsilon.lower <= exact.epsilon.upper && exact.epsilon.lower <= a.epsilon.upper &&
                a.epsilon.upper < exact.epsilon.upper * (1 + 1e-7));
}

TEST(finer_references)
{
    /* prv_accountant, eps_error 0.005: estimates, right to about 1e-6 */
    static const double known[][4] = {{1.0, 0.01, 1000, 1.828237234684473},
                                      {0.8, 0.01, 1000, 3.1410144664240716},
                                      {2.0, 0.1, 1000, 8.279290798954221},
                                      {1.0, 0.001, 10000, 0.4757634571067591}};
    for (size_t i = 0; i < 4; i++) {
        struct interval e = sampled("gaussian", 1 / known[i][0], known[i][1], known[i][2], PLD_REMOVE);
        if (!(e.lo - 2e-6 <= known[i][3] && known[i][3] <= e.hi + 2e-6))
            fail_msg("[%.10g, %.10g], claim %.10g", e.lo, e.hi, known[i][3]);
    }
}

TEST_GROUP(.shards = 3, .tags = "long long-sums")
