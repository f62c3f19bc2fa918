/* File in, protected file and certificate out. What goes out carries no hash of the private data or of the
 * unprotected weights: such a hash is a deterministic function of the data and would void the guarantee. */
#include "base/file.h"
#include "base/sha256.h"
#include "dp/certificate/certificate.h"
#include "dp/release/charge_hint.h"
#include "dp/release/class_labels.h"
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/require.h"
#include "dp/release/public_metadata.h"
#include "dp/release/release_test.h"
#include "dp/release/statistic.h"
#include "io/array/array.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/provenance/statement.h"
#include "base/memory.h"
#include "options/option_tables.h"
#include "sotto/private/io.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* One array; else the tensors of a head. A pipe has no name that tells, hence the output's. */
static bool is_array(const struct sotto_protect *p)
{
    return ends_with(p->output, ".npy");
}

static sotto_status check_names(const struct sotto_protect *p)
{
    const char *in = p->input;
    const bool array =
        ends_with(in, ".npy") || ends_with(in, ".npz") || ends_with(in, ".csv") || array_member(in);
    const bool tensors = !array && ends_with(in, ".safetensors");
    if (is_array(p) ? !tensors : !array)
        return SOTTO_OK;
    return status_fail(SOTTO_EUSAGE,
                       "protect: %s and %s are of different formats; expected an array (.npy, .npz or .csv) "
                       "and .npy, or two .safetensors",
                       in, p->output);
}

static sotto_status protect_load(struct sotto_tensors *t, const struct sotto_protect *p,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const char *path = p->input;
    if (is_array(p)) {
        struct sotto_array a = {0};
        TRY(sotto_array_load(&a, path, 1, ctx));
        status = tensors_add(t, "vector", a.dtype, a.ndim, a.shape, a.data);
        sotto_array_clear(&a);
    } else {
        TRY(safetensors_load_asking(t, path, ctx));
    }
done:
    return status;
}

/* All values as one vector in file order. */
static void protect_gather(double *vector, const struct sotto_tensors *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct sotto_array *a = &t->items[i].array;
        for (size_t j = 0; j < a->count; j++)
            *vector++ =
                a->dtype == SOTTO_F8 ? ((const double *)a->data)[j] : (double)((const float *)a->data)[j];
    }
}

/* The released vector back into the tensors; a float has the largest finite value instead of an infinity. */
static void protect_scatter(struct sotto_tensors *t, const double *vector)
{
    for (size_t i = 0; i < t->count; i++) {
        struct sotto_array *a = &t->items[i].array;
        for (size_t j = 0; j < a->count; j++, vector++)
            if (a->dtype == SOTTO_F8)
                ((double *)a->data)[j] = *vector;
            else
                ((float *)a->data)[j] = (float)fmax(-FLT_MAX, fmin(*vector, FLT_MAX));
    }
}

/* Integers that a double holds as they are; whatever their values, they are released as doubles. */
static sotto_status whole_to_doubles(struct sotto_array *a, const char *name, const char *path)
{
    sotto_status status = SOTTO_OK;
    const int64_t limit = (int64_t)1 << 53;
    TRY(sotto_array_convert(a, SOTTO_I8));
    for (size_t i = 0; i < a->count; i++) {
        int64_t value = ((const int64_t *)a->data)[i];
        if (value < -limit || value > limit)
            FAIL(SOTTO_EINVAL, "%s: tensor '%s': value %zu is %lld; expected whole numbers up to 2^53", path,
                 name, i, (long long)value);
    }
    TRY(sotto_array_convert(a, SOTTO_F8));
done:
    return status;
}

/* Doubles stay doubles: the noise's lattice rounds them, and nothing before it. */
static sotto_status to_reals(size_t *total, struct sotto_tensors *t, const char *path, bool whole)
{
    sotto_status status = SOTTO_OK;
    *total = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct sotto_array *a = &t->items[i].array;
        if (whole && !dtype_is_float(a->dtype))
            TRY(whole_to_doubles(a, t->items[i].name, path));
        if (!dtype_is_float(a->dtype))
            FAIL(SOTTO_EINVAL, "%s: tensor '%s' has dtype %s; expected floating-point tensors", path,
                 t->items[i].name, sotto_dtype_name(a->dtype));
        if (a->dtype == SOTTO_F2)
            TRY(sotto_array_convert(a, SOTTO_F4));
        *total += a->count; /* of values that are all in memory, at least 4 bytes each: no overflow */
    }
    if (*total == 0)
        FAIL(SOTTO_EINVAL, "%s: contains no values; expected at least one", path);
