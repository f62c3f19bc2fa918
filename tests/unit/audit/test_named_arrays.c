/* Arrays by the names of options: types, shapes, what they need of each other; and that what is lent is not written. */
#include "support/test.h"
#include "audit/arrays/named_arrays.h"
#include "options/option_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct sotto_option *row_of(const char *name)
{
    static const struct sotto_option *const tables[] = {options_audit_input, options_token_input,
                                                        options_generative_input, options_attribute_input};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct sotto_option *row = tables[i]; row->name; row++)
            if (strcmp(row->name, name) == 0)
                return row;
    fail_msg("no option %s", name);
    return NULL;
}

/* An array that is lent: its numbers, and up to three axes (0: there is none). */
static void give(struct sotto_arrays *a, const char *name, enum sotto_dtype dtype, const void *data,
                 size_t rows, size_t columns, size_t deep)
{
    struct sotto_array x = {.dtype = dtype, .data = (void *)(uintptr_t)data, .count = rows};
    const size_t axes[] = {rows, columns, deep};
    for (; x.ndim < 3 && axes[x.ndim]; x.ndim++) {
        x.shape[x.ndim] = axes[x.ndim];
        x.count = x.ndim ? x.count * axes[x.ndim] : rows;
    }
    assert_int_equal(sotto_arrays_give(a, row_of(name), &x, NULL), SOTTO_OK);
}

