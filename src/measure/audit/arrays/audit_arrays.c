/* The arrays of an audit: shapes by named_arrays.h; here stands what they need of each other, what values they may have, and which of them
 * become another: scores and texts are sorted by membership, tested records stand behind known ones, people become their mean. */
#include "audit/arrays/named_arrays.h"
#include "options/option_tables.h"
#include "sotto/lab/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHARED, OF_TEXTS, OF_ATTRIBUTE }; /* scopes of sizes */

#define OUTPUTS "member-logits|nonmember-logits|member-probabilities|nonmember-probabilities"
#define SIGNALS "member-reference|nonmember-reference|member-reference-losses|nonmember-reference-losses"
#define OF_TARGET OUTPUTS "|member-losses|nonmember-losses"

static const struct arrays_need needs[] = {
    {ARRAYS_EITHER, "member-logits|nonmember-logits", "member-probabilities|nonmember-probabilities"},
    {ARRAYS_TOGETHER, "member-logits|nonmember-logits", NULL},
    {ARRAYS_TOGETHER, "member-probabilities|nonmember-probabilities", NULL},
    {ARRAYS_TOGETHER, "member-labels|nonmember-labels", NULL},
    {ARRAYS_NEED, "member-labels", "member-logits|member-probabilities"},
    {ARRAYS_TOGETHER, "member-losses|nonmember-losses", NULL},
    {ARRAYS_EITHER, "member-losses", OUTPUTS},
    {ARRAYS_NEED,
     "token-logprobs|token-lengths|token-mean|token-deviation|reference-token-logprobs|lowercase-token-"
     "logprobs|"
     "compressed-bytes|neighbour-losses",
     "token-logprobs"},
    {ARRAYS_NEED, "token-logprobs", "membership"},
    {ARRAYS_EITHER, "token-logprobs", "scores|" OF_TARGET},
    {ARRAYS_NEED, "scores", "membership"},
    {ARRAYS_NEED, "membership", "scores|token-logprobs"},
    {ARRAYS_EITHER, "scores", OF_TARGET},
    {ARRAYS_EITHER, "member-reference|nonmember-reference",
     "member-reference-losses|nonmember-reference-losses"},
    {ARRAYS_TOGETHER, "member-reference|nonmember-reference", NULL},
    {ARRAYS_TOGETHER, "member-reference-losses|nonmember-reference-losses", NULL},
    {ARRAYS_TOGETHER, "member-trained|nonmember-trained", NULL},
    {ARRAYS_NEED, "member-trained", "member-reference|member-reference-losses"},
    {ARRAYS_EITHER, "ref-logits", "ref-probabilities"},
    {ARRAYS_NEED, "ref-membership", "ref-logits|ref-probabilities"},
    {ARRAYS_EITHER, "ref-logits|ref-probabilities", SIGNALS},
    {ARRAYS_NEED, "shadow-logits", "member-logits"},
    {ARRAYS_NEED, "shadow-probabilities", "member-probabilities"},
    {ARRAYS_NEED, "shadow-labels|shadow-trained", "shadow-logits|shadow-probabilities"},
    {ARRAYS_TOGETHER, "shadow-labels|shadow-trained", NULL},
    {ARRAYS_NEED, "shadow-logits|shadow-probabilities", "shadow-labels"},
    {ARRAYS_NEED, "population-logits", "member-logits"},
    {ARRAYS_NEED, "population-probabilities", "member-probabilities"},
    {ARRAYS_NEED, "population-logits|population-probabilities", "population-labels"},
    {ARRAYS_NEED, "population-labels", "population-logits|population-probabilities"},
    {ARRAYS_EITHER, "population-losses", "population-logits|population-probabilities"},
    {ARRAYS_NEED, "population-reference", "population-losses|population-logits|population-probabilities"},
    {ARRAYS_TOGETHER, "member-views|nonmember-views|ref-views", NULL},
    {ARRAYS_NEED, "member-views", "member-logits|member-probabilities"},
    {ARRAYS_NEED, "member-views", "ref-logits|ref-probabilities|member-reference|member-reference-losses"},
    {ARRAYS_TOGETHER, "population-views|population-ref-views", NULL},
    {ARRAYS_NEED, "population-views", "member-views"},
    {ARRAYS_NEED, "population-views", "population-logits|population-probabilities"},
    {ARRAYS_TOGETHER, "member-dates|nonmember-dates", NULL},
    {ARRAYS_TOGETHER, "member-features|nonmember-features", NULL},
    {ARRAYS_NEED, "population-features", "member-features"},
    {ARRAYS_NEED, "population-features", "population-losses|population-logits|population-probabilities"},
    {ARRAYS_TOGETHER, "released-mean|reference-mean", NULL},
    {ARRAYS_NEED, "released-mean", "member-features"},
    {ARRAYS_NEED, "loci", "released-mean"},
    {ARRAYS_NEED, "generated", "member-features"},
    {ARRAYS_NEED, "reference-generated|attacker-features", "generated"},
    {ARRAYS_TOGETHER, "member-discriminator-scores|nonmember-discriminator-scores", NULL},
    {ARRAYS_NEED,
     "attribute|attribute-labels|attribute-outputs|attribute-known|attribute-test-features|attribute-test|"
     "attribute-test-labels",
     "features"},
    {ARRAYS_NEED, "features", "attribute"},
    {ARRAYS_TOGETHER, "attribute-test-features|attribute-test", NULL},
    {ARRAYS_NEED, "attribute-test-labels", "attribute-test"},
    {ARRAYS_EITHER, "attribute-test", "attribute-outputs|attribute-known"},
    {ARRAYS_NEED, "member-features", "released-mean|generated|scores|token-logprobs|" OF_TARGET},
    {ARRAYS_TOGETHER, NULL, NULL}};

