/* The attack on residual perturbation: shadows have the target's noise unless they are asked to be plain, and thresholds stand beside
 * the decision. */
#include "support/noisy_target.h"

#include <math.h>
#include <string.h>

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