static const float logits[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static struct sotto_arrays *sides(void)
{
    struct sotto_arrays *a;
    assert_int_equal(sotto_arrays_open(&a), SOTTO_OK);
    give(a, "member-logits", SOTTO_F4, logits, 4, 3, 0);
    give(a, "nonmember-logits", SOTTO_F4, logits, 3, 3, 0);
    return a;
}

static void refused(struct sotto_arrays *a, int labels_from, sotto_status code, const char *text)
{
    const struct sotto_audit_input *in;
    assert_int_equal(sotto_arrays_audit(&in, a, labels_from, 0, NULL), code);
    assert_string_equal(sotto_error_text(), text);
    sotto_arrays_close(a);
}

TEST(single_precision_is_lent_and_other_types_are_converted)
{
    static const int16_t labels[] = {0, 1, 2, 0}, others[] = {2, 1, 0};
    const struct sotto_audit_input *in;
    struct sotto_arrays *a = sides();
    give(a, "member-labels", SOTTO_I2, labels, 4, 0, 0);
    give(a, "nonmember-labels", SOTTO_I2, others, 3, 1, 0); /* a column will do */
    assert_int_equal(sotto_arrays_audit(&in, a, -1, 0, NULL), SOTTO_OK);
    assert_ptr_equal(in->member, logits);
    assert_null(in->member_f8);
    assert_int_equal(in->n_member, 4);
    assert_int_equal(in->n_nonmember, 3);
    assert_int_equal(in->classes, 3);
    assert_int_equal(in->member_labels[2], 2);
    assert_int_equal(in->nonmember_labels[2], 0);
    sotto_arrays_close(a);
}

TEST(sides_of_two_precisions_are_read_in_double)
{
    static const double others[9] = {1, 2, 3};
    const struct sotto_audit_input *in;
    struct sotto_arrays *a;
    assert_int_equal(sotto_arrays_open(&a), SOTTO_OK);
    give(a, "member-logits", SOTTO_F4, logits, 4, 3, 0);
    give(a, "nonmember-logits", SOTTO_F8, others, 3, 3, 0);
    assert_int_equal(sotto_arrays_audit(&in, a, -1, 0, NULL), SOTTO_OK);
    assert_null(in->member);
    assert_true(in->member_f8[11] == 12 && in->nonmember_f8[2] == 3);
    sotto_arrays_close(a);
}

TEST(a_wrong_shape_names_what_was_expected)
{
    static const double zeros[24];
    struct sotto_arrays *a = sides();
    give(a, "member-reference", SOTTO_F8, zeros, 5, 4, 0);
    give(a, "nonmember-reference", SOTTO_F8, zeros, 3, 5, 0);
    refused(a, -1, SOTTO_EINVAL,
            "member_reference: has shape (5, 4); expected (n, models), n = 4 as in member_logits, so "
            "transpose it");
    a = sides();
    give(a, "member-views", SOTTO_F8, zeros, 4, 2, 0);
    give(a, "nonmember-views", SOTTO_F8, zeros, 3, 2, 3);
    give(a, "ref-views", SOTTO_F8, zeros, 1, 2, 3);
    give(a, "ref-logits", SOTTO_F8, zeros, 1, 7, 3);
    refused(a, -1, SOTTO_EINVAL,
            "member_views: has shape (4, 2); expected (n, views, classes), n = 4 as in member_logits, "
            "classes = 3 "
            "as in member_logits");
}

TEST(what_arrays_need_of_each_other)
{
    static const double zeros[24];
    struct sotto_arrays *a = sides();
    give(a, "member-dates", SOTTO_F8, zeros, 4, 0, 0);
    refused(a, -1, SOTTO_EUSAGE, "audit: member_dates and nonmember_dates must be given together");
    a = sides();
    give(a, "member-losses", SOTTO_F8, zeros, 4, 0, 0);
    give(a, "nonmember-losses", SOTTO_F8, zeros, 3, 0, 0);
    refused(a, -1, SOTTO_EUSAGE, "audit: give either member_losses or member_logits, not both");
    assert_int_equal(sotto_arrays_open(&a), SOTTO_OK);
    give(a, "scores", SOTTO_F8, zeros, 4, 0, 0);
    refused(a, -1, SOTTO_EUSAGE, "audit: scores needs membership");
    assert_int_equal(sotto_arrays_open(&a), SOTTO_OK);
    refused(a, -1, SOTTO_EUSAGE, "audit: nothing to audit; expected outputs, losses or scores");
}

TEST(labels_may_count_from_one)
{
    static const int64_t labels[] = {1, 2, 3, 1}, others[] = {3, 2, 1}, seven[] = {1, 7, 3, 1};
    const struct sotto_audit_input *in;
    struct sotto_arrays *a = sides();
    give(a, "member-labels", SOTTO_I8, labels, 4, 0, 0);
    give(a, "nonmember-labels", SOTTO_I8, others, 3, 0, 0);
    assert_int_equal(sotto_arrays_audit(&in, a, 1, 0, NULL), SOTTO_OK);
    assert_int_equal(in->member_labels[2], 2);
    assert_int_equal(labels[2], 3); /* what was lent is as it was */
    sotto_arrays_close(a);
    a = sides();
    give(a, "member-labels", SOTTO_I8, labels, 4, 0, 0);
    give(a, "nonmember-labels", SOTTO_I8, others, 3, 0, 0);
    refused(a, -1, SOTTO_EINVAL,
            "member_labels: labels run from 1 to 3; expected labels from 0: give labels_from=1 (or "
            "labels_from=0, if class 0 has no record here)");
    a = sides();
    give(a, "member-labels", SOTTO_I8, seven, 4, 0, 0);
    give(a, "nonmember-labels", SOTTO_I8, others, 3, 0, 0);
    refused(a, 0, SOTTO_EINVAL, "member_labels: row 1 has label 7; the outputs have classes 0 to 2");
}

TEST(scores_and_texts_are_sorted_by_membership)
{
    static const float scores[] = {1, 2, 3, 4};
    static const int32_t member[] = {0, 1, 0, 1};
    static const uint8_t lengths[] = {2, 1, 2, 1};
    static const float logprobs[] = {-1, -2, -3, -4, -5, -6, -7, -8};
    const struct sotto_audit_input *in;
    struct sotto_arrays *a;
    assert_int_equal(sotto_arrays_open(&a), SOTTO_OK);
    give(a, "scores", SOTTO_F4, scores, 4, 0, 0);
    give(a, "membership", SOTTO_I4, member, 4, 0, 0);
    assert_int_equal(sotto_arrays_audit(&in, a, -1, 0, NULL), SOTTO_OK);
    assert_int_equal(in->n_member, 2);
    assert_true(in->member_scores[0] == 2 && in->member_scores[1] == 4);
    assert_true(in->nonmember_scores[0] == 1 && in->nonmember_scores[1] == 3);
    sotto_arrays_close(a);
    assert_int_equal(sotto_arrays_open(&a), SOTTO_OK);
    give(a, "membership", SOTTO_I4, member, 4, 0, 0);
    give(a, "token-logprobs", SOTTO_F4, logprobs, 4, 2, 0);
    give(a, "token-lengths", SOTTO_U1, lengths, 4, 0, 0);
    assert_int_equal(sotto_arrays_audit(&in, a, -1, 0, NULL), SOTTO_OK);
    assert_int_equal(in->n_member, 2);
    assert_int_equal(in->tokens->length, 2);
    assert_true(in->tokens->logprobs[0] == -3 && isnan(in->tokens->logprobs[1]));
    assert_true(in->tokens->logprobs[4] == -1 && in->tokens->logprobs[5] == -2);
    assert_true(logprobs[3] == -4);
    sotto_arrays_close(a);
}

TEST(tested_records_stand_behind_those_that_are_known)
{
    static const float known[] = {1, 2, 3, 4}, tested[] = {5, 6};
    static const int64_t values[] = {0, 1}, more[] = {1};
    const struct sotto_audit_input *in;
    struct sotto_arrays *a;
    assert_int_equal(sotto_arrays_open(&a), SOTTO_OK);
    give(a, "features", SOTTO_F4, known, 2, 2, 0);
    give(a, "attribute", SOTTO_I8, values, 2, 0, 0);
    give(a, "attribute-test-features", SOTTO_F4, tested, 1, 2, 0);
    give(a, "attribute-test", SOTTO_I8, more, 1, 0, 0);
    assert_int_equal(sotto_arrays_audit(&in, a, -1, 4, NULL), SOTTO_OK);
    assert_int_equal(in->attribute->n, 3);
    assert_int_equal(in->attribute->n_aux, 2);
    assert_int_equal(in->attribute->d, 2);
    assert_int_equal(in->attribute->deepest, 4);
    assert_true(in->attribute->features[4] == 5 && in->attribute->attribute[2] == 1);
    sotto_arrays_close(a);
}

/* "(n, ...)" of "n,features...": help and shape say the same. */
static void shape_in_words(char *out, size_t capacity, const char *shape)
{
    size_t used = (size_t)snprintf(out, capacity, "(");
    for (const char *at = shape; *at; at += *at == ',') {
        const int length = (int)strcspn(at, ",");
        const bool rest = length > 3 && strncmp(at + length - 3, "...", 3) == 0;
        used += (size_t)snprintf(out + used, capacity - used, "%s%.*s", used > 1 ? ", " : "",
                                 rest ? 3 : length, rest ? "..." : at);
        at += length;
    }
    snprintf(out + used, capacity - used, ")");
}

TEST(help_names_the_shape_of_each_array)
{
    static const struct sotto_option *const tables[] = {options_audit_input, options_token_input,
                                                        options_generative_input, options_attribute_input,
                                                        options_encoder_attack};
    char words[96];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct sotto_option *row = tables[i]; row->name; row++) {
            if (!row->shape)
                continue;
            shape_in_words(words, sizeof words, row->shape);
            if (!strstr(row->help, words))
                fail_msg("--%s: help is '%s'; expected %s in it", row->name, row->help, words);
        }
}
