/* Renyi divergence of Poisson-sampled steps. Origins: specification performance.md 8 (dp_accounting, per-step
 * values and epsilon at delta 1e-5), dp.md 3(b) (Opacus' frozen value), quadrature of the definition. */
#include "support/test.h"

#include "dp/account/accountant.h"
#include "dp/account/sampled_renyi.h"

static const struct mechanism *gaussian(void)
{
    return mechanism_find("gaussian");
}

static void close_to(double got, double expected, double relative)
{
    if (!(fabs(got - expected) <= relative * fabs(expected)))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

TEST(divergence_of_a_step)
{
    static const double orders[] = {1.5, 2, 4, 8, 16, 32, 64};
    static const struct {
        double q, sigma, renyi[7];
    } known[] = {
        {0.01,
         1.1,
         {9.858756968009191e-05, 0.00012851008160516542, 0.0002667183146270714, 0.0005840703355202598,
          1.6998267277531747, 8.469416433675926, 21.768012866287314}},
        {0.1,
         0.8,
         {NAN /* their series does not converge */, 0.03701379105626625, 0.3371327066835503, 3.61865742244435,
          10.043909234775738, 22.623137968522272, 47.66086593727589}},
        {0.001,
         2,
         {2.1351601469493732e-07, 2.840253763520833e-07, 5.684038197209225e-07, 1.138223717715796e-06,
          2.2821424743719574e-06, 4.587314898547158e-06, 0.9827446359630388}}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 7; j++) {
            struct interval r = sampled_renyi(gaussian(), known[i].sigma, known[i].q, orders[j]);
            assert_true(r.hi - r.lo <= 2e-11 * r.hi);
            /* Theirs adds up A and not A - 1, which leaves about 1e-15 / q^2; and at 1.5 it adds the absolute
             * values of an alternating series, an upper bound that is 3 % too high. */
            if (j == 0)
                assert_true(isnan(known[i].renyi[j]) || r.hi < known[i].renyi[j]);
            else
                close_to(r.hi, known[i].renyi[j], known[i].q < 0.01 ? 2e-8 : 2e-11);
        }
}

/* ln of the integral of q(x) ((1-q) + q p/q)^alpha by the trapezoidal rule, which converges geometrically. */
static double by_quadrature(double q, double sigma, double alpha)
{
    double sum = 0, h = sigma / 64;
    for (double x = -40 * sigma; x < alpha + 40 * sigma; x += h) {
        double loss = (2 * x - 1) / (2 * sigma * sigma);
        double power = alpha * (loss < 30 ? log1p(q * expm1(loss)) : loss + log(q));
        double normal = -x * x / (2 * sigma * sigma);
        sum += power < 30 ? exp(normal) * expm1(power) : exp(normal + power);
    }
    return log1p(sum * h / (sigma * 2.5066282746310002)) / (alpha - 1);
}

TEST(fractional_orders_agree_with_quadrature)
{
    static const double rates[] = {1e-4, 0.01, 0.2, 0.25, 0.26, 0.5, 0.9, 0.999},
                        sigmas[] = {0.3, 0.8, 2, 10};
    static const double orders[] = {1.05, 1.3, 1.5, 2.5, 3.999, 5.1, 12.7};
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 7; k++) {
                double want = by_quadrature(rates[i], sigmas[j], orders[k]);
                struct interval r = sampled_renyi(gaussian(), sigmas[j], rates[i], orders[k]);
                double slack = 1e-9 * want + 1e-13 / (orders[k] - 1); /* of ln A near 0 */
                if (isinf(want))                                      /* the quadrature's own overflow */
                    continue;
                if (!(r.lo <= want + slack && r.hi >= want - slack && r.hi - r.lo <= slack))
                    fail_msg("q %g sigma %g alpha %g: [%.17g, %.17g], quadrature %.17g", rates[i], sigmas[j],
                             orders[k], r.lo, r.hi, want);
            }
}

TEST(epsilon_against_peers)
{
    /* dp_accounting's RDP accountant with its default orders: we search all, so we are never
                    above */
    static const double known[][4] = {
        {0.8, 0.001, 100, 1.082100438636862},    {0.8, 0.001, 1000, 1.1589041367790003},
        {0.8, 0.001, 10000, 1.3838218010196532}, {0.8, 0.01, 100, 2.185327513711479},
        {0.8, 0.01, 1000, 3.6956131929533838},   {0.8, 0.01, 10000, 10.935373444641163},
        {0.8, 0.1, 100, 12.40862557162675},      {0.8, 0.1, 1000, 45.69563138095404},
        {0.8, 0.1, 10000, 324.7973223794217},    {1, 0.001, 100, 0.6360525446218313},
        {1, 0.001, 1000, 0.677825724599743},     {1, 0.001, 10000, 0.7876595344277387},
        {1, 0.01, 100, 1.2141452944480204},      {1, 0.01, 1000, 2.101366525420273},
        {1, 0.01, 10000, 6.712756664482653},     {1, 0.1, 100, 7.903850223578232},
        {1, 0.1, 1000, 27.163494340026944},      {1, 0.1, 10000, 170.10858354738596},
        {2, 0.001, 100, 0.12177815216363132},    {2, 0.001, 1000, 0.13106935370605746},
        {2, 0.001, 10000, 0.20127230462931398},  {2, 0.01, 100, 0.2571292377435293},
        {2, 0.01, 1000, 0.6861853363943164},     {2, 0.01, 10000, 2.352913128781947},
        {2, 0.1, 100, 2.5805709505045913},       {2, 0.1, 1000, 8.946956795817709},
        {2, 0.1, 10000, 38.488913766486974},     {1.1, 0.01, 10000, 5.632010670081592},
        {1.5, 0.04, 2250, 7.32911117143} /* Opacus */};
    /* PLD at a mesh of 1e-5: a correct Renyi bound is never below */
    static const double pld[] = {
        0.14096603816521389, 0.30355413556251215, 0.7823891418370942,   1.5108375355333734,
        3.1410141876453355,  10.05363506102011,   10.976377976082473,   39.88008690826042,
        214.88106045016778,  0.0551652006231482,  0.14890210052914238,  0.4757634998800071,
        0.7180356719448161,  1.8282367370713892,  6.187712717888822,    7.046602621801199,
        25.204553666899592,  127.87896887213876,  0.014629789416562212, 0.049988791070393696,
        0.17331297681125907, 0.18979452136119934, 0.6220304952601985,   2.162705428838756,
        2.3373996123116565,  8.279291222630262,   36.00370378367221,    5.192583823921914};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double *k = known[i];
        double e = sampled_renyi_epsilon(gaussian(), k[0], k[1], k[2], 1e-5);
        if (!(e <= k[3] * (1 + 1e-9) && (i >= 28 || e >= pld[i] * (1 - 1e-3))))
            fail_msg("sigma %g q %g T %g: %.12g, peer %.12g", k[0], k[1], k[2], e, k[3]);
    }
    /* Opacus' orders, 1.1 to 10.9 by tenths, and whole orders only (dp.md 3(b)) */
    double tenths = INFINITY, integers = INFINITY;
    for (int i = 11; i <= 109; i++) {
        double alpha = i / 10.0;
        struct interval r = iv_scale(sampled_renyi(gaussian(), 1.5, 0.04, alpha), 2250);
        double epsilon = renyi_to_epsilon(r, alpha, 1e-5).hi;
        tenths = fmin(tenths, epsilon);
        if (i % 10 == 0)
            integers = fmin(integers, epsilon);
    }
    close_to(tenths, 7.32911117143, 1e-11);
    close_to(integers, 7.3298768, 1e-8);
}