/* ---- values ---- */

/* The coarsest rounding that passes here is to two decimals; the audit finds the step, and is stricter. */
static sotto_status check_probabilities(const struct named_array *held)
{
    const struct sotto_array *p = &held->array;
    const double *x = p->data, slack = 0.001 + 0.005 * (double)p->shape[1];
    const float *single = p->data;
    char who[ARRAYS_NAME];
    for (size_t i = 0; i < p->shape[0]; i++) {
        double sum = 0;
        bool negative = false;
        for (size_t k = i * p->shape[1]; k < (i + 1) * p->shape[1]; k++) {
            const double one = p->dtype == SOTTO_F8 ? x[k] : (double)single[k];
            sum += one;
            negative = negative || one < 0;
        }
        if (negative || fabs(sum - 1) > slack)
            return status_fail(
                SOTTO_EINVAL,
                "%s: row %zu %s %g; probabilities must be >= 0 and sum to 1 within 0.001, or their "
                "rounding (are these logits?)",
                arrays_who(who, held), i, negative ? "has negative values and sums to" : "sums to", sum);
    }
    return SOTTO_OK;
}

/* Labels from `first` become labels from 0. -1: nobody said where they start. `classes` 0: unknown. */
static sotto_status check_labels(struct named_array *held, int first, size_t classes)
{
    sotto_status status = SOTTO_OK;
    int64_t least = INT64_MAX, most = INT64_MIN;
    char name[ARRAYS_NAME];
    const char *who = arrays_who(name, held);
    const size_t n = held->array.count;
    const int64_t *y = held->array.data;
    for (size_t i = 0; i < n; i++) {
        least = y[i] < least ? y[i] : least;
        most = y[i] > most ? y[i] : most;
    }
    if (first < 0 && least == 1 && classes && most == (int64_t)classes)
        FAIL(SOTTO_EINVAL,
             "%s: labels run from 1 to %lld; expected labels from 0: give {labels_from=1} (or "
             "{labels_from=0}, "
             "if class 0 has no record here)",
             who, (long long)most);
    for (size_t i = 0; i < n; i++) {
        const int64_t label = y[i] - (first > 0 ? first : 0);
        if (first > 0 && label < 0)
            FAIL(SOTTO_EINVAL, "%s: row %zu has label %lld; {labels_from=%d} allows %d and above", who, i,
                 (long long)y[i], first, first);
        if (label < 0 || (classes && (uint64_t)label >= classes))
            FAIL(SOTTO_EINVAL, "%s: row %zu has label %lld; the outputs have classes 0 to %zu", who, i,
                 (long long)y[i], classes - 1);
    }
    if (first > 0) {
        TRY(arrays_own(held));
        for (size_t i = 0; i < n; i++)
            ((int64_t *)held->array.data)[i] -= first;
    }
done:
    return status;
}

