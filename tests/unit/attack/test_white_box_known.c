/* The white-box attack of an attacker which knows half of the members: heads and networks, a planted leak, controls, and the
 * attack network by itself. */
#include "support/test.h"
#include "support/effort.h"

#include "attack/query/branch_net.h"
#include "attack/query/whitebox_sketch.h"
#include "audit/measure/metrics.h"
#include "support/audit_text.h"
#include "support/head_blobs.h"
#include "support/machine.h"
#include "support/temporary_folder.h"

#include <math.h>

enum { N = 60, D = 16, K = 4 }; /* of each: members and others, judged and known */
static float x[4 * N * D];
static int64_t y[4 * N];

/* Classes by chance: members are those that were learnt by heart. Judged members, known members, judged others, known others. */
static int set_up(void **state)
{
    struct rng draw = rng_stream(2, RNG_TEST, 3, 0);
    struct sotto_head_recipe r = {
        .hidden_count = 2, .hidden = {48, 24}, .epochs = 120, .batch = 16, .lr = 1e-2};
    struct sotto_train_options o;
    struct sotto_head *h;
    struct sotto_network *n;
    machine_set(NN_F32);
    make_blobs(x, y, 4 * N, D, K, 2.5, 1);
    for (size_t i = 0; i < 4 * N; i++)
        y[i] = (int64_t)rng_below(&draw, K);
    struct sotto_dataset set = {
        .name = "blobs", .n = 2 * N, .features = x, .columns = D, .labels = y, .classes = K};
    sotto_train_defaults(&o);
    o.channels = 1, o.height = 4, o.width = 4;
    o.hidden_count = 2, o.hidden[0] = 8, o.hidden[1] = 32;
    o.epochs = 120, o.batch = 16, o.lr = 1e-2;
    o.dtype = "f32", o.backend = machine.backend;
    if (make_folder(state) || sotto_head_train(&h, x, y, 2 * N, D, K, &r, NULL) != SOTTO_OK ||
        sotto_head_save(path_of("head.safetensors"), h) != SOTTO_OK ||
        sotto_train(&n, NULL, &set, NULL, 0, &o, &machine.context) != SOTTO_OK ||
        sotto_network_save(path_of("network.safetensors"), n) != SOTTO_OK)
        return -1;
    sotto_head_free(h);
    sotto_network_free(n);
    return 0;
}

static struct sotto_records part(size_t k)
{
    return (struct sotto_records){x + k * N * D, y + k * N, N};
}

/* Area on the judged records; parts of x: who is judged, and who is known. */
static struct sotto_estimate attack(const char *file, const size_t parts[4], double *scores, char **json)
{
    struct sotto_attack_options o;
    struct sotto_attack_input in = {.member = part(parts[0]),
                                    .known_member = part(parts[1]),
                                    .nonmember = part(parts[2]),
                                    .known_nonmember = part(parts[3])};
    struct sotto_estimate e;
    double own[2 * N];
    char *text;
    int finished;
    sotto_attack_defaults(&o);
    o.name = "white-box";
    scores = scores ? scores : own;
    assert_int_equal(sotto_target_open(&in.target, path_of(file), &machine.context), SOTTO_OK);
    if (attack_text(&text, scores, &finished, &in, &o, &machine.context) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_true(finished);
    sotto_target_close(in.target);
    assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.95), SOTTO_OK);
    if (json)
        *json = text;
    else
        sotto_text_free(text);
    return e;
}

/* An attack network is trained for each: that the same seed repeats the scores, and strangers to the network, come at the
 * landing. */
TEST(members_are_found_and_strangers_are_not)
{
    static const char *const files[] = {"head.safetensors", "network.safetensors"};
    for (size_t k = 0; k < 2; k++) {
        double scores[2 * N], again[2 * N];
        char *json;
        struct sotto_estimate e = attack(files[k], (const size_t[]){0, 1, 2, 3}, scores, &json);
        print_message("%s: %.3f [%.3f, %.3f]\n", files[k], e.estimate, e.lower, e.upper);
        assert_true(e.estimate >= .9);
        assert_non_null(
            strstr(json, "\"mode\":\"known\",\"known_members\":60,\"known_nonmembers\":60,\"layers\":3"));
        sotto_text_free(json);
        if (k == 0) {
            if (effort() > 1) { /* by the same seed */
                attack(files[k], (const size_t[]){0, 1, 2, 3}, again, NULL);
                assert_memory_equal(scores, again, sizeof scores);
            }
            e = attack(files[k], (const size_t[]){0, 3, 2, 1}, NULL, NULL); /* told the wrong way round */
            assert_true(e.estimate <= .1);
        }
        if (k == 1 && effort() == 1)
            continue;
        e = attack(files[k], (const size_t[]){2, 1, 3, 0}, NULL,
                   NULL); /* strangers judged, members both sides known */
        assert_true(e.lower <= .5 && e.upper >= .5);
    }
}

