/* The attack on residual perturbation: shadows have the target's noise unless they are asked to be plain, and thresholds stand beside
 * the decision. */
#include "support/test.h"

#include "io/json/json.h"
#include "sotto/sotto.h"
#include "support/audit_text.h"
#include "support/head_blobs.h"
#include "support/machine.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <string.h>

enum { N = 40, POOL = 80, SIDE = 8, D = SIDE * SIDE, K = 4 };
static float x[(2 * N + POOL) * D]; /* members, non-members, attacker */
static int64_t y[2 * N + POOL];
static const struct sotto_context single = {.threads = 1};

static struct sotto_train_options noisy(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "resnet8";
    o.channels = 1, o.height = SIDE, o.width = SIDE;
    o.epochs = 12;
    o.batch = 20;
    o.lr = 5e-3;
    o.dtype = "f32";
    o.backend = machine.backend;
    o.residual = (struct sotto_residual_noise){.kind = "additive", .gamma = .5, .input_noise = .25};
    return o;
}

static int set_up(void **state)
{
    struct sotto_train_options o = noisy();
    struct sotto_network *n = NULL;
    struct sotto_dataset set = {
        .name = "blobs", .n = N, .features = x, .columns = D, .labels = y, .classes = K};
    if (make_folder(state))
        return -1;
    make_blobs(x, y, 2 * N + POOL, D, K, 4, 1);
    if (sotto_train(&n, NULL, &set, NULL, 0, &o, &single) != SOTTO_OK ||
        sotto_network_save(path_of("target.safetensors"), n) != SOTTO_OK)
        return -1;
    sotto_network_free(n);
    return 0;
}

static struct sotto_attack_input input(void)
{
    struct sotto_attack_input in = {.member = {x, y, N},
                                    .nonmember = {x + N * D, y + N, N},
                                    .attacker = {x + 2 * N * D, y + 2 * N, POOL}};
    assert_int_equal(sotto_target_open(&in.target, path_of("target.safetensors"), &single), SOTTO_OK);
    return in;
}

static struct sotto_attack_options options(const char *name)
{
    struct sotto_attack_options o;
    sotto_attack_defaults(&o);
    o.name = name;
    o.shadows = strcmp(name, "lira") == 0 ? 4 : 2;
    return o;
}

/* "query_attack" of a run, to be freed. */
static struct json *attack(const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    double scores[2 * N];
    char *text = NULL;
    int finished = 0;
    struct json *doc = NULL;
    if (attack_text(&text, scores, &finished, in, o, &single) != SOTTO_OK)
        fail_msg("%s: %s", o->name, sotto_error_text());
    assert_true(finished);
    for (size_t i = 0; i < 2 * N; i++)
        assert_true(isfinite(scores[i]));
    assert_int_equal(json_parse(&doc, text, strlen(text), "result"), SOTTO_OK);
    sotto_text_free(text);
    return doc;
}

TEST(shadows_know_of_the_noise_or_not)
{
    for (int plain = 0; plain < 2; plain++) {
        struct sotto_attack_input in = input();
        struct sotto_attack_options o = options("residual-mia");
        o.plain_shadows = plain;
        struct json *doc = attack(&in, &o);
        const char *recipe = json_text(json_find(doc, "model_attack.shadows.recipe"));
        assert_non_null(recipe);
        assert_true((strstr(recipe, "residual") != NULL) != plain);
        json_free(doc);
        sotto_target_close(in.target);
    }
}

TEST(thresholds_stand_beside_the_decision)
{
    struct sotto_attack_input in = input();
    struct sotto_attack_options o = options("residual-mia");
    struct json *doc = attack(&in, &o);
    const struct json *list = json_find(doc, "model_attack.thresholds");
    double before = 2, first, expected[] = {0, log(.6 / .4), log(.7 / .3), log(4)};
    assert_int_equal(json_count(list), 4);
    for (size_t i = 0; i < 4; i++) {
        double threshold, recall;
        assert_int_equal(json_get_real(&threshold, json_at(list, i), "", "threshold"), SOTTO_OK);
        assert_int_equal(json_get_real(&recall, json_at(list, i), "", "recall.estimate"), SOTTO_OK);
        assert_true(fabs(threshold - expected[i]) < 1e-12);
        assert_true(recall <= before);
        before = i == 0 ? (first = recall) : recall;
    }
    double decision;
    assert_int_equal(json_get_real(&decision, doc, "", "model_attack.decision.recall.estimate"), SOTTO_OK);
    assert_true(decision == first);
    json_free(doc);
    sotto_target_close(in.target);
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .start = machine_f32, .tags = "matrix")
