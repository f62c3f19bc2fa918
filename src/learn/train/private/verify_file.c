/* A released file against its certificate: what its recipe, which is public, says about sensitivity and noise
 * is derived again. Where a file says nothing, nothing is taken from it. */
#include "base/file.h"
#include "base/memory.h"
#include "dp/noise/fixed_sample.h"
#include "dp/release/verification.h"
#include "head/convex/convex_bound.h"
#include "head/private/head_objective.h"
#include "head/private/moments.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "sotto/verify.h"
#include "train/network/network.h"
#include "train/plain/pretrained.h"
#include "train/private/dp_sgd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool verify_file_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* Does the certificate use the sensitivity that the recipe proves? */
static void check_proof(struct verification *v, const char *recipe_hash, size_t records, double l1, double l2)
{
    const struct certificate_claims *f = &v->claims;
    struct sotto_sensitivity of_unit = {.l1 = l1, .l2 = l2};
    unit_widen(&of_unit, f->unit.rows);
    verify_check(v, "proof of the recipe", f->evidence && strcmp(f->evidence, recipe_hash) == 0,
                 "the file's recipe has hash %.16s..., the sensitivity is for %.16s...", recipe_hash,
                 f->evidence ? f->evidence : "(none)");
    verify_check(v, "proof",
                 verify_file_near(f->sensitivity.l1, of_unit.l1) &&
                     verify_file_near(f->sensitivity.l2, of_unit.l2),
                 "%zu records give l1 %.9g and l2 %.9g, the certificate says %.9g and %.9g", records,
                 of_unit.l1, of_unit.l2, f->sensitivity.l1, f->sensitivity.l2);
    verify_done(v, "sensitivity derived again from the file's recipe and %zu records", records);
    verify_derived(v, VERIFY_BY_RECIPE);
}

static sotto_status check_convex(struct verification *v, const struct sotto_head *h)
{
    struct convex_bound bound;
    const struct certificate_claims *f = &v->claims;
    if (f->version > 1)
        verify_check(v, "records", f->records == h->records, "the file says %zu, the certificate %zu",
                     h->records, f->records);
    sotto_status status =
        convex_bound_find(&bound, &h->recipe, h->records, sotto_head_inputs(h), sotto_head_classes(h));
    if (status == SOTTO_OK)
        check_proof(v, h->recipe_hash, h->records, bound.l1, bound.l2);
    else
        verify_check(v, "proof", false, "%s", sotto_error_text());
    verify_leave(
        v, "bound of the proof",
        "whether the weights before the noise satisfied the bound of the proof (checked by 'sotto protect')");
    return SOTTO_OK;
}

/* A head that was computed from one release: it holds no records, the certificate does. */
static void check_moments(struct verification *v, const struct sotto_head *h, const struct moment_trainer *t)
{
    const struct certificate_claims *f = &v->claims;
    const struct sotto_head_recipe *r = &h->recipe;
    size_t inputs = sotto_head_inputs(h), classes = sotto_head_classes(h), dimension = 0;
    struct moment_shape shape = moment_shape_of(r, inputs, classes);
    struct moment_bound bound;
    bool fits = moment_dimension(&dimension, &shape) && dimension == f->dimension && !f->run;
    verify_check(v, "release of sums", fits && strcmp(f->source, "proved") == 0,
                 "%s on %zu inputs and %zu classes releases %zu sums once, the certificate %zu values (%s)",
                 t->name, inputs, classes, dimension, f->dimension, f->source);
    if (!f->records) {
        verify_leave(v, "size of the sensitivity", "the sensitivity, as the number of records is unknown");
        return;
    }
    moment_bound_find(&bound, t, r, f->records, inputs, classes);
    check_proof(v, h->recipe_hash, f->records, bound.l1, bound.l2);
    double unit = strcmp(r->noise, "laplace") == 0 ? bound.l1 : bound.l2;
    verify_check(v, "noise",
                 strcmp(f->mechanism, r->noise) == 0 &&
                     verify_file_near(f->scale, r->noise_multiplier * unit),
                 "the recipe says %s of scale %.9g, the certificate %s of %.9g", r->noise,
                 r->noise_multiplier * unit, f->mechanism, f->scale);
}

