/* One release of every record: rows are clipped and get noise once, by a reservation of one step over all of them, so that
 * account, ledger entry, certificate and verification are those of an iterated run. Labels, if they are released too, are
 * an entry of their own, which the certificate counts. Nothing that is refused or said depends on what a record holds. */
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "dp/account/risk.h"
#include "dp/certificate/certificate.h"
#include "dp/ledger/spend.h"
#include "dp/mechanism/require.h"
#include "dp/release/charge_hint.h"
#include "dp/release/class_labels.h"
#include "dp/release/clip_row.h"
#include "dp/release/dpsgd_session.h"
#include "io/array/npy.h"
#include "options/option_tables.h"
#include "par/par.h"
#include "sotto/option.h"
#include "sotto/private/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 256 };

struct job {
    struct sotto_protect_records p;
    struct sotto_provenance whose;
    struct sotto_array x, y; /* f4 (n, d); i8 (n) or nothing */
    size_t n, d;
    float unit; /* of a value: 1 / 255 of pixels */
    const char *mechanism;
    double scale;
    char *labels_output; /* NULL: labels are public */
    struct held_file held, held_labels;
    struct sotto_dpsgd_session *session;
    const struct sotto_context *ctx;
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static sotto_status protect_records_check(const struct sotto_protect_records *p)
{
    sotto_status status = SOTTO_OK;
    bool target = spend_given(p->target.epsilon);
    REQUIRE(p->input && p->output && ends_with(p->output, ".npy"),
            "protect: give a file of records and a .npy file to write");
    TRY(sotto_options_check(p, options_protect_records, NULL));
    TRY(risk_require_alone(&p->risk, target || spend_given(p->scale)));
    REQUIRE(!risk_given(&p->risk) || !p->labels,
            "protect: a risk is that of one release, and labels would be another one; give a target epsilon");
    REQUIRE(target != spend_given(p->scale) || risk_given(&p->risk),
            "protect: records need exactly one of scale and target epsilon");
    REQUIRE(!target || p->target.epsilon > 0, "epsilon must be > 0 (got %g)", p->target.epsilon);
    REQUIRE(p->labels_from <= 1, "protect: labels from %zu; expected the number of the first class, 0 or 1",
            p->labels_from);
    REQUIRE(!p->labels == !(p->label_epsilon > 0),
            "protect: labels are released by randomised response; give labels and label epsilon together");
    REQUIRE(!p->labels || p->classes >= 2,
            "protect: labels need a public number of classes, which is not read from them; give at least 2 "
            "classes");
    REQUIRE(!target || p->label_epsilon < p->target.epsilon,
            "the labels alone need epsilon %g of the target %g; give a larger target epsilon",
            p->label_epsilon, p->target.epsilon);
done:
    return status;
}

/* Rows as a matrix; whole bytes of more than two dimensions are pixels, which become numbers from 0 to 1. */
static sotto_status load_rows(struct job *j)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array *x = &j->x;
    TRY(sotto_array_load(x, j->p.input, 1, j->ctx));
    REQUIRE(x->ndim >= 2 && x->count > 0, "%s: has %d dimensions or no values; expected records (n, ...)",
            j->p.input, x->ndim);
    j->n = x->shape[0];
    j->d = x->count / j->n;
    j->unit = x->dtype == SOTTO_U1 && x->ndim > 2 ? 1 / 255.0f : 1;
    TRY(sotto_array_convert(x, SOTTO_F4));
    x->ndim = 2;
    x->shape[1] = j->d;
done:
    return status;
}

/* What is no class counts as class 0. */
static sotto_status load_labels(struct job *j)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array read = {0};
    if (!j->p.labels)
        goto done;
    TRY(sotto_array_load(&read, j->p.labels, 1, j->ctx));
    REQUIRE(read.ndim >= 1 && read.shape[0] == j->n && read.count == j->n,
            "%s: expected %zu labels, one for each record", j->p.labels, j->n);
    TRY(class_labels(&read, j->p.classes, j->p.labels_from, 0));
    read.ndim = 1;
    j->y = read;
    read = (struct sotto_array){0};
