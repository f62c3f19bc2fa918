/* A recipe's canonical text is what its hash is taken of, so its form is fixed: sorted keys, no blanks,
 * shortest numbers that read back exactly. A change of form is a change of every recipe hash: bump "recipe".
 */
#include "head/convex_bound.h"
#include "head/head_model.h"
#include "head/moments.h"
#include "io/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sotto_head_defaults(struct sotto_head_recipe *r)
{
    *r = (struct sotto_head_recipe){.trainer = "adam",
                                    .epochs = 20,
                                    .batch = 25,
                                    .lr = 1e-3,
                                    .seed = 1,
                                    .clip = 1,
                                    .bias = 1,
                                    .lambda = 0.01,
                                    .steps = 500,
                                    .tolerance = 0.01,
                                    .noise = "gaussian",
                                    .max_grad_norm = 1,
                                    .cross = 1};
}

bool head_recipe_convex(const struct sotto_head_recipe *r)
{
    return strncmp(r->trainer, "convex", 6) == 0;
}

bool head_recipe_private(const struct sotto_head_recipe *r)
{
    return sotto_head_trainer_private(r->trainer) != 0;
}

const struct moment_trainer *head_recipe_moments(const struct sotto_head_recipe *r)
{
    return moment_trainer_find(r->trainer);
}

int sotto_head_trainer_private(const char *trainer)
{
    return moment_trainer_find(trainer) ? 2
                                        : strcmp(trainer, "dp-sgd") == 0 || strcmp(trainer, "dp-adam") == 0;
}

int sotto_head_trainer_silent(const char *trainer)
{
    return sotto_head_trainer_private(trainer) || strncmp(trainer, "convex", 6) == 0;
}

const char *sotto_head_moment_trainer(size_t i)
{
    const struct moment_trainer *t = moment_trainer_at(i);
    return t ? t->name : NULL;
}

const char *sotto_head_moment_title(size_t i)
{
    const struct moment_trainer *t = moment_trainer_at(i);
    return t ? t->title : NULL;
}

static void clear_private(struct sotto_head_recipe *r)
{
    r->noise = NULL;
    r->max_grad_norm = r->noise_multiplier = r->momentum = 0;
}

static sotto_status check_step(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    double largest = convex_largest_step(r);
    r->step_size = r->step_size == 0 ? largest : r->step_size;
    REQUIRE(r->step_size > 0 && r->step_size <= largest,
            "step size %g is outside of what the proof allows; expected above 0 and at most 2 / (beta + "
            "lambda) = %.17g",
            r->step_size, largest);
done:
    return status;
}

static sotto_status check_epochs(const struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(r->epochs >= 1 && r->epochs <= UINT32_MAX, "epochs must be at least 1 (got %zu)", r->epochs);
    REQUIRE(r->batch >= 1, "batch must be at least 1 (got %zu)", r->batch);
    REQUIRE(r->seed <= INT64_MAX, "seed %llu is too large; expected less than 2^63",
            (unsigned long long)r->seed);
done:
    return status;
}

static sotto_status check_convex(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(r->hidden_count == 0,
            "trainer %s proves its bound for a linear head only (got %zu hidden layers)", r->trainer,
            r->hidden_count);
    REQUIRE(r->clip >= 1e-6 && r->clip <= 1e6, "clip must be within 1e-6 and 1e6 (got %g)", r->clip);
    REQUIRE(r->bias >= 0 && r->bias <= 1e6, "bias constant must be within 0 and 1e6 (got %g)", r->bias);
    REQUIRE(r->lambda >= 1e-9 && r->lambda <= 1e9, "lambda must be within 1e-9 and 1e9 (got %g)", r->lambda);
    bool batches = strcmp(r->trainer, "convex-sgd") == 0, lbfgs = strcmp(r->trainer, "convex-lbfgs") == 0;
    /* What has no influence has one value. */
    clear_private(r);
    r->lr = 0;
    if (!batches) {
        r->epochs = r->batch = 0;
        r->seed = 0;
    }
    if (batches || lbfgs)
        r->steps = 0;
    if (lbfgs) {
        r->step_size = 0;
        REQUIRE(r->tolerance >= 1e-9 && r->tolerance <= 1, "tolerance must be within 1e-9 and 1 (got %g)",
                r->tolerance);
        goto done;
    }
    r->tolerance = 0;
    TRY(check_step(r));
    if (batches)
        TRY(check_epochs(r));
    else
        REQUIRE(r->steps >= 1 && r->steps <= UINT32_MAX, "steps must be at least 1 (got %zu)", r->steps);
done:
    return status;
}

