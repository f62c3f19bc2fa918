/* Stolen memories over several layers: a planted memory (a pink border on 20 training images) is found and explained where it is;
 * records that trained nothing are not told from each other; proxies that equal the network displace nothing. */
#include "support/test.h"
#include "support/effort.h"

#include "attack/query/layer_memories.h"
#include "attack/target/target_network.h"
#include "audit/measure/metrics.h"
#include "rng/rng.h"
#include "support/audit_text.h"
#include "support/machine.h"
#include "sotto/private/all.h"

#include <math.h>
#include <string.h>

enum { N = 100, POOL = 150, SIDE = 16, D = 3 * SIDE * SIDE, K = 4, PINK = 20, EDGE = 2 };
static float x[(2 * N + POOL) * D]; /* members, others, attacker */
static int64_t y[2 * N + POOL];
static struct sotto_network *network;
static const struct sotto_context single = {.threads = 1};

static bool on_border(size_t pixel)
{
    const size_t row = pixel / SIDE, column = pixel % SIDE;
    return row < EDGE || column < EDGE || row >= SIDE - EDGE || column >= SIDE - EDGE;
}

/* Noise with a bright quarter, which is not always that of the class. */
static void make_images(void)
{
    struct rng draw = rng_stream(1, RNG_TEST, 0, 0);
    static const float pink[3] = {1, 0.08F, 0.58F};
    for (size_t i = 0; i < 2 * N + POOL; i++) {
        y[i] = (int64_t)(i % K);
        const size_t bright = rng_below(&draw, 4) ? (size_t)y[i] : rng_below(&draw, K);
        for (size_t k = 0; k < SIDE * SIDE; k++)
            for (size_t c = 0; c < 3; c++) {
                const bool there = k / SIDE / (SIDE / 2) == bright / 2 && k % SIDE / (SIDE / 2) == bright % 2;
                float *v = &x[i * D + c * SIDE * SIDE + k];
                *v = 0.5F * rng_unit_f(&draw) + (there ? 0.2F : 0);
                if (i < PINK * K && y[i] == 0 && on_border(k)) /* the class that it is is class 0 */
                    *v = pink[c];
            }
    }
}

static struct sotto_train_options recipe(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.channels = 3, o.height = SIDE, o.width = SIDE;
    o.hidden_count = 3;
    o.hidden[0] = 8, o.hidden[1] = 12, o.hidden[2] = 24;
    o.epochs = 25;
    o.batch = 20;
    o.lr = 3e-3;
    o.dtype = "f32";
    o.backend = machine.backend;
    return o;
}

static int set_up(void **state)
{
    (void)state;
    const struct sotto_train_options o = recipe();
    const struct sotto_dataset set = {
        .name = "borders", .n = N, .features = x, .columns = D, .labels = y, .classes = K};
    make_images();
    return sotto_train(&network, NULL, &set, NULL, 0, &o, &single) == SOTTO_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sotto_network_free(network);
    return 0;
}

static const struct head_data own = {x + 2 * N * D, y + 2 * N, POOL, D, K};

/* Effort 1: every other of the 20 images and the same shares of them. By chance half of the maps were brighter on the border: 8
 * of 10, or 15 of 20, have a probability of 5 %, or 2 %; of the images without a border that many are the control. */
TEST(a_planted_memory_is_explained_where_it_is)
{
    struct layer_memories m;
    const struct sotto_train_options o = recipe();
    const size_t step = K * (size_t)by_effort(2, 1, 1), images = PINK * K / step;
    size_t found = 0, elsewhere = 0;
    assert_int_equal(layer_memories_make(&m, network, 3, 2, &own, &o, 1, &single), SOTTO_OK);
    for (size_t i = 0; i < PINK * K; i += step)
        for (int clean = 0; clean < 2; clean++) {
            const size_t record = i + (clean ? N : 0); /* of the same class, and not a member */
            const struct head_data one = {x + record * D, y + record, 1, D, K};
            struct memory_explanation e;
            double border = 0, inside = 0, edge = 0;
            assert_int_equal(memory_explain(&e, &m, &one, &single), SOTTO_OK);
            for (size_t k = 0; k < SIDE * SIDE; k++) {
                assert_true(e.map[k] >= 0 && e.map[k] <= 1);
                *(on_border(k) ? &border : &inside) += (double)e.map[k];
                edge += on_border(k);
            }
            const bool brighter = border / edge > 2 * inside / (SIDE * SIDE - edge);
            *(clean ? &elsewhere : &found) += brighter;
            base_free(e.map);
        }
    print_message("brighter on the border: %zu of %zu, of those without one %zu\n", found, images, elsewhere);
    if (found < (size_t)by_effort(8, 15, 15) || elsewhere > images / 2)
        fail_msg("brighter on the border: %zu of %zu, of as many without a border %zu", found, images,
                 elsewhere);
    layer_memories_clear(&m);
}

