/* A name that is unknown: the sentence, the guess, the key. */
#include "support/test.h"
#include "base/choice.h"
#include "sotto/base.h"

#include <string.h>

TEST(distances_count_a_swap_once)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {
        {"", "", 0}, {"", "abc", 3}, {"kears", "keras", 1}, {"adm", "adam", 1}, {"kitten", "sitting", 3}};
    static char most[64], longer[65];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(name_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(name_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
    memset(most, 'a', sizeof most - 1);
    memset(longer, 'a', sizeof longer - 1);
    assert_int_equal(name_distance(most, most), 0);
    assert_int_equal(name_distance(longer, longer), 99);
}

TEST(the_nearest_choice_is_named)
{
    static const struct {
        const char *given, *choices, *guess;
    } cases[] = {{"dpsgd", "adam, dp-sgd or taylor", "; did you mean 'dp-sgd'?"},
                 {"lap", "gaussian, laplace or logistic", "; did you mean 'laplace'?"},
                 {"bf15", "auto, bf16, or f32", "; did you mean 'bf16'?"},
                 {"v5", "v2 or v3", ""},
                 {"xyz", "adam or sgd", ""},
                 {"", "adam or sgd", ""},
                 {"adam", "adam", ""},
                 {"adam", "", ""}};
    char guess[CHOICE_GUESS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        choice_guess(guess, cases[i].given, cases[i].choices);
        assert_string_equal(guess, cases[i].guess);
    }
}

TEST(the_last_word_of_the_subject_is_the_key)
{
    assert_int_equal(choice_unknown(SOTTO_EUSAGE, "protect: statistic", "meen", "mean or median"),
                     SOTTO_EUSAGE);
    assert_string_equal(
        sotto_error_text(),
        "protect: statistic 'meen' is unknown; expected mean or median; did you mean 'mean'?");
    assert_string_equal(sotto_error_key(), "statistic");
    assert_int_equal(choice_unknown(SOTTO_EINVAL, "optimizer", "x", "adam or sgd"), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "optimizer 'x' is unknown; expected adam or sgd");
    assert_string_equal(sotto_error_key(), "optimizer");
}