/* Bounds on what the proof divides and multiplies by are generous, not needed. */
static sotto_status check_moments(struct sotto_head_recipe *r, const struct moment_trainer *t)
{
    static const char *const kinds[] = {"gaussian", "logistic", "laplace"};
    sotto_status status = SOTTO_OK;
    const char *asked = r->noise ? r->noise : t->noise;
    r->noise = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(asked, kinds[i]) == 0)
            r->noise = kinds[i]; /* static text */
    REQUIRE(r->noise, "noise '%s' is not known; expected gaussian, logistic or laplace", asked);
    REQUIRE(r->hidden_count == 0, "trainer %s makes a linear head only (got %zu hidden layers)", t->name,
            r->hidden_count);
    REQUIRE(r->clip >= 1e-6 && r->clip <= 1e6, "clip must be within 1e-6 and 1e6 (got %g)", r->clip);
    REQUIRE(r->bias >= 0 && r->bias <= 1, "bias constant must be within 0 and 1, in units of clip (got %g)",
            r->bias);
    REQUIRE(r->lambda >= 0 && r->lambda <= 1e9, "lambda must be within 0 and 1e9 (got %g)", r->lambda);
    bool weighted = strcmp(t->name, "covariance") == 0;
    REQUIRE(!weighted || (r->cross >= 1e-3 && r->cross <= 1e3),
            "cross weight must be within 0.001 and 1000 (got %g)", r->cross);
    REQUIRE(r->noise_multiplier >= 0 && isfinite(r->noise_multiplier),
            "noise_multiplier must be finite and > 0 (got %g)", r->noise_multiplier);
    /* What has no influence has one value. */
    r->cross = weighted ? r->cross : 0;
    r->refuse_larger = r->refuse_larger != 0;
    r->lr = r->step_size = r->tolerance = r->max_grad_norm = r->momentum = 0;
    r->epochs = r->batch = r->steps = 0;
    r->seed = 0;
done:
    return status;
}

static sotto_status check_private(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    bool logistic = r->noise && strcmp(r->noise, "logistic") == 0;
    REQUIRE(logistic || !r->noise || strcmp(r->noise, "gaussian") == 0,
            "noise '%s' is not known; expected gaussian or logistic", r->noise);
    r->noise = logistic ? "logistic" : "gaussian"; /* static text */
    REQUIRE(r->max_grad_norm >= 1e-6 && r->max_grad_norm <= 1e6,
            "max_grad_norm must be within 1e-6 and 1e6 (got %g)", r->max_grad_norm);
    REQUIRE(isfinite(r->noise_multiplier) && r->noise_multiplier > 0,
            "noise_multiplier must be finite and > 0 (got %g)", r->noise_multiplier);
    REQUIRE(r->momentum >= 0 && r->momentum < 1, "momentum must be at least 0 and below 1 (got %g)",
            r->momentum);
    REQUIRE(r->momentum == 0 || strcmp(r->trainer, "dp-sgd") == 0,
            "momentum belongs to trainer dp-sgd; %s has its own", r->trainer);
done:
    return status;
}

