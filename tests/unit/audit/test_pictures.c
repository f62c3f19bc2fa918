/* Pictures of samples: the file format against bytes written by another program, and who is shown when. */
#include "support/test.h"

#include "base/memory.h"
#include "io/text/bitmap.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <string.h>

TEST(known_bytes)
{
    static const uint8_t colour[] = {255, 0, 128, 1, 7, 250}, grey[] = {10, 20};
    char *text = bitmap_uri(colour, 3, 1, 2);
    assert_string_equal(
        text,
        "data:image/bmp;base64,Qk0+AAAAAAAAADYAAAAoAAAAAgAAAAEAAAABABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB4D/"
        "+gEAAAA=");
    base_free(text);
    text = bitmap_uri(grey, 1, 2, 1);
    assert_int_equal(strlen(text), strlen(bitmap_prefix) + 1448);
    assert_memory_equal(text + strlen(bitmap_prefix), "Qk0+BAAAAAAAADYEAAAo", 20);
    assert_string_equal(text + strlen(text) - 20, "/v4A////ABQAAAAKAAAA");
    base_free(text);
}

enum { N = 12, VALUES = 16, SAMPLES = 40 };
static float members[N * VALUES], others[N * VALUES], samples[SAMPLES * VALUES];

static int set_up(void **state)
{
    (void)state;
    struct rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N * VALUES; i++)
        members[i] = rng_unit_f(&r), others[i] = rng_unit_f(&r);
    for (size_t i = 0; i < SAMPLES * VALUES; i++)
        samples[i] = 10 + rng_unit_f(&r);
    memcpy(samples + 33 * VALUES, members + 7 * VALUES, VALUES * sizeof *samples); /* a copy of member 7 */
    return 0;
}

static void pictures_of(struct sotto_audit_result *r, size_t channels, size_t side, int include_indices)
{
    struct sotto_generative_input g = {
        .generated = samples, .generated_n = SAMPLES, .channels = channels, .height = side, .width = side};
    struct sotto_audit_input in = {.member_features = members,
                                   .nonmember_features = others,
                                   .n_member = N,
                                   .n_nonmember = N,
                                   .feature_count = VALUES,
                                   .generative = &g};
    struct sotto_audit_options o = {.include_indices = include_indices, .draws = 100};
    assert_int_equal(sotto_audit(r, &in, &o, NULL), SOTTO_OK);
}

TEST(records_are_shown_only_when_asked_for)
{
    struct sotto_audit_result plain = {0}, with = {0}, none = {0}, again = {0};
    char *text;
    pictures_of(&none, 0, 0, 1); /* not images */
    assert_true(!none.generator->sheet && !none.generator->nearest);
    pictures_of(&plain, 1, 4, 0);
    assert_memory_equal(plain.generator->sheet, bitmap_prefix, strlen(bitmap_prefix));
    assert_true(!plain.generator->nearest && plain.generator->nearest_count == 0);
    pictures_of(&with, 1, 4, 1);
    assert_string_equal(with.generator->sheet, plain.generator->sheet);
    assert_int_equal(with.generator->nearest_count, 5);
    assert_int_equal(with.generator->nearest[0].row, 7);
    assert_true(with.generator->nearest[0].distance == 0 && with.generator->nearest[1].distance > 1);
    for (size_t i = 1; i < 5; i++)
        assert_true(with.generator->nearest[i].distance >= with.generator->nearest[i - 1].distance);
    assert_int_equal(sotto_audit_encode(&text, &with), SOTTO_OK);
    assert_int_equal(sotto_audit_decode(&again, text), SOTTO_OK);
    assert_string_equal(again.generator->nearest[0].picture, with.generator->nearest[0].picture);
    sotto_text_free(text);
    sotto_audit_result_free(&plain), sotto_audit_result_free(&with);
    sotto_audit_result_free(&none), sotto_audit_result_free(&again);
}

TEST(shapes_must_fit)
{
    struct sotto_generative_input g = {
        .generated = samples, .generated_n = SAMPLES, .channels = 2, .height = 4, .width = 2};
    struct sotto_audit_input in = {.member_features = members,
                                   .nonmember_features = others,
                                   .n_member = N,
                                   .n_nonmember = N,
                                   .feature_count = VALUES,
                                   .generative = &g};
    struct sotto_audit_result r = {0};
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "audit: samples are images of 2 x 4 x 2 values but have 16; expected "
                        "1 or 3 channels and as many values");
}

TEST_GROUP(.set_up = set_up)