TEST(what_is_read_of_a_head_is_its_closed_form)
{
    struct sotto_head *h;
    struct whitebox_sketch s;
    struct whitebox_features v;
    float logits[K];
    const struct head_data data = {x, y, 5, D, K};
    assert_int_equal(sotto_head_load(&h, path_of("head.safetensors")), SOTTO_OK);
    assert_int_equal(whitebox_features_make(&v, h), SOTTO_OK);
    assert_int_equal(whitebox_sketch_make(&s, h, NULL, &data, 2, 1, NULL), SOTTO_OK);
    assert_int_equal(s.layers, 2);
    assert_int_equal(s.outputs, 24 + K);
    for (size_t i = 0; i < 5; i++) {
        whitebox_features_look(&v, x + i * D, y[i]);
        assert_true(s.loss[i] == v.loss);
        for (size_t l = 0; l < 2; l++)
            assert_true(fabs(s.layer[i * 2 + l].log_gradient - whitebox_features_gradient(&v, l + 2)) < 1e-5);
        assert_int_equal(sotto_head_predict(logits, h, x + i * D, 1, D, 1, NULL), SOTTO_OK);
        for (size_t k = 0; k < K; k++)
            assert_true(fabsf(s.output[i * s.outputs + 24 + k] - logits[k]) < 1e-4f * (1 + fabsf(logits[k])));
    }
    whitebox_sketch_clear(&s);
    assert_int_equal(whitebox_sketch_make(&s, h, NULL, &data, 16, 1, NULL), SOTTO_OK);
    assert_int_equal(s.layers, 3); /* all that there are */
    whitebox_sketch_clear(&s);
    whitebox_features_clear(&v);
    sotto_head_free(h);
}

/* Two parts, of which only the product of signs tells: no branch alone, and no linear rule, can. */
TEST(the_attack_network_learns_what_joins_its_branches)
{
    enum { ROWS = 400, HALF = ROWS / 2 };
    static float rows[ROWS * 3];
    uint8_t member[ROWS];
    double scores[HALF], side[2][HALF];
    size_t count[2] = {0};
    struct rng draw = rng_stream(4, RNG_TEST, 5, 0);
    struct sotto_estimate e;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < 3; j++)
            rows[3 * i + j] = (float)rng_normal(&draw);
        member[i] = rows[3 * i] * rows[3 * i + 2] > 0;
    }
    struct branch_table t = {.part = {{2, 16}, {1, 16}}, .parts = 2, .n = HALF, .x = rows, .member = member};
    assert_int_equal(branch_net_scores(scores, &t, rows + 3 * HALF, HALF, 60, 1, NULL), SOTTO_OK);
    for (size_t i = 0; i < HALF; i++)
        side[member[HALF + i]][count[member[HALF + i]]++] = scores[i];
    assert_int_equal(estimate_auc(&e, side[1], count[1], side[0], count[0], 0.95), SOTTO_OK);
    assert_true(e.estimate > .95);
    memset(member, 1, sizeof member);
    assert_int_equal(branch_net_scores(scores, &t, rows, 1, 1, 1, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "white box: 200 known members and 0 known others; expected some of each");
}

static void refuse(struct sotto_attack_input in, const char *name, sotto_status expected, const char *text)
{
    struct sotto_attack_options o;
    struct sotto_audit_result r;
    double scores[2 * N];
    int finished;
    sotto_attack_defaults(&o);
    o.name = name;
    assert_int_equal(sotto_target_open(&in.target, path_of("head.safetensors"), NULL), SOTTO_OK);
    assert_int_equal(sotto_attack(&r, scores, &finished, &in, &o, NULL), expected);
    if (strcmp(sotto_error_text(), text) != 0)
        fail_msg("%s", sotto_error_text());
    sotto_target_close(in.target);
}

TEST(bad_input_is_refused)
{
    const struct sotto_attack_input in = {.member = part(0), .known_member = part(1), .nonmember = part(2)};
    struct sotto_attack_input both = in;
    refuse(in, "white-box", SOTTO_EINVAL,
           "attack: 60 known members and 0 known non-members; expected some of both, or none");
    both.known_nonmember = part(3);
    refuse(both, "gradient-norm", SOTTO_EUSAGE,
           "attack: gradient-norm does not learn from known members; expected white-box");
    int64_t kept = y[3 * N];
    y[3 * N] = K;
    refuse(both, "white-box", SOTTO_EINVAL,
           "known non-members: row 0 has label 4; the target has classes 0 to 3");
    y[3 * N] = kept;
    float was = x[N * D + 1];
    x[N * D + 1] = NAN;
    refuse(both, "white-box", SOTTO_EINVAL,
           "known members: row 0, column 1 is not finite; features must be finite");
    x[N * D + 1] = was;
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .tags = "matrix long-sums")