sotto_status head_recipe_check(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    static const char *const trainers[] = {"adam",         "sgd",    "convex", "convex-sgd",
                                           "convex-lbfgs", "dp-sgd", "dp-adam"};
    const char *asked = r->trainer ? r->trainer : "adam", *trainer = NULL;
    const struct moment_trainer *moments = moment_trainer_find(asked);
    for (size_t i = 0; i < sizeof trainers / sizeof *trainers; i++)
        trainer = strcmp(asked, trainers[i]) == 0 ? trainers[i] : trainer;
    trainer = moments ? moments->name : trainer;
    REQUIRE(trainer,
            "trainer '%s' is not known; expected adam or sgd, convex, convex-sgd or convex-lbfgs, dp-sgd or "
            "dp-adam, or covariance, functional, functional-linear or taylor",
            asked);
    r->trainer = trainer;
    if (moments)
        return check_moments(r, moments);
    r->cross = 0;
    r->refuse_larger = 0;
    if (head_recipe_convex(r))
        return check_convex(r);
    r->clip = r->bias = r->lambda = r->step_size = r->tolerance = 0;
    r->steps = 0;
    if (head_recipe_private(r))
        TRY(check_private(r));
    else
        clear_private(r);
    REQUIRE(r->hidden_count <= SOTTO_MAX_HIDDEN, "%zu hidden layers; at most %d are supported",
            r->hidden_count, SOTTO_MAX_HIDDEN);
    for (size_t i = 0; i < r->hidden_count; i++)
        REQUIRE(r->hidden[i] >= 1 && r->hidden[i] <= 1u << 20,
                "hidden width %zu is out of range; expected 1 to %u", r->hidden[i], 1u << 20);
    TRY(check_epochs(r));
    REQUIRE(isfinite(r->lr) && r->lr > 0, "lr must be finite and > 0 (got %g)", r->lr);
done:
    return status;
}

sotto_status head_recipe_check_open(struct sotto_head_recipe *r)
{
    if (r->trainer && head_recipe_private(r))
        return status_fail(SOTTO_EINVAL,
                           "trainer %s draws private noise: no two runs agree, and each is charged; "
                           "expected a repeatable trainer here",
                           r->trainer);
    return head_recipe_check(r);
}

/* Shortest decimal that reads back as the same double. */
static void shortest(char out[32], double x)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, x);
        if (strtod(out, NULL) == x)
            return;
    }
}

static void convex_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                        size_t classes)
{
    char bias[32], clip[32], lambda[32], last[32], solver[96], batch[48] = "", epochs[48] = "";
    shortest(bias, r->bias);
    shortest(clip, r->clip);
    shortest(lambda, r->lambda);
    shortest(last, r->tolerance > 0 ? r->tolerance : r->step_size);
    if (r->epochs) {
        snprintf(batch, sizeof batch, "\"batch\":%zu,", r->batch);
        snprintf(epochs, sizeof epochs, "\"epochs\":%zu,", r->epochs);
        snprintf(solver, sizeof solver, "\"seed\":%llu,\"step_size\":%s", (unsigned long long)r->seed, last);
    } else if (r->steps) {
        snprintf(solver, sizeof solver, "\"step_size\":%s,\"steps\":%zu", last, r->steps);
    } else {
        snprintf(solver, sizeof solver, "\"tolerance\":%s", last);
    }
    snprintf(out, HEAD_RECIPE_TEXT,
             "{%s\"bias\":%s,\"classes\":%zu,\"clip\":%s,%s\"inputs\":%zu,\"lambda\":%s,\"recipe\":1,%s,"
             "\"trainer\":\"%s\"}",
             batch, bias, classes, clip, epochs, inputs, lambda, solver, r->trainer);
}