done:
    sotto_array_clear(&read);
    return status;
}

/* "noisy.npy" has its labels in "noisy.labels.npy". */
static sotto_status name_labels(struct job *j)
{
    sotto_status status = SOTTO_OK;
    static const char tail[] = ".labels.npy";
    size_t stem = strlen(j->p.output) - strlen(".npy"), capacity = stem + sizeof tail;
    if (!j->p.labels)
        goto done;
    if (j->p.labels_output) {
        NEW_TEXT(j->labels_output, j->p.labels_output);
        goto done;
    }
    NEW(j->labels_output, capacity);
    snprintf(j->labels_output, capacity, "%.*s%s", (int)stem, j->p.output, tail);
done:
    return status;
}

static struct sotto_sampled sampled_of(const struct job *j)
{
    return (struct sotto_sampled){.mechanism = j->mechanism,
                                  .noise_multiplier = j->scale / j->p.clip,
                                  .sample_rate = 1,
                                  .steps = 1,
                                  .delta = j->p.target.delta,
                                  .clipping = j->p.norm,
                                  .adjacency = SOTTO_REPLACE_ONE};
}

/* The noise for a target, on the safe side of what the lattice's rounding costs; epsilons of labels and records add. */
static sotto_status protect_records_calibrate(struct job *j)
{
    sotto_status status = SOTTO_OK;
    double multiplier, left = j->p.target.epsilon;
    const struct sotto_sampled sampled = sampled_of(j);
    const struct dpsgd_facts facts = {
        .max_grad_norm = j->p.clip, .dimension = j->n * j->d, .clipping = j->p.norm};
    if (j->p.labels)
        left = (left - j->p.label_epsilon) * (1 - 0x1p-40); /* sums are rounded up */
    TRY(calibrate_sampled_for(&multiplier, &sampled, left, &j->p.risk, j->ctx));
    j->scale = run_noise_multiplier(multiplier, &facts, j->n) * j->p.clip * (1 + 0x1p-50);
done:
    return status;
}

static sotto_status protect_records_prepare(struct job *j)
{
    sotto_status status = SOTTO_OK;
    TRY(load_rows(j));
    TRY(load_labels(j));
    TRY(name_labels(j));
    TRY(sotto_provenance_load(&j->whose, j->p.input));
    TRY(sotto_provenance_once(&j->whose));
    if (!j->p.spend.provenance)
        j->p.spend.provenance = &j->whose;
    j->mechanism = j->p.mechanism ? j->p.mechanism : j->p.norm == SOTTO_NORM_L1 ? "laplace" : "gaussian";
    j->p.target.delta = spend_delta(j->p.target.delta, sotto_default_delta(j->n));
    j->scale = j->p.scale;
    if (!spend_given(j->scale))
        TRY(protect_records_calibrate(j));
    TRY(file_hold(&j->held, j->p.output, j->x.count * sizeof(float) + (1 << 16)));
    if (j->labels_output)
        TRY(file_hold(&j->held_labels, j->labels_output, j->n * sizeof(int64_t) + 4096));
done:
    return status;
}