/* 1 for members, 0 for others. */
static sotto_status check_membership(size_t *members, const struct named_array *held)
{
    const int64_t *member = held->array.data;
    char who[ARRAYS_NAME];
    *members = 0;
    for (size_t i = 0; i < held->array.count; i++) {
        if (member[i] != 0 && member[i] != 1)
            return status_fail(SOTTO_EINVAL, "%s: row %zu is %lld; expected 1 for members and 0 for others",
                               arrays_who(who, held), i, (long long)member[i]);
        *members += (size_t)member[i];
    }
    return SOTTO_OK;
}

/* Rows of members first, each side in its order. */
static sotto_status sort_rows(struct named_array *held, const int64_t *member, size_t members)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_array x = held->array;
    struct sotto_array sorted = {0};
    const size_t n = x.shape[0], bytes = n ? x.count / n * sotto_dtype_size(x.dtype) : 0;
    size_t placed[2] = {members, 0};
    TRY(sotto_array_make(&sorted, x.dtype, x.ndim, x.shape));
    for (size_t i = 0; i < n; i++)
        memcpy((char *)sorted.data + placed[member[i]]++ * bytes, (const char *)x.data + i * bytes, bytes);
    if (!held->lent)
        sotto_array_clear(&held->array);
    held->array = sorted;
    held->lent = false;
done:
    return status;
}

/* ---- scores of any tool ---- */

static sotto_status take_scores(struct sotto_arrays *a, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct named_array *scores = arrays_find(a, "scores"), *membership = arrays_find(a, "membership");
    size_t members;
    if (!scores)
        goto done;
    TRY(arrays_take(a, scores, SHARED, ctx));
    TRY(arrays_take(a, membership, SHARED, ctx));
    TRY(check_membership(&members, membership));
    TRY(sort_rows(scores, membership->array.data, members));
    const double *sorted = scores->array.data;
    a->input.member_scores = sorted;
    a->input.nonmember_scores = sorted + members;
    TRY(arrays_say(a, "n", SHARED, members, "membership says"));
    TRY(arrays_say(a, "m", SHARED, scores->array.count - members, "membership says"));
done:
    return status;
}

/* ---- texts ---- */

/* Lengths become NaN behind a text's end. */
static sotto_status cut_texts(struct named_array *logprobs, const struct named_array *lengths)
{
    sotto_status status = SOTTO_OK;
    const size_t width = logprobs->array.shape[1];
    const int64_t *length = lengths->array.data;
    char who[ARRAYS_NAME];
    TRY(arrays_own(logprobs));
    float *x = logprobs->array.data;
    for (size_t i = 0; i < lengths->array.count; i++) {
        if (length[i] < 1 || (uint64_t)length[i] > width)
            FAIL(SOTTO_EINVAL, "%s: row %zu is %lld; expected 1 to %zu tokens", arrays_who(who, lengths), i,
                 (long long)length[i], width);
        for (size_t t = (size_t)length[i]; t < width; t++)
            x[i * width + t] = NAN;
    }
done:
    return status;
}