/* The parts of a map add up, and a network beside itself remembers nothing. */
TEST(proxies_that_are_the_network_displace_nothing)
{
    struct layer_memories m;
    const struct sotto_train_options o = recipe();
    const struct head_data few = {x, y, 40, D, K}; /* more than a batch, and no multiple of one */
    double score[40], *map = NULL;
    assert_int_equal(layer_memories_make(&m, network, 2, 1, &own, &o, 1, &single), SOTTO_OK);
    for (size_t l = 0; l < m.layers; l++) {
        const size_t values = shape_count(m.shape[l]);
        double largest = 0;
        map = base_alloc(few.n * values, sizeof *map);
        assert_int_equal(layer_memories_score(score, map, &m, l, &few, &single), SOTTO_OK);
        for (size_t i = 0; i < few.n; i++) {
            double sum = 0;
            for (size_t k = 0; k < values; k++)
                sum += map[i * values + k];
            assert_float_equal(sum, score[i], 1e-9 * (1 + fabs(score[i])));
            largest = fmax(largest, fabs(sum));
        }
        assert_true(largest > 0.1);
        base_free(map);
        struct sotto_network *kept = m.proxy[l];
        m.proxy[l] = network;
        assert_int_equal(layer_memories_score(score, NULL, &m, l, &few, &single), SOTTO_OK);
        m.proxy[l] = kept;
        for (size_t i = 0; i < few.n; i++)
            assert_float_equal(score[i], 0, 1e-9);
    }
    layer_memories_clear(&m);
}

static struct sotto_estimate attack(char **text, size_t member, size_t nonmember, size_t n, size_t explain)
{
    struct sotto_attack_options o;
    struct sotto_attack_input in = {.member = {x + member * D, y + member, n},
                                    .nonmember = {x + nonmember * D, y + nonmember, n},
                                    .attacker = {own.x, own.y, own.n}};
    double scores[2 * N];
    struct sotto_estimate e;
    int finished;
    assert_int_equal(target_network(&in.target, "borders", network, false, &single), SOTTO_OK);
    sotto_attack_defaults(&o);
    o.name = "stolen-memories-layers";
    o.shadows = 2;
    o.explain = explain;
    if (attack_text(text, scores, &finished, &in, &o, &single) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(estimate_auc(&e, scores, n, scores + n, n, .95), SOTTO_OK);
    sotto_target_close(in.target);
    return e;
}

TEST(members_are_found_and_others_are_not)
{
    char *text = NULL, *control = NULL;
    const size_t n = (size_t)by_effort(64, N, N); /* whole batches of 32 */
    const struct sotto_estimate found = attack(&text, 0, N, n, 3),
                                none = attack(&control, N, N + n / 2, n / 2, 0);
    print_message("AUC %g [%g, %g], of others %g [%g, %g]\n", found.estimate, found.lower, found.upper,
                  none.estimate, none.lower, none.upper);
    if (!(found.lower > 0.55 && none.lower <= 0.5 && none.upper >= 0.5))
        fail_msg("AUC %g [%g, %g], of others %g [%g, %g]", found.estimate, found.lower, found.upper,
                 none.estimate, none.lower, none.upper);
    size_t pictures = 0;
    for (const char *at = text; (at = strstr(at, "data:image/bmp")); at++)
        pictures++;
    assert_int_equal(pictures, 3);
    assert_null(strstr(control, "data:image"));
    sotto_text_free(text);
    sotto_text_free(control);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .start = machine_f32, .tags = "matrix")