done:
    return status;
}

/* How many records the file was made from, where it says so: a figure of the proof. */
static sotto_status match_records(struct sotto_release *r, const struct sotto_protect *p,
                                  const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    const char *text = tensors_metadata(t, "records");
    char *end = NULL;
    unsigned long long records = text && text[0] >= '1' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (records == 0 || *end || records > (size_t)1 << 52)
        goto done;
    if (r->records && r->records != records)
        FAIL(SOTTO_EINVAL, "protect: %s was made from %llu records, not from %zu", p->input, records,
             r->records);
    r->records = (size_t)records;
done:
    return status;
}

/* The identity that the file's provenance names, or the one that was given. */
static sotto_status protect_identify(struct sotto_release *r, const struct sotto_protect *p,
                                     const struct sotto_provenance *whose)
{
    sotto_status status = SOTTO_OK;
    bool given = r->spend.dataset_id && r->spend.dataset_id[0];
    if (!given && !whose->dataset_id[0])
        FAIL(SOTTO_EUSAGE, "protect: %s does not state its private data set; give {dataset_id||dataset}",
             p->input);
    if (given && whose->dataset_id[0] && strcmp(r->spend.dataset_id, whose->dataset_id) != 0)
        FAIL(SOTTO_EUSAGE,
             "protect: %s was made from data set '%s', not from '%s'; omit {dataset_id||dataset}", p->input,
             whose->dataset_id, r->spend.dataset_id);
    if (!given)
        r->spend.dataset_id = whose->dataset_id;
    r->spend.provenance = whose;
done:
    return status;
}

/* That a sampled or proved sensitivity belongs to this very head. */
static sotto_status protect_match(struct sotto_release *r, const struct sotto_protect *p,
                                  const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    const char *data = tensors_metadata(t, "data_fingerprint"), *recipe = tensors_metadata(t, "recipe_hash");
    const char *file = p->sensitivity_file ? p->sensitivity_file : "the sensitivity";
    if (statement_is_none(t))
        FAIL(SOTTO_EINVAL,
             "protect: %s cannot be protected ('no privacy statement'), because its encoder was trained on "
             "private records, which noise on these weights does not protect",
             p->input);
    if (r->sensitivity.source == SOTTO_SENSITIVITY_SAMPLED ||
        r->sensitivity.source == SOTTO_SENSITIVITY_PROVED) {
        if (r->sensitivity.evidence[0] && recipe && strcmp(recipe, r->sensitivity.evidence) != 0)
            FAIL(SOTTO_EINVAL,
                 "protect: %s was measured for another head (recipe hash differs); measure the sensitivity "
                 "of this head",
                 file);
        if (p->sensitivity_data && p->sensitivity_data[0] && data && data[0] &&
            strcmp(data, p->sensitivity_data) != 0)
            FAIL(SOTTO_EINVAL,
                 "protect: %s was measured on other data (data fingerprint differs); measure the sensitivity "
                 "on the data of this head",
                 file);
    }
    TRY(match_records(r, p, t));
done:
    return status;
}

static sotto_status protect_save(const char *path, struct sotto_tensors *t, const struct sotto_certificate *c)
{
    sotto_status status = SOTTO_OK;
    if (ends_with(path, ".npy")) { /* then protect_load() made one tensor of the input */
        TRY(sotto_npy_save(path, &t->items[0].array));
        goto done;
    }
    public_metadata_keep(t);
    TRY(tensors_set_metadata(t, "release", c->hash));
    TRY(tensors_set_metadata(t, "privacy", c->wording.statement));
    TRY(safetensors_save(path, t));
done:
    return status;
}

/* Noise on all tensors as one vector. */
static sotto_status protect_vector(struct sotto_certificate **certificate, struct sotto_tensors *t,
                                   const struct sotto_protect *p, const struct sotto_release *release,
                                   bool whole, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double *vector = NULL;
    size_t n;
    TRY(to_reals(&n, t, p->input, whole));
    NEW(vector, n);
    protect_gather(vector, t);
    TRY(sotto_dp_release_double(certificate, vector, n, release, ctx));
    protect_scatter(t, vector);
done:
    base_free(vector);
    return status;
}