static sotto_status take_texts(struct sotto_arrays *a, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    static const char apart[] = "token-lengths";
    struct named_array *logprobs = arrays_find(a, "token-logprobs"), *lengths = arrays_find(a, apart),
                       *membership = arrays_find(a, "membership");
    size_t members;
    if (!logprobs)
        goto done;
    TRY(arrays_take_table(&a->tokens, a, options_token_input, apart, OF_TEXTS, ctx));
    TRY(arrays_take(a, membership, OF_TEXTS, ctx));
    TRY(check_membership(&members, membership));
    if (lengths) {
        TRY(arrays_take(a, lengths, OF_TEXTS, ctx));
        TRY(cut_texts(logprobs, lengths));
    }
    for (const struct sotto_option *row = options_token_input; row->name; row++)
        if (strcmp(row->name, apart) != 0 && arrays_find(a, row->name))
            TRY(sort_rows(arrays_find(a, row->name), membership->array.data, members));
    TRY(arrays_take_table(&a->tokens, a, options_token_input, apart, OF_TEXTS, ctx)); /* where they are now */
    a->tokens.length = arrays_size(a, "T", OF_TEXTS);
    a->tokens.reference_length = arrays_size(a, "R", OF_TEXTS);
    a->tokens.lowercase_length = arrays_size(a, "L", OF_TEXTS);
    a->tokens.neighbours = arrays_size(a, "neighbours", OF_TEXTS);
    a->input.tokens = &a->tokens;
    TRY(arrays_say(a, "n", SHARED, members, "membership says"));
    TRY(arrays_say(a, "m", SHARED, membership->array.count - members, "membership says"));
done:
    return status;
}

/* ---- reference models ---- */

/* A matrix that can be read by rows, of the records' number and of the right kind; else NULL, and it is read whole, which says what is wrong. */
static sotto_status open_rows(struct sotto_rows **out, const struct named_array *held, size_t records,
                              bool mask)
{
    sotto_status status = SOTTO_OK;
    size_t rows, columns;
    enum sotto_dtype dtype;
    if (!held->file || held->lent)
        goto done;
    TRY(sotto_rows_open(out, held->file));
    if (!*out)
        goto done;
    sotto_rows_shape(&rows, &columns, &dtype, *out);
    if (rows != records || mask != (dtype == SOTTO_U1 || dtype == SOTTO_B1)) {
        sotto_rows_close(*out);
        *out = NULL;
    }
done:
    return status;
}

/* Both matrices of signals, and of masks, in files that can be read by rows: then they stay there. */
static sotto_status stream_references(bool *done, struct sotto_arrays *a)
{
    sotto_status status = SOTTO_OK;
    struct named_array *of[4] = {arrays_find(a, "member-reference|member-reference-losses"),
                                 arrays_find(a, "nonmember-reference|nonmember-reference-losses"),
                                 arrays_find(a, "member-trained"), arrays_find(a, "nonmember-trained")};
    const int count = of[2] ? 4 : 2;
    size_t rows, models[4];
    enum sotto_dtype dtype;
    *done = of[0] && of[1] && !arrays_find(a, "member-views");
    for (int i = 0; *done && i < count; i++) {
        TRY(open_rows(&a->rows[i], of[i], arrays_size(a, i % 2 ? "m" : "n", SHARED), i > 1));
        *done = a->rows[i] != NULL;
        if (*done)
            sotto_rows_shape(&rows, &models[i], &dtype, a->rows[i]);
        *done = *done && models[i] == models[0];
    }
    if (*done) {
        a->input.member_reference_rows = a->rows[0], a->input.nonmember_reference_rows = a->rows[1];
        a->input.member_trained_rows = a->rows[2], a->input.nonmember_trained_rows = a->rows[3];
        TRY(arrays_say(a, "models", SHARED, models[0], "the reference signals say"));
    }
done:
    return status;
}

/* ---- means ---- */