/* A head by objective perturbation: epsilon of a record is 1 / noise_multiplier, which the plan that follows from it must
 * keep to. */
static void check_objective(struct verification *v, const struct sotto_head *h)
{
    const struct certificate_claims *f = &v->claims;
    const double scale = h->recipe.noise_multiplier, epsilon = iv_div(iv(1), iv(scale)).lo;
    const size_t inputs = sotto_head_inputs(h), classes = sotto_head_classes(h);
    struct sotto_sensitivity of_unit = {.l1 = 1};
    struct objective_plan plan;
    unit_widen(&of_unit, f->unit.rows);
    verify_check(v, "proof of the recipe", f->evidence && strcmp(f->evidence, h->recipe_hash) == 0,
                 "the file's recipe has hash %.16s..., the certificate is for %.16s...", h->recipe_hash,
                 f->evidence ? f->evidence : "(none)");
    verify_check(
        v, "noise",
        strcmp(f->mechanism, "objective-perturbation") == 0 && !f->run && strcmp(f->source, "proved") == 0 &&
            verify_file_near(f->scale, scale) && verify_file_near(f->sensitivity.l1, of_unit.l1),
        "the recipe says objective-perturbation of scale %.9g and %g, the certificate %s of %.9g and %g (%s)",
        scale, of_unit.l1, f->mechanism, f->scale, f->sensitivity.l1, f->source);
    if (!f->records) {
        verify_leave(v, "parts of epsilon", "the parts of epsilon, as the number of records is unknown");
        return;
    }
    if (objective_plan_find(&plan, epsilon, f->records, inputs, classes) != SOTTO_OK)
        verify_check(v, "parts of epsilon", false, "%s", sotto_error_text());
    else
        verify_check(v, "parts of epsilon", plan.dimension == f->dimension,
                     "%zu inputs and %zu classes release %zu numbers, the certificate says %zu", inputs,
                     classes, plan.dimension, f->dimension);
    verify_done(v, "epsilon added up again from the file's recipe and %zu records", f->records);
    verify_derived(v, VERIFY_BY_RECIPE);
}

/* What a recipe of DP-SGD says. */
struct dp_sgd_facts {
    const char *noise;
    double noise_multiplier, max_grad_norm;
    size_t batch, steps; /* steps 0: follow from epochs, batch and records */
    size_t epochs;
    enum sotto_sampling sampling;
};

/* A head's recipe does not say how its batches were sampled; the rate tells whether they were such
 * batches. */
static void check_dp_sgd(struct verification *v, const struct dp_sgd_facts *d)
{
    const struct certificate_claims *f = &v->claims;
    const struct dpsgd_facts *r = &f->run_claims.facts;
    double used = f->run_claims.used;
    size_t steps = d->steps;
    if (!f->run) {
        verify_check(v, "noisy steps", false,
                     "noise in every step trained the file, the certificate is of one release");
        return;
    }
    verify_check(v, "noise",
                 strcmp(f->mechanism, d->noise) == 0 &&
                     verify_file_near(r->max_grad_norm, d->max_grad_norm) &&
                     verify_file_near(f->scale, d->noise_multiplier * d->max_grad_norm) && !r->inputs_only,
                 "the recipe says %s of scale %.9g, clipped to %g; the certificate %s of %.9g, clipped to %g",
                 d->noise, d->noise_multiplier * d->max_grad_norm, d->max_grad_norm, f->mechanism, f->scale,
                 r->max_grad_norm);
    if (!f->records) {
        verify_leave(v, "steps in the file", "sampling rate and steps, as the number of records is unknown");
        return;
    }
    const size_t units = f->unit.persons ? f->unit.persons : f->records;
    double rate = sampling_rate(r->sampling, d->batch, units);
    if (!steps)
        steps = (size_t)ceil((double)d->epochs * (double)units / (double)d->batch);
    verify_check(v, "steps in the file", verify_file_near(r->sample_rate, rate) && used == (double)steps,
                 "the recipe says %zu steps of %zu out of %zu %s, the certificate %.0f at rate %.9g", steps,
                 d->batch, units, f->unit.persons ? "persons" : "records", used, r->sample_rate);
    verify_done(v, "noise, rate and steps agree with the file's recipe");
    verify_derived(v, VERIFY_BY_RECIPE);
}