static sotto_status protect_labels(struct sotto_certificate **certificate, struct sotto_array *a,
                                   const struct sotto_protect *p, const struct sotto_release *release,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(class_labels_check(a, p->input));
    TRY(class_labels(a, p->classes, p->labels_from, 0));
    TRY(sotto_dp_randomise(certificate, a->data, a->count, p->classes, release, ctx));
done:
    return status;
}

/* The scores are replaced by the indices of the chosen ones. */
static sotto_status protect_choice(struct sotto_certificate **certificate, struct sotto_array *a,
                                   const struct sotto_protect *p, const struct sotto_release *release,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array chosen = {0};
    const size_t k = p->choices ? p->choices : 1;
    size_t *index = NULL;
    if (!dtype_is_float(a->dtype))
        FAIL(SOTTO_EINVAL, "%s: dtype %s; expected floating-point scores", p->input,
             sotto_dtype_name(a->dtype));
    TRY(sotto_array_convert(a, SOTTO_F8));
    TRY(sotto_array_make(&chosen, SOTTO_I8, 1, &k));
    NEW(index, k);
    TRY(sotto_dp_select_top(index, k, certificate, a->data, a->count, release, ctx));
    for (size_t i = 0; i < k; i++)
        ((int64_t *)chosen.data)[i] = (int64_t)index[i];
    sotto_array_clear(a);
    *a = chosen;
    chosen = (struct sotto_array){0};
done:
    base_free(index);
    sotto_array_clear(&chosen);
    return status;
}

/* Of a head whose trainer was given its classes. */
static void note_classes(struct sotto_certificate *c, const struct sotto_tensors *t)
{
    const char *count = tensors_metadata(t, "classes"), *by = tensors_metadata(t, "classes_given_by");
    if (count && by)
        certificate_add_classes(c, strtoull(count, NULL, 10), by);
}

/* The values are replaced by their median. */
static sotto_status protect_median(struct sotto_certificate **certificate, struct sotto_array *a,
                                   const struct sotto_protect *p, const struct sotto_release *release,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array made = {0};
    if (!p->statistic)
        FAIL(SOTTO_EUSAGE,
             "protect: mechanism smooth-median releases the median of records; give {input|table|records}, "
             "{statistic=median} and {range}");
    TRY(sotto_array_make(&made, SOTTO_F8, 1, &(size_t){1}));
    TRY(sotto_dp_median(made.data, certificate, a->data, a->count, p->range[0], p->range[1], release, ctx));
    base_wipe(a->data, a->count * sizeof(double));
    sotto_array_clear(a);
    *a = made;
    made = (struct sotto_array){0};
done:
    sotto_array_clear(&made);
    return status;
}

static sotto_status protect_by_kind(struct sotto_certificate **certificate, struct sotto_tensors *t,
                                    const struct sotto_protect *p, const struct sotto_release *release,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    if (release_is_test(release->mechanism))
        return protect_most_frequent(certificate, &t->items[0].array, p, release, ctx);
    TRY(mechanism_require(&m, release->mechanism));
    if (p->choices > 1 && m->kind != RELEASE_CHOICE)
        FAIL(SOTTO_EUSAGE, "protect: {choices} belongs to permute-and-flip, not to %s", m->name);
    bool choice = m->kind == RELEASE_CHOICE, labels = m->kind == RELEASE_LABELS;
    if ((choice || labels) && !is_array(p))
        FAIL(SOTTO_EUSAGE, "protect: mechanism %s needs one array of %s (got %s)", m->name,
             choice ? "scores" : "labels", p->input);
    if (choice)
        TRY(protect_choice(certificate, &t->items[0].array, p, release, ctx));
    else if (m->kind == RELEASE_MEDIAN)
        TRY(protect_median(certificate, &t->items[0].array, p, release, ctx));
    else if (labels)
        TRY(protect_labels(certificate, &t->items[0].array, p, release, ctx));
    else
        TRY(protect_vector(certificate, t, p, release, m->kind == RELEASE_INTEGER, ctx));
done:
    return status;
}