/* The means of a list of loci may be CSV files with id, allele and frequency. */
static sotto_status read_frequencies(struct sotto_arrays *a, struct named_array *held)
{
    sotto_status status = SOTTO_OK;
    const struct named_array *loci = arrays_find(a, "loci");
    const size_t length = held->file ? strlen(held->file) : 0, width = arrays_size(a, "features", SHARED);
    if (!loci || held->lent || length < 4 || strcmp(held->file + length - 4, ".csv") != 0)
        goto done;
    TRY(sotto_array_make(&held->array, SOTTO_F8, 1, &width));
    TRY(sotto_loci_frequencies(held->array.data, width, loci->file, held->file));
done:
    return status;
}

/* (features), or the people behind it (people, features). NULL: not given. */
static sotto_status take_mean(struct named_array **out, struct sotto_arrays *a, const char *name,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct named_array *held = arrays_find(a, name);
    *out = held;
    if (!held)
        goto done;
    TRY(read_frequencies(a, held));
    if (!held->lent && !held->array.data)
        TRY(sotto_array_load(&held->array, held->file, 0, ctx));
    if (held->array.ndim == 2 && held->array.shape[1] == 1 && arrays_size(a, "features", SHARED) != 1)
        held->array.ndim = 1;
    if (held->array.ndim == 1) { /* a row of its own */
        held->array.shape[1] = held->array.shape[0];
        held->array.shape[0] = 1;
        held->array.ndim = 2;
        TRY(arrays_take(a, held, SHARED, ctx));
        held->array.ndim = 1;
    }
    TRY(arrays_take(a, held, SHARED, ctx));
done:
    return status;
}

/* The attacker sees the mean and not the people behind it, so their origin does not matter. Of the population it does: its people are no
 * outsiders. */
static sotto_status take_means(struct sotto_arrays *a, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct named_array *released, *reference;
    const size_t width = arrays_size(a, "features", SHARED);
    TRY(take_mean(&released, a, "released-mean", ctx));
    TRY(take_mean(&reference, a, "reference-mean", ctx));
    if (!released)
        goto done;
    const size_t people = released->array.count / width;
    if (people > 1)
        TRY(arrays_own(released));
    double *mean = released->array.data;
    for (size_t j = 0; people > 1 && j < width; j++) {
        for (size_t i = 1; i < people; i++)
            mean[j] += mean[i * width + j];
        mean[j] /= (double)people;
    }
    a->input.released_mean = mean;
    if (reference->array.ndim == 2) {
        TRY(arrays_own(reference));
        TRY(sotto_array_convert(&reference->array, SOTTO_F4));
        a->input.reference_people = reference->array.data;
        a->input.n_reference = reference->array.shape[0];
    } else {
        a->input.reference_mean = reference->array.data;
    }
done:
    return status;
}

/* ---- generative models ---- */

/* The shape of the samples, where the array says that they are images. */
static void take_image_shape(struct sotto_generative_input *g, const size_t *shape, int ndim)
{
    if (ndim == 4 && (shape[1] == 1 || shape[1] == 3) && shape[2] * shape[3] >= 4)
        g->channels = shape[1], g->height = shape[2], g->width = shape[3];
}

static sotto_status take_generative(struct sotto_arrays *a, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_generative_input *g = &a->generative;
    struct named_array *generated = arrays_find(a, "generated");
    if (generated && !generated->lent)
        TRY(sotto_array_load(&generated->array, generated->file, 0, ctx));
    if (generated)
        take_image_shape(g, generated->array.shape, generated->array.ndim);
    TRY(arrays_take_table(g, a, options_generative_input, "", SHARED, ctx));
    g->generated_n = arrays_size(a, "g", SHARED);
    g->reference_generated_n = arrays_size(a, "r", SHARED);
    g->attacker_n = arrays_size(a, "a", SHARED);
    if (g->member_discriminator || g->generated)
        a->input.generative = g;
done:
    return status;
}

/* ---- attribute inference ---- */