static sotto_status prepare_labels(struct label_release *out, struct job *j)
{
    struct sotto_release request = {.mechanism = RUN_LABEL_MECHANISM,
                                    .target = {j->p.label_epsilon, SOTTO_DELTA_PURE},
                                    .sensitivity = {.l1 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                                    .spend = spend_complete(&j->p.spend, j->whose.dataset_id,
                                                            "labels of one release of every record",
                                                            (uint64_t)1 << 63),
                                    .records = j->n};
    /* one budget for labels and records: that of the labels alone would be of delta 0, which no records fit into */
    request.spend.budget.delta = spend_delta(j->p.spend.budget.delta, j->p.target.delta);
    return label_release_make(out, j->y.data, j->n, j->p.classes, &request, j->ctx);
}

/* Labels and records are one charge: both, or neither. */
static sotto_status protect_records_reserve(struct job *j)
{
    sotto_status status = SOTTO_OK;
    struct label_release labels;
    struct sotto_certificate *of_labels = NULL;
    struct sotto_dpsgd_request request = {
        .sampled = sampled_of(j),
        .max_grad_norm = j->p.clip,
        .dimension = j->n * j->d,
        .spend = spend_complete(&j->p.spend, j->whose.dataset_id, "one release of every record", 0),
        .records = j->n};
    request.sampled.adjacency = SOTTO_REPLACE_INPUT;
    if (!j->p.labels)
        return sotto_dp_reserve(&j->session, &request, j->ctx);
    TRY(prepare_labels(&labels, j));
    TRY(dpsgd_reserve_with_labels(&j->session, &of_labels, &request, &labels, j->ctx));
done:
    sotto_certificate_free(of_labels);
    return status;
}

static sotto_status clip_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct job *j = arg;
    for (size_t i = chunk * CHUNK; i < j->n && i < (chunk + 1) * CHUNK; i++) {
        float *row = (float *)j->x.data + i * j->d;
        for (size_t k = 0; k < j->d; k++)
            row[k] *= j->unit;
        clip_row(row, j->d, j->p.clip, j->p.norm);
    }
    return SOTTO_OK;
}

static sotto_status save_one(char sha256[SHA256_HEX], const char *path, const struct sotto_array *a)
{
    sotto_status status = SOTTO_OK;
    TRY(sotto_npy_save(path, a));
    TRY(sotto_provenance_save(path, &(struct sotto_provenance){0})); /* of a file that lay there before */
    TRY(sha256_file(sha256, path));
done:
    return status;
}

static sotto_status protect_records_save(struct sotto_certificate *c, struct job *j)
{
    sotto_status status = SOTTO_OK;
    char *beside = NULL;
    size_t capacity = strlen(j->p.output) + sizeof ".certificate.json";
    NEW(beside, capacity);
    snprintf(beside, capacity, "%s.certificate.json", j->p.output);
    file_release(&j->held);
    file_release(&j->held_labels);
    if (j->labels_output)
        TRY(save_one(c->labels_sha256, j->labels_output, &j->y));
    TRY(save_one(c->output_sha256, j->p.output, &j->x));
    TRY(sotto_certificate_save(beside, c, c->output_sha256));
done:
    base_free(beside);
    return status;
}

static void protect_records_clear(struct job *j)
{
    file_release(&j->held);
    file_release(&j->held_labels);
    sotto_dpsgd_session_close(j->session);
    sotto_provenance_clear(&j->whose);
    sotto_array_clear(&j->x);
    sotto_array_clear(&j->y);
    base_free(j->labels_output);
}

sotto_status sotto_protect_records(struct sotto_certificate **certificate,
                                   const struct sotto_protect_records *records,
                                   const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(certificate, records);
    sotto_status status = SOTTO_OK;
    struct job j = {.ctx = ctx};
    struct sotto_certificate *made = NULL;
    TRY(sotto_options_resolve(&j.p, records, options_protect_records));
    TRY(protect_records_check(&j.p));
    TRY(protect_records_prepare(&j));
    TRY(par_each((j.n + CHUNK - 1) / CHUNK, ctx, clip_chunk, &j));
    TRY(protect_records_reserve(&j));
    TRY(dp_step_float(j.session, j.x.data));
    TRY(sotto_dpsgd_session_certificate(&made, j.session));
    if (j.p.labels)
        certificate_add_classes(made, j.p.classes, j.p.classes_by);
    TRY(protect_records_save(made, &j));
    *certificate = made;
    made = NULL;
done:
    if (status != SOTTO_OK)
        charge_name_steps(j.session, "what was released is lost; a new release is charged again");
    sotto_certificate_free(made);
    protect_records_clear(&j);
    return status;
}