static void moment_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                        size_t classes)
{
    char bias[32], clip[32], cross[32], lambda[32], multiplier[32], weight[48] = "";
    shortest(bias, r->bias);
    shortest(clip, r->clip);
    shortest(cross, r->cross);
    shortest(lambda, r->lambda);
    shortest(multiplier, r->noise_multiplier);
    if (r->cross > 0)
        snprintf(weight, sizeof weight, "\"cross\":%s,", cross);
    snprintf(out, HEAD_RECIPE_TEXT,
             "{\"bias\":%s,\"classes\":%zu,\"clip\":%s,%s\"inputs\":%zu,\"lambda\":%s,\"noise\":\"%s\","
             "\"noise_multiplier\":%s,\"recipe\":1,\"refuse_larger\":%d,\"trainer\":\"%s\"}",
             bias, classes, clip, weight, inputs, lambda, r->noise, multiplier, r->refuse_larger, r->trainer);
}

static void private_text(char *out, size_t size, const struct sotto_head_recipe *r)
{
    char norm[32], momentum[32], multiplier[32];
    shortest(norm, r->max_grad_norm);
    shortest(momentum, r->momentum);
    shortest(multiplier, r->noise_multiplier);
    snprintf(out, size, "\"max_grad_norm\":%s,\"momentum\":%s,\"noise\":\"%s\",\"noise_multiplier\":%s,",
             norm, momentum, r->noise, multiplier);
}

void head_recipe_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                      size_t classes)
{
    if (head_recipe_convex(r)) {
        convex_text(out, r, inputs, classes);
        return;
    }
    if (head_recipe_moments(r)) {
        moment_text(out, r, inputs, classes);
        return;
    }
    char lr[32], hidden[SOTTO_MAX_HIDDEN * 24 + 1] = "";
    size_t used = 0;
    shortest(lr, r->lr);
    for (size_t i = 0; i < r->hidden_count; i++)
        used += (size_t)snprintf(hidden + used, sizeof hidden - used, "%s%zu", i ? "," : "", r->hidden[i]);
    bool adam = strcmp(r->trainer, "adam") == 0 || strcmp(r->trainer, "dp-adam") == 0;
    char noise[HEAD_RECIPE_TEXT / 2] = "";
    if (head_recipe_private(r))
        private_text(noise, sizeof noise, r);
    snprintf(out, HEAD_RECIPE_TEXT,
             "{\"batch\":%zu,%s\"classes\":%zu,\"epochs\":%zu,%s\"hidden\":[%s],\"init\":\"glorot-uniform\","
             "\"inputs\":%zu,\"lr\":%s,%s\"recipe\":1,\"seed\":%llu,\"trainer\":\"%s\"}",
             r->batch, adam ? "\"beta1\":0.9,\"beta2\":0.999," : "", classes, r->epochs,
             adam ? "\"epsilon\":1e-07," : "", hidden, inputs, lr, noise, (unsigned long long)r->seed,
             r->trainer);
}

void head_recipe_hash(char out[SHA256_HEX], const struct sotto_head_recipe *r, size_t inputs, size_t classes)
{
    char text[HEAD_RECIPE_TEXT];
    head_recipe_text(text, r, inputs, classes);
    sha256_of(out, text, strlen(text));
}

void head_describe(struct sotto_head *h, const struct head_data *data, const struct sotto_head_recipe *r,
                   const char *isa)
{
    h->has_recipe = h->bound = true;
    h->records = head_recipe_convex(r) ? data->n : 0; /* enters the proof */
    h->recipe = *r;
    head_recipe_hash(h->recipe_hash, r, data->d, data->classes);
    if (!head_recipe_private(r)) /* a hash of the records would tell who tries them all */
        head_data_fingerprint(h->fingerprint, data);
    snprintf(h->isa, sizeof h->isa, "%s", isa);
}

static sotto_status read_hidden(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *list;
    TRY(json_get_array(&list, doc, name, "hidden"));
    r->hidden_count = json_count(list);
    if (r->hidden_count > SOTTO_MAX_HIDDEN)
        FAIL(SOTTO_EFORMAT, "%s: 'hidden' lists %zu layers; at most %d are supported", name, r->hidden_count,
             SOTTO_MAX_HIDDEN);
    for (size_t i = 0; i < r->hidden_count; i++) {
        int64_t width = json_whole(json_at(list, i));
        if (width < 1)
            FAIL(SOTTO_EFORMAT, "%s: 'hidden[%zu]' is not a width; expected a whole number of at least 1",
                 name, i);
        r->hidden[i] = (size_t)width;
    }
done:
    return status;
}