/* Rows of the tested records behind those of the known ones. */
static sotto_status append_tested(struct named_array *known, const struct named_array *tested)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array both = {0};
    const size_t bytes = sotto_dtype_size(known->array.dtype);
    size_t shape[SOTTO_MAX_DIMS];
    memcpy(shape, known->array.shape, sizeof shape);
    shape[0] += tested->array.shape[0];
    TRY(sotto_array_make(&both, known->array.dtype, known->array.ndim, shape));
    memcpy(both.data, known->array.data, known->array.count * bytes);
    memcpy((char *)both.data + known->array.count * bytes, tested->array.data, tested->array.count * bytes);
    if (!known->lent)
        sotto_array_clear(&known->array);
    known->array = both;
    known->lent = false;
done:
    return status;
}

/* Whole numbers from 0, such as the values of an attribute. */
static sotto_status check_values(size_t *most, const struct named_array *held)
{
    const int64_t *value = held ? held->array.data : NULL;
    char who[ARRAYS_NAME];
    for (size_t i = 0; held && i < held->array.count; i++) {
        if (value[i] < 0 || value[i] >= 1000)
            return status_fail(SOTTO_EINVAL, "%s: row %zu is %lld; expected 0 .. 999", arrays_who(who, held),
                               i, (long long)value[i]);
        *most = (size_t)value[i] >= *most ? (size_t)value[i] + 1 : *most;
    }
    return SOTTO_OK;
}

static sotto_status take_attribute(struct sotto_arrays *a, size_t deepest, const struct sotto_context *ctx)
{
    static const char *const pairs[][2] = {{"features", "attribute-test-features"},
                                           {"attribute", "attribute-test"},
                                           {"attribute-labels", "attribute-test-labels"}};
    static const char apart[] = "attribute-test-features|attribute-test|attribute-test-labels";
    sotto_status status = SOTTO_OK;
    struct sotto_attribute_input *in = &a->attribute;
    size_t values = 0;
    if (!arrays_find(a, "features"))
        goto done;
    TRY(arrays_take_table(in, a, options_attribute_input, apart, OF_ATTRIBUTE, ctx));
    in->n = arrays_size(a, "n", OF_ATTRIBUTE);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct named_array *known = arrays_find(a, pairs[i][0]), *tested = arrays_find(a, pairs[i][1]);
        if (tested)
            TRY(arrays_take(a, tested, OF_ATTRIBUTE, ctx));
        TRY(check_values(&values, i == 1 ? known : NULL));
        TRY(check_values(&values, i == 1 ? tested : NULL));
        TRY(check_values(&in->classes, i == 2 ? known : NULL));
        TRY(check_values(&in->classes, i == 2 ? tested : NULL));
        if (!known != !tested && arrays_find(a, "attribute-test") && (i < 2 || known || tested))
            FAIL(SOTTO_EUSAGE,
                 "audit: {attribute_labels} and {attribute_test_labels} must be given together");
        if (tested)
            TRY(append_tested(known, tested));
    }
    if (arrays_find(a, "attribute-test"))
        in->n_aux = in->n, in->n += arrays_size(a, "t", OF_ATTRIBUTE);
    TRY(arrays_take_table(in, a, options_attribute_input, apart, OF_ATTRIBUTE, ctx)); /* where they are now */
    in->d = arrays_size(a, "inputs", OF_ATTRIBUTE);
    in->output_count = arrays_size(a, "outputs", OF_ATTRIBUTE);
    in->known_count = arrays_size(a, "known", OF_ATTRIBUTE);
    in->deepest = deepest;
    a->input.attribute = in;
done:
    return status;
}

/* ---- all of them ---- */

/* Both sides in single precision, or both in double. */
static sotto_status match_precision(struct sotto_arrays *a)
{
    sotto_status status = SOTTO_OK;
    struct named_array *side[2] = {arrays_find(a, "member-logits|member-probabilities"),
                                   arrays_find(a, "nonmember-logits|nonmember-probabilities")};
    for (int i = 0; side[0] && side[1] && i < 2; i++)
        if (side[i]->array.dtype != side[1 - i]->array.dtype && side[i]->array.dtype == SOTTO_F4) {
            TRY(arrays_own(side[i]));
            TRY(sotto_array_convert(&side[i]->array, SOTTO_F8));
        }
done:
    return status;
}