/* Of a file of records, of which each may count once. */
static sotto_status take_statistic(struct sotto_tensors *t, struct sotto_release *release,
                                   const struct sotto_protect *p, const struct sotto_provenance *whose)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    if (!is_array(p))
        FAIL(SOTTO_EUSAGE, "protect: %s: a statistic needs one array of records", p->input);
    if (release_is_test(release->mechanism))
        return sotto_provenance_once(whose);
    TRY(mechanism_require(&m, release->mechanism));
    if ((m->kind == RELEASE_MEDIAN) != statistic_is_median(p))
        FAIL(SOTTO_EUSAGE,
             "protect: the statistic 'median' and the mechanism 'smooth-median' belong together; give both");
    if (m->kind != RELEASE_LATTICE && m->kind != RELEASE_VECTOR && m->kind != RELEASE_MEDIAN &&
        m->kind != RELEASE_CHOICE)
        FAIL(SOTTO_EUSAGE,
             "protect: mechanism %s releases no statistic of records; expected logistic, laplace, gaussian, "
             "knorm or permute-and-flip",
             m->name);
    TRY(sotto_provenance_once(whose));
    TRY(statistic_replace(t, release, p, m->kind == RELEASE_CHOICE));
done:
    return status;
}

/* Of a pipe, which is gone, the values that were read. */
static void hash_values(char out[SHA256_HEX], const struct sotto_tensors *t)
{
    struct sha256 h;
    sha256_init(&h);
    for (size_t i = 0; i < t->count; i++) {
        const struct sotto_array *a = &t->items[i].array;
        sha256_update(&h, a->data, a->count * sotto_dtype_size(a->dtype));
    }
    sha256_hex(&h, out);
}

/* How the noise compares with what chance does to a mean anyway. */
static void judge_noise(const struct sotto_certificate *c, const struct sotto_protect *p, size_t n,
                        const struct sotto_context *ctx)
{
    const double chance = (p->range[1] - p->range[0]) / 2 / sqrt((double)n);
    const struct mechanism *m = mechanism_find(c->account.mechanism);
    if (p->statistic && strcmp(p->statistic, "mean") == 0 && m && m->kind != RELEASE_CHOICE)
        context_log(
            ctx, SOTTO_LOG_INFO,
            "means of %zu records: the noise's scale %.4g is %.3g times the largest sampling deviation, %.3g",
            n, c->account.scale, c->account.scale / chance, chance);
}

sotto_status sotto_protect_file(struct sotto_certificate **certificate, const struct sotto_protect *protect,
                                const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(certificate, protect);
    REQUIRE_GIVEN(protect->input, protect->output);
    sotto_status status = SOTTO_OK;
    struct sotto_tensors tensors = {0};
    struct sotto_protect p;
    struct sotto_release release;
    struct sotto_provenance whose = {0};
    char input[SHA256_HEX], *beside = NULL;
    struct sotto_certificate *made = NULL;
    struct held_file held = {0};
    size_t room = 1 << 16 /* of metadata and certificate */;
    TRY(sotto_options_resolve(&p, protect, options_protect));
    protect = &p;
    release = p.release;
    REQUIRE(protect->labels_from <= 1,
            "protect: labels from %zu; expected the number of the first class, 0 or 1", protect->labels_from);
    TRY(check_names(protect));
    size_t capacity = strlen(protect->output) + 32;
    NEW(beside, capacity);
    snprintf(beside, capacity, "%s.certificate.json", protect->output);
    TRY(protect_load(&tensors, protect, ctx));
    TRY(array_file_sha256(input, protect->input, ctx));
    if (!input[0])
        hash_values(input, &tensors);
    TRY(protect_match(&release, protect, &tensors));
    TRY(sotto_provenance_load(&whose, protect->input));
    TRY(protect_identify(&release, protect, &whose));
    if (protect->statistic)
        TRY(take_statistic(&tensors, &release, protect, &whose));
    release.input_sha256 = input;
    for (size_t i = 0; i < tensors.count; i++)
        room += tensors.items[i].array.count * sizeof(double);
    TRY(file_hold(&held, protect->output, room));
    TRY(protect_by_kind(&made, &tensors, protect, &release, ctx));
    note_classes(made, &tensors);
    if (protect->statistic)
        certificate_add_statistic(made, protect->statistic, protect->range[0], protect->range[1]);
    file_release(&held);
    TRY(protect_save(protect->output, &tensors, made));
    TRY(sotto_provenance_save(protect->output,
                              &(struct sotto_provenance){0})); /* of a file that lay there before */
    TRY(sha256_file(made->output_sha256, protect->output));
    TRY(sotto_certificate_save(beside, made, made->output_sha256));
    judge_noise(made, protect, release.records, ctx);
    *certificate = made;
    made = NULL;
done:
    file_release(&held);
    if (made)
        charge_name_certificate(made, "what was released is lost; a new release is charged again");
    sotto_certificate_free(made);
    base_free(beside);
    sotto_provenance_clear(&whose);
    sotto_tensors_clear(&tensors);
    return status;
}