static sotto_status parse_convex(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_real(&r->clip, doc, name, "clip"));
    TRY(json_get_real(&r->bias, doc, name, "bias"));
    TRY(json_get_real(&r->lambda, doc, name, "lambda"));
    if (strcmp(r->trainer, "convex-lbfgs") == 0) {
        TRY(json_get_real(&r->tolerance, doc, name, "tolerance"));
        goto done;
    }
    TRY(json_get_real(&r->step_size, doc, name, "step_size"));
    if (strcmp(r->trainer, "convex-sgd") == 0) {
        size_t seed = 0;
        TRY(json_get_size(&r->epochs, doc, name, "epochs"));
        TRY(json_get_size(&r->batch, doc, name, "batch"));
        TRY(json_get_size(&seed, doc, name, "seed"));
        r->seed = seed;
    } else {
        TRY(json_get_size(&r->steps, doc, name, "steps"));
    }
done:
    return status;
}

static sotto_status parse_moments(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    size_t refuse;
    TRY(json_get_real(&r->clip, doc, name, "clip"));
    TRY(json_get_real(&r->bias, doc, name, "bias"));
    TRY(json_get_real(&r->lambda, doc, name, "lambda"));
    if (json_member(doc, "cross"))
        TRY(json_get_real(&r->cross, doc, name, "cross"));
    TRY(json_get_text(&r->noise, doc, name, "noise"));
    TRY(json_get_real(&r->noise_multiplier, doc, name, "noise_multiplier"));
    TRY(json_get_size(&refuse, doc, name, "refuse_larger"));
    r->refuse_larger = refuse != 0;
done:
    return status;
}

static sotto_status parse_batches(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    size_t seed = 0;
    TRY(json_get_size(&r->epochs, doc, name, "epochs"));
    TRY(json_get_size(&r->batch, doc, name, "batch"));
    TRY(json_get_real(&r->lr, doc, name, "lr"));
    TRY(json_get_size(&seed, doc, name, "seed"));
    r->seed = seed;
    TRY(read_hidden(r, doc, name));
    if (head_recipe_private(r)) {
        TRY(json_get_text(&r->noise, doc, name, "noise"));
        TRY(json_get_real(&r->max_grad_norm, doc, name, "max_grad_norm"));
        TRY(json_get_real(&r->noise_multiplier, doc, name, "noise_multiplier"));
        TRY(json_get_real(&r->momentum, doc, name, "momentum"));
    }
done:
    return status;
}

sotto_status head_recipe_parse(struct sotto_head_recipe *out, size_t *inputs, size_t *classes,
                               const char *text, const char *where)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    struct sotto_head_recipe r = {0};
    char name[512];
    size_t d, k;
    snprintf(name, sizeof name, "%s: recipe", where);
    TRY(json_parse(&doc, text, strlen(text), name));
    TRY(json_get_text(&r.trainer, doc, name, "trainer"));
    TRY(head_recipe_convex(&r)    ? parse_convex(&r, doc, name)
        : head_recipe_moments(&r) ? parse_moments(&r, doc, name)
                                  : parse_batches(&r, doc, name));
    TRY(json_get_size(&d, doc, name, "inputs"));
    TRY(json_get_size(&k, doc, name, "classes"));
    if (head_recipe_check(&r) != SOTTO_OK) { /* also replaces the borrowed trainer by static text */
        status_prefix(name);
        status = SOTTO_EFORMAT;
        goto done;
    }
    *out = r;
    *inputs = d;
    *classes = k;
done:
    json_free(doc);
    return status;
}