static void refuse_unprotected(struct verification *v, const char *what)
{
    verify_check(v, "origin", false, "%s, and the file names no release that protected it", what);
}

static sotto_status check_head(struct verification *v, const struct sotto_tensors *t,
                               const struct sotto_head *h)
{
    const struct sotto_head_recipe *r = &h->recipe;
    const struct certificate_claims *f = &v->claims;
    bool released = tensors_metadata(t, "release") != NULL,
         claims_proof = strcmp(f->source, "proved") == 0 || strcmp(f->source, "clipped") == 0;
    char what[96];
    if (f->classes)
        verify_check(v, "classes", f->classes == sotto_head_classes(h),
                     "the file has %zu, the certificate says %zu", sotto_head_classes(h), f->classes);
    if (!h->has_recipe) {
        verify_leave(v, "recipe", "the file's recipe, as it has none");
        if (!released)
            refuse_unprotected(v, "the head has no recipe");
        return SOTTO_OK;
    }
    if (!released && head_recipe_moments(r)) {
        check_moments(v, h, head_recipe_moments(r));
    } else if (!released && strcmp(r->trainer, "objective") == 0) {
        check_objective(v, h);
    } else if (!released && head_recipe_private(r)) {
        check_dp_sgd(v, &(struct dp_sgd_facts){.noise = r->noise,
                                               .noise_multiplier = r->noise_multiplier,
                                               .max_grad_norm = r->max_grad_norm,
                                               .batch = r->batch ? r->batch : f->records, /* dp-gd: all */
                                               .steps = r->steps,
                                               .epochs = r->epochs});
    } else if (!released) {
        snprintf(what, sizeof what, "trainer %s adds no noise", r->trainer);
        refuse_unprotected(v, what);
    } else if (head_recipe_convex(r) && strcmp(f->source, "proved") == 0) {
        return check_convex(v, h);
    } else if (claims_proof) {
        verify_check(v, "source", false, "the sensitivity is '%s', but nothing is %s of heads by trainer %s",
                     f->source, f->source, r->trainer);
    }
    return SOTTO_OK;
}

/* ---- networks ---- */