/* What the names of arrays say, beside their values. */
static void take_kinds(struct sotto_arrays *a)
{
    a->input.probabilities = arrays_find(a, "member-probabilities") != NULL;
    a->input.reference_losses = arrays_find(a, "member-reference-losses") != NULL;
    a->input.reference_kind = arrays_find(a, "ref-logits") ? 1 : arrays_find(a, "ref-probabilities") ? 2 : 0;
}

static void take_sizes(struct sotto_arrays *a)
{
    struct sotto_audit_input *in = &a->input;
    in->n_member = arrays_size(a, "n", SHARED), in->n_nonmember = arrays_size(a, "m", SHARED);
    in->classes = arrays_size(a, "classes", SHARED);
    in->reference_models = arrays_size(a, "models", SHARED);
    in->n_population = arrays_size(a, "z", SHARED), in->n_shadow = arrays_size(a, "s", SHARED);
    in->views = arrays_size(a, "views", SHARED), in->feature_count = arrays_size(a, "features", SHARED);
}

static sotto_status check_all_values(struct sotto_arrays *a, int labels_from)
{
    static const char *const labels[] = {"member-labels", "nonmember-labels", "shadow-labels",
                                         "population-labels"},
                             *const probabilities[] = {"member-probabilities", "nonmember-probabilities"};
    sotto_status status = SOTTO_OK;
    struct named_array *held;
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if ((held = arrays_find(a, labels[i])))
            TRY(check_labels(held, labels_from, a->input.classes));
    for (size_t i = 0; i < sizeof probabilities / sizeof *probabilities; i++)
        if ((held = arrays_find(a, probabilities[i])))
            TRY(check_probabilities(held));
done:
    return status;
}

sotto_status sotto_arrays_audit(const struct sotto_audit_input **out, struct sotto_arrays *a, int labels_from,
                                size_t deepest, const struct sotto_context *ctx)
{
    /* the sides first: then the number of all records is known */
    static const char sides[] = OF_TARGET, apart[] = "scores|membership|loci|released-mean|reference-mean",
                      in_files[] = SIGNALS "|member-trained|nonmember-trained|scores|membership|loci|"
                                           "released-mean|reference-mean";
    REQUIRE_GIVEN(out, a);
    sotto_status status = SOTTO_OK;
    bool streamed;
    struct named_array *held;
    TRY(arrays_check_needs(a, needs, "audit"));
    if (a->count == 0)
        FAIL(SOTTO_EUSAGE, "audit: nothing to audit; expected outputs, losses or scores");
    take_kinds(a);
    for (const struct sotto_option *row = options_audit_input; row->name; row++)
        if (arrays_name_is_of(row->name, sides) && (held = arrays_find(a, row->name)))
            TRY(arrays_take(a, held, SHARED, ctx));
    TRY(match_precision(a));
    TRY(take_scores(a, ctx));
    TRY(take_texts(a, ctx));
    if ((held = arrays_find(a, "member-features")))
        TRY(arrays_take(a, held, SHARED, ctx));
    if ((held = arrays_find(a, "nonmember-features")))
        TRY(arrays_take(a, held, SHARED, ctx));
    TRY(arrays_say(a, "n + m", SHARED, arrays_size(a, "n", SHARED) + arrays_size(a, "m", SHARED),
                   "all records, members first"));
    TRY(stream_references(&streamed, a));
    TRY(arrays_take_table(&a->input, a, options_audit_input, streamed ? in_files : apart, SHARED, ctx));
    take_sizes(a);
    TRY(check_all_values(a, labels_from));
    TRY(arrays_take_table(&a->input, a, options_audit_input, streamed ? in_files : apart, SHARED,
                          ctx)); /* labels from 0 may be elsewhere now */
    TRY(take_means(a, ctx));
    TRY(take_generative(a, ctx));
    TRY(take_attribute(a, deepest, ctx));
    take_sizes(a);
    *out = &a->input;
done:
    return status;
}