static double line_number(const char *lines, const char *key)
{
    const char *at = strstr(lines, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

/* Networks of earlier versions were trained with float sums, and an epsilon that rests on them says so; those of
 * the first version do not. */
static void check_float_sums(struct verification *v, const char *recipe)
{
    if (dp_sgd_sums_exactly(recipe))
        return;
    const char *condition = v->claims.condition;
    if (v->claims.version == 1)
        v->rests_on = DP_SGD_FLOAT_SUMS;
    else
        verify_check(v, "float sums",
                     condition && strncmp(condition, DP_SGD_FLOAT_SUMS, strlen(DP_SGD_FLOAT_SUMS)) == 0,
                     "DP-SGD trained the network; its condition reads %.200s",
                     condition ? condition : "(none)");
}

/* Weights that were not trained at all are the encoder's, to the bit. */
static sotto_status check_frozen_encoder(struct verification *v, const struct sotto_network *n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors weights = {0};
    char found[SHA256_HEX];
    TRY(nn_model_export(&weights, n->model, "", 0));
    TRY(nn_tensors_sha256(found, &weights, v->path));
    verify_check(v, "frozen encoder", strcmp(found, v->claims.tuning.encoder_sha256) == 0,
                 "the layers below the last have hash %.16s..., the encoder has %.16s...", found,
                 v->claims.tuning.encoder_sha256);
done:
    sotto_tensors_clear(&weights);
    return status;
}

/* What a certificate says was trained, against what the recipe trains. */
static sotto_status check_tuning(struct verification *v, const struct sotto_network *n,
                                 const struct nn_model *model, size_t trained)
{
    sotto_status status = SOTTO_OK;
    const struct tuning_claims *t = &v->claims.tuning;
    const char *from = network_fact(n, "from"), *map = network_fact(n, TRAIN_STANDARDISE_KEY);
    char sha256[SHA256_HEX] = "";
    const size_t frozen = sotto_network_parameters(n) - trained;
    char *names = NULL;
    TRY(pretrained_trained(&names, model));
    verify_check(
        v, "trained weights", t->trained == trained && t->frozen == frozen && strcmp(t->tensors, names) == 0,
        "the recipe trains %zu weights and freezes %zu; the certificate says %zu and %zu, or names other "
        "tensors",
        trained, frozen, t->trained, t->frozen);
    verify_check(v, "encoder", from && strcmp(from, t->encoder_sha256) == 0,
                 "the file began as encoder %.16s..., the certificate says %.16s...", from ? from : "(none)",
                 t->encoder_sha256);
    if (map)
        pretrained_moments_sha256(sha256, n->model);
    verify_check(
        v, "standardisation",
        strcmp(sha256, t->standardise_sha256) == 0 && (!map || strcmp(sha256, map) == 0),
        "the file standardises embeddings by tensors of hash %.16s..., the certificate says %.16s...",
        map ? sha256 : "(none)", t->standardise[0] ? t->standardise_sha256 : "(none)");
    if (pretrained_freeze(n->recipe.freeze).encoder)
        TRY(check_frozen_encoder(v, n));
    verify_done(v, "%zu of %zu weights were trained; the encoder is stated to be %s", trained,
                trained + frozen, t->encoder);
    verify_leave(v, "encoder's records",
                 map ? "whether the encoder and the rows that standardise its embeddings are public"
                 : strncmp(t->encoder, "certified", 9) == 0 ? "whether the encoder's own certificate holds"
                                                            : "whether the encoder is public");
done:
    base_free(names);
    return status;
}

/* Noise was added to as many values as were trained. */
static sotto_status check_trained(struct verification *v, const struct sotto_network *n, size_t more)
{
    sotto_status status = SOTTO_OK;
    const bool tuned = n->recipe.freeze != NULL;
    struct nn_model_config config = n->config;
    struct nn_model *model = NULL;
    verify_check(v, "fine-tuning", v->claims.tuning.claimed == tuned,
                 "the file's recipe %s of an encoder, the certificate %s",
                 tuned ? "is a fine-tuning" : "is no fine-tuning",
                 v->claims.tuning.claimed ? "is of one" : "is of none");
    if (tuned)
        config.freeze = pretrained_freeze(n->recipe.freeze);
    TRY(nn_model_create_blank(&model, &config));
    const size_t trained = nn_model_trained_count(model);
    verify_check(v, "dimension", !v->claims.run || v->claims.dimension == trained + more,
                 "the recipe gives noise to %zu values, the certificate is of %zu", trained + more,
                 v->claims.dimension);
    if (tuned && v->claims.tuning.claimed)
        TRY(check_tuning(v, n, model, trained));
done:
    nn_model_free(model);
    return status;
}

static sotto_status check_private_network(struct verification *v, const struct sotto_network *n,
                                          const char *recipe)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_privacy p;
    TRY(dp_sgd_parse(&p, recipe, v->path, &n->recipe));
    check_dp_sgd(v, &(struct dp_sgd_facts){.noise = p.noise,
                                           .noise_multiplier = p.noise_multiplier,
                                           .max_grad_norm = dp_sgd_follows_quantile(&p) ? 1 : p.max_grad_norm,
                                           .batch = n->recipe.batch,
                                           .steps = p.steps});
    check_float_sums(v, recipe);
    TRY(check_trained(v, n, (size_t)dp_sgd_follows_quantile(&p)));
done:
    return status;
}

static void check_noisy_inputs(struct verification *v, const char *lines)
{
    const struct certificate_claims *f = &v->claims;
    double radius = line_number(lines, "radius="), noise = line_number(lines, "input_noise=");
    verify_check(v, "noise",
                 f->run && f->run_claims.facts.inputs_only &&
                     verify_file_near(f->run_claims.facts.max_grad_norm, radius) &&
                     verify_file_near(f->scale, noise),
                 "the file says inputs clipped to %.9g, noise %.9g; the certificate %.9g and %.9g", radius,
                 noise, f->run ? f->run_claims.facts.max_grad_norm : NAN, f->scale);
    verify_done(v, "noise on inputs agrees with the file's recipe");
    verify_derived(v, VERIFY_BY_RECIPE);
}

static sotto_status check_network(struct verification *v, const struct sotto_tensors *t,
                                  const struct sotto_network *n)
{
    const char *private_recipe = network_fact(n, "private_recipe"),
               *inputs = network_fact(n, "input_release");
    if (private_recipe)
        return check_private_network(v, n, private_recipe);
    if (inputs)
        check_noisy_inputs(v, inputs);
    else if (!tensors_metadata(t, "release"))
        refuse_unprotected(v, "the network was trained without noise");
    return SOTTO_OK;
}

/* ---- any file ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A proof is of a recipe: the file of a head that came out under one names it. */
static void check_evidence(struct verification *v, const struct sotto_tensors *t)
{
    const struct certificate_claims *f = &v->claims;
    const char *hash = tensors_metadata(t, "recipe_hash");
    if (f->evidence && f->evidence[0] && strcmp(f->source, "proved") == 0)
        verify_check(v, "recipe", hash && strcmp(hash, f->evidence) == 0 && tensors_metadata(t, "recipe"),
                     "the file's recipe has hash %.16s..., the proof is of %.16s...", hash ? hash : "(none)",
                     f->evidence);
}

static sotto_status check_tensors(struct verification *v, struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    check_evidence(v, t);
    struct sotto_head *head = NULL;
    struct sotto_network *network = NULL;
    const char *format = tensors_metadata(t, "format");
    if (network_is(t)) {
        TRY(network_from_tensors(&network, t, path));
        TRY(check_network(v, t, network));
    } else if (format && strncmp(format, "sotto.head/", 11) == 0) {
        TRY(head_from_tensors(&head, t, path));
        TRY(check_head(v, t, head));
    } else if (!tensors_metadata(t, "release")) {
        refuse_unprotected(v, "the tensors are of an unknown kind");
    }
done:
    sotto_network_free(network);
    sotto_head_free(head);
    return status;
}

static sotto_status check_recipe(struct verification *v, const char *path)
{
    struct sotto_tensors t = {0};
    if (!path)
        return SOTTO_OK;
    if (!ends_with(path, ".safetensors")) {
        verify_leave(v, "recipe", "the file's recipe, which this format does not contain");
        return SOTTO_OK;
    }
    sotto_status status = safetensors_load_asking(&t, path, v->ctx);
    if (status == SOTTO_OK)
        status = check_tensors(v, &t, path);
    if (status == SOTTO_EFORMAT) {
        verify_check(v, "file", false, "%s", sotto_error_text());
        status = SOTTO_OK;
    }
    sotto_tensors_clear(&t);
    return status;
}

static const char tail[] = ".certificate.json";

/* Certificate and released file of one name. */
static sotto_status find_files(char **certificate, char **released, const char *file, const char *given)
{
    sotto_status status = SOTTO_OK;
    size_t length = strlen(file), capacity = length + sizeof tail;
    char *beside = NULL, *own = NULL;
    NEW(beside, capacity);
    NEW_TEXT(own, given ? given : file);
    snprintf(beside, capacity, "%s%s", file, tail);
    const bool is_certificate = ends_with(file, ".json") && !file_exists(beside); /* answers are JSON too */
    if (is_certificate)
        beside[length] = '\0';
    if (is_certificate && !given)
        own[ends_with(file, tail) ? length - strlen(tail) : 0] = '\0';
    bool there = own[0] && (given || !is_certificate || file_exists(own));
    *certificate = beside;
    beside = NULL;
    *released = there ? own : NULL;
    own = there ? NULL : own;
done:
    base_free(beside);
    base_free(own);
    return status;
}

sotto_status sotto_verify(struct sotto_verification *out, const char *file, const char *given,
                          const char *ledger, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, file);
    sotto_status status = SOTTO_OK;
    struct verification v = {.ctx = ctx};
    char *certificate = NULL, *released = NULL;
    TRY(context_check(ctx, "verify: stopped"));
    TRY(find_files(&certificate, &released, file, given));
    TRY(verification_open(&v, certificate));
    TRY(verify_signature(&v));
    TRY(verify_certificate(&v));
    TRY(verify_output(&v, released));
    TRY(check_recipe(&v, released));
    TRY(verify_ledger(&v, ledger));
    TRY(verification_result(out, &v));
done:
    verification_close(&v);
    base_free(certificate);
    base_free(released);
    return status;
}
